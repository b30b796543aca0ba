"""The commands of the decision log: `log verify` and `log show`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine import terms
from policy_engine.cli.answers import plain, print_json
from policy_engine.cli.hints import with_options
from policy_engine.cli.options import Format, FormatOption
from policy_engine.errors import locate

if TYPE_CHECKING:
    from policy_engine.decision.log import Entry, LoggedDeed, LogRecord, Verification

logs = typer.Typer(
    help="The decision log: check that it is whole, show what was decided and done.",
    no_args_is_help=True,
)

LogArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A log: .jsonl, .ndjson, .sqlite, .sqlite3 or .db.")
]


@logs.command()
def verify(
    log: LogArgument,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The key that the log is chained with.")
    ] = None,
    expect: Annotated[
        str | None,
        typer.Option(
            metavar="HEAD", help="NUMBER:HASH, or one of the two, that the log must still hold."
        ),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Check a log: exit 0 and its head where it is intact, 1 with every break and its line.

    What was cut off at the end cannot be seen from the log alone: keep the head that is printed
    elsewhere, and give it as --expect the next time.
    """
    from policy_engine.decision.log import verify_log  # noqa: PLC0415 (slow to import)

    found = verify_log(log, key, expect)
    if output_format is Format.JSON:
        print_json(_as_json(found))
    else:
        for line in _as_text(found, str(log)):
            typer.echo(line)
    raise typer.Exit(0 if found.intact else 1)


@logs.command()
def show(
    log: LogArgument,
    last: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many.")] = 10,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Print the last decisions and deeds of a log; `log verify` says whether it is whole."""
    from policy_engine.decision.log import last_entries  # noqa: PLC0415 (slow to import)

    entries = last_entries(log, last)
    if output_format is Format.JSON:
        print_json([entry.model_dump(mode="json", exclude_none=True) for entry in entries])
        return
    for entry in entries:
        typer.echo(_line(entry))


def _as_json(found: "Verification") -> dict[str, object]:
    return {
        "intact": found.intact,
        "entries": found.entries,
        "head": {"number": found.head.number, "hash": found.head.hash},
        "problems": [*map(plain, found.problems)],
    }


def _as_text(found: "Verification", source: str) -> list[str]:
    if found.intact:
        entries = f"{found.entries:,} {'entry' if found.entries == 1 else 'entries'}"
        return [f"{source}: intact, {entries}", f"head: {found.head}"]
    return [locate(with_options(problem), source) for problem in found.problems]


def _line(entry: "Entry") -> str:
    """Return an entry on one line; who asks may choose a name that would steer a terminal."""
    head = f"{entry.number}  {entry.logged}"
    words = _of_deed(head, entry.deed) if entry.deed else _of_decision(head, entry.decided)
    text = " ".join(filter(None, words))
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _of_deed(head: str, deed: "LoggedDeed") -> list[str]:
    evidence = f"({deed.evidence})" if deed.evidence else ""
    who = f"{head}  {deed.state}  {terms.compact(deed.by)}"
    return [who, deed.duty, f"of {deed.policy}", f"at {deed.time}", evidence]


def _of_decision(head: str, kept: "LogRecord") -> list[str]:
    asked = kept.request
    return [
        f"{head}  {kept.effect:6}  {terms.compact(asked.assignee)}",
        terms.compact(asked.action),
        ", ".join(map(terms.compact, asked.targets)),
        f"for {terms.compact(asked.purpose)}" if asked.purpose else "",
        f"by {kept.rule}" if kept.rule else "",
        f"of {kept.policy}" if kept.policy else "",
    ]
