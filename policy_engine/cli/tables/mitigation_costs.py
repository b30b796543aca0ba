"""What each way of protecting an answer would cost, on a terminal and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from policy_engine.cli.tables.tables import rows_table

if TYPE_CHECKING:
    from rich.table import Table

    from policy_engine.audits.outputs.alternatives import MitigationComparison

_HEAD = ("alternative", "cells", "blank", "blank totals", "error", "error of totals", "small exact")


def comparisons_json(comparisons: "Sequence[MitigationComparison]") -> dict[str, Any]:
    """Return comparisons as JSON: the first one, and those of the `others` with it."""
    first, *others = map(_comparison_json, comparisons)
    return {**first, "others": others}


def _comparison_json(comparison: "MitigationComparison") -> dict[str, Any]:
    costs = [{"name": one.name, "cells": one.cells, **asdict(one.cost)} for one in comparison.costs]
    return {
        "measure": comparison.measure,
        "cells": comparison.cells,
        "primary": comparison.primary,
        "alternatives": costs,
        "suggestion": comparison.suggestion,
    }


def comparison_table(comparison: "MitigationComparison") -> "Table":
    """Return a comparison as a table: mean absolute errors, and counts of cells."""
    title = f"{comparison.measure}: {comparison.primary} of {comparison.cells} cells do not pass"
    rows = [
        (
            one.name,
            str(one.cells),
            str(one.cost.blank_cells),
            str(one.cost.blank_totals),
            f"{one.cost.cell_error:.3g}",
            f"{one.cost.total_error:.3g}",
            str(one.cost.small_exact),
        )
        for one in comparison.costs
    ]
    return rows_table(title, _HEAD, rows)
