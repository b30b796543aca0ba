"""What was read of an output is what that was made from, whatever became of its policy."""

import json

import pytest
from building import DATASET, anonymize, permission
from building import policy as text_of
from certifying import certified
from owning import ANN, HOSPITAL, NOON, OWNED, REGULATOR, VISITS, derives, policy, rule

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.history import History
from policy_engine.decision.log import DecisionLog
from policy_engine.policy import Constraint, InForce, Value, read_policy
from policy_engine.policy.owners import read_owners
from policy_engine.terms import ODRL, PE

READ = f"{ODRL}read"
ONE, TWO = "http://e.org/One", "http://e.org/Two"
PARTS = (f"{VISITS}/x", f"{VISITS}/y")
OWNERS = read_owners({**OWNED, VISITS: {"owner": HOSPITAL, "regulators": [REGULATOR]}})
LETS = policy(HOSPITAL, rule("permission", VISITS, action="read"), uid="urn:lets")


def makes(output, uid=""):
    """Return the policy by which the hospital makes an output of the visits."""
    action = anonymize(method="k-anonymity", k=2, quasi=["x"], insensitive=["y"])
    action = json.loads(json.dumps(action).replace(f"{DATASET}/", f"{VISITS}/"))
    made = permission(
        action=action, target=VISITS, output=output, assigner=HOSPITAL, assignee=ANN, purpose=None
    )
    return read_policy(text_of([made], uid=uid or f"{output}/policy", profile=None))


FIRST, SECOND = makes(ONE), makes(TWO)
PROOFS = {ONE: certified(FIRST), TWO: certified(SECOND)}


def apart(assigner=REGULATOR):
    """Return the policy of a party that keeps two columns of the visits apart from now on."""
    both = Constraint(f"{PE}readSoFar", f"{ODRL}isAllOf", tuple(map(Value, PARTS)))
    keeps = rule("prohibition", VISITS, action="read", constraints=(both,))
    return policy(assigner, keeps, uid=f"urn:apart:{assigner}")


def deciding(*policies, proofs=(ONE, TWO), keeper=REGULATOR, owners=OWNERS, ended=()):
    given = InForce([*policies, SECOND, LETS, apart(keeper)], ended=ended)
    return Decider(given, [PROOFS[one] for one in proofs], owners=owners)


def asking(target):
    return Request(assignee=ANN, action=READ, targets=(target,))


def answer(decider, target, log):
    return log.decide(decider, asking(target), World(time=NOON)).permitted


@pytest.mark.parametrize("proofs", [(ONE, TWO), (TWO,)])
@pytest.mark.parametrize("target", [f"{TWO}/y", f"{VISITS}/y"])
def test_withdrawing_the_policy_of_what_was_read_empties_no_ledger(tmp_path, proofs, target):
    log = DecisionLog.open(tmp_path / "log.jsonl")
    assert answer(deciding(proofs=proofs), target, log)  # nothing of the other was read
    log = DecisionLog.open(tmp_path / "other.jsonl")
    assert answer(deciding(FIRST), f"{ONE}/x", log)
    assert not answer(deciding(FIRST), target, log)
    assert not answer(deciding(proofs=proofs), target, log)


def test_what_was_read_before_anybody_owned_anything_is_known(tmp_path):
    log = DecisionLog.open(tmp_path / "log.jsonl")
    unowned = Decider([FIRST], [PROOFS[ONE]])
    assert answer(unowned, f"{ONE}/x", log)
    assert not answer(deciding(proofs=[TWO]), f"{TWO}/y", log)


def test_an_entry_that_does_not_say_is_told_by_the_certificates_at_hand():
    history = History()
    history.record_permit(ANN, READ, [f"{ONE}/x"])
    for proofs, is_permitted in (((ONE, TWO), False), ((TWO,), True)):
        found = deciding(proofs=proofs).decide(asking(f"{TWO}/y"), World(time=NOON), history)
        assert found.permitted == is_permitted


def test_an_entry_that_does_not_say_is_told_by_a_policy_that_has_ended():
    history = History()
    history.record_permit(ANN, READ, [f"{ONE}/x"])
    for target, is_permitted in ((f"{TWO}/y", False), (f"{TWO}/x", True)):
        decider = deciding(proofs=[TWO], ended=[FIRST])
        found = decider.decide(asking(target), World(time=NOON), history)
        assert found.permitted == is_permitted


def test_what_is_derived_by_a_policy_that_has_ended_was_made_from_all_that_it_names():
    history = History()
    history.record_permit(ANN, READ, ["http://e.org/Sum"])
    summed = derives("http://e.org/Sum", f"{VISITS}/x", HOSPITAL)
    for ended, is_permitted in (((), True), ((summed,), False)):
        found = deciding(proofs=[TWO], ended=ended)
        found = found.decide(asking(f"{TWO}/y"), World(time=NOON), history)
        assert found.permitted == is_permitted


def test_who_is_to_have_read_a_column_has_not_read_it_by_what_was_made_of_it(tmp_path):
    first = Constraint(f"{PE}readSoFar", f"{ODRL}isAllOf", (Value(f"{VISITS}/x"),))
    reads = [
        rule("permission", f"{VISITS}/y", action="read", constraints=(first,), uid="urn:y"),
        rule("permission", f"{VISITS}/x", action="read", uid="urn:x"),
    ]
    decider = Decider(
        [SECOND, policy(HOSPITAL, *reads, uid="urn:lets")], [PROOFS[TWO]], owners=OWNERS
    )
    log = DecisionLog.open(tmp_path / "log.jsonl")
    targets = f"{TWO}/x", f"{VISITS}/y", f"{VISITS}/x", f"{VISITS}/y"
    assert [answer(decider, one, log) for one in targets] == [True, False, True, True]


def test_an_owner_keeps_nothing_apart_in_what_he_released_and_withdrew(tmp_path):
    log = DecisionLog.open(tmp_path / "log.jsonl")
    assert answer(deciding(FIRST, keeper=HOSPITAL), f"{ONE}/x", log)
    for proofs in ((ONE, TWO), (TWO,)):
        assert answer(deciding(proofs=proofs, keeper=HOSPITAL), f"{VISITS}/y", log)


def test_a_history_keeps_what_was_made_from_what(tmp_path):
    log = DecisionLog.open(tmp_path / "log.jsonl")
    answer(deciding(FIRST), f"{ONE}/x", log)
    with log.transaction() as alone:
        kept = History.from_json(json.loads(json.dumps(alone.history.to_json())))
        assert kept == alone.history
    [one] = kept.party_origins(ANN)
    assert (one.asset, one.by, one.sources) == (f"{ONE}/x", (HOSPITAL,), (f"{VISITS}/x",))
