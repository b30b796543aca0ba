"""A decision as a table of what led to it, in HTML."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine import terms
from policy_engine.markup import html_table

if TYPE_CHECKING:
    from policy_engine.decision.model import Decision


def decision_html(decision: "Decision") -> str:
    """Return the answer, the request, each step of the derivation, and what is still owed."""
    return html_table(f"{decision.effect}: {decision.reason}", ("", ""), _rows(decision))


def _rows(decision: "Decision") -> Iterator[tuple[str, str]]:
    request = decision.request
    yield "who", request.assignee
    yield "does", terms.compact(request.action)
    yield "with", "\n".join(request.targets)
    yield "for", terms.compact(request.purpose) if request.purpose else "no purpose"
    if decision.rule:
        yield "rule", f"{decision.rule} of {decision.policy}"
    if decision.derivation:
        yield "because", "\n".join(decision.derivation)
    for duty in decision.duties:
        yield f"{duty.state} duty", f"{', '.join(map(terms.compact, duty.actions))} ({duty.duty})"
    yield from (("note", note) for note in decision.notes)
    if decision.time is not None:
        yield "at", decision.time.isoformat()
