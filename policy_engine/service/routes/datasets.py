"""The routes of datasets."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from policy_engine.engines.column_roles import ColumnRole
from policy_engine.methods.columns import Generalization, QuasiIdentifier
from policy_engine.service.calls.callers import ServicesOf, allowed
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.repeating import ONCE, RepeatableRoute
from policy_engine.service.calls.revisions import IfMatch, tagged
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.dataset_columns import DatasetProfile, GeneralisationPreview
from policy_engine.service.resources.datasets import DatasetView
from policy_engine.service.resources.lineage import LineageView
from policy_engine.service.resources.uploads import UploadView
from policy_engine.service.routes.uploads import LATER, NewUpload

router = APIRouter(tags=["datasets"], route_class=RepeatableRoute)

Reader = Annotated[Actor, Depends(allowed(Verb.READ_DATASETS))]
Writer = Annotated[Actor, Depends(allowed(Verb.WRITE_DATASETS))]
CostlyReader = Annotated[Actor, Depends(allowed(Verb.READ_DATASETS, is_costly=True))]
CostlyWriter = Annotated[Actor, Depends(allowed(Verb.WRITE_DATASETS, is_costly=True))]
Page = Annotated[Cursor, Query()]


class NewDataset(BaseModel):
    """A dataset that is not there yet; `iri` is what policies call it by.

    It belongs to its `owner`, a person by their identifier: without one, to the caller.
    """

    name: Annotated[str, Field(min_length=1, max_length=200)]
    iri: Annotated[str, Field(min_length=1, max_length=2000)]
    owner: Annotated[str, Field(max_length=64)] = ""


class RoleChange(BaseModel):
    """The roles of columns by their names."""

    roles: Annotated[dict[str, ColumnRole | None], Field(max_length=10_000)]


class GeneralisationSettings(BaseModel):
    """How a column is generalised, in the words of policies; by its type where nothing is said."""

    model_config = ConfigDict(extra="forbid")

    generalization: Generalization | None = None
    order: Literal["lexicographic", "frequency"] | None = None
    unlisted: Literal["refuse", "root"] = "refuse"
    mask: Annotated[str, Field(min_length=1, max_length=1)] = "*"
    fanout: Annotated[int, Field(ge=2, le=1000)] = 2
    precision: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


class NewPreview(BaseModel):
    """A column, how it is generalised, and the text of a taxonomy where there is one, in the format
    of the ending of its name."""

    column: Annotated[str, Field(max_length=1000)]
    settings: GeneralisationSettings = GeneralisationSettings()
    taxonomy: Annotated[str, Field(max_length=1_000_000)] = ""
    taxonomy_name: Annotated[str, Field(pattern=r"^[\w-]{1,50}\.(csv|json|ttl|jsonld)$")] = (
        "taxonomy.csv"
    )


@router.get("/datasets")
def list_datasets(services: ServicesOf, actor: Reader, page: Page) -> PageOf[DatasetView]:
    """List datasets, the newest first: your own, or all where your role reads all."""
    return services.datasets.owned.page(actor, page)


@router.post("/datasets", status_code=201, dependencies=[ONCE])
def create_dataset(
    services: ServicesOf, actor: Writer, dataset: NewDataset, response: Response
) -> DatasetView:
    """Make a dataset; its file is uploaded next."""
    view = services.datasets.create(actor, dataset.name, dataset.iri, dataset.owner)
    response.headers["Location"] = f"/api/v1/datasets/{view.id}"
    return tagged(view, response)


@router.get("/datasets/{dataset_id}:profile")
def profile_dataset(services: ServicesOf, actor: CostlyReader, dataset_id: str) -> DatasetProfile:
    """Say how the columns of a dataset look without their values, and which roles they may have."""
    return services.columns.profile(actor, dataset_id)


@router.get("/datasets/{dataset_id}/lineage")
def read_dataset_lineage(services: ServicesOf, actor: CostlyReader, dataset_id: str) -> LineageView:
    """Say what was made of a dataset, and who may read it by the policies in force."""
    return services.lineage.of_dataset(actor, dataset_id)


@router.post("/datasets/{dataset_id}:generalise")
def preview_generalisation(
    services: ServicesOf, actor: CostlyWriter, dataset_id: str, preview: NewPreview
) -> GeneralisationPreview:
    """Say what a column becomes at each height of a generalisation, as policies write it."""
    settings = {**preview.settings.model_dump(), "name": preview.column}
    column, text = QuasiIdentifier.model_validate(settings), preview.taxonomy
    return services.columns.generalise(actor, dataset_id, column, text, preview.taxonomy_name)


@router.patch("/datasets/{dataset_id}")
def change_roles(
    services: ServicesOf,
    actor: Writer,
    dataset_id: str,
    change: RoleChange,
    tag: IfMatch,
    response: Response,
) -> DatasetView:
    """Say which roles columns have; what is left out stays, and null takes a role back."""
    return tagged(services.datasets.change_roles(actor, dataset_id, tag, change.roles), response)


@router.get("/datasets/{dataset_id}")
def read_dataset(
    services: ServicesOf, actor: Reader, dataset_id: str, response: Response
) -> DatasetView:
    """Return what is known of a dataset: its columns, and no value of them."""
    return tagged(services.datasets.owned.read(actor, dataset_id), response)


@router.delete("/datasets/{dataset_id}", status_code=204, responses=LATER)
def delete_dataset(services: ServicesOf, actor: Writer, dataset_id: str) -> Response:
    """Take a dataset away; its file is removed, and what is known of it is kept. 202 says that the
    file could not be removed yet: that is tried until it is."""
    return Response(status_code=204 if services.datasets.owned.delete(actor, dataset_id) else 202)


@router.post("/datasets/{dataset_id}/uploads", status_code=201, dependencies=[ONCE])
def begin_upload(
    services: ServicesOf, actor: Writer, dataset_id: str, upload: NewUpload, response: Response
) -> UploadView:
    """Begin an upload, which takes the place of the dataset's file once it is complete."""
    view = services.datasets.owned.begin(actor, dataset_id, upload.name, upload.size)
    response.headers["Location"] = f"/api/v1/uploads/{view.id}"
    return view
