"""Which policies of a text are no longer in force: their permissions have no effect."""

from collections.abc import Iterator, Mapping, Sequence

from policy_engine import terms
from policy_engine.decision.compliance.graph import StatementGraph, shown_term
from policy_engine.decision.compliance.names import REPLACED
from policy_engine.policy.collecting.ending import ended
from policy_engine.policy.model import Policy
from policy_engine.policy.structure import INHERIT


def ended_policies(
    policies: Sequence[Policy], text: StatementGraph, world: StatementGraph
) -> Mapping[str, str]:
    """Return the policies that are no longer in force, by uid, each with the reason.

    One was replaced, as its text or the world says, inherits from one that was, or ended with
    another one (`pe:endsWith`), as in decisions.
    """
    replaced = {**dict(_replaced(world)), **dict(_replaced(text))}
    reasons = {uid: f"it was replaced by {by}" for uid, by in replaced.items()}
    children: dict[str, list[str]] = {}
    for child, parent in text.edges(INHERIT):
        children.setdefault(parent, []).append(child)
    queue = [*reasons]
    for uid in queue:
        for child in (one for one in children.get(uid, ()) if one not in reasons):
            reasons[child] = f"it inherits from {uid}, which is no longer in force"
            queue.append(child)
    standing = [one for one in policies if one.uid not in reasons]
    return {**ended(standing), **reasons}


def _replaced(graph: StatementGraph) -> Iterator[tuple[str, str]]:
    """Yield what a text says to be replaced, each with the first by what."""
    for node in reversed(graph.having(REPLACED)):
        by = [shown_term(one) for one in graph.values(node, REPLACED)]
        if by:
            yield graph.name(node), terms.canonical(by[0])
