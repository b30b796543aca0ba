"""Errors as the API tells them: problem+json (RFC 9457) with the codes of the library."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException

from policy_engine.errors import (
    CODES,
    CertificateError,
    DeniedError,
    EngineError,
    InternalError,
    LedgerError,
    LogError,
    OutputError,
    PolicyEngineError,
    Problem,
)

TYPE = "https://w3id.org/policy-engine/errors#"
MEDIA_TYPE = "application/problem+json"

_BY_CODE: Mapping[str, int] = MappingProxyType(
    {
        "N001": 401,
        "N002": 403,
        "N003": 404,
        "N004": 409,
        "N005": 412,
        "N006": 429,
        "N007": 422,
        "N008": 413,
        "N009": 403,
        "N010": 401,
        "N011": 422,
        "N012": 500,
        "N013": 503,
        "C011": 501,
        "B002": 503,
        "K031": 503,
    }
)
_BY_STAGE: Mapping[type[PolicyEngineError], int] = MappingProxyType(
    {
        DeniedError: 403,
        CertificateError: 409,
        LedgerError: 409,
        OutputError: 507,
        LogError: 503,
        EngineError: 503,
        InternalError: 500,
    }
)
_OTHERWISE = 422


class ProblemPlace(BaseModel):
    """A place in a text; both count from 1."""

    line: int
    column: int


class ProblemFix(BaseModel):
    """A replacement that fixes a problem: `text` in the place of what is from `start` to `end`."""

    start: ProblemPlace
    end: ProblemPlace
    text: str


class ProblemView(BaseModel):
    """A problem, with its place in the text that it is about; line 0 where that is not known."""

    code: str
    message: str
    hint: str = ""
    section: str = ""
    line: int = 0
    column: int = 0
    pointer: str = ""
    fix: ProblemFix | None = None


class Refusal(BaseModel):
    """What a call that is not carried out is answered with (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    problems: list[ProblemView]
    request: str = ""
    """Which call it was: the operator finds it in the log by this."""


REFUSALS: dict[int | str, dict[str, Any]] = {
    "default": {"model": Refusal, "description": "Why the call is not carried out."}
}
"""What every route may answer, for the OpenAPI document."""


def name_media_type(document: dict[str, Any]) -> None:
    """Let an OpenAPI document say that refusals come as problems: to FastAPI, they are of the same
    media type as other answers."""
    for operations in document["paths"].values():
        for operation in operations.values():
            refusal = operation["responses"].get("default", {})
            if "content" in refusal:
                refusal["content"] = {MEDIA_TYPE: next(iter(refusal["content"].values()))}


def status_of(error: PolicyEngineError) -> int:
    """Return the HTTP status of an error."""
    if error.code in _BY_CODE:
        return _BY_CODE[error.code]
    stages = (status for stage, status in _BY_STAGE.items() if isinstance(error, stage))
    return next(stages, _OTHERWISE)


def refuse(problems: Sequence[Problem], status: int, request_id: str = "") -> JSONResponse:
    """Return the answer to a call that is not carried out because of problems."""
    first = problems[0]
    content = {
        "type": f"{TYPE}{first.code}",
        "title": CODES[first.code],
        "status": status,
        "detail": str(first).removeprefix(f"{first.code} "),
        "code": first.code,
        "problems": [one.as_json() for one in problems],
        "request": request_id,
    }
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    headers |= {"Retry-After": "60"} if status == 429 else {}
    return JSONResponse(content, status, headers, media_type=MEDIA_TYPE)


def add_refusals(app: FastAPI) -> None:
    """Let all errors be told as problems."""

    def refuse_error(call: Request, error: Exception) -> JSONResponse:
        if not isinstance(error, PolicyEngineError):  # as it is registered for
            raise TypeError from error
        folder = call.app.state.services.settings.folder
        problems = [without_places(one, f"{folder}/") for one in error.problems]
        return refuse(problems, status_of(error), request_id(call))

    def refuse_form(call: Request, error: Exception) -> JSONResponse:
        problems = [_form_problem(one) for one in getattr(error, "errors", list)()]
        return refuse(problems or [_FORM], 422, request_id(call))

    def refuse_http(call: Request, error: Exception) -> JSONResponse:
        status = getattr(error, "status_code", 500)
        return refuse([_http_problem(status)], status, request_id(call))

    def refuse_text(call: Request, _: Exception) -> JSONResponse:
        return refuse([_NO_TEXT], 422, request_id(call))

    def refuse_unwritten(call: Request, error: Exception) -> JSONResponse:
        is_full = any(one in str(error).lower() for one in _NO_ROOM)
        problem, status = (_FULL, 507) if is_full else (_BUSY, 503)
        return refuse([problem], status, request_id(call))

    app.add_exception_handler(UnicodeEncodeError, refuse_text)
    app.add_exception_handler(OperationalError, refuse_unwritten)
    app.add_exception_handler(PolicyEngineError, refuse_error)
    app.add_exception_handler(RequestValidationError, refuse_form)
    app.add_exception_handler(HTTPException, refuse_http)


def request_id(call: Request) -> str:
    """Return which call it is, as the log has it."""
    return str(call.scope.get("request_id", ""))


def without_places(problem: Problem, folder: str) -> Problem:
    """Return a problem that does not say where the service keeps its files."""
    message, hint = (
        _STORED.sub(r"data\1", text.replace(folder, "")) for text in (problem.message, problem.hint)
    )
    return replace(problem, message=message, hint=hint)


_STORED = re.compile(
    r"(?:[^\s'\"]*/)?(?:(?:files|uploads)/[0-9a-f]{32,64}|reading/\d+-[0-9a-f]+/\d+/\d+)((?:\.\w+)*)"
)
"""The place of a file of the service, whose name is the digest of its content; and its ending."""


_NO_TEXT = Problem("N007", "A text of the call has half a character: a surrogate by itself.")
_BUSY = Problem("N013", "The database does not answer in time.", "Try again in a moment.")
_FULL = Problem(
    "N013",
    "The disk of the service, or of its database, is full: nothing was written.",
    "Tell who runs the service: trying again helps once there is room.",
)
_NO_ROOM = ("disk is full", "no space left", "could not extend file")
"""How SQLite, the system and PostgreSQL put it."""
_FORM = Problem("N007", "The call cannot be understood.")


def _form_problem(one: Mapping[str, Any]) -> Problem:
    """Return what is wrong with a part of a call; what was given is not repeated."""
    place = ".".join(map(str, one.get("loc", ())))
    return Problem("N007", f"{place or 'The call'}: {one.get('msg', 'cannot be understood')}.")


def _http_problem(status: int) -> Problem:
    if status == 404:
        return Problem("N003", "There is nothing here, or nothing that you may see.")
    if status == 405:
        return Problem("N007", "What is at this address is not called by this method.")
    if status == 413:
        return Problem("N008", "The body of the call is larger than is accepted.")
    return _FORM
