import json
from dataclasses import replace

import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_texts import CONTEXT, COUNT, RULE, ex, iris, odrl, refused

from policy_engine.errors import PolicyError
from policy_engine.policy import Limits, load_policy, read_drafts, read_policies, read_policy
from policy_engine.policy.reading.inheritance import inherited

OTHER = {"target": "ex:U", "action": "print"}


def policy(name, *parents, **keys):
    above = {"inheritFrom": [f"ex:{parent}" for parent in parents]} if parents else {}
    return {"@context": CONTEXT, "@type": "Set", "uid": f"ex:{name}", **above, **keys}


def family(*policies):
    """Return policies that are in one text, by the name of each."""
    found = read_policies(json.dumps(policies))
    return {one.uid.removeprefix(ex("")): one for one in found}


def uids(rules):
    return [rule.uid.removeprefix(ex("")) for rule in rules]


# -- rules (ODRL Information Model 2.2, section 2.9) --------------------------------------------


def test_child_has_its_own_rules_and_those_of_its_parents():
    found = family(
        policy("child", "mother", "father", permission={**RULE, "uid": "ex:c"}),
        policy("mother", permission={**OTHER, "uid": "ex:m"}),
        policy("father", prohibition={**OTHER, "uid": "ex:f", "action": "sell"}),
    )
    assert uids(found["child"].permissions) == ["c", "m"]
    assert uids(found["child"].prohibitions) == ["f"]
    assert found["child"].inherits == (ex("mother"), ex("father"))
    assert uids(found["mother"].rules) == ["m"]


def test_inherited_rule_is_named_after_its_parent_and_stands_where_its_child_does():
    found = family(policy("child", "parent", permission=RULE), policy("parent", permission=OTHER))
    own, inherited_one = found["child"].permissions
    assert (own.uid, inherited_one.uid) == ("", ex("parent#permission-print-U-f4f2bfd1de7145f6"))
    assert inherited_one.place == found["child"].place


def test_grandchild_has_the_rules_of_all_above_it():
    found = family(
        policy("child", "parent", permission={**RULE, "uid": "ex:c"}),
        policy("parent", "grandparent", permission={**RULE, "uid": "ex:p", "action": "print"}),
        policy("grandparent", permission={**OTHER, "uid": "ex:g"}),
    )
    assert uids(found["child"].permissions) == ["c", "p", "g"]


def test_what_parents_and_child_share_goes_for_all_rules_of_the_child():
    found = family(
        policy("child", "parent", assignee="ex:alice", permission={**RULE, "uid": "ex:c"}),
        policy("parent", assignee="ex:bob", permission={**OTHER, "uid": "ex:p"}),
    )
    for rule in found["child"].permissions:
        assert set(iris(rule.assignees)) == {ex("alice"), ex("bob")}
    assert iris(found["parent"].permissions[0].assignees) == [ex("bob")]


def test_child_or_parent_may_lack_what_the_other_adds():
    found = family(
        policy("child", "parent", target="ex:T"), policy("parent", target="ex:U", permission=OTHER)
    )
    assert set(iris(found["child"].permissions[0].targets)) == {ex("T"), ex("U")}
    lacking = policy("child", "parent", permission={"action": "read"})
    assert refused(json.dumps([lacking, policy("parent", permission=OTHER)])) == [
        ("P004", "/0/permission")
    ]
    complete = [lacking, policy("parent", target="ex:U", permission={"action": "read"})]
    assert len(family(*complete)["child"].permissions) == 2


def test_duties_and_their_names_are_inherited():
    duty = {"action": "inform", "consequence": {"action": "delete"}}
    found = family(
        policy("child", "parent", permission=OTHER),
        policy("parent", permission={**RULE, "duty": duty}),
    )
    [inner] = found["child"].permissions[1].duties
    assert inner.uid == ex("parent#duty-inform-79e0070b420f7fd4")
    assert inner.consequences[0].uid == ex("parent#consequence-delete-785f7c9c6601bb1d")


def test_status_of_constraints_is_not_inherited():
    seen = {**COUNT, "status": 3}
    refined = {"rdf:value": {"@id": "odrl:print"}, "refinement": seen}
    rule = {"target": "ex:T", "action": refined, "constraint": {"or": [seen, COUNT]}}
    found = family(policy("child", "parent", permission=OTHER), policy("parent", permission=rule))
    [was] = found["parent"].permissions
    [_, now] = found["child"].permissions
    assert [one.status is None for one in was.constraints[0].operands] == [False, True]
    assert [one.status is None for one in now.constraints[0].operands] == [True, True]
    assert was.actions[0].refinements[0].status is not None
    assert now.actions[0].refinements[0].status is None


def test_rule_that_comes_two_ways_is_there_once():
    found = family(
        policy("child", "mother", "father", permission={**RULE, "uid": "ex:c"}),
        policy("mother", "old", assignee="ex:alice", permission={**RULE, "uid": "ex:m"}),
        policy("father", "old", assignee="ex:bob", permission={**RULE, "uid": "ex:f"}),
        policy("old", permission=[{**OTHER, "uid": "ex:o"}, OTHER]),
    )
    assert uids(found["child"].permissions) == [
        "c",
        "m",
        "o",
        "old#permission-print-U-f4f2bfd1de7145f6",
        "f",
    ]


def test_parent_named_twice_counts_once():
    found = family(policy("child", "old", "old", permission=RULE), policy("old", permission=OTHER))
    assert len(found["child"].permissions) == 2


def test_two_rules_of_a_family_with_one_uid_are_refused():
    rules = [{**RULE, "uid": "ex:r"}, {**OTHER, "uid": "ex:r"}]
    text = json.dumps([policy("c", "p", permission=rules[0]), policy("p", permission=rules[1])])
    assert refused(text) == [("P008", "/1/permission")]


def test_conflict_of_inherited_rules_voids_the_child():
    plain = {"@context": [CONTEXT[0], CONTEXT[2]]}
    text = json.dumps(
        [
            policy("child", "parent", permission=RULE) | plain,
            policy("parent", prohibition={**RULE, "action": "use"}) | plain,
        ]
    )
    assert refused(text) == [("P010", "/0")]


# -- the conflict strategy (section 2.10) -------------------------------------------------------


@pytest.mark.parametrize("other", [{}, {"conflict": "perm"}])
def test_conflict_strategy_is_inherited(other):
    found = family(
        policy("child", "parent", permission=RULE),
        policy("parent", "grandparent", permission=OTHER, **other),
        policy("grandparent", permission=OTHER, conflict="perm"),
    )
    assert [one.conflict for one in found.values()] == ["perm"] * 3


@pytest.mark.parametrize("of_father", [{}, {"conflict": "prohibit"}])
def test_conflict_strategies_that_differ_are_refused_where_the_parent_is_named(of_father):
    text = json.dumps(
        [
            policy("child", "mother", "father", permission=RULE),
            policy("mother", permission=OTHER, conflict="perm"),
            policy("father", permission=OTHER, **of_father),
        ]
    )
    assert refused(text) == [("P011", "/0/inheritFrom/1")]


@pytest.mark.parametrize("said", [{}, {"conflict": "prohibit"}])
def test_default_conflict_strategy_of_a_parent_is_as_if_it_said_so(said):
    parent = policy("parent", prohibition={**RULE, "uid": "ex:no"}, **said)
    child = policy("child", "parent", permission={**RULE, "uid": "ex:yes"}, conflict="perm")
    assert refused(json.dumps([child, parent])) == [("P011", "/0/inheritFrom/0")]
    found = family(policy("child", "parent", permission=RULE), parent)
    assert found["child"].conflict == "prohibit"


@pytest.mark.parametrize("said", [{}, {"conflict": "invalid"}])
def test_child_under_the_profile_has_the_strategy_of_a_parent_in_plain_odrl(said):
    plain = {"@context": [CONTEXT[0], CONTEXT[2]]}
    parent = policy("parent", permission=OTHER, **said) | plain
    found = family(policy("child", "parent", permission=RULE), parent)
    assert found["child"].conflict == "invalid"


# -- digests, hierarchies -----------------------------------------------------------------------


def test_digest_of_a_child_is_that_of_its_family():
    parent, other = (
        read_drafts(json.dumps(policy("parent", permission=rule))) for rule in (RULE, OTHER)
    )
    child = json.dumps(policy("child", "parent", permission=RULE))
    alone = read_drafts(child)[0].digest
    digests = {read_policy(child, parents=above).digest for above in (parent, other)}
    assert len(digests | {alone}) == 3


def test_hierarchy_of_a_child_is_that_of_its_family():
    alice = {"uid": "ex:alice", "belongsTo": "ex:staff"}
    parent = read_drafts(json.dumps(policy("parent", permission={**RULE, "assignee": alice})))
    child = read_policy(json.dumps(policy("child", "parent", permission=RULE)), parents=parent)
    assert child.hierarchy.party == ((ex("alice"), ex("staff")),)


# -- parents from elsewhere ---------------------------------------------------------------------


def test_parents_may_be_files(tmp_path):
    (tmp_path / "parent.jsonld").write_text(json.dumps(policy("parent", target="ex:U")))
    child = policy("child", "parent", permission={"action": "read"})
    found = load_policy(child, parents=[tmp_path / "parent.jsonld"])
    assert iris(found.permissions[0].targets) == [ex("U")]


def test_draft_need_not_be_complete_yet_must_be_well_formed():
    [draft] = read_drafts(json.dumps(policy("parent", permission={"action": "read"})))
    assert draft.permissions[0].targets == ()
    with pytest.raises(PolicyError, match="P005"):
        read_drafts(json.dumps(policy("parent", permission={"action": "raed"})))


def test_parent_that_is_not_given_is_refused_where_it_is_named():
    text = json.dumps(policy("child", "parent", "perent", permission=RULE))
    assert refused(text) == [("P011", "/inheritFrom/0"), ("P011", "/inheritFrom/1")]
    parent = read_drafts(json.dumps(policy("parent", permission=OTHER)))
    with pytest.raises(PolicyError, match=r"Did you mean 'http://e.org/parent'\?"):
        read_policy(json.dumps(policy("child", "perent", permission=RULE)), parents=parent)


def test_grandparent_that_is_not_given_is_refused():
    parent = read_drafts(json.dumps(policy("parent", "grandparent", permission=OTHER)))
    with pytest.raises(PolicyError, match=r"'http://e.org/parent' inherits from") as error:
        read_policy(json.dumps(policy("child", "parent", permission=RULE)), parents=parent)
    assert [problem.code for problem in error.value.problems] == ["P011"]


def test_two_policies_given_with_one_uid_are_refused():
    drafts = [read_drafts(json.dumps(policy("parent", permission=one)))[0] for one in (RULE, OTHER)]
    child = json.dumps(policy("child", "parent", permission=RULE))
    with pytest.raises(PolicyError, match="D002 Two policies have the uid"):
        read_policy(child, parents=drafts)
    assert read_policy(child, parents=[drafts[0], drafts[0]])


def test_policy_given_beside_a_parent_is_no_part_of_the_family():
    stranger = read_drafts(json.dumps(policy("stranger", "nobody", permission=OTHER)))
    assert len(read_policy(json.dumps(policy("c", permission=RULE)), parents=stranger).rules) == 1


# -- circles, and limits ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policies", "places"),
    [
        ([policy("a", "a", permission=RULE)], ["/0/inheritFrom/0"]),
        ([policy("a", "b", permission=RULE), policy("b", "a", permission=RULE)], None),
        (
            [policy(one, other, permission=RULE) for one, other in ("ab", "bc", "ca", "da", "ee")],
            None,
        ),
    ],
)
def test_circles_are_refused_each_once(policies, places):
    found = refused(json.dumps(policies))
    assert {code for code, _ in found} == {"P011"}
    assert len(found) == (2 if len(policies) == 5 else 1)
    assert places is None or [pointer for _, pointer in found] == places


def test_long_line_of_policies_is_no_trouble():
    line = [policy(f"p{n}", f"p{n + 1}", permission=RULE) for n in range(100)]
    found = read_policies(json.dumps([*line, policy("p100", permission=RULE)]))
    assert len(found[0].permissions) == 101
    assert len(found[-1].permissions) == 1


def test_policies_that_inherit_too_much_are_refused():
    rows = [
        policy(f"p{n}{side}", f"p{n + 1}a", f"p{n + 1}b", permission=RULE)
        for n in range(40)
        for side in "ab"
    ]
    ends = [policy(f"p40{side}", permission=RULE) for side in "ab"]
    assert [code for code, _ in refused(json.dumps(rows + ends))] == ["J003"]
    two = [policy("c", "p", permission=RULE), policy("p", permission=[RULE, OTHER])]
    with pytest.raises(PolicyError, match="J003 The policies inherit too many rules"):
        read_policies(json.dumps(two), limits=Limits(inherited=1))


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.sets(st.integers(0, 5)), min_size=6, max_size=6))
def test_family_is_complete_or_has_a_circle(parents):
    drafts = read_drafts(
        json.dumps([policy(str(n), permission={**RULE, "uid": f"ex:r{n}"}) for n in range(6)])
    )
    named = [
        replace(one, inherits=tuple(ex(str(n)) for n in sorted(of)))
        for one, of in zip(drafts, parents, strict=True)
    ]
    found, problems = inherited(named, (), {})
    above = {n: set(of) for n, of in enumerate(parents)}
    for _ in range(6):
        above = {n: of.union(*(above[m] for m in of)) for n, of in above.items()}
    circular = {n for n, of in above.items() if n in of}
    assert bool(problems) is bool(circular)
    for n, one in enumerate(found if not problems else ()):
        assert set(uids(one.permissions)) == {f"r{m}" for m in above[n] | {n}}
        assert len(one.permissions) == len(above[n] | {n})
    assert all(odrl("read") in iris(rule.actions) for one in found for rule in one.rules)
