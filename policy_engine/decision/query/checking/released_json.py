"""A checked answer as JSON, for the assignee: what is shown, and the codes of what is not."""

from typing import TYPE_CHECKING, Any

from policy_engine.audits.outputs.explaining import SHORTENED, sentence_of
from policy_engine.decision.query.rows import as_json, cell_json

if TYPE_CHECKING:
    from policy_engine.decision.query.checking.checked_answer import CheckedAnswer
    from policy_engine.decision.query.checking.showing_released import SuppressedCell


def checked_json(checked: "CheckedAnswer", *, with_rows: bool) -> dict[str, Any]:
    """Return a checked answer: its rows, and what is told of cells that are not shown."""
    rows = {"rows": as_json(checked.table)} if with_rows else {}
    more = {"note": SHORTENED} if checked.is_shortened else {}
    more |= {"advice": checked.advice} if checked.advice else {}
    return {
        **rows,
        **more,
        "suppressed": [_suppressed(cell) for cell in checked.suppressed],
        "verdict": checked.outcome.value,
        "profile": checked.profile,
        "protection": checked.protection,
        "reasons": {code: sentence_of(code) for code in checked.codes},
        "ledger": {"head": checked.recorded.head, "begun": checked.recorded.is_begun},
    }


def _suppressed(cell: "SuppressedCell") -> dict[str, Any]:
    keys = {name: cell_json(value) for name, value in cell.keys.items()}
    return {
        "row": cell.row,
        "column": cell.column,
        "keys": keys,
        "outcome": cell.outcome.value,
        "codes": list(cell.codes),
    }
