"""What there is to run under a policy that makes nothing and lets checked answers be read."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policy_engine import terms
from policy_engine.cli.tables.checked_answers import check_json

if TYPE_CHECKING:
    from policy_engine.plan.output_checks import RuleCheck

QUERY = 'policy-engine query "SELECT ..." --policy POLICY --assignee IRI --data IRI=PATH'


def planned_checks_json(checks: "Sequence[RuleCheck]") -> dict[str, Any]:
    """Return the permissions to read what passes a check as JSON, and the commands."""
    rules = [{"rule": one.rule.label(), **check_json(one.check)} for one in checks]
    answer, costs = f"{QUERY} --ledger FILE", f"{QUERY} --alternatives"
    return {"outputs": [], "checks": rules, "answer": answer, "costs": costs}


def planned_checks_lines(checks: "Sequence[RuleCheck]") -> Iterator[str]:
    """Yield what a policy lets be read, what to run, and what tells the owner the costs of it."""
    yield "nothing is made: answers to queries may be read that pass a check"
    for one in checks:
        check = one.check
        unit = f"units of {terms.compact(check.unit)}" if check.unit else "rows as units"
        yield f"  {one.rule.label()}: {check.profile.title}, {unit}"
        yield f"    cells that do not pass: {check.mitigation}; secondary: {check.secondary}"
        yield f"    earlier answers that count: those of the same {check.ledger_scope}"
    yield f"to ask: {QUERY} --ledger FILE"
    yield f"for the owner, what protecting an answer would cost: {QUERY} --alternatives"
