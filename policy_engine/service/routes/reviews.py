"""The routes of reviews: outputs that people decide about."""

import io
from typing import Annotated, Any, Literal
from urllib.parse import quote

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from policy_engine.decision.query.query_limits import QueryStop
from policy_engine.service.calls.callers import ServicesOf, allowed
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.repeating import ONCE, RepeatableRoute
from policy_engine.service.calls.revisions import IfMatch, tagged
from policy_engine.service.calls.waiting import answer_in_turn
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.review_views import (
    EvidenceView,
    ReviewedAnswer,
    ReviewState,
    ReviewSummary,
    ReviewView,
)

router = APIRouter(tags=["reviews"], route_class=RepeatableRoute)

Reader = Annotated[Actor, Depends(allowed(Verb.READ_REVIEWS))]
Submitter = Annotated[Actor, Depends(allowed(Verb.SUBMIT_OUTPUTS))]
CostlySubmitter = Annotated[Actor, Depends(allowed(Verb.SUBMIT_OUTPUTS, is_costly=True))]
EvidenceReader = Annotated[Actor, Depends(allowed(Verb.READ_EVIDENCE))]
Checker = Annotated[Actor, Depends(allowed(Verb.DECIDE_REVIEWS))]
CostlyChecker = Annotated[Actor, Depends(allowed(Verb.DECIDE_REVIEWS, is_costly=True))]

_BINARY = {"schema": {"type": "string", "format": "binary"}}
_ARCHIVE = {"requestBody": {"required": True, "content": {"application/zip": _BINARY}}}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": _BINARY}, "description": "The file."}
}


class ReviewPageQuery(Cursor):
    """Which page of which reviews is meant."""

    state: ReviewState | None = None
    unseen: bool = False


class OutputDecision(BaseModel):
    """What is decided about an output of a review, by its name, and why."""

    output: Annotated[str, Field(max_length=100)] = "answer"
    reason: Annotated[str, Field(min_length=1, max_length=2000)]


class UnseenCount(BaseModel):
    """How many decided reviews somebody has not looked at, and how many still wait."""

    count: int
    waiting: int
    """While there is none, no more can be decided, and nobody needs to ask again."""


@router.get("/reviews")
def list_reviews(
    services: ServicesOf, actor: Reader, page: Annotated[ReviewPageQuery, Query()]
) -> PageOf[ReviewSummary]:
    """List the reviews that you asked for, or have to decide, the newest first.

    With `unseen`, those of yours that were decided since you looked at them.
    """
    return services.reviews.page(actor, page, page.state, only_unseen=page.unseen)


@router.get("/reviews:unseen")
def count_unseen(services: ServicesOf, actor: Reader) -> UnseenCount:
    """Say how many of the reviews that you asked for were decided since you looked at them, and how
    many wait to be decided."""
    count, waiting = services.reviews.unseen_count(actor)
    return UnseenCount(count=count, waiting=waiting)


@router.post("/reviews", status_code=201, dependencies=[ONCE], openapi_extra=_ARCHIVE)
async def submit_outputs(
    call: Request,
    services: ServicesOf,
    actor: CostlySubmitter,
    dataset: Annotated[str, Query(max_length=2000)],
    response: Response,
) -> ReviewView:
    """Send a zip archive of a folder that a session or `policy-engine check --out` wrote, about a
    dataset, to its owner for review."""
    await to_thread.run_sync(services.reviews.owner_for, actor, dataset)
    archive = io.BytesIO(await call.body())
    view = await to_thread.run_sync(services.reviews.receive, actor, dataset, archive)
    response.headers["Location"] = f"/api/v1/reviews/{view.id}"
    return tagged(view, response)


@router.get("/reviews/{review_id}")
def read_review(
    services: ServicesOf, actor: Reader, review_id: str, response: Response
) -> ReviewView:
    """Say where the outputs of a review stand, in codes and in the words of who decided."""
    return tagged(services.reviews.read(actor, review_id), response)


@router.get("/reviews/{review_id}/evidence")
def read_evidence(services: ServicesOf, actor: EvidenceReader, review_id: str) -> EvidenceView:
    """Tell the figures of the outputs of a review, and what may be let out of them."""
    return services.evidence.read(actor, review_id)


@router.get("/reviews/{review_id}/evidence/{part}/{name}", response_class=Response, responses=_FILE)
def read_evidence_file(
    services: ServicesOf,
    actor: EvidenceReader,
    review_id: str,
    part: Literal["outputs", "held"],
    name: str,
) -> Response:
    """Give a file of an output to who decides about it."""
    return _file(services.evidence.file(actor, review_id, part, name), name)


@router.get("/reviews/{review_id}/answer")
async def read_answer(
    call: Request, services: ServicesOf, actor: Submitter, review_id: str
) -> ReviewedAnswer:
    """Give an answer that was accepted, just as it was, to who asked for it."""

    def given(present: Actor, stop: QueryStop) -> ReviewedAnswer:
        return services.reviews.answer(present, review_id, stop)

    return await answer_in_turn(call, actor, Verb.SUBMIT_OUTPUTS, given)


@router.get("/reviews/{review_id}/files/{name}", response_class=Response, responses=_FILE)
async def read_file(
    call: Request, services: ServicesOf, actor: Submitter, review_id: str, name: str
) -> Response:
    """Give a file that may leave to who submitted it, once all of its review is decided."""

    def given(present: Actor, stop: QueryStop) -> bytes:
        return services.reviews.file(present, review_id, name, stop)

    return _file(await answer_in_turn(call, actor, Verb.SUBMIT_OUTPUTS, given), name)


@router.post("/reviews/{review_id}:see", status_code=204)
def note_seen(services: ServicesOf, actor: Reader, review_id: str) -> None:
    """Say that you have looked at a review that you asked for: it is no longer told as news."""
    services.reviews.note_seen(actor, review_id)


@router.post("/reviews/{review_id}:accept")
async def accept_output(
    call: Request,
    services: ServicesOf,
    actor: CostlyChecker,
    review_id: str,
    decision: OutputDecision,
    tag: IfMatch,
    response: Response,
) -> ReviewView:
    """Let an output leave: an answer is entered in the ledger in the same step, or is refused."""
    words = tag, decision.output, decision.reason

    def accepted(present: Actor, stop: QueryStop) -> ReviewView:
        return services.reviews.accept(present, review_id, *words, stop)

    view = await answer_in_turn(call, actor, Verb.DECIDE_REVIEWS, accepted)
    return tagged(view, response)


@router.post("/reviews/{review_id}:reject")
def reject_output(
    services: ServicesOf,
    actor: Checker,
    review_id: str,
    decision: OutputDecision,
    tag: IfMatch,
    response: Response,
) -> ReviewView:
    """Let an output never leave; who submitted it reads why."""
    words = tag, decision.output, decision.reason
    return tagged(services.reviews.reject(actor, review_id, *words), response)


def _file(content: bytes, name: str) -> Response:
    """Return a file that is saved, and never shown as a page."""
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(content, media_type="application/octet-stream", headers=headers)
