"""Which rules decide over single rows, and the decision by which the rows of some are read."""

from datetime import timedelta, timezone

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from certifying import certified
from ruling import ANN, NOON, ODRL, READ, STAFF, TABLE, policy, rule, where

from policy_engine import terms
from policy_engine.decision import Decider, Request, World
from policy_engine.decision.history import History
from policy_engine.policy import Action, Asset, Hierarchy, Party, Rule, read_policy

ASKED = Request(assignee=ANN, action=READ, targets=(TABLE,))
OLD = where("T/age", "gt", 65, prefix="http://e.org/")
EU, US = (where("spatial", "eq", f"urn:{name}") for name in ("eu", "us"))


def access(*rules, datasets=(TABLE,), conflict="prohibit", targets=(TABLE,), **world):
    asked = ASKED.model_copy(update={"targets": targets})
    decider = Decider([policy(*rules, conflict=conflict)])
    return decider.row_access(asked, World(**{"time": NOON, **world}), datasets)


def allows(number, *constraints, **parts):
    return rule("permission", uid=f"urn:r:{number}", constraints=constraints, **parts)


def names(grants):
    return [one.rule.uid for one in grants]


def test_rules_with_conditions_on_rows_are_among_those_that_decide():
    found = access(allows(1, OLD), allows(2, EU), allows(3, US), values={"spatial": "urn:eu"})
    assert (found.decision.permitted, found.decision.rule) == (True, "urn:r:2")
    assert names(found.permissions) == ["urn:r:1", "urn:r:2"]
    assert found.prohibitions == ()


def test_a_condition_on_rows_alone_permits_reading_by_rows_and_not_otherwise():
    found = access(allows(1, OLD))
    assert (found.decision.permitted, names(found.permissions)) == (True, ["urn:r:1"])
    assert not Decider([policy(allows(1, OLD))]).decide(ASKED, World(time=NOON)).permitted
    other = access(allows(1, OLD), datasets=["http://e.org/Other"])
    assert (other.decision.permitted, other.permissions) == (False, ())


@pytest.mark.parametrize("targets", [(TABLE,), (f"{TABLE}/name",)])
def test_without_datasets_a_target_may_be_one_or_a_column_of_one(targets):
    assert access(allows(1, OLD), datasets=(), targets=targets).decision.permitted


def test_the_decision_of_some_rows_names_the_rule_that_grants_them():
    found = access(allows(1, OLD), allows(2), allows(3, OLD))
    by_one = found.decided(found.permissions[2:])
    assert (by_one.rule, [one.rule for one in by_one.counted]) == ("urn:r:3", ["urn:r:3"])
    by_two = found.decided(found.permissions[::2])
    assert (by_two.rule, [one.rule for one in by_two.counted]) == (
        "urn:r:1",
        ["urn:r:1", "urn:r:3"],
    )
    assert found.decided([]) is found.decision
    assert found.decision.rule == "urn:r:2"


@pytest.mark.parametrize("conflict", ["prohibit", "perm"])
def test_prohibitions_of_rows_are_told_with_the_strategy_of_their_policy(conflict):
    bars = rule("prohibition", uid="urn:bars", constraints=(OLD,))
    found = access(allows(1), bars, conflict=conflict)
    assert found.decision.permitted
    [barred] = found.prohibitions
    assert (barred.policy, barred.conflict, barred.rule.uid) == ("urn:p:0", conflict, "urn:bars")


def test_a_prohibition_that_no_row_can_lift_denies():
    bars = rule("prohibition", uid="urn:bars", constraints=(EU,))
    for world, permitted in (({}, False), ({"values": {"spatial": "urn:us"}}, True)):
        found = access(allows(1), bars, **world)
        assert found.decision.permitted == permitted
        assert bool(found.permissions) == permitted


def test_what_is_read_together_with_the_rows_counts():
    apart = where("jointly", "isAnyOf", "http://e.org/Other", prefix=terms.PE)
    bars = rule("prohibition", uid="urn:bars", constraints=(apart,))
    decider = Decider([policy(allows(1), bars)])
    for together, permitted in (
        ((), True),
        ((TABLE,), True),
        ((TABLE, "http://e.org/Other"), False),
    ):
        found = decider.row_access(ASKED, World(time=NOON), [TABLE], together)
        assert found.decision.permitted == permitted


def test_what_was_exercised_so_far_counts_for_rows():
    decider = Decider([policy(allows(1, where("count", "lteq", 1)))])
    history = History()
    assert decider.row_access(ASKED, World(time=NOON), [TABLE], history=history).permissions
    history.record_execution(("urn:p:0", "urn:r:1"), ANN, READ, [TABLE], [])
    assert not decider.row_access(ASKED, World(time=NOON), [TABLE], history=history).permissions
    assert not decider.row_access(ASKED, World(time=NOON), [TABLE]).permissions


@pytest.mark.parametrize("read", [f"{terms.MOSAICROWN}read", READ])
def test_an_action_by_its_older_name_is_that_of_odrl(read):
    asked = ASKED.model_copy(update={"action": read})
    decider = Decider([policy(allows(1, action=READ))])
    assert decider.decide(asked).permitted
    assert decider.row_access(asked).decision.request.action == READ
    glance = Hierarchy(action=(("http://e.org/glance", read),))
    asked = ASKED.model_copy(update={"action": "http://e.org/glance"})
    assert Decider([policy(allows(1, action=READ))], hierarchy=glance).decide(asked).permitted
    assert decider.decide(asked, World(memberships=glance)).permitted


def test_times_of_rows_are_in_the_zone_of_the_request():
    assert str(access(allows(1)).zone) == "UTC"
    rome = timezone(timedelta(hours=2))
    assert access(allows(1), time=NOON.astimezone(rome)).zone == rome


def test_who_reads_by_the_inputs_reads_all_rows():
    people = read_policy(people_policy())
    inputs = rule("permission", DATASET, uid="urn:inputs", assignees=(Party(STAFF),))
    mine = policy(inputs, uid="urn:mine")
    asked = Request(assignee=STAFF, action=READ, targets=(OUTPUT,))
    found = Decider([people, mine], [certified(people)]).row_access(asked, World(time=NOON))
    assert found.decision.permitted
    [grant] = found.permissions
    assert (grant.policy, grant.conflict, grant.rule.constraints) == ("urn:mine", "prohibit", ())


def test_who_may_read_the_inputs_is_told_how_that_leads_to_the_output():
    people = read_policy(people_policy())
    inputs = rule("permission", DATASET, uid="urn:inputs", assignees=(Party(STAFF),))
    asked = Request(assignee=STAFF, action=READ, targets=(OUTPUT,))
    decider = Decider([people, policy(inputs, uid="urn:mine")], [certified(people)])
    found = decider.decide(asked, World(time=NOON))
    assert (found.request, found.policy, found.rule) == (asked, "urn:mine", "urn:inputs")
    assert found.reason == "urn:inputs permits reading the inputs, and so the output."
    step = f"who may read all of {DATASET} may read {OUTPUT}"
    assert found.derivation[-2] == step
    assert found.derivation[-1].startswith("certified: k 2 (at least 2), l 2")
    assert [(one.rule, one.targets) for one in found.counted] == [("urn:inputs", (DATASET,))]
    [origin] = found.made_from
    assert (origin.asset, len(origin.sources)) == (OUTPUT, 3)


def test_who_may_read_all_columns_of_the_inputs_that_are_named_may_read_the_output():
    people = read_policy(people_policy())
    columns = [f"{DATASET}/{name}" for name in ("name", "age", "city", "disease")]
    asked = Request(assignee=STAFF, action=READ, targets=(OUTPUT,))
    for left_out, permitted in (("", True), (columns[0], False)):
        targets = tuple(Asset(one) for one in columns if one != left_out)
        reads = Rule("permission", targets, (Action(READ),), "urn:r", assignees=(Party(STAFF),))
        decider = Decider([people, policy(reads, uid="urn:mine")], [certified(people)])
        assert decider.decide(asked, World(time=NOON)).permitted == permitted


@pytest.mark.parametrize("action", ["read", "display", "distribute"])
def test_what_is_permitted_of_the_inputs_opens_reading_of_the_output_alone(action):
    people = read_policy(people_policy())
    inputs = rule("permission", DATASET, uid="urn:inputs")
    decider = Decider([people, policy(inputs, uid="urn:mine")], [certified(people)])
    asked = Request(assignee=ANALYST, action=f"{ODRL}{action}", targets=(OUTPUT,))
    is_reading = asked.action in people.vocabulary.reading
    assert decider.decide(asked, World(time=NOON)).permitted == is_reading
