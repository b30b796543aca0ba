"""To anonymize and to train are decided as reading is: how it is done is not a condition of it."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import ruling
from building import ANALYST, DATASET, OUTPUT, anonymize, permission, policy, refinement
from ruling import is_permitted, where

from policy_engine import terms
from policy_engine.decision import Decider, World, read_request
from policy_engine.policy import Action, read_policy
from policy_engine.policy.model import MAKING

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
ACTION = anonymize(method="k-anonymity", k=2, quasi=["age"], insensitive=["disease"])


def decided(*permissions, prohibitions=(), action="anonymize", world=None, target=DATASET, **parts):
    """Return what is decided of a request for the rule's purpose."""
    text = policy(permissions, prohibitions)
    asked = {"assignee": ANALYST, "purpose": "marketing", **parts}
    read = [read_policy(text)]
    request = read_request(asked["assignee"], action, [target], asked["purpose"], read)
    return Decider(read).decide(request, world or World(time=NOON))


def makes(**parts):
    return permission(uid="http://x.org/r", output=OUTPUT, **{"action": ACTION, **parts})


def test_who_may_anonymize_may_by_the_rule_that_says_how():
    found = decided(makes())
    assert (found.effect, found.rule) == ("permit", "http://x.org/r")
    assert found.derivation[0] == (f"http://x.org/r permits odrl:anonymize on {DATASET}")


def test_to_train_is_permitted_by_the_rule_that_says_how():
    action = {"rdf:value": {"@id": "pe:train"}, "refinement": [refinement("pe:label", "disease")]}
    assert decided(makes(action=action), action="pe:train").permitted


@pytest.mark.parametrize("verb", ["read", "use", "derive", "pe:train"])
def test_who_may_anonymize_may_do_nothing_else(verb):
    assert not decided(makes(), action=verb).permitted


@pytest.mark.parametrize("part", [{"assignee": "http://x.org/other"}, {"purpose": ""}])
def test_another_party_and_no_purpose_are_not_permitted_to_anonymize(part):
    assert not decided(makes(), **part).permitted


@pytest.mark.parametrize(("count", "effect"), [(0, True), (1, False), (None, False)])
def test_what_is_no_parameter_of_anonymizing_is_a_condition(count, effect):
    # No text says so; a policy that is built rather than read may.
    parts = (where("k", "eq", 2, prefix=terms.MOSAICROWN), where("count", "lteq", 1))
    rule = replace(ruling.rule("permission"), actions=(Action(MAKING[0], parts),))
    built = ruling.policy(rule)
    known = {} if count is None else {MAKING[0]: {terms.expand("odrl:count"): count}}
    assert is_permitted([built], action=MAKING[0], of=known) == effect


def test_a_prohibition_to_anonymize_in_one_way_is_one_of_any_way():
    weak = {**ACTION, "refinement": [refinement("mosaicrown:k", 2)]}
    forbids = {"target": DATASET, "action": weak}
    text = json.loads(policy([makes()], [forbids]))
    assert not decided(makes(), prohibitions=text["prohibition"]).permitted


def test_a_prohibition_of_a_column_is_one_of_anonymizing_all():
    forbids = {"target": f"{DATASET}/age", "action": "anonymize"}
    assert not decided(makes(), prohibitions=[forbids]).permitted
    assert decided(makes(), prohibitions=[forbids], target=f"{DATASET}/disease").permitted
