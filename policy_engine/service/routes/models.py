"""The routes of models and descriptions of models, which audits use by their identifiers."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field

from policy_engine.service.calls.callers import ServicesOf, allowed
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.repeating import ONCE, RepeatableRoute
from policy_engine.service.calls.revisions import IfMatch, tagged
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.models import ModelSettings, ModelView
from policy_engine.service.resources.uploads import UploadView
from policy_engine.service.routes.uploads import LATER, NewUpload

router = APIRouter(tags=["models"], route_class=RepeatableRoute)

Reader = Annotated[Actor, Depends(allowed(Verb.READ_MODELS))]
Writer = Annotated[Actor, Depends(allowed(Verb.WRITE_MODELS))]
Page = Annotated[Cursor, Query()]


class NewModel(BaseModel):
    """A model that is not there yet: of its `owner`, a person, or else of the caller."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    settings: ModelSettings = ModelSettings()
    owner: Annotated[str, Field(max_length=64)] = ""


class SettingsChange(BaseModel):
    """Other settings of a model."""

    settings: ModelSettings


@router.get("/models")
def list_models(services: ServicesOf, actor: Reader, page: Page) -> PageOf[ModelView]:
    """List models, the newest first: your own, or all where your role reads all."""
    return services.models.owned.page(actor, page)


@router.post("/models", status_code=201, dependencies=[ONCE])
def create_model(
    services: ServicesOf, actor: Writer, model: NewModel, response: Response
) -> ModelView:
    """Make a model; its file is uploaded next."""
    view = services.models.create(actor, model.name, model.settings, model.owner)
    response.headers["Location"] = f"/api/v1/models/{view.id}"
    return tagged(view, response)


@router.get("/models/{model_id}")
def read_model(services: ServicesOf, actor: Reader, model_id: str, response: Response) -> ModelView:
    """Return what is known of a model, and nothing of what it has learnt."""
    return tagged(services.models.owned.read(actor, model_id), response)


@router.patch("/models/{model_id}")
def change_model(
    services: ServicesOf,
    actor: Writer,
    model_id: str,
    change: SettingsChange,
    tag: IfMatch,
    response: Response,
) -> ModelView:
    """Say how a model is asked."""
    return tagged(services.models.change(actor, model_id, tag, change.settings), response)


@router.delete("/models/{model_id}", status_code=204, responses=LATER)
def delete_model(services: ServicesOf, actor: Writer, model_id: str) -> Response:
    """Take a model away; its file is removed, and what is known of it is kept. 202 says that the
    file could not be removed yet: that is tried until it is."""
    return Response(status_code=204 if services.models.owned.delete(actor, model_id) else 202)


@router.post("/models/{model_id}/uploads", status_code=201, dependencies=[ONCE])
def begin_model_upload(
    services: ServicesOf, actor: Writer, model_id: str, upload: NewUpload, response: Response
) -> UploadView:
    """Begin an upload of weights or of a description, which goes on as those of datasets do.

    What is or names code is refused once it is complete, by its content (A015).
    """
    view = services.models.owned.begin(actor, model_id, upload.name, upload.size)
    response.headers["Location"] = f"/api/v1/uploads/{view.id}"
    return view
