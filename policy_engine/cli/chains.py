"""What the commands of logs and ledgers, each a chain of entries, have in common."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from policy_engine.cli.answers import print_json, problem_json
from policy_engine.cli.hints import with_options
from policy_engine.cli.options import Format
from policy_engine.errors import locate

if TYPE_CHECKING:
    from policy_engine.data.chain.entries import ChainEntry
    from policy_engine.data.chain.verification import Verification

_Printed = TypeVar("_Printed", bound="ChainEntry")

LastOption = Annotated[int, typer.Option(min=1, max=1_000_000, help="How many to print.")]
ExpectedHeadOption = Annotated[
    str | None,
    typer.Option(
        metavar="HEAD",
        help="An earlier head that it must still contain: NUMBER:HASH, or one of the two.",
    ),
]


def print_verification(verification: "Verification", source: str, output_format: Format) -> None:
    """Print what was verified of a file, and exit: with 0 if it is intact, 1 if it is not."""
    if output_format is Format.JSON:
        print_json(verification_json(verification))
    else:
        for line in verification_lines(verification, source):
            typer.echo(line)
    raise typer.Exit(0 if verification.intact else 1)


def print_entries(
    entries: Sequence[_Printed], line: Callable[[_Printed], str], output_format: Format
) -> None:
    """Print entries, each on one line; who asks may choose a name that would steer a terminal."""
    if output_format is Format.JSON:
        print_json([entry.model_dump(mode="json", exclude_none=True) for entry in entries])
        return
    for entry in entries:
        typer.echo(printable(line(entry)))


def print_last(
    entries: Sequence[_Printed], last: int, line: Callable[[_Printed], str], output_format: Format
) -> None:
    """Print the last of all entries, and to people that there are more."""
    print_entries(entries[-last:], line, output_format)
    if len(entries) > last and output_format is not Format.JSON:
        sentence = f"These are the last {last:,} of {len(entries):,} entries; "
        typer.echo(f"{sentence}--last N prints as many as you ask for.")


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


def printable(text: str) -> str:
    """Return a text without characters that would steer a terminal."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
