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
from policy_engine.policy.syntax.json_ld import MAX_PROBLEMS
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.validation.conflicts import Overlaps

Places = Mapping[tuple[str, str], Place]
"""Where a policy names a parent, by the uids of both."""
Mend = Callable[[Place, str], Fix | None]
"""How a text is put in the place of what stands somewhere."""
GIVE_IT = "Give its file: parents=[FILE]."
_Part = TypeVar("_Part", Action, Asset, Party)
_Shares = dict[str, tuple[frozenset[str] | None, Rule]]
"""What policies say of all their rules, by their uids, each with who issued that.

None: whoever did, since it was given as a parent, or stands in the very text."""


def inherited(
    drafts: Sequence[Policy],
    parents: Sequence[Policy],
    places: Places,
    limits: Limits = DEFAULT_LIMITS,
    mend: Mend = lambda _place, _text: None,
    beside: Sequence[Policy] = (),
) -> tuple[list[Policy], list[Problem]]:
    """Return policies with all that they inherit, from one another or from the given parents.

    A child has the rules of its parents; what parents and child say of all their rules goes for
    all of these. The status of constraints is not inherited. The problems name parents that are
    not given, circles, and parents with another conflict strategy; with any of them nothing is
    inherited.

    A child speaks for those who issued it, whatever it makes of its parents. Where a parent was
    not given as one but lies `beside`, anybody could have put it there under that uid: the
    permissions of its children are issued by those alone who issued the parent as well, and what
    it says of all its rules goes for no prohibition and no obligation of anybody else.
    """
    own = {policy.uid for policy in drafts}
    beside = [policy for policy in beside if policy.uid not in own]
    known = {policy.uid: policy for policy in (*parents, *beside, *drafts)}
    needed = _needed(drafts, known)
    problems = [*_two_alike((*parents, *beside, *drafts), needed)]
    problems += [*_missing(needed, known, places, mend), *_circles(needed, places)]
    problems += _too_many(needed, limits)
    if problems:
        return list(drafts), problems
    complete: dict[str, Policy] = {}
    strangers = {policy.uid for policy in beside} - {policy.uid for policy in parents}
    heard: dict[str, frozenset[str] | None] = {}
    shares: dict[str, _Shares] = {}
    for uid in TopologicalSorter(_graph(needed)).static_order():
        above = [complete[parent] for parent in dict.fromkeys(needed[uid].inherits)]
        problems += _other_strategies(needed[uid], above, places)
        heard[uid] = _heard(above, heard, strangers)
        draft, handed = needed[uid], _handed(above, shares)
        complete[uid] = _joined(draft, above, handed, heard[uid]) if above else draft
        by = draft.issued_by if uid in strangers else None
        shares[uid] = {**({uid: (by, draft.shared)} if members(draft.shared) else {}), **handed}
    return [complete[draft.uid] for draft in drafts], problems


def _heard(
    parents: Sequence[Policy],
    heard: Mapping[str, frozenset[str] | None],
    strangers: Collection[str],
) -> frozenset[str] | None:
    """Return who may issue the permissions of a child of some parents; None: whom it names."""
    limits = [heard[parent.uid] for parent in parents]
    limits += [parent.issued_by for parent in parents if parent.uid in strangers]
    known = [limit for limit in limits if limit is not None]
    return frozenset.intersection(*known) if known else None


def _handed(parents: Sequence[Policy], shares: Mapping[str, _Shares]) -> _Shares:
    """Return what all that is above a policy shares with its heirs, the nearest first."""
    found: _Shares = {}
    for parent in parents:
        found |= {uid: share for uid, share in shares[parent.uid].items() if uid not in found}
    return found


def _needed(drafts: Sequence[Policy], known: Mapping[str, Policy]) -> dict[str, Policy]:
    """Return the drafts and all that they inherit from, near or far, by uid."""
    needed, queue = {}, [draft.uid for draft in drafts]
    for uid in queue:
        if uid in known and uid not in needed:
            needed[uid] = known[uid]
            queue += known[uid].inherits
    return needed


def _graph(policies: Mapping[str, Policy]) -> dict[str, list[str]]:
    return {uid: [up for up in one.inherits if up in policies] for uid, one in policies.items()}


def _two_alike(policies: Sequence[Policy], needed: Mapping[str, Policy]) -> Iterator[Problem]:
    """Yield the policies that are not the only one with their uid."""
    for policy in policies:
        other = needed.get(policy.uid, policy)
        if (other.digest, other.place) != (policy.digest, policy.place):
            message = f"Two policies have the uid {policy.uid!r}."
            yield Problem("D002", message, "Give each its own.", other.place)


def _missing(
    needed: Mapping[str, Policy], known: Mapping[str, Policy], places: Places, mend: Mend
) -> Iterator[Problem]:
    for policy in needed.values():
        for uid in (uid for uid in dict.fromkeys(policy.inherits) if uid not in known):
            others = sorted(known.keys() - {policy.uid})
            given = join_names(others) if others else "no other policy"
            message = f"{policy.uid!r} inherits from {uid!r}, which is not given. Given: {given}."
            hint = did_you_mean(uid, others) or GIVE_IT
            place = places.get((policy.uid, uid), policy.place)
            yield Problem("P011", message, hint, place, mend(place, nearest(uid, others)))


def _circles(needed: Mapping[str, Policy], places: Places) -> Iterator[Problem]:
    """Yield the circles of policies, each of them once."""
    graph = _graph(needed)
    for _ in range(MAX_PROBLEMS):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            # Each policy of the way is a parent of the one after it.
            way = error.args[1][::-1]
            circle = " from ".join(map(repr, way))
            message = f"A policy does not inherit from itself. Given: {circle}."
            place = places.get((way[0], way[1]), needed[way[0]].place)
            yield Problem("P011", message, "", place)
            graph[way[0]].remove(way[1])
        else:
            return


def _too_many(needed: Mapping[str, Policy], limits: Limits) -> Iterator[Problem]:
    """Yield where policies would inherit more rules than are allowed."""
    try:
        order = [*TopologicalSorter(_graph(needed)).static_order()]
    except CycleError:
        return
    rules: dict[str, int] = {}
    total = 0
    for uid in order:
        above = [rules.get(parent, 0) for parent in dict.fromkeys(needed[uid].inherits)]
        rules[uid] = len(needed[uid].rules) + sum(above)
        total += sum(above)
        if total > limits.inherited:
            message = f"The policies inherit too many rules. {limits.inherited:,} are allowed."
            yield Problem("J003", message, "", needed[uid].place)
            return


def _other_strategies(
    policy: Policy, parents: Sequence[Policy], places: Places
) -> Iterator[Problem]:
    """Yield the parents that name another conflict strategy (section 2.10)."""
    stated = [one for one in (policy, *parents) if one.names_conflict]
    for other in stated[1:]:
        if other.conflict != stated[0].conflict:
            message = (
                f"Inherited together, {stated[0].uid!r} has the conflict strategy "
                f"{stated[0].conflict!r} and {other.uid!r} {other.conflict!r}: the policy is void."
            )
            place = places.get((policy.uid, other.uid), policy.place)
            yield Problem("P011", message, "Let them name the same.", place)


def _joined(
    policy: Policy, parents: Sequence[Policy], handed: _Shares, heard: frozenset[str] | None
) -> Policy:
    shared = _shared(policy, handed)
    stated = next((one for one in (policy, *parents) if one.names_conflict), policy)
    hierarchy = policy.hierarchy.joined(parent.hierarchy for parent in parents)
    kinds: dict[str, Any] = {
        kind: tuple(_with_inherited(kind, policy, parents, handed, heard))
        for kind in ("permissions", "prohibitions", "obligations")
    }
    found = replace(
        policy,
        shared=shared,
        conflict=stated.conflict,
        names_conflict=stated.names_conflict,
        hierarchy=hierarchy,
        ends_with=tuple(
            dict.fromkeys(name for one in (policy, *parents) for name in one.ends_with)
        ),
        digest=digest_of_heir(policy, parents, stated.conflict),
        text=policy,
        **kinds,
    )
    return labelled(replace(found, hints=(*policy.hints, *_undone(found, parents))))


def _shared(policy: Policy, handed: _Shares, whose: frozenset[str] | None = None) -> Rule:
    """Return what goes for the rules of a policy, by what it says and what is handed down to it.

    With `whose`, the issuers of a rule, what others put beside the policy does not go for that:
    an assignee narrows a prohibition, and a target takes it elsewhere.
    """
    shared = policy.shared
    for by, part in handed.values():
        if whose is None or by is None or whose <= by:
            shared = with_shared(shared, _handed_down(part, policy, policy))
    return shared


def _undone(policy: Policy, parents: Sequence[Policy]) -> Iterator[Problem]:
    """Yield the parents whose prohibitions yield to permissions, which they themselves did not."""
    for parent in parents if policy.conflict == "perm" else ():
        barred = parent.prohibitions if parent.conflict != "perm" else ()
        overlaps = Overlaps(policy.permissions, barred, policy.hierarchy)
        first = next(overlaps.pairs(), None)
        if first:
            permission, prohibition = first
            count = overlaps.count()
            message = (
                f"{policy.uid!r} undoes what {parent.uid!r} prohibits, by the conflict strategy "
                f"'perm': {permission.where()} permits what {prohibition.where()} prohibits"
                + (f", the first of {count:,} such pairs." if count > 1 else ".")
            )
            hint = 'Say "conflict": "prohibit", or separate the rules, unless this is meant.'
            yield Problem("W002", message, hint, policy.place)


def _with_inherited(
    kind: str,
    policy: Policy,
    parents: Sequence[Policy],
    handed: _Shares,
    heard: frozenset[str] | None,
) -> list[Rule]:
    """Return a policy's own rules of a kind, then those of its parents, each of them once."""
    every: list[Rule] = []
    seen: dict[str, int] = {}
    shared = cache(partial(_shared, policy, handed))
    for owner in (policy, *parents):
        for rule in getattr(owner, kind):
            whose = None if rule.kind == "permission" else rule.issued_by
            found = _as_had(rule, owner, policy, shared(whose))
            if heard is not None and rule.kind == "permission":
                told = tuple(one for one in found.issuers or () if one.iri in heard)
                found = replace(found, issuers=told)
            place = seen.setdefault(found.uid, len(every)) if found.uid else len(every)
            if place < len(every) and _alike(every[place], found):
                every[place] = _of_both(every[place], found)
            else:
                every.append(found)
    return every


def _as_had(rule: Rule, owner: Policy, child: Policy, shared: Rule) -> Rule:
    """Return a rule of a policy, or of one of its parents, as the policy has it."""
    if owner is child:
        return replace(with_shared(rule, shared), issuers=rule.assigners)
    given = _handed_down(rule, owner, child)
    found = with_shared(given, shared)
    is_as_it_was = replace(found, assigners=given.assigners) == given
    return replace(found, issuers=_issuers(rule, child, is_as_it_was=is_as_it_was))


def _of_both(rule: Rule, same: Rule) -> Rule:
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
    named = {party for one in child.rules for party in one.issued_by}
    theirs = rule.assigners if rule.issuers is None else rule.issuers
    kept = (one for one in theirs if is_as_it_was or one.iri in named)
    return tuple(dict.fromkeys((*own, *kept)))


def _alike(one: Rule, other: Rule) -> bool:
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


def _handed_down(rule: Rule, parent: Policy, child: Policy) -> Rule:
    """Return a rule as a child has it: named after its parent, at the child's place."""
    uid = inherited_uid(rule, parent)
    inner: dict[str, Any] = {
        name: tuple(_handed_down(one, parent, child) for one in getattr(rule, name))
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
