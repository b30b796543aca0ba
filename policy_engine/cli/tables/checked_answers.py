"""Answers that passed output checks on a terminal and as JSON: what is shown, and why not more."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine import terms
from policy_engine.audits.outputs.explaining import SHORTENED, sentence_of
from policy_engine.errors import format_count

if TYPE_CHECKING:
    from policy_engine.decision.query.checking.checked_answer import CheckedAnswer
    from policy_engine.methods.output_checks.parameters import OutputCheck


def begun_line(checked: "CheckedAnswer") -> str:
    """Return that there was no ledger before, so that no earlier answer counted."""
    return (
        f"note: a new ledger was begun, so no earlier answer counted; its head is "
        f"{checked.recorded.head}: --expect HEAD refuses another ledger the next time"
    )


def check_json(check: "OutputCheck") -> dict[str, str]:
    """Return which check an answer would have to pass; thresholds are not for everybody."""
    return {
        "profile": check.profile.title,
        "unit": check.unit,
        "secondary": check.secondary,
        "mitigation": check.mitigation,
        "ledgerScope": check.ledger_scope,
    }


def check_line(check: "OutputCheck") -> str:
    """Return which check an answer would have to pass, as a sentence for the terminal."""
    unit = f"units of {terms.compact(check.unit)}" if check.unit else "rows as units"
    earlier = f"earlier answers of the same {check.ledger_scope}"
    return (
        f"the answer would be checked by {check.profile.title}, with {unit}, and against {earlier}"
    )


def checked_texts(checked: "CheckedAnswer", most: int) -> list[tuple[str | None, ...]]:
    """Return the first rows as texts, with the codes of suppressed cells in their places."""
    from policy_engine.decision.query.rows import as_texts  # noqa: PLC0415

    rows = [list(row) for row in as_texts(checked.table.slice(0, most))]
    names = checked.table.column_names
    for cell in checked.suppressed:
        if cell.row < len(rows):
            mark = f"{cell.outcome.value} ({', '.join(cell.codes)})"
            rows[cell.row][names.index(cell.column)] = mark
    return [tuple(row) for row in rows]


def checked_lines(checked: "CheckedAnswer") -> Iterator[str]:
    """Yield what is told below a checked answer: how many cells are not shown, and why."""
    count = len(checked.suppressed)
    released = "released" if checked.is_released else "nothing is released"
    hidden = f"; {format_count(count, 'cell')} not shown" if count else ""
    yield f"checked by {checked.profile}: {released}{hidden}"
    if checked.protection:
        yield f"  {checked.protection}"
    if checked.is_shortened:
        yield f"  {SHORTENED}"
    for code in checked.codes:
        yield f"  {code} {sentence_of(code)}"
    if checked.advice:
        yield f"  {checked.advice}"
