"""A column that may not be read is told from one that there is not by no answer, log or time."""

import json
import time

import pytest
from served import code, signed_in
from test_dataset_routes import uploaded
from test_decision_routes import DATA, READER, TABLE, policy, query
from test_policy_routes import published

from policy_engine.decision.log.log import DecisionLog, verify_log
from policy_engine.service.resources import queries

FORBIDDEN, ABSENT = "SELECT age FROM Visit", "SELECT agx FROM Visit"


@pytest.fixture
def reader(services):
    """A consumer who may read one column of two."""
    owner = signed_in(services, "owner", name="Owner")
    document = json.loads(policy())
    document["permission"][0]["target"] = f"{DATA}/town"
    published(owner, json.dumps(document))
    uploaded(owner, TABLE, "visits.csv", DATA)
    return signed_in(services, "consumer", party=READER)


@pytest.fixture
def steps(monkeypatch):
    """What is done that takes long, in its order."""
    noted, transaction = [], DecisionLog.transaction

    def counted(log):
        noted.append("log")
        return transaction(log)

    monkeypatch.setattr(DecisionLog, "transaction", counted)
    monkeypatch.setattr(queries.time, "sleep", lambda _: noted.append("wait"))
    return noted


@pytest.mark.one_in(2)
@pytest.mark.parametrize("is_dry", [False, True])
def test_both_are_refused_with_one_answer_by_the_same_steps(services, reader, steps, is_dry):
    told = []
    for sql in (FORBIDDEN, ABSENT):
        steps.clear()
        answer = query(reader, sql, dry_run=is_dry)
        told.append((code(answer), answer.json()["problems"], [*steps]))
    assert told[0] == told[1]
    assert told[0][0] == (422, "Q004")
    assert told[0][2] == (["wait"] if is_dry else ["log", "log", "wait"])
    if not is_dry:
        path, key = services.decisions.path, services.decisions.key
        state = verify_log(path, key)
        assert (state.intact, state.entries) == (True, 2)


def test_both_are_denials_in_the_log(services, reader):
    for sql in (FORBIDDEN, ABSENT):
        query(reader, sql)
    items = signed_in(services, "auditor").get("/api/v1/decisions").json()["items"]
    assert [one["effect"] for one in items] == ["deny", "deny"]
    assert [one["assignee"] for one in items] == [READER, READER]


def test_refusals_of_names_wait_for_the_next_beat(monkeypatch):
    slept = []
    monkeypatch.setattr(queries.time, "sleep", slept.append)
    monkeypatch.setattr(queries.time, "monotonic", lambda: 7.03)
    for began in (7.0, 6.9, 6.88):
        queries._wait_for_beat(began)
    assert slept == pytest.approx([0.07, 0.07, 0.05])


@pytest.mark.nightly
def test_the_time_of_a_refusal_does_not_tell_which_it_is(reader):
    taken = {FORBIDDEN: [], ABSENT: []}
    for number in range(300):
        for sql in sorted(taken, reverse=number % 2 == 0):
            began = time.perf_counter()
            query(reader, sql)
            taken[sql].append(time.perf_counter() - began)
    pairs = [(one > other) for one in taken[FORBIDDEN] for other in taken[ABSENT]]
    assert abs(sum(pairs) / len(pairs) - 0.5) < 0.1  # four standard errors of a rank-sum test
