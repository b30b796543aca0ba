"""What of its vocabularies a policy is drawn with: the ways up from what it names."""

from collections.abc import Iterator
from dataclasses import replace

from policy_engine.policy.hierarchy import PARTS, Hierarchy, Part
from policy_engine.policy.model import Policy, Rule


def as_drawn(policy: Policy) -> Policy:
    """Return a policy whose hierarchy is its own and what is above the names in its rules.

    A vocabulary may have a thousand terms; a picture is of a policy.
    """
    if not policy.vocabulary:
        return policy
    given, whole = policy.vocabulary.hierarchy, policy.hierarchy
    edges = {}
    for part in PARTS:
        shown = {up for name in _named(policy.rules, part) for up in whole.wider(part, name)}
        own = set(getattr(whole, part)) - set(getattr(given, part))
        found = (edge for edge in getattr(whole, part) if edge in own or edge[0] in shown)
        edges[part] = tuple(found)
    actions = {*_named(policy.rules, "action")}
    own = set(whole.implied) - set(given.implied)
    implied = tuple(edge for edge in whole.implied if edge in own or edge[0] in actions)
    return replace(policy, hierarchy=Hierarchy(**edges, implied=implied))


def _named(rules: tuple[Rule, ...], part: Part) -> Iterator[str]:
    """Yield what rules, and what hangs on them, name of a part."""
    for rule in rules:
        members = {
            "party": [one.iri for one in rule.assignees],
            "asset": [*(one.iri for one in rule.targets), *filter(None, [rule.output])],
            "action": [one.iri for one in rule.actions],
            "purpose": rule.purposes,
        }
        yield from members[part]
        yield from _named(rule.within, part)
