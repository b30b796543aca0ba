"""The part of a policy's vocabularies to draw: everything above the names it uses."""

from collections.abc import Iterator
from dataclasses import replace

from policy_engine.policy.hierarchy import PARTS, Hierarchy, Part
from policy_engine.policy.model import Policy, Rule


def prune_vocabulary(policy: Policy) -> Policy:
    """Return a policy whose hierarchy has its own edges and those above names in its rules.

    A vocabulary may have a thousand terms, but the picture is of a policy.
    """
    if not policy.vocabulary:
        return policy
    vocabulary, hierarchy = policy.vocabulary.hierarchy, policy.hierarchy
    edges = {}
    for part in PARTS:
        ancestors = {
            up for name in _part_names(policy.rules, part) for up in hierarchy.wider(part, name)
        }
        own = set(getattr(hierarchy, part)) - set(getattr(vocabulary, part))
        kept_edges = (
            edge for edge in getattr(hierarchy, part) if edge in own or edge[0] in ancestors
        )
        edges[part] = tuple(kept_edges)
    actions = {*_part_names(policy.rules, "action")}
    own = set(hierarchy.implied) - set(vocabulary.implied)
    implied = tuple(edge for edge in hierarchy.implied if edge in own or edge[0] in actions)
    return replace(policy, hierarchy=Hierarchy(**edges, implied=implied))


def _part_names(rules: tuple[Rule, ...], part: Part) -> Iterator[str]:
    """Yield the names of a part in rules and in their duties."""
    for rule in rules:
        members = {
            "party": [one.iri for one in rule.assignees],
            "asset": [*(one.iri for one in rule.targets), *filter(None, [rule.output])],
            "action": [one.iri for one in rule.actions],
            "purpose": rule.purposes,
        }
        yield from members[part]
        yield from _part_names(rule.nested_rules, part)
