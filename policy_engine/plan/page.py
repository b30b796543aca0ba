"""A plan as a table of what becomes of each column, in HTML."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine import terms
from policy_engine.markup import html_table

if TYPE_CHECKING:
    from policy_engine.plan.plan import Plan


def plan_html(plan: "Plan") -> str:
    """Return what is read, what becomes of each column, which bounds must hold, and for whom the
    output is."""
    return html_table(f"Plan for {plan.publish.asset}", ("what", "how"), _rows(plan))


def _rows(plan: "Plan") -> Iterator[tuple[str, str]]:
    for read in plan.reads:
        yield f"read {read.asset}", read.location or "not bound to data"
    yield from ((name, "dropped: identifies persons") for name in plan.drop.identifiers)
    yield from ((name, "dropped: not mentioned") for name in plan.drop.unmentioned)
    generalised = {}
    if plan.anonymize is not None:
        columns = plan.anonymize.columns.quasi_identifier
        generalised = {one.name: one.taxonomy or one.generalization or "" for one in columns}
    masked = {} if plan.mask is None else {one.name: str(one) for one in plan.mask.columns}
    for name in plan.publish.columns:
        how = "kept exact"
        if name in generalised:
            how = f"generalised: {generalised[name]}" if generalised[name] else "generalised"
        yield name, masked.get(name, how)
    for bound in plan.bounds():
        column = f" of {bound.column}" if bound.column else ""
        yield f"{bound.name}{column}", f"{bound.sense} {bound.asked:g}"
    yield "for", ", ".join(plan.assignees) or "anybody"
    yield "purposes", ", ".join(map(terms.compact, plan.purposes)) or "any"
    yield "engine", plan.engine
