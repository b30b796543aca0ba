"""What a left operand is for a request, by the request, the world, and the log."""

import pytest
from ruling import ANN, LAKE, NOON, ODRL, READ, STAFF, TABLE, policy, rule

from policy_engine.decision import Request, World
from policy_engine.decision.closures import Closures
from policy_engine.decision.facts import RequestFacts, stated_value, unclear_labels
from policy_engine.decision.history import History, MadeFrom
from policy_engine.policy import Hierarchy, Rule
from policy_engine.policy.model import (
    ANONYMIZE,
    BY_ASSET,
    BY_PARTY,
    COUNT,
    DERIVED,
    JOINTLY,
    READ_SO_FAR,
)

NAME, OTHER, BOB, STUDY = f"{TABLE}/Name", "http://e.org/Other", "http://org/bob", "http://p/study"
AGE, SPATIAL = "http://e.org/age", f"{ODRL}spatial"
PARTIES = Closures(Hierarchy(party=((ANN, STAFF),), asset=((TABLE, LAKE),)))


def facts(history=None, purpose="", action=READ, closures=PARTIES, **world):
    """Return the facts of Ann's request for a column, of the rule `r` of the policy `p`."""
    asked = Request(assignee=ANN, action=action, targets=(NAME,), purpose=purpose)
    found = RequestFacts(asked, World(time=NOON, **world), NOON, closures, history)
    found.policy, found.rule = "p", "r"
    return found


def logged(*executions):
    """Return a history of executions of the rule `r` of the policy `p`."""
    history = History()
    for party, action, asset in executions:
        history.record_execution(("p", "r"), party, action, [asset], ["d"])
        history.record_permit(party, action, [asset])
    return history


def test_time_purpose_and_assets_are_those_of_the_request():
    found = facts(purpose=STUDY)
    assert found.values(f"{ODRL}dateTime") == (NOON,)
    assert found.values(f"{ODRL}purpose") == (STUDY,)
    assert facts().values(f"{ODRL}purpose") is None
    assert found.values(JOINTLY) == (NAME,)
    assert found.values(DERIVED) == ("exempt",)
    found.is_derived = True
    assert found.values(DERIVED) == ("asked for",)


def test_what_the_world_says_of_one_counts_for_that_one_alone():
    found = facts(values={SPATIAL: "urn:eu"}, of={ANN: {AGE: 20}, READ: {SPATIAL: "urn:us"}})
    assert found.values(SPATIAL) == ("urn:eu",)
    found.about, found.part = ANN, "party"
    assert (found.values(AGE), found.values(SPATIAL)) == ((20,), None)
    found.about, found.part, found.is_act = READ, "action", True
    assert (found.values(AGE), found.values(SPATIAL)) == (None, ("urn:us",))
    found.about = f"{ODRL}display"
    assert found.values(SPATIAL) == ("urn:eu",)


@pytest.mark.parametrize(
    ("name", "is_known"),
    [
        (NAME, False),
        (f"{TABLE}/Age", False),
        (f"{LAKE}/Age", False),
        (f"{OTHER}/Age", True),
        (SPATIAL, True),
    ],
)
def test_a_column_of_what_is_asked_for_has_no_value_of_its_own(name, is_known):
    found = facts(values={name: 1})
    assert found.values(name) == found.referenced(name) == ((1,) if is_known else None)
    found.defined = {name}
    assert found.values(name) == (1,)


def test_of_rows_the_columns_of_their_datasets_have_no_value():
    found = facts(values={f"{TABLE}/Age": 1, f"{OTHER}/Age": 2})
    found.rows = frozenset([OTHER])
    assert found.values(f"{TABLE}/Age") == (1,)
    assert found.values(f"{OTHER}/Age") is None


@pytest.mark.parametrize(
    ("stated", "count"),
    [({"r": 3}, (4,)), ({"p": {"r": 4}, "r": 3}, (5,)), ({"q": {"r": 4}}, None), ({}, None)],
    ids=str,
)
def test_without_a_log_a_count_is_what_the_world_says_and_the_request(stated, count):
    assert facts(counts=stated).values(COUNT) == count


@pytest.mark.parametrize(("stated", "count"), [(1, (2,)), (1.0, (2.0,)), ("1", None)])
def test_what_is_asked_for_is_added_to_every_count_of_the_world(stated, count):
    found = facts(values={BY_PARTY: stated}, of={ANN: {COUNT: stated}})
    assert found.values(BY_PARTY) == count
    found.about, found.part = ANN, "party"
    assert found.values(COUNT) == count


def test_what_was_done_is_among_the_counts_of_the_world():
    found = facts(counts={"r": 3})
    found.was_done = True
    assert found.values(COUNT) == (3,)


USED = [(ANN, READ, NAME), (ANN, READ, OTHER), (BOB, READ, TABLE), (ANN, ANONYMIZE, NAME)]


@pytest.mark.parametrize(
    ("operand", "used", "made"), [(COUNT, 4, 2), (BY_PARTY, 3, 2), (BY_ASSET, 3, 2)]
)
def test_a_count_by_the_log_has_what_is_asked_for_in_it(operand, used, made):
    history = logged(*USED)
    assert facts(history).values(operand) == (used,)
    assert facts(history, action=ANONYMIZE).values(operand) == (made,)
    done = facts(history)
    done.was_done = True
    assert done.values(operand) == (used - 1,)


def test_what_was_done_was_done_once_at_least():
    done = facts(History())
    done.was_done = True
    assert done.values(COUNT) == done.values(BY_PARTY) == done.values(BY_ASSET) == (1,)


@pytest.mark.parametrize(
    ("part", "about", "count"),
    [("party", BOB, 2), ("party", ANN, 3), ("asset", OTHER, 2), ("asset", TABLE, 3)],
)
def test_a_refinement_counts_what_it_is_about(part, about, count):
    found = facts(logged(*USED))
    found.about, found.part = about, part
    assert found.values(COUNT) == (count,)


def test_the_count_of_an_action_is_that_of_the_one_asked_for():
    found = facts(logged(*USED))
    found.about, found.part = f"{ODRL}display", "action"
    assert found.values(COUNT) is None
    found.about, found.is_act = READ, True
    assert found.values(COUNT) == (4,)


def test_a_count_under_a_name_of_several_rules_is_unknown():
    found = facts(logged(*USED))
    found.unclear = frozenset([("p", "r")])
    assert found.values(COUNT) is None


def test_a_rule_without_uid_is_counted_under_the_text_that_it_was_exercised_under():
    found, label = facts(history := History()), "permission read T 0123456789abcdef"
    history.record_execution(("p", label), ANN, READ, [NAME], ["d"])
    found.rule, found.digest = label, "d"
    found.counted = (policy(uid="p"), Rule("permission", name=label))
    assert found.values(COUNT) == (2,)
    found.digest = "other"
    assert found.values(COUNT) is None


def test_what_was_read_so_far_is_by_the_log_what_who_asks_or_a_group_of_his_read():
    read = [(ANN, READ, OTHER), (STAFF, READ, LAKE), (BOB, READ, TABLE), (ANN, ANONYMIZE, "urn:m")]
    assert facts(logged(*read)).values(READ_SO_FAR) == (NAME, OTHER, LAKE)
    assert facts().values(READ_SO_FAR) is None


def test_what_was_read_so_far_is_without_a_log_what_the_world_says():
    assert facts(values={READ_SO_FAR: OTHER}).values(READ_SO_FAR) == (NAME, OTHER)


def test_what_was_read_was_made_from_what_was_known_of_it_then():
    history, known = logged((ANN, READ, OTHER)), MadeFrom(OTHER, (BOB,), (LAKE,))
    history.record_permit(ANN, READ, [OTHER], [known])
    found, asked = facts(history), []
    found.sources = lambda assets, earlier: asked.append((list(assets), dict(earlier))) or [LAKE]
    assert found.values(READ_SO_FAR) == (NAME, OTHER, LAKE)
    assert asked == [([NAME, OTHER], {OTHER: [known]})]


@pytest.mark.parametrize(
    ("operand", "narrow", "wide", "included"),
    [
        (SPATIAL, ANN, STAFF, True),
        (SPATIAL, STAFF, ANN, False),
        (f"{ODRL}purpose", ANN, STAFF, False),
        (JOINTLY, TABLE, LAKE, True),
        (JOINTLY, ANN, STAFF, False),
        (JOINTLY, NAME, "http://e.org/", None),  # by its IRI it may be a part of it
        (SPATIAL, NAME, "http://e.org/", False),
        (JOINTLY, NAME, OTHER, None),  # it was made from it
        (JOINTLY, OTHER, NAME, None),
        (JOINTLY, TABLE, OTHER, False),
    ],
)
def test_one_name_includes_another_by_the_hierarchy_of_the_operand(operand, narrow, wide, included):
    found = facts()
    found.made_of = lambda asset: [f"{OTHER}/x"] if asset == NAME else []
    assert found.includes(operand, narrow, wide) is included


def test_what_includes_what_by_the_word_of_others_alone_is_unknown():
    found = facts(closures=Closures(Hierarchy()))
    assert found.includes(SPATIAL, ANN, STAFF) is False
    found.all_closures = PARTIES
    assert found.includes(SPATIAL, ANN, STAFF) is None
    assert found.includes(SPATIAL, STAFF, ANN) is False


# -- labels ---------------------------------------------------------------------------------------


def unnamed(kind="duty", name="duty pay"):
    return Rule(kind, name=name)


def test_a_label_that_tells_no_rule_is_unclear():
    one = policy(rule("permission", uid="urn:r:1", duties=(unnamed(),)), uid="p")
    other = policy(rule("permission", uid="urn:r:1", duties=(unnamed(),)), uid="q")
    assert unclear_labels([one]) == frozenset()
    assert unclear_labels([one, other]) == {"urn:r:1", "duty pay"}
    twice = policy(
        rule("permission", uid="urn:r:1", duties=(unnamed(),)),
        rule("permission", uid="urn:r:2", duties=(unnamed(),)),
        uid="p",
    )
    assert unclear_labels([twice]) == {"duty pay", ("p", "duty pay")}


@pytest.mark.parametrize(
    ("stated", "unclear", "value"),
    [
        ({"r": 1}, set(), 1),
        ({"r": 1}, {"r"}, None),
        ({"p": {"r": 2}, "r": 1}, {"r"}, 2),
        ({"p": {"r": 2}}, {("p", "r"), "r"}, None),
        ({"p": {"other": 2}, "r": 1}, set(), 1),
        ({"p": 2, "r": 1}, set(), 1),
        ({"r": {"x": 1}}, set(), None),
    ],
)
def test_what_is_stated_under_the_policy_comes_before_what_is_stated_of_the_label(
    stated, unclear, value
):
    assert stated_value(stated, "p", "r", frozenset(unclear)) == value
