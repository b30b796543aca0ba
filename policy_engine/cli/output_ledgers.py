"""The commands of the output ledger: `ledger show`, `ledger history` and `ledger verify`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine import terms
from policy_engine.cli.answers import print_json
from policy_engine.cli.chains import (
    ExpectedHeadOption,
    LastOption,
    print_last,
    print_verification,
    printable,
)
from policy_engine.cli.options import Format, FormatOption, LedgerKeyOption
from policy_engine.errors import format_count

if TYPE_CHECKING:
    from policy_engine.release.output_ledger import OutputEntry, ScopeSummary

output_ledgers = typer.Typer(
    help="The ledger of released outputs: what each scope was told, entries, intactness.",
    no_args_is_help=True,
)

LedgerArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="The ledger that `query --ledger` made.")
]


@output_ledgers.command()
def show(
    ledger: LedgerArgument,
    ledger_key: LedgerKeyOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Show how many answers and cells each scope was given of each dataset.

    They tell what others asked for, and are for the owner of the data.
    """
    from policy_engine.release.output_ledger import OutputLedger  # noqa: PLC0415 (slow to import)

    summary = OutputLedger(ledger, ledger_key).summary()
    if output_format is Format.JSON:
        head = {"number": summary.head.number, "hash": summary.head.hash}
        scopes = [*map(asdict, summary.scopes)]
        print_json({"entries": summary.entries, "head": head, "scopes": scopes})
        return
    typer.echo(f"{ledger}: {format_count(len(summary.scopes), 'scope')}, head: {summary.head}")
    for scope in summary.scopes:
        typer.echo(printable(f"  {_scope_line(scope)}"))


@output_ledgers.command()
def history(
    ledger: LedgerArgument,
    ledger_key: LedgerKeyOption = None,
    last: LastOption = 10,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Print the last entries: when which scopes were answered, and how many cells were released."""
    from policy_engine.release.output_ledger import OutputLedger  # noqa: PLC0415 (slow to import)

    print_last(OutputLedger(ledger, ledger_key).history(), last, _entry_line, output_format)


@output_ledgers.command()
def verify(
    ledger: LedgerArgument,
    ledger_key: LedgerKeyOption = None,
    expect: ExpectedHeadOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Verify a ledger, and what is kept of each answer: exit 0 with its head if it is intact, 1
    with every problem.

    What was cut off at the end cannot be seen from the ledger alone: keep the head that is printed
    elsewhere, and give it as --expect the next time.
    """
    from policy_engine.release.output_ledger import OutputLedger  # noqa: PLC0415 (slow to import)

    print_verification(OutputLedger(ledger, ledger_key).verify(expect), str(ledger), output_format)


def _scope_line(scope: "ScopeSummary") -> str:
    cells = f"{format_count(scope.released, 'cell')} released, {scope.suppressed:,} suppressed"
    answers = f"{format_count(scope.answers, 'answer')}, {scope.repeated:,} repeated"
    of = f"of {terms.compact(scope.dataset)}"
    versions = f" in {scope.data} versions" if scope.data > 1 else ""
    return f"{scope.scope}  {answers} {of}{versions}: {cells}, {scope.first} to {scope.last}"


def _entry_line(entry: "OutputEntry") -> str:
    head = f"{entry.number}  {entry.logged}  {entry.state:8}"
    if entry.output is None:
        return head.rstrip()
    output = entry.output
    cells = f"{format_count(output.released, 'cell')} released, {output.suppressed:,} suppressed"
    return f"{head}  {', '.join(output.scopes)}  of {terms.compact(output.dataset)}: {cells}"
