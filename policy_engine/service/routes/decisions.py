"""The routes of decisions and their log, and of queries."""

import json
from asyncio import wrap_future
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from policy_engine.decision import Decision
from policy_engine.decision.query.query_limits import QueryStop
from policy_engine.service.calls.callers import Allowed, ServicesOf, allowed, key_of
from policy_engine.service.calls.characters import has_suspect
from policy_engine.service.calls.model_answers import json_answer
from policy_engine.service.calls.pages import MOST
from policy_engine.service.calls.repeating import DONE_ONCE, RepeatableRoute
from policy_engine.service.calls.waiting import answer_in_turn
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.decision_details import DecisionDetail
from policy_engine.service.resources.decisions import AccessQuestion, LogIntegrity
from policy_engine.service.resources.log_pages import LogFilter, LogPage
from policy_engine.service.resources.queries import QueryAnswer, SqlQuestion
from policy_engine.service.services import services_of


class DecisionRoute(RepeatableRoute):
    """The route that decides: requests that are as they should be are decided without detours."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers calls."""
        answer = super().get_route_handler()
        guards = [one.call for one in self.dependant.dependencies]
        [guard] = [one for one in guards if isinstance(one, Allowed)]

        async def decide_soon(call: Request) -> Response:
            question = await _plain_question(call)
            if question is None:
                return await answer(call)
            caller = partial(guard.admit, call)
            decision = await wrap_future(services_of(call).decisions.ask(caller, question))
            return json_answer(decision)

        return decide_soon


async def _plain_question(call: Request) -> AccessQuestion | None:
    """Return what is asked by a call of a known key that nothing is wrong with.

    None for any other: the usual way says what is wrong with it, if anything is.
    """
    kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" or call.scope["query_string"]:
        return None
    if not services_of(call).identities.is_known(key_of(call)):
        return None
    body = await call.body()
    if has_suspect(body):
        return None
    try:
        return AccessQuestion.model_validate(json.loads(body))
    except (ValueError, RecursionError):
        return None


router = APIRouter(tags=["decisions"], route_class=RepeatableRoute)

Asker = Annotated[Actor, Depends(allowed(Verb.DECIDE))]
Reader = Annotated[Actor, Depends(allowed(Verb.READ_DECISIONS))]
Exporter = Annotated[Actor, Depends(allowed(Verb.EXPORT_DECISIONS, is_costly=True))]
_MOST_ENTRIES = 2**53
EntryNumber = Annotated[int, Path(ge=1, le=_MOST_ENTRIES)]
Querier = Annotated[Actor, Depends(allowed(Verb.QUERY, is_costly=True))]


class LogPageQuery(LogFilter):
    """Which page of which entries is meant."""

    limit: Annotated[int, Query(ge=1, le=MOST)] = 50
    cursor: Annotated[int | None, Query(ge=1, le=_MOST_ENTRIES)] = None


def decide(services: ServicesOf, actor: Asker, question: AccessQuestion) -> Response:
    """Decide a request by all policies in force; the answer is in the log before it is sent."""
    return json_answer(services.decisions.decide(actor, question))


router.add_api_route(
    "/decisions",
    decide,
    methods=["POST"],
    response_model=Decision,
    route_class_override=DecisionRoute,
)


@router.get("/decisions")
def list_decisions(
    services: ServicesOf, actor: Reader, wanted: Annotated[LogPageQuery, Query()]
) -> LogPage:
    """List decisions, the newest first: all, or those on your own requests."""
    return services.decisions.page(actor, wanted, wanted.limit, wanted.cursor)


@router.get("/decisions:export", response_class=StreamingResponse)
def export_decisions(services: ServicesOf, actor: Exporter) -> Response:
    """Return the whole log as lines of JSON, whose chain is verified with the key of the log."""
    lines = services.details.lines(actor)
    headers = {"Content-Disposition": "attachment; filename=decisions.jsonl"}
    return StreamingResponse(lines, headers=headers, media_type="application/x-ndjson")


@router.get("/decisions/{number}")
def read_decision(services: ServicesOf, actor: Reader, number: EntryNumber) -> DecisionDetail:
    """Return a decision with the rules that led to it, as far as you may read them."""
    return services.details.read(actor, number)


@router.post("/decisions:verify")
def verify_decisions(services: ServicesOf, actor: Reader) -> LogIntegrity:
    """Say whether the log is as it was written, with the head that is worth keeping elsewhere."""
    return services.decisions.verify(actor)


@router.post("/queries", dependencies=[DONE_ONCE])
async def query(
    call: Request, services: ServicesOf, actor: Querier, question: SqlQuestion
) -> QueryAnswer:
    """Answer a query, as far as policies let you read what it is about; it ends when you leave.

    With an epsilon, it is one of statistics: answered with noise, and charged even if you leave
    once rows are read for it. Repeated by its key, a query is not answered again: what you may read
    can have changed.
    """

    def answered(present: Actor, stop: QueryStop) -> QueryAnswer:
        return services.queries.answer(present, question, stop)

    return await answer_in_turn(call, actor, Verb.QUERY, answered)
