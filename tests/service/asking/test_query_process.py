"""A process that answers queries, which a small program stands for: it does as it is told."""

import sys
import threading
import time

import pytest

from policy_engine.decision.query.query_limits import QueryStop
from policy_engine.errors import QueryError, ServiceError
from policy_engine.service.asking import query_process
from policy_engine.service.asking.asked import Asked
from policy_engine.service.asking.query_process import QueryProcess

STANDS_FOR = """
import json, os, sys, tempfile, time
sys.stdin.readline()
print("{}", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["kind"] == "stop":
        continue
    asked = asked["question"]
    if "sleep" in asked:
        time.sleep(asked["sleep"])
    if "kill" in asked:
        os.kill(os.getpid(), 9)
    if "spill" in asked:
        tempfile.mkstemp()
    if "exit" in asked:
        sys.exit(1)
    told = {"answer": asked.get("say"), "is_last": "last" in asked}
    print(json.dumps(told) if "large" not in asked else "x" * asked["large"], flush=True)
"""


@pytest.fixture
def process(monkeypatch, tmp_path):
    monkeypatch.setattr(query_process, "GRACE", 0.05)
    monkeypatch.setattr(query_process, "_BEAT", 0.02)
    place = tmp_path / "spilled"
    place.mkdir()
    one = QueryProcess.launch("{}", 1, place, (sys.executable, "-S", "-c", STANDS_FOR))
    yield one
    one.end()


def ask(process, question, seconds=20.0, stop=None, *, is_patient=False):
    asked = Asked(number=1, kind="query", question=question)
    return process.ask(asked, seconds, stop or QueryStop(), is_patient=is_patient)


def test_a_process_answers_one_question_after_the_other_until_its_last(process):
    assert ask(process, {"say": "a"}).answer == "a"
    assert ask(process, {"say": ["b"]}).answer == ["b"]
    assert process.is_there
    assert ask(process, {"say": 1, "last": True}).is_last
    assert not process.is_there


def test_a_process_that_takes_too_long_is_ended(process):
    with pytest.raises(QueryError, match="Q011"):
        ask(process, {"sleep": 60}, 0.05)
    assert not process.is_there


def test_a_process_whose_caller_leaves_is_ended(process):
    ask(process, {})
    stop = QueryStop()
    threading.Timer(0.1, stop.stop).start()
    began = time.monotonic()
    with pytest.raises(QueryError, match="Q012"):
        ask(process, {"sleep": 60}, stop=stop)
    assert time.monotonic() - began < 20
    assert not process.is_there


def test_what_is_paid_for_is_waited_for_when_the_caller_leaves(process):
    ask(process, {})
    stop = QueryStop()
    threading.Timer(0.05, stop.stop).start()
    assert ask(process, {"sleep": 0.4, "say": "a"}, stop=stop, is_patient=True).answer == "a"


@pytest.mark.parametrize("question", [{"exit": True}, {"large": 2000}])
def test_a_process_without_memory_or_with_too_large_an_answer_is_ended(
    process, question, monkeypatch
):
    monkeypatch.setattr(query_process, "MOST_TOLD", 1000)
    with pytest.raises(QueryError, match=r"Q011 .*memory"):
        ask(process, question)
    assert not process.is_there


def test_who_asks_a_process_that_others_end_is_told_to_ask_again(process):
    with pytest.raises(ServiceError, match="N013"):
        ask(process, {"kill": True})
    assert not process.is_there


def test_what_a_process_writes_for_a_while_is_in_its_place_and_goes_with_it(process):
    ask(process, {"spill": True})
    assert len([*process.place.iterdir()]) == 1
    process.end()
    assert not process.place.exists()
