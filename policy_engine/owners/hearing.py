"""Rules that count for nothing, because those who issued them own nothing that they are about."""

from collections.abc import Iterable, Iterator, Sequence

from policy_engine.errors import Problem
from policy_engine.owners.model import Owners, Standing
from policy_engine.policy import Policy, Rule
from policy_engine.policy.hierarchy import Edge
from policy_engine.policy.model import ANONYMIZE, GRANT_USE
from policy_engine.wording import rule_name


def unheard(
    policies: Sequence[Policy], owners: Owners, edges: Iterable[Edge] = ()
) -> Iterator[tuple[Policy, Problem]]:
    """Yield the permissions and prohibitions that can count for none of their targets (W003).

    Each with its policy. Whom somebody lets grant the use of something, or anonymise it, is taken
    to be let, whatever the constraints of that are.
    """
    if not owners:
        return
    standing = Standing(owners, edges)
    granted = [*_granted(policies)]
    for policy in policies:
        for rule in (*policy.permissions, *policy.prohibitions):
            why = _why(rule, standing, granted)
            if why:
                message = f"{rule_name(rule.label(), policy.uid)} does not count: {why}."
                yield policy, Problem("W003", message, "", rule.place)


def _granted(policies: Iterable[Policy]) -> Iterator[str]:
    """Yield whom some policy lets grant the use of something, or anonymise it."""
    for rule in (rule for policy in policies for rule in policy.permissions):
        letting = (GRANT_USE,) if rule.output else (GRANT_USE, ANONYMIZE)
        if any(action.iri in letting for action in rule.actions):
            yield from (party.iri for party in rule.assignees)


def _why(rule: Rule, standing: Standing, granted: Sequence[str]) -> str:
    parties = rule.issued_by
    if not rule.targets or not parties.isdisjoint(granted):
        return ""
    every = [standing.of(target.iri) for target in rule.targets]
    counts = (
        one.prohibit(parties) if rule.kind == "prohibition" else one.permit(parties)
        for one in every
    )
    return "" if any(counts) else every[0].denied(parties)
