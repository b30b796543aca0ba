"""The commands of the decision log: `log verify` and `log show`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine import terms
from policy_engine.cli.chains import (
    ExpectedHeadOption,
    LastOption,
    print_entries,
    print_verification,
)
from policy_engine.cli.options import Format, FormatOption

if TYPE_CHECKING:
    from policy_engine.decision.log import Entry, LoggedDeed, LogRecord

logs = typer.Typer(
    help="The decision log: verify it, and show its entries.",
    no_args_is_help=True,
)

LogArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A log: .jsonl, .ndjson, .sqlite, .sqlite3 or .db.")
]


@logs.command()
def verify(
    log: LogArgument,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The key of the log's hash chain.")
    ] = None,
    expect: ExpectedHeadOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Verify a log: exit 0 with its head if it is intact, 1 with every problem and its line.

    What was cut off at the end cannot be seen from the log alone: keep the head that is printed
    elsewhere, and give it as --expect the next time.
    """
    from policy_engine.decision.log import verify_log  # noqa: PLC0415 (slow to import)

    print_verification(verify_log(log, key, expect), str(log), output_format)


@logs.command()
def show(
    log: LogArgument,
    last: LastOption = 10,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Print the last entries of a log, without verifying it (see `log verify`)."""
    from policy_engine.decision.log import last_entries  # noqa: PLC0415 (slow to import)

    print_entries(last_entries(log, last), _line, output_format)


def _line(entry: "Entry") -> str:
    """Return an entry on one line."""
    head = f"{entry.number}  {entry.logged}"
    words = _deed_words(head, entry.deed) if entry.deed else _decision_words(head, entry.decided)
    return " ".join(filter(None, words))


def _deed_words(head: str, deed: "LoggedDeed") -> list[str]:
    evidence = f"({deed.evidence})" if deed.evidence else ""
    who = f"{head}  {deed.state}  {terms.compact(deed.by)}"
    return [who, deed.duty, f"of {deed.policy}", f"at {deed.time}", evidence]


def _decision_words(head: str, record: "LogRecord") -> list[str]:
    request = record.request
    return [
        f"{head}  {record.effect:6}  {terms.compact(request.assignee)}",
        terms.compact(request.action),
        ", ".join(map(terms.compact, request.targets)),
        f"for {terms.compact(request.purpose)}" if request.purpose else "",
        f"by {record.rule}" if record.rule else "",
        f"of {record.policy}" if record.policy else "",
    ]
