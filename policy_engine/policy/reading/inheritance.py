"""What policies inherit from others (ODRL Information Model 2.2, section 2.9)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from policy_engine.errors import Fix, Place, Problem, did_you_mean, join_names, nearest
from policy_engine.policy.canonical import digest_of_heir
from policy_engine.policy.labels import inherited_uid, labelled
from policy_engine.policy.model import (
    Action,
    Asset,
    Condition,
    Constraint,
    LogicalConstraint,
    Party,
    Policy,
    Rule,
)
from policy_engine.policy.reading.rules import members, with_shared
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, MAX_PROBLEMS, Limits

Places = Mapping[tuple[str, str], Place]
"""Where a policy names a parent, by the uids of both."""
ReplaceText = Callable[[Place, str], Fix | None]
"""How the string at a place is replaced by a text."""
PARENT_HINT = "Give its file: parents=[FILE]."
_Part = TypeVar("_Part", Action, Asset, Party)
_SharedParts = dict[str, tuple[frozenset[str] | None, Rule]]
"""What policies say of all their rules, by their uids, each with who issued that.

None: any issuer, since it was given as a parent, or is in the same text."""


def inherited(
    drafts: Sequence[Policy],
    parents: Sequence[Policy],
    places: Places,
    limits: Limits = DEFAULT_LIMITS,
    replace_text: ReplaceText = lambda _place, _text: None,
    neighbours: Sequence[Policy] = (),
) -> tuple[list[Policy], list[Problem]]:
    """Return policies with all that they inherit, from one another or from the given parents.

    A child has the rules of its parents; what parents and child say of all their rules goes for
    all of these. The status of constraints is not inherited. The problems name parents that are
    not given, circles, and parents with another conflict strategy; with any of them nothing is
    inherited.

    A child speaks for those who issued it, whatever it makes of its parents. Where a parent was
    not given as one but is one of the `neighbours`, anybody could have put it there under that
    uid: permissions of its children are issued only by those who also issued the parent, and
    what it says of all its rules applies to no prohibition or obligation of anybody else.
    """
    own = {policy.uid for policy in drafts}
    neighbours = [policy for policy in neighbours if policy.uid not in own]
    by_uid = {policy.uid: policy for policy in (*parents, *neighbours, *drafts)}
    policies_by_uid = _with_ancestors(drafts, by_uid)
    problems = [*_duplicate_uids((*parents, *neighbours, *drafts), policies_by_uid)]
    problems += [
        *_missing_parents(policies_by_uid, by_uid, places, replace_text),
        *_circles(policies_by_uid, places),
    ]
    problems += _excess_rules(policies_by_uid, limits)
    if problems:
        return list(drafts), problems
    complete: dict[str, Policy] = {}
    stranger_uids = {policy.uid for policy in neighbours} - {policy.uid for policy in parents}
    permitted_issuers: dict[str, frozenset[str] | None] = {}
    shares_by_uid: dict[str, _SharedParts] = {}
    for uid in TopologicalSorter(_graph(policies_by_uid)).static_order():
        draft = policies_by_uid[uid]
        draft_parents = [complete[parent] for parent in dict.fromkeys(draft.inherits)]
        problems += _conflicting_strategies(draft, draft_parents, places)
        permitted_issuers[uid] = _permitted_issuers(draft_parents, permitted_issuers, stranger_uids)
        inherited_shares = _inherited_shares(draft_parents, shares_by_uid)
        complete[uid] = (
            _with_parents(draft, draft_parents, inherited_shares, permitted_issuers[uid])
            if draft_parents
            else draft
        )
        issuers = draft.issued_by if uid in stranger_uids else None
        shares_by_uid[uid] = {
            **({uid: (issuers, draft.shared)} if members(draft.shared) else {}),
            **inherited_shares,
        }
    return [complete[draft.uid] for draft in drafts], problems


def _permitted_issuers(
    parents: Sequence[Policy],
    permitted_issuers: Mapping[str, frozenset[str] | None],
    stranger_uids: Collection[str],
) -> frozenset[str] | None:
    """Return who may issue the permissions of a child of some parents; None: whom it names."""
    issuer_sets = [permitted_issuers[parent.uid] for parent in parents]
    issuer_sets += [parent.issued_by for parent in parents if parent.uid in stranger_uids]
    restricted = [limit for limit in issuer_sets if limit is not None]
    return frozenset.intersection(*restricted) if restricted else None


def _inherited_shares(
    parents: Sequence[Policy], shares_by_uid: Mapping[str, _SharedParts]
) -> _SharedParts:
    """Return what all that is above a policy shares with its heirs, the nearest first."""
    nearest_shares: _SharedParts = {}
    for parent in parents:
        nearest_shares |= {
            uid: share
            for uid, share in shares_by_uid[parent.uid].items()
            if uid not in nearest_shares
        }
    return nearest_shares


def _with_ancestors(drafts: Sequence[Policy], policies: Mapping[str, Policy]) -> dict[str, Policy]:
    """Return the drafts and all that they inherit from, near or far, by uid."""
    policies_by_uid, queue = {}, [draft.uid for draft in drafts]
    for uid in queue:
        if uid in policies and uid not in policies_by_uid:
            policies_by_uid[uid] = policies[uid]
            queue += policies[uid].inherits
    return policies_by_uid


def _graph(policies: Mapping[str, Policy]) -> dict[str, list[str]]:
    return {
        uid: [parent for parent in policy.inherits if parent in policies]
        for uid, policy in policies.items()
    }


def _duplicate_uids(
    policies: Sequence[Policy], policies_by_uid: Mapping[str, Policy]
) -> Iterator[Problem]:
    """Yield the policies that are not the only one with their uid."""
    for policy in policies:
        other = policies_by_uid.get(policy.uid, policy)
        if (other.digest, other.place) != (policy.digest, policy.place):
            message = f"Two policies have the uid {policy.uid!r}."
            yield Problem("D002", message, "Give each its own.", other.place)


def _missing_parents(
    policies_by_uid: Mapping[str, Policy],
    by_uid: Mapping[str, Policy],
    places: Places,
    replace_text: ReplaceText,
) -> Iterator[Problem]:
    for policy in policies_by_uid.values():
        for uid in (uid for uid in dict.fromkeys(policy.inherits) if uid not in by_uid):
            other_uids = sorted(by_uid.keys() - {policy.uid})
            names = join_names(other_uids) if other_uids else "no other policy"
            message = f"{policy.uid!r} inherits from {uid!r}, which is not given. Given: {names}."
            hint = did_you_mean(uid, other_uids) or PARENT_HINT
            place = places.get((policy.uid, uid), policy.place)
            yield Problem(
                "P011", message, hint, place, replace_text(place, nearest(uid, other_uids))
            )


def _circles(policies_by_uid: Mapping[str, Policy], places: Places) -> Iterator[Problem]:
    """Yield the circles of policies, each of them once."""
    graph = _graph(policies_by_uid)
    for _ in range(MAX_PROBLEMS):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            # Each policy of the way is a parent of the one after it.
            path = error.args[1][::-1]
            circle = " from ".join(map(repr, path))
            message = f"A policy does not inherit from itself. Given: {circle}."
            place = places.get((path[0], path[1]), policies_by_uid[path[0]].place)
            yield Problem("P011", message, "", place)
            graph[path[0]].remove(path[1])
        else:
            return


def _excess_rules(policies_by_uid: Mapping[str, Policy], limits: Limits) -> Iterator[Problem]:
    """Yield where policies would inherit more rules than are allowed."""
    try:
        order = [*TopologicalSorter(_graph(policies_by_uid)).static_order()]
    except CycleError:
        return
    rule_counts: dict[str, int] = {}
    total = 0
    for uid in order:
        inherited_counts = [
            rule_counts.get(parent, 0) for parent in dict.fromkeys(policies_by_uid[uid].inherits)
        ]
        rule_counts[uid] = len(policies_by_uid[uid].rules) + sum(inherited_counts)
        total += sum(inherited_counts)
        if total > limits.inherited:
            message = f"The policies inherit too many rules. {limits.inherited:,} are allowed."
            yield Problem("J003", message, "", policies_by_uid[uid].place)
            return


def _conflicting_strategies(
    policy: Policy, parents: Sequence[Policy], places: Places
) -> Iterator[Problem]:
    """Yield the parents under another conflict strategy, said or by default (section 2.10).

    A child that names none has that of its parents.
    """
    all_policies = [*([policy] if policy.names_conflict else []), *parents]
    for first, other in ((all_policies[0], one) for one in all_policies[1:]):
        if other.conflict != first.conflict:
            message = (
                f"Inherited together, {first.uid!r} has the conflict strategy {first.conflict!r} "
                f"and {other.uid!r} {other.conflict!r}: the policy is void."
            )
            place = places.get((policy.uid, other.uid), policy.place)
            yield Problem("P011", message, "Use the same strategy in both.", place)


def _with_parents(
    policy: Policy,
    parents: Sequence[Policy],
    inherited_shares: _SharedParts,
    permitted_issuers: frozenset[str] | None,
) -> Policy:
    shared = _shared_rule(policy, inherited_shares)
    conflict = policy.conflict if policy.names_conflict else parents[0].conflict
    hierarchy = policy.hierarchy.joined(parent.hierarchy for parent in parents)
    kinds: dict[str, Any] = {
        kind: tuple(_merged_rules(kind, policy, parents, inherited_shares, permitted_issuers))
        for kind in ("permissions", "prohibitions", "obligations")
    }
    complete = replace(
        policy,
        shared=shared,
        conflict=conflict,
        hierarchy=hierarchy,
        ends_with=tuple(
            dict.fromkeys(name for one in (policy, *parents) for name in one.ends_with)
        ),
        queries=tuple(dict.fromkeys(one for owner in (policy, *parents) for one in owner.queries)),
        budgets=tuple(dict.fromkeys(one for owner in (policy, *parents) for one in owner.budgets)),
        digest=digest_of_heir(policy, parents, conflict),
        text=policy,
        **kinds,
    )
    return labelled(complete)


def _shared_rule(
    policy: Policy, inherited_shares: _SharedParts, issuers: frozenset[str] | None = None
) -> Rule:
    """Return what goes for the rules of a policy, by what it says and what is handed down to it.

    With `issuers`, the issuers of a rule, what others put beside the policy does not go for that:
    an assignee narrows a prohibition, and a target takes it elsewhere.
    """
    shared = policy.shared
    for share_issuers, part in inherited_shares.values():
        if issuers is None or share_issuers is None or issuers <= share_issuers:
            shared = with_shared(shared, _renamed_for_child(part, policy, policy))
    return shared


def _merged_rules(
    kind: str,
    policy: Policy,
    parents: Sequence[Policy],
    inherited_shares: _SharedParts,
    permitted_issuers: frozenset[str] | None,
) -> list[Rule]:
    """Return a policy's own rules of a kind, then those of its parents, each of them once."""
    rules: list[Rule] = []
    positions: dict[str, int] = {}
    shared = cache(partial(_shared_rule, policy, inherited_shares))
    for owner in (policy, *parents):
        for rule in getattr(owner, kind):
            issuers = None if rule.kind == "permission" else rule.issued_by
            merged = _child_rule(rule, owner, policy, shared(issuers))
            if permitted_issuers is not None and rule.kind == "permission":
                permitted = tuple(
                    one for one in merged.issuers or () if one.iri in permitted_issuers
                )
                merged = replace(merged, issuers=permitted)
            position = positions.setdefault(merged.uid, len(rules)) if merged.uid else len(rules)
            if position < len(rules) and _is_same_rule(rules[position], merged):
                rules[position] = _merge_issuers(rules[position], merged)
            else:
                rules.append(merged)
    return rules


def _child_rule(rule: Rule, owner: Policy, child: Policy, shared: Rule) -> Rule:
    """Return a rule of a policy, or of one of its parents, as the policy has it."""
    if owner is child:
        return replace(with_shared(rule, shared), issuers=rule.assigners)
    renamed = _renamed_for_child(rule, owner, child)
    complete = with_shared(renamed, shared)
    is_as_it_was = replace(complete, assigners=renamed.assigners) == renamed
    return replace(complete, issuers=_issuers(rule, child, is_as_it_was=is_as_it_was))


def _merge_issuers(rule: Rule, same: Rule) -> Rule:
    """Return a rule that comes two ways: a prohibition is that of both who issued it."""
    if rule.kind == "permission":
        return rule
    issuers = (*(rule.issuers or ()), *(same.issuers or ()))
    return replace(rule, issuers=tuple(dict.fromkeys(issuers)))


def _issuers(rule: Rule, child: Policy, *, is_as_it_was: bool) -> tuple[Party, ...]:
    """Return who issues a rule that a child inherits: those who issued the child.

    It adds to what its parents say, and they did not issue that. A prohibition is its issuer's
    all the same where the child adds nothing to it, or names him itself: it is not to be lost.
    """
    own = child.shared.assigners
    if rule.kind == "permission":
        return own
    named_issuers = {party for one in child.rules for party in one.issued_by}
    rule_issuers = rule.assigners if rule.issuers is None else rule.issuers
    kept_issuers = (one for one in rule_issuers if is_as_it_was or one.iri in named_issuers)
    return tuple(dict.fromkeys((*own, *kept_issuers)))


def _is_same_rule(one: Rule, other: Rule) -> bool:
    """Tell whether two rules say the same, whatever the order of their parts."""
    lists = ("targets", "actions", "assigners", "assignees")
    functions = [{name: set(of) for name, of in rule.functions.items()} for rule in (one, other)]
    same = all(set(getattr(one, name)) == set(getattr(other, name)) for name in lists)
    bare = dict.fromkeys(lists, ())
    return (
        same
        and functions[0] == functions[1]
        and replace(one, functions={}, **bare) == replace(other, functions={}, **bare)  # type: ignore[arg-type]
    )


def _renamed_for_child(rule: Rule, parent: Policy, child: Policy) -> Rule:
    """Return a rule as a child has it: named after its parent, at the child's place."""
    uid = inherited_uid(rule, parent)
    inner: dict[str, Any] = {
        name: tuple(_renamed_for_child(one, parent, child) for one in getattr(rule, name))
        for name in ("duties", "remedies", "consequences")
    }
    parts: dict[str, Any] = {
        name: _fresh(getattr(rule, name))
        for name in ("targets", "actions", "assigners", "assignees")
    }
    functions = {prop: _fresh(parties) for prop, parties in rule.functions.items()}
    constraints = tuple(map(_without_status, rule.constraints))
    return replace(
        rule,
        uid=uid,
        constraints=constraints,
        functions=functions,
        place=child.place,
        **parts,
        **inner,
    )


def _fresh(parts: tuple[_Part, ...]) -> tuple[_Part, ...]:
    """Return parts of a rule whose refinements have no status."""
    if not any(part.refinements for part in parts):
        return parts
    return tuple(
        replace(part, refinements=tuple(map(_without_status, part.refinements))) for part in parts
    )


def _without_status(condition: Condition) -> Condition:
    if isinstance(condition, Constraint):
        return replace(condition, status=None)
    if isinstance(condition, LogicalConstraint):
        return replace(condition, operands=tuple(map(_without_status, condition.operands)))
    return condition
