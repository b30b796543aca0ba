import io
import json
from contextlib import nullcontext
from threading import Event
from types import SimpleNamespace

import pytest

from policy_engine.errors import DataError, Place, Problem, QueryError
from policy_engine.service.asking import query_answers
from policy_engine.service.asking.asked import Asked, Told
from policy_engine.service.asking.query_answers import MemoryLimit, QueryAnswers, written_bytes
from policy_engine.service.identity.actors import Actor
from policy_engine.service.metrics.call_meter import EventTally
from policy_engine.service.resources.queries import QueryAnswer

ADA = Actor(id="ada", name="Ada", roles=())


def answers(answer, more=2**40):
    tally = EventTally()
    services = SimpleNamespace(
        queries=SimpleNamespace(answer=answer), decisions=SimpleNamespace(tally=tally)
    )
    return QueryAnswers(services, MemoryLimit(written_bytes(), more)), tally


def told(answer, **limits):
    one, _ = answers(answer, **limits)
    return one.told(Asked(number=1, kind="query", actor=ADA, question={"sql": "SELECT 1"}))


def test_an_answer_comes_with_what_was_logged_for_it():
    def answer(actor, question, _):
        tally.add("deny")
        return QueryAnswer(permitted=False, sql=f"{actor.id} {question.sql}")

    one, tally = answers(answer)
    tally.add("deny")
    told = one.told(Asked(number=1, kind="query", actor=ADA, question={"sql": "x"}))
    assert QueryAnswer.model_validate(told.checked()).sql == "ada x"
    assert (told.effects, told.is_last) == ([["deny"]], False)


def test_an_error_is_raised_again_as_it_was():
    problem = Problem("C002", "There is no file.", "Give one.", Place("", 2, 3), values=("secret",))

    def fail(*_):
        raise DataError(problem)

    line = told(fail).model_dump_json()
    with pytest.raises(DataError) as caught:
        Told.model_validate_json(line).checked()
    assert caught.value.problems == (problem,)
    assert "secret" not in line


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), "Q011"),
        (ValueError("Take operation overflowed binary array capacity"), "Q011"),
        (ValueError("secret"), "X001"),
    ],
)
def test_what_fails_without_a_code_is_told_by_one(error, code, caplog):
    def fail(*_):
        raise error

    [problem] = told(fail).problems
    assert problem["code"] == code
    assert "secret" not in caplog.text + problem["message"]


@pytest.mark.nightly
def test_a_process_that_keeps_memory_answers_nothing_more():
    assert told(lambda *_: QueryAnswer(permitted=False), more=-(2**30)).is_last


def test_what_is_stopped_is_what_is_asked_then_and_nothing_later(monkeypatch):
    def answer(_, question, stop):
        one._end(0)
        assert not stop.is_set
        one._end(int(question.sql))
        if stop.is_set:
            raise QueryError.of("Q012", "It was ended.")
        return QueryAnswer(permitted=True)

    one, _ = answers(answer, more=-(2**30))
    monkeypatch.setattr(query_answers, "os", SimpleNamespace(_exit=lambda _: None))
    forgotten = Event()
    one.forget = forgotten.set
    asked = Asked(number=4, kind="query", actor=ADA, question={"sql": "4"})
    with nullcontext(io.BytesIO()) as written:
        one.answer_all(io.BytesIO(asked.model_dump_json().encode() + b"\n"), written)
        started, told = map(json.loads, written.getvalue().splitlines())
    assert (started["answer"], told["error"], told["is_last"]) == (None, "QueryError", True)
    assert forgotten.wait(5)
