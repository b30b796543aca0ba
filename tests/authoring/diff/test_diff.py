import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest
from building import DATASET, OUTPUT, anonymize, people_policy, permission, policy
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import terms
from policy_engine.authoring.diff import compare_policies
from policy_engine.authoring.diff.bounds import way_of
from policy_engine.authoring.diff.model import Way
from policy_engine.cli.inspecting import difference_lines
from policy_engine.decision import Decider, Request, World
from policy_engine.decision.conditions import evaluate
from policy_engine.decision.log import DecisionLog
from policy_engine.errors import LogError, RequestError
from policy_engine.policy import (
    Action,
    Asset,
    Constraint,
    Hierarchy,
    LogicalConstraint,
    Party,
    Policy,
    Reading,
    Rule,
    Value,
    read_policy,
)
from policy_engine.policy.owners import Owners, OwnerStatement

ODRL = terms.ODRL
READS = permission(uid="http://x.org/r", action="read")


def changed(old, new, **more):
    """Return the changes between two texts, as (what, before, after, tendency)."""
    found = compare_policies(read_policy(old), read_policy(new), **more)
    return [(one.what, one.before, one.after, one.tendency) for one in found.changes]


def tendencies(old, new):
    return [tendency for *_, tendency in changed(old, new)]


def with_rule(**parts):
    whole = {**READS, **parts}
    return policy([{key: value for key, value in whole.items() if value not in (None, [])}])


def date(operator, day):
    right = {"@value": f"2026-01-{day:02}T00:00:00Z", "@type": "xsd:dateTime"}
    return {"leftOperand": "dateTime", "operator": operator, "rightOperand": right}


def listed(operator, *countries):
    right = [{"@id": f"http://x.org/{country}"} for country in countries]
    return {"leftOperand": "spatial", "operator": operator, "rightOperand": right}


# -- nothing --------------------------------------------------------------------------------------


def test_the_same_text_written_otherwise_is_no_change():
    text = people_policy()
    other = json.dumps(dict(reversed(json.loads(text).items())), indent=7)
    assert compare_policies(read_policy(text), read_policy(other)).is_empty


def test_the_order_of_rules_and_of_what_stands_in_them_is_no_change():
    first = {**READS, "assignee": ["http://x.org/a", "http://x.org/b"]}
    second = permission(action="display", constraint=[date("lt", 3), date("gt", 1)])
    turned = {**first, "assignee": first["assignee"][::-1]}
    other = {**second, "constraint": second["constraint"][::-1]}
    assert changed(policy([first, second]), policy([other, turned])) == []


def test_constraints_joined_by_and_are_those_that_stand_beside_one_another():
    both = {"and": {"@list": [date("gt", 1), date("lt", 3)]}}
    assert (
        changed(with_rule(constraint=[date("lt", 3), date("gt", 1)]), with_rule(constraint=both))
        == []
    )


def test_a_typed_literal_is_the_plain_one():
    typed = {"@value": "2", "@type": "xsd:integer"}
    old = people_policy()
    assert '"rightOperand": 2' in old
    assert (
        changed(old, old.replace('"rightOperand": 2', f'"rightOperand": {json.dumps(typed)}')) == []
    )


def test_a_changed_policy_with_an_output_needs_a_certificate_and_a_changed_text_none():
    text = people_policy()
    found = compare_policies(read_policy(text), read_policy(text + "\n"))
    assert found.is_empty
    assert not found.notes
    found = compare_policies(
        read_policy(text), read_policy(text.replace("marketing", "statistical"))
    )
    assert "certified under the new policy" in found.notes[0]


# -- a policy as a whole --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "tendency"),
    [
        ("perm", "prohibit", "narrows"),
        ("prohibit", "perm", "widens"),
        ("prohibit", "invalid", "narrows"),
    ],
)
def test_a_stricter_conflict_strategy_narrows(old, new, tendency):
    texts = [policy([READS], conflict=strategy) for strategy in (old, new)]
    assert changed(*texts) == [("conflict strategy changed", old, new, tendency)]


def test_rules_added_and_removed():
    both = policy([READS], [permission(uid="http://x.org/p", action="print")])
    only = policy([READS])
    assert tendencies(only, both) == ["narrows"]
    assert tendencies(both, only) == ["widens"]
    assert [what for what, *_ in changed(both, only)] == ["prohibition removed"]


def test_a_permission_with_an_output_may_narrow_where_it_is_added():
    other = permission(
        uid="http://x.org/a", action=anonymize(method="k-anonymity", k=2), output=OUTPUT
    )
    assert tendencies(policy([READS]), policy([READS, other])) == ["either"]


def test_a_permission_of_a_policy_that_could_become_void_may_do_both():
    prohibited = [permission(uid="http://x.org/p", action="print", target="http://x.org/Other")]
    texts = [
        policy(rules, prohibited, conflict="invalid")
        for rules in ([READS], [READS, permission(uid="http://x.org/q", action="display")])
    ]
    assert tendencies(*texts) == ["either"]


def test_policies_are_matched_by_uid():
    one, other = (read_policy(policy([READS], uid=f"http://x.org/{n}")) for n in (1, 2))
    third = replace(other, uid="http://x.org/3")
    found = compare_policies([one, other], [third, one]).changes
    assert [(c.what, c.tendency) for c in found] == [
        ("policy removed", "narrows"),
        ("policy added", "widens"),
    ]


def test_one_policy_alone_is_matched_with_one_alone():
    texts = [policy([READS], uid=f"http://x.org/{n}") for n in (1, 2)]
    assert changed(*texts) == [("uid changed", "http://x.org/1", "http://x.org/2", "neither")]


def test_two_policies_of_one_uid_are_refused():
    one = read_policy(policy([READS]))
    with pytest.raises(RequestError, match="D002"):
        compare_policies([one, one], one)


def test_what_includes_what_may_do_both():
    member = {"@id": "http://x.org/a", "belongsTo": "http://x.org/g"}
    [(what, before, after, tendency)] = changed(
        with_rule(), with_rule(assignee=["http://x.org/analyst", member])
    )[1:]
    assert (what, before, tendency) == ("inclusion of party added", "", "either")
    assert after == "http://x.org/a belongs to http://x.org/g"


def test_a_purpose_is_said_to_be_a_kind_of_another():
    kind = {"uid": "http://x.org/ads", "declinationOf": "marketing"}
    found = changed(with_rule(purpose="http://x.org/ads"), with_rule(purpose=kind))
    assert [(what, after) for what, _, after, _ in found] == [
        ("inclusion of purpose added", "http://x.org/ads is a kind of mosaicrown:marketing")
    ]


# -- within a rule --------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["assignee", "target", "purpose"])
def test_more_names_widen_a_permission_and_narrow_by_a_prohibition(part):
    one, two = "http://x.org/one", ["http://x.org/one", "http://x.org/two"]
    assert changed(with_rule(**{part: one}), with_rule(**{part: two})) == [
        (f"{part} added", "", "http://x.org/two", "widens")
    ]
    texts = [policy([], [{**READS, part: names}]) for names in (one, two)]
    assert tendencies(*texts) == ["narrows"]


def test_a_rule_that_is_opened_to_all_widens():
    [(what, before, after, tendency)] = changed(with_rule(), with_rule(assignee=None))
    assert (what, after, tendency) == ("assignee changed", "any assignee", "widens")
    assert before == "http://x.org/analyst"


def test_a_member_in_the_place_of_its_group_narrows_only():
    said = Hierarchy(party=(("http://x.org/a", "http://x.org/g"),))
    old, new = (
        replace(read_policy(with_rule(assignee=f"http://x.org/{who}")), hierarchy=said)
        for who in "ga"
    )
    found = compare_policies(old, new)
    assert [(one.what, one.tendency) for one in found.changes] == [
        ("assignee removed", "narrows"),
        ("assignee added", "neither"),
    ]
    assert found.tendency == "narrows"


def test_a_column_in_the_place_of_its_dataset_may_do_both():
    # Names below the column's own were not covered, for the dataset covers its columns alone.
    found = changed(with_rule(), with_rule(target=f"{DATASET}/age"))
    assert [tendency for *_, tendency in found] == ["narrows", "widens"]


@pytest.mark.parametrize(
    ("old", "new", "tendency"),
    [
        ([], [date("lt", 3)], "narrows"),
        ([date("lt", 3)], [], "widens"),
        ([date("lt", 3)], [date("lt", 5)], "widens"),
        ([date("lt", 5)], [date("lt", 3)], "narrows"),
        ([date("lt", 3)], [date("lteq", 3)], "widens"),
        ([date("gt", 3)], [date("gt", 5)], "narrows"),
        ([date("gteq", 3)], [date("gt", 3)], "narrows"),
        ([date("eq", 3)], [date("eq", 5)], "either"),
        ([listed("isAnyOf", "it")], [listed("isAnyOf", "it", "fr")], "widens"),
        ([listed("isNoneOf", "it")], [listed("isNoneOf", "it", "fr")], "narrows"),
        ([listed("isAnyOf", "it")], [listed("isAnyOf", "fr")], "either"),
        ([listed("isAllOf", "it")], [listed("isAllOf", "it", "fr")], "either"),
    ],
)
def test_constraints(old, new, tendency):
    assert tendencies(with_rule(constraint=old), with_rule(constraint=new)) == [tendency]


@pytest.mark.parametrize("old", [[], ["x"], ["x", "y"]])
def test_what_names_an_output_and_its_input_may_do_both(old):
    def rule(names):
        right = [f"http://x.org/{name}" for name in names]
        said = {"leftOperand": "pe:jointly", "operator": "isAnyOf", "rightOperand": right}
        return with_rule(constraint=said if names else None)

    assert tendencies(rule(old), rule(["x", "z"])) == ["either"]
    assert tendencies(rule(["x", "z"]), rule(old)) == ["either"]


def test_a_bound_without_a_zone_in_the_place_of_one_with_a_zone_may_do_both():
    later = date("lt", 9)
    later["rightOperand"]["@value"] = "2026-01-09T00:00:00"
    assert tendencies(with_rule(constraint=date("lt", 3)), with_rule(constraint=later)) == [
        "either"
    ]


@pytest.mark.parametrize(
    ("name", "before", "after", "tendency"),
    [
        ("k", 10, 5, "widens"),
        ("k", 5, 10, "narrows"),
        ("t", 0.2, 0.3, "widens"),
        ("t", 0.3, 0.2, "narrows"),
    ],
)
def test_bounds_of_the_transformation(name, before, after, tendency):
    asked = {"k": 5, "t": 0.5}
    texts = [
        policy(
            [
                permission(
                    uid="http://x.org/r",
                    output=OUTPUT,
                    action=anonymize(
                        method="t-closeness",
                        **{**asked, name: value},
                        quasi=["age"],
                        sensitive=["disease"],
                    ),
                )
            ]
        )
        for value in (before, after)
    ]
    assert changed(*texts) == [(f"{name} of anonymize changed", str(before), str(after), tendency)]


def test_a_column_in_another_role_may_do_both():
    old = people_policy()
    assert changed(old, old.replace(f"{DATASET}/name", f"{DATASET}/phone")) == [
        ("identifier removed", f"{DATASET}/name", "", "either"),
        ("identifier added", "", f"{DATASET}/phone", "either"),
    ]


def test_duties_narrow_a_permission():
    duty = {"uid": "http://x.org/d", "action": "compensate"}
    assert tendencies(with_rule(), with_rule(duty=[duty])) == ["narrows"]
    assert tendencies(with_rule(duty=[duty]), with_rule()) == ["widens"]
    for other in ({**duty, "action": "inform"}, {**duty, "uid": "http://x.org/e"}):
        # What became of a duty is known by its uid.
        assert set(tendencies(with_rule(duty=[duty]), with_rule(duty=[other]))) == {"either"}


# -- which rule is which --------------------------------------------------------------------------


def test_a_rule_that_got_a_uid_is_the_one_that_says_the_same():
    nameless = {key: value for key, value in READS.items() if key != "uid"}
    assert changed(policy([nameless]), policy([READS])) == [
        ("uid changed", "", "http://x.org/r", "neither")
    ]


def test_nameless_rules_are_matched_by_likeness():
    one = permission(action="read")
    other = permission(action="print", target="http://x.org/Other", purpose="statistical")
    longer = {**one, "assignee": ["http://x.org/analyst", "http://x.org/b"]}
    assert changed(policy([one, other]), policy([other, longer])) == [
        ("assignee added", "", "http://x.org/b", "widens")
    ]


def test_rules_with_uids_of_their_own_that_differ_are_not_matched():
    other = {**READS, "uid": "http://x.org/s", "action": "print"}
    assert {what for what, *_ in changed(policy([READS]), policy([other]))} == {
        "permission removed",
        "permission added",
    }


# -- a log ----------------------------------------------------------------------------------------


NOON = datetime(2026, 1, 1, tzinfo=UTC)
OTHER = "http://x.org/other"
RULES = {
    "@context": [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ],
    "@type": "Set",
    "uid": "http://x.org/rules",
    "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
}
GRANTS = {"uid": "http://x.org/rules#1", "target": DATASET, "action": "read"}


def ask(who, purpose="marketing"):
    return Request(
        assignee=f"http://x.org/{who}",
        action=f"{ODRL}read",
        targets=(DATASET,),
        purpose=f"{terms.MOSAICROWN}{purpose}",
    )


def test_who_would_be_answered_otherwise(tmp_path):
    old, new = read_policy(with_rule()), read_policy(with_rule(assignee="http://x.org/boss"))
    decider, log = Decider([old]), tmp_path / "log.jsonl"
    world = World(time=datetime(2026, 1, 1, tzinfo=UTC))
    written = DecisionLog.open(log)
    for who in ("analyst", "boss", "nobody", "analyst"):
        written.append(decider.decide(ask(who), world))
    replay = compare_policies(old, new, log).replay
    assert (replay.entries, replay.requests, replay.unlike_log) == (4, 3, 0)
    assert [(one.assignee[-7:], one.before, one.after, one.times) for one in replay.changed] == [
        ("analyst", "permit", "deny", 2),
        ("rg/boss", "deny", "permit", 1),
    ]


def numbered(old, new, log):
    """Return the notes on entries that the old policies answer otherwise now."""
    found = compare_policies(old, read_policy(json.dumps(new)), log)
    replay = found.replay
    assert set(replay.judged_by_rule + replay.undecided_entries) == {1, 3}
    return [line for line in difference_lines(found) if "of the log " in line and "note" in line]


def test_who_was_granted_by_what_is_not_known_now_is_judged_by_the_log(tmp_path):
    """Two of five were permitted by a duty that had been fulfilled, as the world then said."""
    paid = {**RULES, "permission": {**GRANTS, "duty": {"uid": "urn:pay", "action": "compensate"}}}
    old, log = read_policy(json.dumps(paid)), tmp_path / "log.jsonl"
    decider, written = Decider([old]), DecisionLog.open(log)
    for who, done in (("a", True), ("b", False), ("a", True), ("c", False), ("d", False)):
        world = World(time=NOON, duties={"urn:pay": "fulfilled"} if done else {})
        written.append(decider.decide(ask(who), world))

    def judged(new, **worlds):
        found = compare_policies(old, read_policy(json.dumps(new)), log, **worlds).replay
        changed = [(one.assignee[-1], one.before, one.after, one.times) for one in found.changed]
        return changed, found.unlike_log, found.undecided

    others = {**RULES, "permission": {**GRANTS, "target": OTHER}}
    assert judged(others) == ([("a", "permit", "deny", 2)], 2, 0)
    renamed = {**RULES, "permission": {**GRANTS, "uid": "urn:other", "target": OTHER}}
    assert judged(renamed) == ([("a", "permit", "deny", 2)], 2, 0)
    assert judged(paid) == ([], 2, 0)
    barred = {"target": DATASET, "action": "read"}
    assert judged({**paid, "prohibition": barred}) == ([("a", "permit", "deny", 2)], 2, 0)
    twice = {**RULES, "permission": {**paid["permission"], "purpose": "marketing"}}
    assert judged(twice) == ([], 2, 2)
    assert numbered(old, twice, log) == [
        "note: entries 1 and 3 of the log cannot be judged: give what was known then."
    ]
    [note] = numbered(old, others, log)
    assert note.startswith("note: entries 1 and 3 of the log were answered by what is not known")
    known = World(duties={"urn:pay": "fulfilled"})
    assert judged(paid, world_before=known, world_after=known) == ([], 3, 3)
    assert judged(paid, world_after=known)[0] == [(who, "deny", "permit", 1) for who in "bcd"]


def test_counts_of_logged_answers_are_those_of_then(tmp_path):
    def bounded(most):
        bound = {"leftOperand": "count", "operator": "lteq", "rightOperand": most}
        return read_policy(json.dumps({**RULES, "permission": {**GRANTS, "constraint": bound}}))

    log = DecisionLog.open(tmp_path / "log.jsonl")
    decider = Decider([bounded(2)])
    for _ in range(3):
        log.decide(decider, ask("a"), World(time=NOON))
    replay = compare_policies(bounded(2), bounded(3), tmp_path / "log.jsonl").replay
    assert [(one.before, one.after, one.times) for one in replay.changed] == [("deny", "permit", 1)]
    replay = compare_policies(bounded(2), bounded(1), tmp_path / "log.jsonl").replay
    assert [(one.before, one.after, one.times) for one in replay.changed] == [("permit", "deny", 1)]


def test_sets_of_policies_are_compared_with_what_is_in_force(tmp_path):
    (tmp_path / "a.jsonld").write_text(json.dumps({**RULES, "permission": GRANTS}))
    gone = {"uid": RULES["uid"], "version": 1, "file": "a.jsonld", "status": "withdrawn"}
    before = Reading().policies_in_force(tmp_path)
    (tmp_path / "registry.json").write_text(json.dumps({"policies": [gone]}))
    found = compare_policies(before, Reading().policies_in_force(tmp_path))
    assert [(one.what, one.tendency) for one in found.changes] == [("policy removed", "narrows")]


def test_a_log_that_is_none_is_refused(tmp_path):
    (tmp_path / "log.jsonl").write_text("no log\n")
    text = read_policy(with_rule())
    with pytest.raises(LogError):
        compare_policies(text, text, tmp_path / "log.jsonl")


# -- owners ---------------------------------------------------------------------------------------

OWNER, OTHER = "http://x.org/owner", "http://x.org/other"


def owned(old, new, owner=OWNER):
    """Return what changed where the data are an owner's, and the notes."""
    found = compare_policies(read_policy(old), read_policy(new), owners={DATASET: owner})
    return [(one.what, one.tendency) for one in found.changes], found.notes


def test_whose_a_rule_is_may_do_both_where_owners_are_known():
    old, new = with_rule(assigner=OTHER), with_rule(assigner=OWNER)
    assert [one[-1] for one in changed(old, new)] == ["neither"]
    assert owned(old, new) == ([("assigner changed", "either")], ())
    [note] = owned(new, old)[1]
    assert note == f"http://x.org/r does not count: {OTHER} does not own {DATASET}."


def test_a_leave_to_grant_the_use_may_do_both_where_owners_are_known():
    leave = permission(uid="http://x.org/leave", action="grantUse", assigner=OWNER)
    read = {**READS, "assigner": OWNER}
    without, with_it = policy([read]), policy([read, leave])
    assert [one[-1] for one in changed(without, with_it)] == ["widens"]
    assert owned(without, with_it)[0] == [("permission added", "either")]
    late = policy([read, {**leave, "constraint": date("lt", 3)}])
    assert owned(with_it, late)[0] == [("constraint added", "either")]
    assert owned(with_it, policy([leave]))[0] == [("permission removed", "narrows")]


def test_a_policy_whose_assigner_owns_something_may_do_both():
    old = policy([{**READS, "assigner": OWNER}])
    other = permission(uid="http://x.org/q", action="print", assigner=OTHER)
    new = policy([{**READS, "assigner": OWNER}, other])
    catalog = Owners((OwnerStatement(DATASET, policy=read_policy(old).uid),))
    found = compare_policies(read_policy(old), read_policy(new), owners=catalog)
    assert [one.tendency for one in found.changes] == ["either"]


def test_logged_requests_are_judged_by_what_counts(tmp_path):
    text = with_rule(assigner=OWNER, purpose=None)
    log = DecisionLog.open(tmp_path / "log.jsonl")
    asked = Request(assignee=READS["assignee"], action=f"{ODRL}read", targets=(DATASET,))
    log.append(Decider([read_policy(text)]).decide(asked))
    [same, other] = [
        compare_policies(
            read_policy(text),
            read_policy(with_rule(assigner=assigner, purpose=None)),
            tmp_path / "log.jsonl",
            owners={DATASET: OWNER},
        )
        for assigner in (OWNER, OTHER)
    ]
    assert same.replay.changed == ()
    [one] = other.replay.changed
    assert (one.before, one.after) == ("permit", "deny")


def test_a_difference_is_json_and_back():
    found = compare_policies(read_policy(with_rule()), read_policy(with_rule(purpose=None)))
    assert type(found).model_validate_json(found.model_dump_json()) == found


# -- what is said to narrow never widens ----------------------------------------------------------

A, B, G, OTHER = (f"http://x.org/{name}" for name in ("a", "b", "g", "Other"))
AGE = f"{DATASET}/age"
COUNTRIES = [Value("it"), Value("fr"), Value(3)]


def bounds(operand):
    simple = st.builds(
        lambda operator, value: Constraint(
            f"{ODRL}{operand}", f"{ODRL}{operator}", (Value(value),)
        ),
        st.sampled_from(["lt", "lteq", "gt", "gteq", "eq", "neq"]),
        st.integers(1, 3),
    )
    several = st.builds(
        lambda operator, values: Constraint(f"{ODRL}{operand}", f"{ODRL}{operator}", tuple(values)),
        st.sampled_from(["isAnyOf", "isNoneOf", "isAllOf"]),
        st.lists(st.sampled_from(COUNTRIES), min_size=1, max_size=2, unique=True),
    )
    return simple | several


CONDITIONS = bounds("percentage") | st.builds(
    LogicalConstraint,
    st.sampled_from([f"{ODRL}{name}" for name in ("and", "or", "xone")]),
    st.lists(bounds("percentage"), min_size=2, max_size=2).map(tuple),
)


def some(of, least=0):
    return st.lists(of, min_size=least, max_size=2).map(tuple)


def members(kind, *names):
    refinements = st.just(()) | st.just(()) | bounds("version").map(lambda one: (one,))
    return st.builds(kind, st.sampled_from(names), refinements)


DUTIES = st.builds(
    Rule, st.just("duty"), uid=st.sampled_from(["http://x.org/d1", "http://x.org/d2"])
)
PARTS = {
    "assignees": some(members(Party, A, B, G)),
    # One target, for a request of several is held against the refinements of each.
    "targets": st.lists(members(Asset, DATASET, AGE, OTHER), max_size=1).map(tuple),
    "actions": some(members(Action, f"{ODRL}use", f"{ODRL}read", f"{ODRL}display"), 1),
    "purposes": some(st.sampled_from(["http://x.org/purpose/1", "http://x.org/purpose/2"])),
    "constraints": some(CONDITIONS),
    "duties": st.lists(DUTIES, max_size=1).map(tuple),
}
EDGES = {
    "party": st.sampled_from([(), ((A, G),), ((B, G),)]),
    "asset": st.sampled_from([(), ((AGE, OTHER),), ((OTHER, DATASET),)]),
}


@st.composite
def a_rule(draw, kind, uid):
    """Return a rule that covers nearly everything, but for one or two parts."""
    names = st.sampled_from(sorted(PARTS if kind == "permission" else PARTS.keys() - {"duties"}))
    parts = {name: draw(PARTS[name]) for name in draw(st.lists(names, min_size=1, max_size=2))}
    return Rule(kind, **{"actions": (Action(f"{ODRL}use"),), "uid": uid, **parts})


def a_policy(conflict, permissions, prohibitions, hierarchy):
    rules = {"permissions": permissions, "prohibitions": prohibitions}
    return Policy("http://x.org/p", f"{ODRL}Set", conflict, "", hierarchy=hierarchy, **rules)


POLICIES = st.builds(
    a_policy,
    st.sampled_from(["perm", "prohibit", "invalid"]),
    st.tuples(a_rule("permission", "http://x.org/1"))
    | st.tuples(a_rule("permission", "http://x.org/1"), a_rule("permission", "http://x.org/2")),
    st.just(()) | st.tuples(a_rule("prohibition", "http://x.org/3")),
    st.builds(Hierarchy, **EDGES),
)


@st.composite
def edited(draw):
    """Return a policy and one that differs from it in one thing, or in a part of one rule."""
    old, other = draw(POLICIES), draw(POLICIES)
    edit = draw(st.sampled_from(["permissions", "prohibitions", "conflict", "hierarchy", *PARTS]))
    if edit not in PARTS:
        return old, replace(old, **{edit: getattr(other, edit)})
    kind = draw(st.sampled_from(["permissions", "prohibitions"])) if edit != "duties" else ""
    kind = kind if kind and getattr(old, kind) else "permissions"
    first, *rest = getattr(old, kind)
    return old, replace(old, **{kind: (replace(first, **{edit: draw(PARTS[edit])}), *rest)})


WORLDS = [
    World(
        time=datetime(2026, 1, 1, tzinfo=UTC),
        values={f"{ODRL}percentage": percentage} if percentage else {},
        of={name: {f"{ODRL}version": version} for name in (A, DATASET, f"{ODRL}read")},
        duties=duties,
    )
    for percentage, version, duties in [
        ((1,), (2,), {}),
        ((2,), (1,), {"http://x.org/d1": "fulfilled"}),
        ((3,), (3,), {"http://x.org/d1": "fulfilled", "http://x.org/d2": "fulfilled"}),
        ((1, 3), (2, 3), {"http://x.org/d2": "fulfilled"}),
        ((), ("it",), {}),
        (("it",), (1,), {"http://x.org/d2": "violated"}),
    ]
]
REQUESTS = [
    Request(assignee=who, action=f"{ODRL}{action}", targets=(target,), purpose=purpose)
    for who, action, target, purpose in product(
        [A, G],
        ["read", "use"],
        [DATASET, AGE, f"{AGE}/x", OTHER],
        ["", "http://x.org/purpose/1"],
    )
]


@settings(max_examples=examples(30, times=40), deadline=None)
@given(edited())
def test_what_is_said_to_narrow_never_widens(pair):
    old, new = pair
    found = compare_policies(old, new)
    before, after = Decider([old]), Decider([new])
    for request, world in product(REQUESTS, WORLDS):
        was, is_now = (one.decide(request, world).permitted for one in (before, after))
        assert was or not is_now or found.tendency in ("widens", "either"), found.changes
        assert is_now or not was or found.tendency in ("narrows", "either"), found.changes


class Seen:
    """Facts in which every left operand is the same."""

    zone = UTC

    def __init__(self, *values):
        self.seen = values

    def values(self, _left_operand):
        return self.seen

    def referenced(self, _iri):
        return None

    def includes(self, _left_operand, _narrow, _wide):
        return False


SEEN = [
    Seen(*values)
    for values in [(1,), (2,), (3,), (4,), (1, 3), (2, 4), ("it",), ("fr",), ("it", 3)]
]
TRUTH = {"unsatisfied": 0, "unknown": 1, "satisfied": 2}


@settings(max_examples=examples(100), deadline=None)
@given(bounds("percentage"), bounds("percentage"))
def test_a_condition_goes_the_way_that_is_told(old, new):
    way = way_of(old, new)
    for seen in SEEN:
        before, after = (TRUTH[evaluate(one, seen).state] for one in (old, new))
        assert after <= before or Way.GROWS in way, (seen.seen, old, new)
        assert after >= before or Way.SHRINKS in way, (seen.seen, old, new)


# -- releases under differential privacy ---------------------------------------------------------

QUERY = {
    "uid": "http://x.org/table",
    "pe:groupBy": [{"@id": "http://x.org/a", "pe:keys": ["F", "M"]}],
    "pe:aggregate": [
        {
            "pe:function": "sum",
            "pe:of": "http://x.org/b",
            "pe:lower": 0,
            "pe:upper": 14,
            "pe:grid": 1,
        }
    ],
}
CAP = {"pe:over": "http://x.org/data", "pe:epsilon": "10", "pe:scope": "allAssignees"}


def with_queries(queries=(), budgets=(), rule=READS):
    members = {"pe:queries": [*queries], "pe:budget": [*budgets]}
    return policy([rule], **{key: value for key, value in members.items() if value})


def release(**bounds):
    """Return a policy that releases a table under bounds."""
    parts = [{"leftOperand": "mosaicrown:method", "operator": "eq"}]
    parts[0]["rightOperand"] = "differential-privacy"
    parts += [
        {"leftOperand": f"pe:{name}", "operator": "lteq", "rightOperand": bound}
        for name, bound in bounds.items()
    ]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": parts}
    return with_queries([QUERY], rule={**READS, "action": action, "output": "http://x.org/out"})


@pytest.mark.parametrize(
    ("old", "new", "tendency"),
    [
        ({"epsilon": "0.5"}, {"epsilon": 1}, "widens"),
        ({"epsilon": 1}, {"epsilon": 0.5}, "narrows"),
        ({"delta": "1e-7"}, {"delta": "1e-6"}, "widens"),
        ({"maxGroupsPerUnit": 3}, {"maxGroupsPerUnit": 2}, "either"),
    ],
)
def test_a_smaller_epsilon_or_delta_narrows(old, new, tendency):
    assert tendencies(release(**old), release(**new)) == [tendency]


def test_the_same_epsilon_in_other_words_is_no_change():
    assert changed(release(epsilon="0.50"), release(epsilon=0.5)) == []


def test_a_changed_table_may_show_more_or_less():
    figure = {**QUERY["pe:aggregate"][0], "pe:upper": 20}
    other = {**QUERY, "pe:aggregate": [figure]}
    [(what, before, after, tendency)] = changed(with_queries([QUERY]), with_queries([other]))
    assert (what, tendency) == ("query changed", "either")
    head = "http://x.org/table: sum of http://x.org/b (grid 1, lower 0, upper "
    tail = ") by http://x.org/a (F, M)"
    assert (before, after) == (f"{head}14{tail}", f"{head}20{tail}")
    [(what, *_, tendency)] = changed(with_queries(), with_queries([QUERY]))
    assert (what, tendency) == ("query added", "neither")


@pytest.mark.parametrize(
    ("new", "tendency"),
    [
        ({"pe:epsilon": 5}, "narrows"),
        ({"pe:epsilon": 20}, "widens"),
        ({"pe:epsilon": 5, "pe:delta": "1e-5"}, "either"),
        ({"pe:renewal": "P1Y", "pe:lifetimeEpsilon": 30}, "either"),
    ],
)
def test_a_smaller_budget_narrows(new, tendency):
    found = changed(with_queries((), [CAP]), with_queries((), [{**CAP, **new}]))
    assert [(what, effect) for what, _, _, effect in found] == [("budget changed", tendency)]


def test_a_budget_more_narrows_and_one_less_widens():
    text = "http://x.org/data: epsilon 10, delta 0 for allAssignees"
    with_one, without = with_queries((), [CAP]), with_queries()
    assert changed(without, with_one) == [("budget added", "", text, "narrows")]
    assert changed(with_one, without) == [("budget removed", text, "", "widens")]
