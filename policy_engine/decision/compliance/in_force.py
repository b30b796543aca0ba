"""Which policies of a text are no longer in force: their permissions have no effect."""

from collections.abc import Iterator, Mapping, Sequence

from policy_engine import terms
from policy_engine.decision.compliance.graph import StatementGraph, format_term
from policy_engine.decision.compliance.names import REPLACED
from policy_engine.errors import Place, PolicyError, Problem, RequestError
from policy_engine.policy.collecting.ending import ended
from policy_engine.policy.model import Policy
from policy_engine.policy.structure import INHERIT


def ended_policies(
    policies: Sequence[Policy], text: StatementGraph, world: StatementGraph
) -> Mapping[str, str]:
    """Return the policies that are no longer in force, by uid, each with the reason.

    One was replaced, as its text or the world says, inherits from one that was, or ended with
    another one (`pe:endsWith`), as in decisions. Raises PolicyError (P006) or RequestError (D003)
    for a rule that is said to be replaced.
    """
    replaced = {**dict(_replaced(world)), **dict(_replaced(text))}
    reasons = {uid: f"it was replaced by {by}" for uid, by in replaced.items()}
    children: dict[str, list[str]] = {}
    # Sorted, so that the reasons do not depend on the order of the statements.
    for child, parent in sorted(text.edges(INHERIT)):
        children.setdefault(parent, []).append(child)
    queue = sorted(reasons)
    for uid in queue:
        for child in (one for one in children.get(uid, ()) if one not in reasons):
            reasons[child] = f"it inherits from {uid}, which is no longer in force"
            queue.append(child)
    _refuse_replaced_rules(policies, text, world)
    standing = [one for one in policies if one.uid not in reasons]
    return {**ended(standing), **reasons}


def _refuse_replaced_rules(
    policies: Sequence[Policy], text: StatementGraph, world: StatementGraph
) -> None:
    """Refuse a rule that was replaced, of a policy that was not: it would stay in force."""
    rules = (rule for policy in policies for rule in policy.rules)
    uids = {one.uid for rule in rules for one in (rule, *rule.all_nested_rules())}
    for graph, error, code in ((text, PolicyError, "P006"), (world, RequestError, "D003")):
        for node in graph.having(REPLACED):
            if graph.name(node) in uids:
                message = f"The rule {graph.name(node)!r} is said to be replaced: policies are."
                place = Place("", *graph.spot(node, REPLACED))
                problem = Problem(code, message, "Take the rule out of its policy.", place)
                raise error(problem, source=graph.source)


def _replaced(graph: StatementGraph) -> Iterator[tuple[str, str]]:
    """Yield what a text says to be replaced, each with one of those by which."""
    for node in reversed(graph.having(REPLACED)):
        by = [terms.canonical(format_term(one)) for one in graph.values(node, REPLACED)]
        if by:
            yield graph.name(node), min(by)
