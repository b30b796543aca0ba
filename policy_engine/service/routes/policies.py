"""The routes of policies."""

import json
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from policy_engine.authoring.diff.model import Difference
from policy_engine.authoring.explanation import AccessMatrix, access_matrix, policy_sentences
from policy_engine.decision import Decider, read_request
from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.policy.syntax import Syntax
from policy_engine.policy.syntax.limits import Limits
from policy_engine.service.calls.callers import (
    MOST_OF_ANYBODY,
    ServicesOf,
    allowed,
    caller_of,
    check_signed_in,
    checker_of,
    key_of,
)
from policy_engine.service.calls.characters import check_characters
from policy_engine.service.calls.leaving import read_while_there
from policy_engine.service.calls.model_answers import json_answer
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.repeating import ONCE, RepeatableRoute
from policy_engine.service.calls.revisions import IfMatch, add_tag, tagged
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.decisions import AccessQuestion
from policy_engine.service.resources.diagnostics import Diagnostics
from policy_engine.service.resources.policies import (
    PolicyView,
    VersionText,
    policies_of,
    text_in,
)
from policy_engine.service.services import services_of

router = APIRouter(tags=["policies"], route_class=RepeatableRoute)

Reader = Annotated[Actor, Depends(allowed(Verb.READ_POLICIES))]
Writer = Annotated[Actor, Depends(allowed(Verb.WRITE_POLICIES))]
Publisher = Annotated[Actor, Depends(allowed(Verb.PUBLISH_POLICIES))]
Withdrawer = Annotated[Actor, Depends(allowed(Verb.WITHDRAW_POLICIES))]
Page = Annotated[Cursor, Query()]


MOST_TEXT = 2**20
"""Characters of a policy."""


class Text(BaseModel):
    """A text of a policy."""

    text: Annotated[str, Field(max_length=MOST_TEXT)]


class SignedText(Text):
    """A text of a policy, and its signature, if anybody signed it."""

    signature: Annotated[str, Field(max_length=MOST_TEXT)] | None = None
    """The credential that `policy-engine sign` writes beside a policy."""


class NewPolicy(SignedText):
    """A policy that is not there yet."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


class EndReason(BaseModel):
    """Why a policy is withdrawn."""

    reason: Annotated[str, Field(min_length=1, max_length=2000)]


class Conversion(Text):
    """A text of a policy, and the syntax to write it in."""

    to: Syntax


class ConvertedText(BaseModel):
    """A text of a policy in the syntax that was asked for."""

    syntax: Syntax
    text: str


class Explanation(BaseModel):
    """What a text means, in sentences, and who can do what by it."""

    sentences: list[str]
    matrix: AccessMatrix


class WhatIf(Text):
    """A request for access, to be decided by a text alone."""

    request: AccessQuestion


_CHECKED = {
    "content": {
        "application/json": {"schema": Text.model_json_schema()},
        "application/ld+json": {"schema": {"type": "object"}},
        "text/turtle": {"schema": {"type": "string"}},
        "text/plain": {"schema": {"type": "string"}},
    },
    "required": True,
}


async def _text_of(call: Request) -> bytes:
    """Return the text of a policy that is sent: as it is, or in JSON as `text`."""
    body = await call.body()
    if call.headers.get("content-type", "").partition(";")[0].strip() == "application/json":
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            return body  # of which the validator says what is wrong, and where
        if isinstance(document, dict) and [*document] == ["text"]:
            if not isinstance(document["text"], str):
                raise ServiceError.of("N007", "text: is not a text.")
            return document["text"].encode("utf-8", "surrogatepass")
    return body


class CheckRoute(APIRoute):
    """The route that checks texts: what it depends on is called in its order, and no more is done.

    Editors call it at each pause in typing, and to work out dependencies takes longer than to look
    up what was said of a text before.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers calls."""

        async def check_directly(call: Request) -> Response:
            await check_characters(call)
            services, text = services_of(call), await _text_of(call)
            report = await _report_for_key(services, text, call)
            if report is not None:
                return json_answer(report)
            return await check_policy(services, text, call, await checker_of(call))

        return check_directly


async def _report_for_key(services: ServicesOf, text: bytes, call: Request) -> Diagnostics | None:
    """Return what is wrong with a new text of a caller by a key that was seen before.

    Whether it still holds is asked where the text is checked, rather than in a thread of its own.
    None for any other call, and where it does not hold: the usual way counts it by its address.
    Raises ServiceError (N006) for one too many.
    """
    owner = services.identities.known_owner(key_of(call))
    if not owner or len(text) > MOST_OF_ANYBODY or services.checks.remembered(text) is not None:
        return None

    def checked() -> Diagnostics:
        caller_of(call)
        return services.checks.diagnose(text)

    try:
        return await read_while_there(call, services.turns, owner, checked)
    except PolicyEngineError as error:
        if error.code != "N010":
            raise
        return None


async def check_policy(
    services: ServicesOf,
    text: Annotated[bytes, Depends(_text_of)],
    call: Request,
    name: Annotated[str, Depends(checker_of)],
) -> Response:
    """Say what is wrong with a text of a policy, and where; nothing is kept of it."""
    if len(text) > MOST_OF_ANYBODY:
        await run_in_threadpool(check_signed_in, call, len(text))
    report = services.checks.remembered(text)
    if report is None:
        check = partial(services.checks.diagnose, text)
        report = await read_while_there(call, services.turns, name, check)
    return json_answer(report)


router.add_api_route(
    "/policies:check",
    check_policy,
    methods=["POST"],
    response_model=Diagnostics,
    openapi_extra={"requestBody": _CHECKED},
    route_class_override=CheckRoute,
)


@router.post("/policies:explain")
async def explain(services: ServicesOf, call: Request, text: Text, actor: Reader) -> Explanation:
    """Say what a text means, in sentences, and who can do what by it."""
    work = partial(_explanation, text.text, services.policies.limits.text)
    return await read_while_there(call, services.turns, actor.id, work)


@router.post("/policies:convert")
async def convert(
    services: ServicesOf, call: Request, wanted: Conversion, actor: Reader
) -> ConvertedText:
    """Write a text in another syntax of RDF, in which it means the same; nothing is kept of it."""
    work = partial(text_in, wanted.text, wanted.to, services.policies.limits.text)
    text = await read_while_there(call, services.turns, actor.id, work)
    return ConvertedText(syntax=wanted.to, text=text)


@router.post("/policies:evaluate")
async def evaluate(
    services: ServicesOf, call: Request, question: WhatIf, actor: Reader
) -> dict[str, Any]:
    """Decide a request by a text alone, as if it were the only policy; nothing is logged."""
    work = partial(_evaluation, question, services.policies.limits.text)
    return await read_while_there(call, services.turns, actor.id, work)


def _explanation(text: str, limits: Limits) -> Explanation:
    policies = policies_of(text, limits)
    sentences = [one for policy in policies for one in policy_sentences(policy)]
    return Explanation(sentences=sentences, matrix=access_matrix(policies))


def _evaluation(question: WhatIf, limits: Limits) -> dict[str, Any]:
    policies = policies_of(question.text, limits)
    one = question.request
    request = read_request(one.assignee, one.action, one.target, one.purpose, policies)
    return Decider(policies).decide(request).model_dump(mode="json")


@router.get("/policies")
def list_policies(services: ServicesOf, actor: Reader, page: Page) -> PageOf[PolicyView]:
    """List policies, the newest first: your own, or all where your role reads all."""
    return services.policies.page(actor, page)


@router.post("/policies", status_code=201, dependencies=[ONCE])
def create_policy(
    services: ServicesOf, actor: Writer, policy: NewPolicy, response: Response
) -> PolicyView:
    """Make a policy with a draft; the draft need not be valid yet."""
    view = services.policies.create(actor, policy.name, policy.text, policy.signature)
    response.headers["Location"] = f"/api/v1/policies/{view.id}"
    add_tag(response, view.versions[-1].revision)
    return view


@router.get("/policies/{policy_id}:diff")
def compare_versions(
    services: ServicesOf,
    actor: Reader,
    policy_id: str,
    old: Annotated[int, Query(alias="from", ge=1)],
    new: Annotated[int, Query(alias="to", ge=1)],
) -> Difference:
    """Say what changes from one version to another: whose access widens, whose narrows."""
    return services.policies.difference(actor, policy_id, old, new)


@router.get("/policies/{policy_id}")
def read_policy(
    services: ServicesOf, actor: Reader, policy_id: str, response: Response
) -> PolicyView:
    """Return a policy and its versions. The ETag is that of the last version."""
    view = services.policies.read(actor, policy_id)
    add_tag(response, view.versions[-1].revision)
    return view


@router.get("/policies/{policy_id}/versions/{number}")
def read_version(
    services: ServicesOf, actor: Reader, policy_id: str, number: int, response: Response
) -> VersionText:
    """Return a version with its text."""
    return tagged(services.policies.version(actor, policy_id, number), response)


@router.put("/policies/{policy_id}/draft")
def write_draft(
    services: ServicesOf,
    actor: Writer,
    policy_id: str,
    draft: Annotated[SignedText, Body()],
    tag: IfMatch,
    response: Response,
) -> VersionText:
    """Write the draft of a policy; after a version that was published, a new one begins."""
    made = services.policies.draft(actor, policy_id, draft.text, tag, draft.signature)
    return tagged(made, response)


@router.post("/policies/{policy_id}:publish")
def publish_policy(
    services: ServicesOf, actor: Publisher, policy_id: str, tag: IfMatch, response: Response
) -> VersionText:
    """Put the draft in force or, where two persons publish, propose it to the second."""
    return tagged(services.policies.publish(actor, policy_id, tag), response)


@router.post("/policies/{policy_id}:approve")
def approve_policy(
    services: ServicesOf, actor: Publisher, policy_id: str, tag: IfMatch, response: Response
) -> VersionText:
    """Put in force what another owner proposed."""
    return tagged(services.policies.approve(actor, policy_id, tag), response)


@router.post("/policies/{policy_id}:withdraw")
def withdraw_policy(
    services: ServicesOf, actor: Withdrawer, policy_id: str, why: EndReason
) -> PolicyView:
    """Let no version of a policy be in force any more; an administrator may, for any owner."""
    return services.policies.withdraw(actor, policy_id, why.reason)
