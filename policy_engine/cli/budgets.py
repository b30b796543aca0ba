"""The commands of the budget ledger: `budget show`, `budget history` and `budget verify`."""

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

if TYPE_CHECKING:
    from policy_engine.release.budget import BudgetEntry

budgets = typer.Typer(
    help="The budget ledger of releases under differential privacy: balances, entries, intactness.",
    no_args_is_help=True,
)

LedgerOption = Annotated[
    Path, typer.Option("--ledger", metavar="FILE", help="The ledger that `apply --ledger` created.")
]


@budgets.command()
def show(
    ledger: LedgerOption,
    ledger_key: LedgerKeyOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Show what each account has spent and what remains of it: of each dataset for all who ask, and
    of each assignee for a purpose.

    What protects persons is the account of the dataset: assignees may put together what they got.
    The caps are the budgets of all policies that charged the account or were in force then, and
    those of the rule that was charged last. Releases that no epsilon covers are listed by their
    datasets. Balances tell what others asked for: they are for the owner of the data.
    """
    from policy_engine.release.budget import BudgetLedger  # noqa: PLC0415 (slow to import)

    budget_ledger = BudgetLedger(ledger, ledger_key)
    balances, uncovered = budget_ledger.balances(), budget_ledger.uncovered_by_dataset()
    if output_format is Format.JSON:
        from policy_engine.cli.tables.budgets import balance_json  # noqa: PLC0415

        print_json({"accounts": [*map(balance_json, balances)], "uncovered": uncovered})
        return
    from policy_engine.cli.tables.budgets import balances_table  # noqa: PLC0415 (rich)
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    print_fitting(console(), balances_table(balances))
    if uncovered:
        typer.echo("Releases that no epsilon covers:")
    for dataset, releases in uncovered.items():
        names = ", ".join(map(terms.compact, releases))
        typer.echo(printable(f"  of {terms.compact(dataset)}: {names}"))


@budgets.command()
def history(
    ledger: LedgerOption,
    ledger_key: LedgerKeyOption = None,
    last: LastOption = 10,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Print the last entries: what was reserved, spent, given back, kept, lost or replayed.

    Of a charge, what was asked: figures, groups, conditions on rows, and the purpose.

    Releases that no epsilon covers are listed as well, and those of rows are announced, with whom
    they are for, and then published or not.

    A release that was spent and neither kept nor lost is being made, or its run was killed.
    """
    from policy_engine.release.budget import BudgetLedger  # noqa: PLC0415 (slow to import)

    print_last(BudgetLedger(ledger, ledger_key).history(), last, _line, output_format)


@budgets.command()
def verify(
    ledger: LedgerOption,
    ledger_key: LedgerKeyOption = None,
    expect: ExpectedHeadOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Verify a ledger: exit 0 with its head if it is intact, 1 with every problem.

    What was cut off at the end cannot be seen from the ledger alone: keep the head that is printed
    elsewhere, and give it as --expect the next time.
    """
    from policy_engine.release.budget import BudgetLedger  # noqa: PLC0415 (slow to import)

    print_verification(BudgetLedger(ledger, ledger_key).verify(expect), str(ledger), output_format)


def _line(entry: "BudgetEntry") -> str:
    from policy_engine.release.budget.asked import asked_words  # noqa: PLC0415 (slow to import)

    head = f"{entry.number}  {entry.logged}  {entry.state:11}"
    of = f"entry {entry.of}" if entry.of else ""
    of = terms.compact(entry.uncovered.release) if entry.uncovered else of
    charge = entry.charge
    if entry.announced is not None:
        datasets = ", ".join(map(terms.compact, entry.announced.datasets))
        release = f"{head} {terms.compact(entry.announced.release)}  of {datasets}"
        readers = ", ".join(map(terms.compact, entry.announced.assignees))
        return f"{release}  {entry.announced.rows:,} rows" + (f"  for {readers}" if readers else "")
    if entry.uncovered is not None:
        datasets = ", ".join(map(terms.compact, entry.uncovered.datasets))
        return f"{head} {terms.compact(entry.uncovered.release)}  of {datasets}"
    if charge is None:
        return " ".join(filter(None, (head, of))).rstrip()
    who = dict.fromkeys(one.assignee for one in charge.accounts if one.assignee)
    purposes = [terms.compact(one) for one in charge.purposes or () if one]
    words = asked_words(charge.asked)
    return " ".join(
        filter(
            None,
            (
                head,
                of,
                f"{terms.compact(charge.release)}  epsilon {charge.epsilon}",
                f"delta {charge.delta}" if charge.delta != "0" else "",
                f"for {', '.join(map(terms.compact, who))}" if who else "",
                f"for the purpose {', '.join(purposes)}" if purposes else "",
                f" {words}" if words else "",
            ),
        )
    )
