"""The routes of files on their way: to datasets, and to models."""

from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, Request
from pydantic import BaseModel, Field

from policy_engine.service.calls.callers import ServicesOf, allowed
from policy_engine.service.calls.repeating import ONCE, RepeatableRoute
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.datasets import DatasetView
from policy_engine.service.resources.models import ModelView
from policy_engine.service.resources.uploads import UploadView

router = APIRouter(tags=["uploads"], route_class=RepeatableRoute)

Writer = Annotated[Actor, Depends(allowed(Verb.WRITE_DATASETS))]
Offset = Annotated[int, Header(alias="Upload-Offset", ge=0)]

LATER: dict[int | str, dict[str, Any]] = {202: {"description": "Its file is removed later."}}
_BYTES = {
    "requestBody": {
        "required": True,
        "content": {
            "application/offset+octet-stream": {"schema": {"type": "string", "format": "binary"}}
        },
    }
}


class NewUpload(BaseModel):
    """A file that is to come, of `size` bytes. The ending of a table's name says in which format it
    is; what a model is follows from its content."""

    name: Annotated[str, Field(min_length=1, max_length=255)]
    size: Annotated[int, Field(ge=1)]


class Completion(BaseModel):
    """What has come, by the SHA-256 of what was sent; empty where it is not known."""

    sha256: Annotated[str, Field(pattern="^([0-9a-fA-F]{64})?$")] = ""


@router.get("/uploads/{upload_id}")
def read_upload(services: ServicesOf, actor: Writer, upload_id: str) -> UploadView:
    """Say how far an upload is: it goes on at `offset`."""
    return services.uploads.read(actor, upload_id)


@router.patch("/uploads/{upload_id}", openapi_extra=_BYTES)
async def send_part(
    services: ServicesOf, actor: Writer, upload_id: str, offset: Offset, call: Request
) -> UploadView:
    """Send the next bytes of an upload, any number of them, from an offset on.

    What has come counts, even where the call breaks off: ask for the offset, and go on there.
    """
    receiving = services.uploads.receiving(actor, upload_id, offset)
    receiver = await to_thread.run_sync(receiving.__enter__)
    try:
        async for chunk in call.stream():
            await to_thread.run_sync(receiver.write, chunk)
    finally:
        await to_thread.run_sync(receiving.__exit__, None, None, None)
    return await to_thread.run_sync(services.uploads.read, actor, upload_id)


@router.delete("/uploads/{upload_id}", status_code=204)
def cancel_upload(services: ServicesOf, actor: Writer, upload_id: str) -> None:
    """Take back an upload that is not complete."""
    services.uploads.cancel(actor, upload_id)


@router.post("/uploads/{upload_id}:complete", dependencies=[ONCE])
def complete_upload(
    services: ServicesOf, actor: Writer, upload_id: str, completion: Completion
) -> DatasetView | ModelView:
    """Read what has come as a table, or as a model; from now on it is the dataset's, or the
    model's."""
    if services.uploads.model_of(actor, upload_id):
        return services.models.owned.complete(actor, upload_id, completion.sha256)
    return services.datasets.owned.complete(actor, upload_id, completion.sha256)
