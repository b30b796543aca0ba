"""The commands of the decision log: `log verify` and `log show`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine import terms
from policy_engine.cli.answers import print_json, problem_json
from policy_engine.cli.hints import with_options
from policy_engine.cli.options import Format, FormatOption
from policy_engine.errors import locate

if TYPE_CHECKING:
    from policy_engine.data.chain.verification import Verification
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
    expect: Annotated[
        str | None,
        typer.Option(
            metavar="HEAD",
            help="An earlier head that the log must still contain: NUMBER:HASH, or one of the two.",
        ),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Verify a log: exit 0 with its head if it is intact, 1 with every problem and its line.

    What was cut off at the end cannot be seen from the log alone: keep the head that is printed
    elsewhere, and give it as --expect the next time.
    """
    from policy_engine.decision.log import verify_log  # noqa: PLC0415 (slow to import)

    verification = verify_log(log, key, expect)
    if output_format is Format.JSON:
        print_json(verification_json(verification))
    else:
        for line in verification_lines(verification, str(log)):
            typer.echo(line)
    raise typer.Exit(0 if verification.intact else 1)


@logs.command()
def show(
    log: LogArgument,
    last: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many to print.")] = 10,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Print the last entries of a log, without verifying it (see `log verify`)."""
    from policy_engine.decision.log import last_entries  # noqa: PLC0415 (slow to import)

    entries = last_entries(log, last)
    if output_format is Format.JSON:
        print_json([entry.model_dump(mode="json", exclude_none=True) for entry in entries])
        return
    for entry in entries:
        typer.echo(_line(entry))


def verification_json(verification: "Verification") -> dict[str, object]:
    """Return what was verified, as JSON."""
    return {
        "intact": verification.intact,
        "entries": verification.entries,
        "head": {"number": verification.head.number, "hash": verification.head.hash},
        "problems": [*map(problem_json, verification.problems)],
    }


def verification_lines(verification: "Verification", source: str) -> list[str]:
    """Return what was verified of a file, as people read it."""
    if verification.intact:
        entries = f"{verification.entries:,} {'entry' if verification.entries == 1 else 'entries'}"
        return [f"{source}: intact, {entries}", f"head: {verification.head}"]
    return [locate(with_options(problem), source) for problem in verification.problems]


def _line(entry: "Entry") -> str:
    """Return an entry on one line; who asks may choose a name that would steer a terminal."""
    head = f"{entry.number}  {entry.logged}"
    words = _deed_words(head, entry.deed) if entry.deed else _decision_words(head, entry.decided)
    return printable(" ".join(filter(None, words)))


def printable(text: str) -> str:
    """Return a text without characters that would steer a terminal."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


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
