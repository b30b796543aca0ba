from dataclasses import replace
from itertools import pairwise
from time import process_time

import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import terms
from policy_engine.errors import Place
from policy_engine.policy import Action, Asset, Constraint, Hierarchy, Party, Policy, Rule, Value
from policy_engine.policy.validation import conflicts as module
from policy_engine.policy.validation.conflicts import Overlaps, conflicting_pairs, conflicts
from policy_engine.policy.validation.disjointness import DisjointConditions

READ, USE, SELL = (Action(f"{terms.ODRL}{name}") for name in ("read", "use", "sell"))
T = Asset("http://e.org/T")
PERMISSION = Rule("permission", (T,), (READ,), "http://e.org/may", place=Place("", 3))
PROHIBITION = Rule("prohibition", (T,), (READ,), place=Place("/prohibition", 9, 4))
FAMILY = Hierarchy(
    party=(("http://e.org/alice", "http://e.org/staff"),),
    purpose=(("http://e.org/mail", "http://e.org/marketing"),),
)


def bound(operator, value):
    return Constraint(f"{terms.ODRL}count", f"{terms.ODRL}{operator}", (Value(value),))


def policy(permissions, prohibitions, hierarchy=FAMILY):
    return Policy(
        uid="http://e.org/policy",
        type=f"{terms.ODRL}Set",
        conflict="invalid",
        digest="",
        permissions=permissions,
        prohibitions=prohibitions,
        hierarchy=hierarchy,
    )


def overlap(one, other, hierarchy=FAMILY):
    return [*Overlaps((one,), (other,), hierarchy).pairs()] == [(one, other)]


def has_conflict(**changes):
    return overlap(PERMISSION, replace(PROHIBITION, **changes), FAMILY)


def test_rules_overlap_where_all_parts_are_the_same():
    assert has_conflict()


@pytest.mark.parametrize(
    "changes",
    [
        {"targets": (Asset("http://e.org/T/ZIP"),)},
        {"targets": (Asset("http://e.org/U"), T)},
        {"actions": (USE,)},
        {"actions": (SELL, READ)},
        {"assignees": (Party("http://e.org/alice"),)},
        {"purposes": ("http://e.org/mail",)},
    ],
)
def test_rules_overlap_where_one_part_is_wider_or_left_open(changes):
    assert has_conflict(**changes)
    assert overlap(replace(PROHIBITION, **changes), PERMISSION, FAMILY)


@pytest.mark.parametrize(
    "changes",
    [
        {"targets": (Asset("http://e.org/U"),)},
        {"targets": (Asset("http://e.org/TT"),)},
        {"actions": (SELL,)},
    ],
)
def test_rules_do_not_overlap_where_one_part_never_meets(changes):
    assert not has_conflict(**changes)


@pytest.mark.parametrize(
    ("part", "one", "other", "meet"),
    [
        ("assignees", "alice", "staff", True),
        ("assignees", "alice", "alice", True),
        ("assignees", "alice", "bob", False),
        ("purposes", "marketing", "mail", True),
        ("purposes", "mail", "service", False),
    ],
)
def test_rules_overlap_by_the_hierarchy_where_both_name_a_part(part, one, other, meet):
    names = (f"http://e.org/{one}", f"http://e.org/{other}")
    values = map(Party, names) if part == "assignees" else names
    ours, theirs = ((value,) for value in values)
    permission, prohibition = (
        replace(PERMISSION, **{part: ours}),
        replace(PROHIBITION, **{part: theirs}),
    )
    assert overlap(permission, prohibition, FAMILY) is meet


def test_rules_do_not_overlap_where_only_other_parts_of_the_hierarchy_would_join_them():
    permission = replace(PERMISSION, purposes=("http://e.org/alice",))
    prohibition = replace(PROHIBITION, purposes=("http://e.org/staff",))
    assert not overlap(permission, prohibition, FAMILY)


def test_conflict_says_which_two_rules_and_where():
    [problem] = conflicts(policy((PERMISSION,), (PROHIBITION,)))
    assert (problem.code, problem.place) == ("P010", PROHIBITION.place)
    assert "http://e.org/may permits what prohibition /prohibition prohibits" in problem.message
    assert "The permission is in line 3." in problem.message
    assert '"conflict": "prohibit" or "perm"' in problem.hint


def test_conflicts_are_all_reported():
    sell = replace(PERMISSION, actions=(SELL,))
    found = list(conflicts(policy((PERMISSION, sell), (PROHIBITION, PROHIBITION))))
    assert len(found) == 2


@pytest.mark.parametrize("rules", [((PERMISSION,), ()), ((), (PROHIBITION,)), ((), ())])
def test_there_is_no_conflict_without_both_kinds_of_rules(rules):
    assert list(conflicts(policy(*rules))) == []


def test_a_conflict_names_the_narrower_of_what_both_cover():
    column = replace(PROHIBITION, targets=(Asset("http://e.org/U"), Asset("http://e.org/T/ZIP")))
    [problem] = conflicts(policy((PERMISSION,), (column,)))
    assert "Both cover odrl:read on http://e.org/T/ZIP by anybody" in problem.message


def test_more_conflicts_than_are_listed_are_counted(monkeypatch):
    monkeypatch.setattr(module, "MAX_CONFLICTS", 5)
    last = replace(PROHIBITION, place=Place("", 20))
    found = conflicts(policy((PERMISSION,) * 3, (PROHIBITION, last)))
    assert len(found) == 6
    assert found[-1].message.startswith("1 more pair of a permission and a prohibition conflict.")
    assert found[-1].place == last.place
    assert len(conflicts(policy((PERMISSION,) * 2, (PROHIBITION, last)))) == 4


def test_conflicts_of_several_policies_are_counted_together(monkeypatch):
    monkeypatch.setattr(module, "MAX_CONFLICTS", 3)
    one = policy((PERMISSION,) * 2, (PROHIBITION,))
    found = conflicts(one, one, one)
    assert [problem.message.split()[0] for problem in found[3:]] == ["3"]


# -- found without comparing each with each ------------------------------------------------------

NAMES = ("http://e.org", "http://e.org/T", "http://e.org/T/ZIP", "http://e.org/U", "urn:x:y")
MEMBERS = st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple)
ACTIONS = ("read", "use", "sell", "transfer", "move")
EDGES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=4).map(tuple)
BOUNDS = st.lists(
    st.builds(
        lambda operator, value: Constraint(
            f"{terms.ODRL}count", f"{terms.ODRL}{operator}", (Value(value),)
        ),
        st.sampled_from(["lt", "gteq", "eq", "neq"]),
        st.integers(0, 2),
    ),
    max_size=2,
).map(tuple)


def rules(kind):
    def made(targets, assignees, purposes, actions, bounds):
        return Rule(
            kind,
            tuple(map(Asset, targets)),
            tuple(Action(f"{terms.ODRL}{name}") for name in actions),
            assignees=tuple(map(Party, assignees)),
            purposes=purposes,
            constraints=bounds,
        )

    actions = st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=2).map(tuple)
    return st.lists(st.builds(made, MEMBERS, MEMBERS, MEMBERS, actions, BOUNDS), max_size=4).map(
        tuple
    )


def slowly(one, other, hierarchy):
    """Tell whether two rules overlap, by comparing all that they name."""

    def meet(part, some, others):
        pairs = [(a, b) for a in some for b in others]
        return not some or not others or any(hierarchy.overlaps(part, a, b) for a, b in pairs)

    def names(members):
        return [member.iri for member in members]

    actions = names(one.actions)
    needed = [*actions, *(need for action in actions for need in hierarchy.needs(action))]
    return (
        meet("party", names(one.assignees), names(other.assignees))
        and meet("asset", names(one.targets), names(other.targets))
        and meet("action", needed, names(other.actions))
        and meet("purpose", one.purposes, other.purposes)
        and not DisjointConditions([other.constraints]).disjoint_sets(one.constraints)
    )


@settings(max_examples=examples(80), deadline=None)
@given(rules("permission"), rules("prohibition"), EDGES, EDGES, EDGES)
def test_conflicting_pairs_are_all_that_overlap(
    permissions, prohibitions, assets, parties, purposes
):
    implied = ((f"{terms.ODRL}read", f"{terms.ODRL}sell"),) if assets else ()
    hierarchy = Hierarchy(asset=assets, party=parties, purpose=purposes, implied=implied)
    found = list(conflicting_pairs(policy(permissions, prohibitions), hierarchy))
    expected = [
        (one, other)
        for one in permissions
        for other in prohibitions
        if slowly(one, other, hierarchy)
    ]
    assert found == expected
    assert Overlaps(permissions, prohibitions, hierarchy).count() == len(expected)


def many(kind, *ways):
    """Return thousands of rules about one asset, every second of them changed in another way."""
    return tuple(replace(kind, **ways[n % len(ways)](n)) for n in range(4_000))


def of(kind, number):
    return f"http://e.org/{kind}/{number}"


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "way",
    [
        lambda kind, n: {"targets": (Asset(of(kind, n)),)},
        lambda kind, n: {"assignees": (Party(of(kind, n)),)},
        lambda kind, n: {"purposes": (of(kind, n),)},
        lambda kind, n: {"actions": (Action(of(kind, n)),)},
        lambda kind, n: {"constraints": (bound("lt" if kind == "p" else "gteq", n // 4_001),)},
    ],
)
def test_thousands_of_rules_that_never_meet_are_soon_told_apart(way):
    some = many(PERMISSION, lambda n: way("p", n))
    others = many(PROHIBITION, lambda n: way("q", n))
    start = process_time()
    assert conflicts(policy(some, others)) == []
    assert process_time() - start < 10


def test_rules_that_differ_here_in_one_part_and_there_in_another_are_soon_told_apart():
    some = many(PERMISSION, lambda _: {"purposes": ("urn:p:a",), "assignees": (Party("urn:b:a"),)})
    others = many(
        PROHIBITION,
        lambda n: {"purposes": ("urn:p:a",), "assignees": (Party(of("other", n)),)},
        lambda n: {"purposes": (of("other", n),), "assignees": (Party("urn:b:a"),)},
    )
    start = process_time()
    assert conflicts(policy(some, others)) == []
    assert process_time() - start < 10


def test_long_chains_and_circles_of_parties_are_walked_once():
    names = [of("group", n) for n in range(10_000)]
    chain = Hierarchy(party=tuple(pairwise([*names, names[0]])))
    some, others = (
        tuple(
            replace(kind, assignees=(Party(names[n * 3 + more]),), purposes=(f"urn:p:{more}",))
            for n in range(3_000)
        )
        for more, kind in enumerate((PERMISSION, PROHIBITION))
    )
    start = process_time()
    assert conflicts(policy(some, others, chain)) == []
    assert process_time() - start < 10


def test_rules_with_thousands_of_names_that_conflict_are_soon_reported():
    def named(kind, name):
        assets = (*(Asset(of(name, n)) for n in range(5_000)), T)
        return (replace(kind, targets=assets),) * 40

    start = process_time()
    assert len(conflicts(policy(named(PERMISSION, "p"), named(PROHIBITION, "q")))) == 1_001
    assert process_time() - start < 10
