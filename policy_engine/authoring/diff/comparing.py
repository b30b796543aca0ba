"""Policies before and after: what changed, and which effect each change can have."""

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import get_args

from policy_engine import terms
from policy_engine.authoring.diff.matching import match
from policy_engine.authoring.diff.model import Change, Way
from policy_engine.authoring.diff.queries import budget_changes, query_changes
from policy_engine.authoring.diff.rules import (
    coverage_changes,
    duty_changes,
    party_changes,
    rule_text,
    term_text,
)
from policy_engine.authoring.diff.transforming import transforms
from policy_engine.policy.hierarchy import PARTS, Hierarchy
from policy_engine.policy.model import GRANT_USE, Policy, Rule, Strategy
from policy_engine.policy.owners import Owners
from policy_engine.policy.owners.hearing import unheard
from policy_engine.policy.wording import INCLUSION, printable

_STRICTNESS = get_args(Strategy)
NOBODY = Owners()
_KINDS = ("permissions", "prohibitions", "obligations")


def changes(
    old: Sequence[Policy], new: Sequence[Policy], owners: Owners = NOBODY
) -> Iterator[Change]:
    """Yield the changes; policies are matched by uid, or a single one with a single one.

    Each tendency is judged as if its change came alone, on data certified under the new text, and
    for policies that are decided together with any others. With `owners`, a change of who speaks
    for an asset may widen and narrow.
    """
    owner_policies = {one.policy for one in owners.statements if one.policy}
    for change in _changes(old, new):
        concerns_owners = owners and _concerns_owners(change, (*old, *new), owner_policies)
        yield change.model_copy(update={"tendency": "either"}) if concerns_owners else change


def _concerns_owners(
    change: Change, policies: Sequence[Policy], owner_policies: Collection[str]
) -> bool:
    """Return whether a change affects who speaks for an asset, so that other rules count after it.

    It does if it changes the issuers of a rule, or a rule by which an owner lets others grant the
    use, or a policy that is its owner's, in `owner_policies`.
    """
    if change.what in ("assigner changed", "inherited policy added", "inherited policy removed"):
        return True
    changed_policies = [policy for policy in policies if printable(policy.uid) == change.policy]
    rules = (
        rule
        for policy in changed_policies
        for rule in policy.permissions
        if change.rule in ("", printable(terms.compact(rule.label())))
    )
    is_grant = any(action.iri == GRANT_USE for rule in rules for action in rule.actions)
    return is_grant or any(policy.uid in owner_policies for policy in changed_policies)


def _changes(old: Sequence[Policy], new: Sequence[Policy]) -> Iterator[Change]:
    before, after = ({policy.uid: policy for policy in some} for some in (old, new))
    if len(before) == len(after) == 1:
        [(one, other)] = zip(old, new, strict=True)
        yield from _policy(one, other)
        return
    for uid in dict.fromkeys((*before, *after)):
        if uid not in after:
            yield from _whole_policy(before[uid], "removed")
        elif uid not in before:
            yield from _whole_policy(after[uid], "added")
        else:
            yield from _policy(before[uid], after[uid])


def notes(old: Sequence[Policy], new: Sequence[Policy], owners: Owners) -> Iterator[str]:
    """Yield the consequences of changes of meaning, and the new rules that do not count."""
    after = {policy.uid: policy.digest for policy in new}
    for policy in old:
        changed = after.get(policy.uid) not in (None, policy.digest)
        if changed and any(rule.output for rule in policy.permissions):
            yield (
                f"What {printable(policy.uid)} means changed: its outputs are readable again "
                "once they are certified under the new policy."
            )
    old_messages = {printable(problem.message) for _, problem in unheard(old, owners.known_by(old))}
    for _, problem in unheard(new, owners.known_by(new)):
        if printable(problem.message) not in old_messages:
            yield printable(problem.message)


def _whole_policy(policy: Policy, verb: str) -> Iterator[Change]:
    uid = printable(policy.uid)
    before, after = (uid, "") if verb == "removed" else ("", uid)
    rules = (*policy.permissions, *policy.prohibitions)
    ways = [_way(rule, Way.GROWS, policy, policy, whole=True) for rule in rules]
    # Its statements about inclusion count for the prohibitions of all other policies.
    # Its budgets bound what the rules of others release, too.
    is_alone = policy.hierarchy == Hierarchy() and not policy.budgets
    way = reduce(or_, ways, Way.SAME if is_alone else Way.BOTH)
    way = way.flipped() if verb == "removed" else way
    yield _change(uid, "", f"policy {verb}", before, after, way)


def _policy(old: Policy, new: Policy) -> Iterator[Change]:
    uid = printable(new.uid)
    for what, before, after, way in _policy_changes(old, new):
        yield _change(uid, "", what, before, after, way)
    for kind in _KINDS:
        yield from _rules(old, new, kind)
    yield from _hierarchy(old, new)


def _policy_changes(old: Policy, new: Policy) -> Iterator[tuple[str, str, str, Way]]:
    if old.uid != new.uid:
        yield "uid changed", printable(old.uid), printable(new.uid), Way.SAME
    if old.type != new.type:
        yield "type changed", term_text(old.type), term_text(new.type), Way.BOTH
    if old.conflict != new.conflict:
        stricter = _STRICTNESS.index(new.conflict) > _STRICTNESS.index(old.conflict)
        way = Way.SHRINKS if stricter else Way.GROWS
        yield "conflict strategy changed", old.conflict, new.conflict, way
    if old.accepted != new.accepted:
        yield "digest of the accepted offer changed", old.accepted, new.accepted, Way.BOTH
    for name in sorted({*old.ends_with} ^ {*new.ends_with}):
        # A policy that is void with another one grants nothing, and may not own its outputs.
        is_gone = name in old.ends_with
        what = f"policy that it ends with {'removed' if is_gone else 'added'}"
        before, after = (term_text(name), "") if is_gone else ("", term_text(name))
        yield what, before, after, Way.BOTH
    yield from query_changes(old.queries, new.queries)
    yield from budget_changes(old.budgets, new.budgets)
    for word, old_names, new_names in (
        ("profile", old.profiles, new.profiles),
        # Inherited rules are among the rules.
        ("inherited policy", old.inherits, new.inherits),
    ):
        for name in sorted({*old_names} - {*new_names}):
            yield f"{word} removed", term_text(name), "", Way.SAME
        for name in sorted({*new_names} - {*old_names}):
            yield f"{word} added", "", term_text(name), Way.SAME


def _rules(old: Policy, new: Policy, kind: str) -> Iterator[Change]:
    uid, matches = printable(new.uid), match(getattr(old, kind), getattr(new, kind))
    for rule in matches.removed:
        way = _way(rule, Way.SHRINKS, old, new, whole=True)
        change, text = f"{rule.kind} removed", rule_text(rule)
        yield _change(uid, rule.label(), change, text, "", way)
    for rule in matches.added:
        way = _way(rule, Way.GROWS, old, new, whole=True)
        yield _change(uid, rule.label(), f"{rule.kind} added", "", rule_text(rule), way)
    # A policy's statements about inclusion affect its permissions; prohibitions go both ways.
    hierarchies = (old.hierarchy, new.hierarchy) if kind == "permissions" else ()
    for one, other in matches.pairs:
        for finding in (*coverage_changes(one, other, hierarchies), *duty_changes(one, other)):
            way = _way(one, finding.way, old, new, whole=finding.concerns_inputs)
            yield _change(uid, other.label(), finding.what, finding.before, finding.after, way)
        for finding in party_changes(one, other):
            yield _change(
                uid, other.label(), finding.what, finding.before, finding.after, finding.way
            )


def _way(rule: Rule, way: Way, old: Policy, new: Policy, *, whole: bool) -> Way:
    """Return how a change in what a rule covers affects what is permitted.

    `whole` says that it is about an entire rule: a rule with an output makes it readable to some,
    and unreadable without a certificate to all.
    """
    if rule.kind == "obligation":
        return Way.SAME
    if rule.kind == "prohibition":
        return way.flipped()
    # More permissions may conflict with more rules and void a policy, and the other way round.
    may_be_void = "invalid" in (old.conflict, new.conflict) and bool(
        old.prohibitions or new.prohibitions
    )
    is_either = may_be_void or (whole and transforms(rule))
    return Way.BOTH if way and is_either else way


def _hierarchy(old: Policy, new: Policy) -> Iterator[Change]:
    """Yield the edges that changed: they widen what permissions and prohibitions cover."""
    uid = printable(new.uid)
    for part in (*PARTS, "implied"):
        old_edges, new_edges = (set(getattr(policy.hierarchy, part)) for policy in (old, new))
        way = Way.SHRINKS if part == "implied" else Way.BOTH
        for edge in sorted(old_edges - new_edges):
            text = _edge(part, edge)
            yield _change(uid, "", f"{_word(part)} removed", text, "", way.flipped())
        for edge in sorted(new_edges - old_edges):
            yield _change(uid, "", f"{_word(part)} added", "", _edge(part, edge), way)


def _word(part: str) -> str:
    return "implication of actions" if part == "implied" else f"inclusion of {part}"


def _edge(part: str, edge: tuple[str, str]) -> str:
    return f"{term_text(edge[0])} {INCLUSION[part]} {term_text(edge[1])}"


def _change(policy: str, rule: str, what: str, before: str, after: str, way: Way) -> Change:
    return Change(
        policy=policy,
        rule=printable(terms.compact(rule)),
        what=what,
        before=before,
        after=after,
        tendency=way.tendency(),
    )
