from datetime import UTC, datetime

from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

from policy_engine.service.calls.model_answers import json_answer


class Reading(BaseModel):
    at: datetime
    values: tuple[float, ...] = (0.1, 1e-9)
    note: str | None = None


def test_an_answer_that_is_written_at_once_is_what_the_model_itself_would_be():
    app, reading = FastAPI(), Reading(at=datetime(2026, 1, 2, tzinfo=UTC))
    app.get("/model", response_model=Reading)(lambda: reading)
    app.get("/answer", response_model=Reading)(lambda: json_answer(reading))
    model, answer = (TestClient(app).get(path) for path in ("/model", "/answer"))
    assert answer.content == model.content
    assert answer.headers == model.headers
