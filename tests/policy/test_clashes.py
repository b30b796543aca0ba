from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import terms
from policy_engine.errors import Place
from policy_engine.policy import Action, Asset, Hierarchy, Party, Policy, Rule
from policy_engine.policy.clashes import clashes, clashing, overlap

READ, USE, SELL = (Action(f"{terms.ODRL}{name}") for name in ("read", "use", "sell"))
T = Asset("http://e.org/T")
PERMISSION = Rule("permission", (T,), (READ,), "http://e.org/may", place=Place("", 3))
PROHIBITION = Rule("prohibition", (T,), (READ,), place=Place("/prohibition", 9, 4))
FAMILY = Hierarchy(
    party=(("http://e.org/alice", "http://e.org/staff"),),
    purpose=(("http://e.org/mail", "http://e.org/marketing"),),
)


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


def clash(**changes):
    return overlap(PERMISSION, replace(PROHIBITION, **changes), FAMILY)


def test_rules_overlap_where_all_parts_are_the_same():
    assert clash()


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
    assert clash(**changes)
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
    assert not clash(**changes)


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


def test_clash_says_which_two_rules_and_where():
    [problem] = clashes(policy((PERMISSION,), (PROHIBITION,)))
    assert (problem.code, problem.place) == ("P010", PROHIBITION.place)
    assert "http://e.org/may permits what prohibition /prohibition prohibits" in problem.message
    assert "The permission is in line 3." in problem.message
    assert '"conflict": "prohibit" or "perm"' in problem.hint


def test_clashes_are_all_reported():
    sell = replace(PERMISSION, actions=(SELL,))
    found = list(clashes(policy((PERMISSION, sell), (PROHIBITION, PROHIBITION))))
    assert len(found) == 2


@pytest.mark.parametrize("rules", [((PERMISSION,), ()), ((), (PROHIBITION,)), ((), ())])
def test_there_is_no_clash_without_both_kinds_of_rules(rules):
    assert list(clashes(policy(*rules))) == []


# -- found without comparing each with each ------------------------------------------------------

NAMES = ("http://e.org", "http://e.org/T", "http://e.org/T/ZIP", "http://e.org/U", "urn:x:y")
MEMBERS = st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple)
EDGES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=3).map(tuple)


def rules(kind):
    def made(targets, assignees):
        return Rule(
            kind, tuple(map(Asset, targets)), (READ,), assignees=tuple(map(Party, assignees))
        )

    return st.lists(st.builds(made, MEMBERS, MEMBERS), max_size=3).map(tuple)


@settings(max_examples=200, deadline=None)
@given(rules("permission"), rules("prohibition"), EDGES, EDGES)
def test_clashing_rules_are_all_that_overlap(permissions, prohibitions, assets, parties):
    hierarchy = Hierarchy(asset=assets, party=parties)
    found = list(clashing(policy(permissions, prohibitions), hierarchy))
    expected = [
        (one, other)
        for one in permissions
        for other in prohibitions
        if overlap(one, other, hierarchy)
    ]
    assert found == expected


def test_many_rules_about_assets_of_one_host_are_soon_compared():
    some = tuple(replace(PERMISSION, targets=(Asset(f"http://e.org/{n}"),)) for n in range(3000))
    others = tuple(
        replace(PROHIBITION, targets=(Asset(f"http://e.org/x{n}"),)) for n in range(3000)
    )
    assert list(clashes(policy(some, others))) == []
