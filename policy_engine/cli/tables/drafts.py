"""What the columns of a table are proposed to be."""

from collections.abc import Sequence

from rich.table import Table

from policy_engine.cli.tables.tables import new_table
from policy_engine.engines.column_proposals import ProposedColumn


def columns_table(columns: Sequence[ProposedColumn]) -> Table:
    """Return the columns with their parts and why, what is released first, but for those that are
    left out."""
    table = new_table("What the columns are proposed to be", "column", "part", "how", "why")
    order = ("quasi-identifier", "sensitive", "identifier")
    rows = [one for one in columns if one.part in order]
    for one in sorted(rows, key=lambda one: order.index(one.part)):
        why = " ".join(filter(None, (one.reason, f"({one.figures})", one.warning)))
        table.add_row(one.name, one.part, _how(one), why)
    return table


def _how(column: ProposedColumn) -> str:
    if column.part == "quasi-identifier":
        return column.generalization or "ranges or sets"
    if column.tells_persons:
        return "dropped; tells persons apart"
    return "kept" if column.part == "sensitive" else "dropped"
