"""What changed in a rule, and whether it covers more or less as a result."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from policy_engine import terms
from policy_engine.authoring.diff.bounds import way_of
from policy_engine.authoring.diff.matching import match
from policy_engine.authoring.diff.meaning import condition_key, flat, part_key
from policy_engine.authoring.diff.model import Way
from policy_engine.authoring.diff.transforming import parameters
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.model import (
    ANONYMIZE,
    COUNTS,
    JOINTLY,
    Action,
    Asset,
    Condition,
    Constraint,
    Party,
    Rule,
)
from policy_engine.policy.wording import condition_text, conditions_text, part_text, printable

Named = Action | Party | Asset


class RuleFinding(NamedTuple):
    """A change of a rule, and its effect on what the rule covers.

    `concerns_inputs` says that it is about the inputs of a transformation.
    """

    what: str
    before: str
    after: str
    way: Way
    concerns_inputs: bool = False


def term_text(iri: str) -> str:
    """Return a term by its compact name, any other IRI unchanged, in printable form."""
    return printable(terms.compact(iri))


def coverage_changes(
    old: Rule, new: Rule, hierarchies: Sequence[Hierarchy]
) -> Iterator[RuleFinding]:
    """Yield changes in the requests that a rule covers, and in the transformation it asks for.

    `hierarchies` are the inclusions stated by both policies, if coverage depends on them.
    """
    parts: tuple[tuple[str, Part, Sequence[Named], Sequence[Named]], ...] = (
        ("assignee", "party", old.assignees, new.assignees),
        ("target", "asset", old.targets, new.targets),
        ("action", "action", old.actions, new.actions),
    )
    for word, part, before, after in parts:
        yield from _members(word, before, after, _inclusion(part, hierarchies))
    old_purposes, new_purposes = (tuple(map(Party, rule.purposes)) for rule in (old, new))
    yield from _members("purpose", old_purposes, new_purposes, _inclusion("purpose", hierarchies))
    yield from _conditions("constraint", old.constraints, new.constraints)
    if old.output != new.output:
        yield RuleFinding("output changed", term_text(old.output), term_text(new.output), Way.BOTH)


def party_changes(old: Rule, new: Rule) -> Iterator[RuleFinding]:
    """Yield changes beside what a rule covers: its issuers, and other parties in it."""
    yield from _party_list_changes("assigner", old.assigners, new.assigners)
    for function in sorted({*old.functions, *new.functions}):
        old_parties, new_parties = old.functions.get(function, ()), new.functions.get(function, ())
        yield from _party_list_changes(term_text(function), old_parties, new_parties)
    if old.uid != new.uid:
        way = Way.BOTH if _is_counted(old) or _is_counted(new) else Way.SAME
        before, after = (term_text(rule.uid) for rule in (old, new))
        yield RuleFinding("uid changed", before, after, way)


def duty_changes(old: Rule, new: Rule) -> Iterator[RuleFinding]:
    """Yield changes in the duties, remedies and consequences of a rule.

    Another duty narrows what is covered, since it must be fulfilled first. Remedies and
    consequences become due when it is too late to permit anything.
    """
    yield from _rules(old.duties, new.duties, added=Way.SHRINKS, removed=Way.GROWS)
    for old_rules, new_rules in (
        (old.remedies, new.remedies),
        (old.consequences, new.consequences),
    ):
        yield from _rules(old_rules, new_rules, added=Way.SAME, removed=Way.SAME)


def rule_text(rule: Rule) -> str:
    """Return a rule as a sentence."""
    parties = ", ".join(part_text(one, term_text) for one in rule.assignees)
    parts = [parties or "anybody", ", ".join(part_text(one, term_text) for one in rule.actions)]
    parts.append(", ".join(part_text(one, term_text) for one in rule.targets) or "any asset")
    if rule.purposes:
        parts.append(f"for {' or '.join(map(term_text, rule.purposes))}")
    if rule.constraints:
        parts.append(f"if {conditions_text(rule.constraints, term_text)}")
    if rule.output:
        parts.append(f"to {term_text(rule.output)}")
    return " ".join(filter(None, parts))


def _rules(
    old: Sequence[Rule], new: Sequence[Rule], *, added: Way, removed: Way
) -> Iterator[RuleFinding]:
    matches = match(old, new)
    for rule in matches.removed:
        yield RuleFinding(f"{rule.kind} removed", rule_text(rule), "", removed)
    for rule in matches.added:
        yield RuleFinding(f"{rule.kind} added", "", rule_text(rule), added)
    for one, other in matches.pairs:
        for finding in (
            *coverage_changes(one, other, ()),
            *party_changes(one, other),
            *duty_changes(one, other),
        ):
            text = f"{finding.what} of the {one.kind} {one.label()}"
            way = Way.BOTH if added and finding.way else Way.SAME
            yield RuleFinding(printable(text), finding.before, finding.after, way)


def _party_list_changes(
    word: str, old: Sequence[Party], new: Sequence[Party]
) -> Iterator[RuleFinding]:
    if {*map(part_key, old)} != {*map(part_key, new)}:
        before, after = (
            ", ".join(part_text(one, term_text) for one in parties) for parties in (old, new)
        )
        yield RuleFinding(f"{word} changed", before, after, Way.SAME)


def _is_counted(rule: Rule) -> bool:
    """Return whether something is known by the uid of the rule: a count, or a state of a duty."""
    names = {one.left_operand for c in rule.constraints for one in c.constraints()}
    return rule.kind == "duty" or bool(rule.duties) or not names.isdisjoint(COUNTS)


# -- parties, assets, actions and purposes ----------------------------------------------------

_Includes = Callable[[str, str], bool]


def _inclusion(part: Part, hierarchies: Sequence[Hierarchy]) -> _Includes:
    """Return a function that says whether, in both states, one name covers all that another covers.

    A column does not count as covered with its dataset: names below it are not.
    """

    def includes(narrow: str, wide: str) -> bool:
        ways = [one.path(part, narrow, wide) for one in hierarchies]
        if part == "asset":
            ways = [
                w if _has_only_edges(h, w) else () for h, w in zip(hierarchies, ways, strict=True)
            ]
        return bool(ways) and all(ways)

    return includes


def _has_only_edges(hierarchy: Hierarchy, way: tuple[str, ...]) -> bool:
    """Return whether every step of a path is an edge, none by the name alone."""
    return all(edge in hierarchy.asset for edge in pairwise(way))


def _members(
    word: str, old: Sequence[Named], new: Sequence[Named], includes: _Includes
) -> Iterator[RuleFinding]:
    """Yield changes in alternatives; if there are none, everything is covered."""
    inputs = word in ("target", "action")
    before, after = ({part_key(one): one for one in some} for some in (old, new))
    removed = [one for key, one in before.items() if key not in after]
    added = [one for key, one in after.items() if key not in before]
    for one, other in _refinement_pairs(removed, added):
        removed.remove(one)
        added.remove(other)
        yield from _refinements(word, one, other)
    if bool(old) != bool(new):
        yield _openness_change(word, old, new)
        return
    for one in removed:
        way = Way.SAME if _is_within(one, new, includes) else Way.SHRINKS
        yield RuleFinding(f"{word} removed", part_text(one, term_text), "", way, inputs)
    for one in added:
        way = Way.SAME if _is_within(one, old, includes) else Way.GROWS
        yield RuleFinding(f"{word} added", "", part_text(one, term_text), way, inputs)


def _openness_change(word: str, old: Sequence[Named], new: Sequence[Named]) -> RuleFinding:
    before, after = (
        ", ".join(part_text(one, term_text) for one in some) or f"any {word}" for some in (old, new)
    )
    way = Way.SHRINKS if new else Way.GROWS
    return RuleFinding(f"{word} changed", before, after, way, concerns_inputs=word == "target")


def _is_within(one: Named, others: Sequence[Named], includes: _Includes) -> bool:
    """Return whether something is covered by one of several others without refinements."""
    return any(not other.refinements and includes(one.iri, other.iri) for other in others)


def _refinement_pairs(removed: list[Named], added: list[Named]) -> list[tuple[Named, Named]]:
    """Return the pairs with the same name and different refinements; each name once."""
    pairs = []
    for one in removed:
        same = [other for other in added if other.iri == one.iri]
        if len(same) == 1 and sum(other.iri == one.iri for other in removed) == 1:
            pairs.append((one, same[0]))
    return pairs


def _refinements(word: str, old: Named, new: Named) -> Iterator[RuleFinding]:
    name = f"refinement of the {word} {term_text(old.iri)}"
    if isinstance(old, Action) and old.iri == ANONYMIZE:
        yield from (
            RuleFinding(*finding) for finding in parameters(old.refinements, new.refinements)
        )
        return
    yield from _conditions(name, old.refinements, new.refinements)


# -- conditions -------------------------------------------------------------------------------


def _conditions(
    word: str, old: Iterable[Condition], new: Iterable[Condition]
) -> Iterator[RuleFinding]:
    """Yield changes in conditions that must all hold.

    One on joint reading narrows a permission, but may let it mix outputs with their inputs.
    """
    before, after = ({condition_key(one): one for one in flat(some)} for some in (old, new))
    removed = [one for key, one in before.items() if key not in after]
    added = [one for key, one in after.items() if key not in before]
    for one, other in _operand_pairs(removed, added):
        removed.remove(one)
        added.remove(other)
        texts = condition_text(one, term_text), condition_text(other, term_text)
        way = Way.BOTH if _may_mix(one) or _may_mix(other) else way_of(one, other)
        yield RuleFinding(f"{word} changed", *texts, way)
    for one in removed:
        way = Way.BOTH if _may_mix(one) else Way.GROWS
        yield RuleFinding(f"{word} removed", condition_text(one, term_text), "", way)
    for one in added:
        way = Way.BOTH if _may_mix(one) else Way.SHRINKS
        yield RuleFinding(f"{word} added", "", condition_text(one, term_text), way)


def _may_mix(condition: Condition) -> bool:
    return any(leaf.left_operand == JOINTLY for leaf in condition.constraints())


def _operand_pairs(
    removed: list[Condition], added: list[Condition]
) -> list[tuple[Condition, Condition]]:
    """Return the pairs to report as changed: the only ones with their left operand."""
    pairs = []
    for one in removed:
        same = [other for other in added if _operand(other) == _operand(one)]
        if len(same) == 1 and sum(_operand(other) == _operand(one) for other in removed) == 1:
            pairs.append((one, same[0]))
    return pairs


def _operand(condition: Condition) -> tuple[str, ...]:
    if isinstance(condition, Constraint):
        ends = ("lt", "lteq"), ("gt", "gteq")
        name = terms.local_name(condition.operator)
        side = next((names[0] for names in ends if name in names), "")
        return (condition.left_operand, side)
    return (condition.operator,)
