"""The routes of runs."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import FileResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from policy_engine.service.calls.callers import ServicesOf, allowed
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.repeating import ONCE, RepeatableRoute
from policy_engine.service.calls.revisions import tagged
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.comparisons import RunComparison
from policy_engine.service.resources.run_kinds import RunKindView, kind_views
from policy_engine.service.resources.runs import ArtefactView
from policy_engine.service.runs.results import OCTETS
from policy_engine.service.runs.states import RunState
from policy_engine.service.runs.views import RunView

router = APIRouter(tags=["runs"], route_class=RepeatableRoute)

Reader = Annotated[Actor, Depends(allowed(Verb.READ_RUNS))]
CostlyReader = Annotated[Actor, Depends(allowed(Verb.READ_RUNS, is_costly=True))]
Starter = Annotated[Actor, Depends(allowed(Verb.START_RUNS))]
CostlyStarter = Annotated[Actor, Depends(allowed(Verb.START_RUNS, is_costly=True))]
Page = Annotated[Cursor, Query()]
_SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


class NewRun(BaseModel):
    """A run that is asked for: the settings of its kind, of which policy and datasets come first.

    `datasets` are identifiers by the IRIs that the policy calls them by.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Annotated[str, Field(max_length=100)]
    policy: Annotated[str, Field(max_length=100)] | None = None
    datasets: dict[str, str] | None = None
    settings: dict[str, Any] = {}


class RunFilter(Cursor):
    """Which page of which runs is meant."""

    state: RunState | None = None
    kind: Annotated[str, Query(max_length=100)] = ""


@router.get("/runs")
def list_runs(
    services: ServicesOf, actor: Reader, page: Annotated[RunFilter, Query()]
) -> PageOf[RunView]:
    """List runs, the newest first."""
    return services.runs.page(actor, page, page.state, page.kind)


@router.get("/run-kinds")
def list_kinds(services: ServicesOf, _actor: Reader) -> PageOf[RunKindView]:
    """List the kinds of runs, with what each may be asked for."""
    return PageOf(items=kind_views(services.runs.kinds))


@router.post("/runs", status_code=202, dependencies=[ONCE])
def start_run(
    services: ServicesOf, actor: CostlyStarter, run: NewRun, response: Response
) -> RunView:
    """Ask for a run; it begins when it is its turn. What it is about has to be there already."""
    parts = {"policy": run.policy, "datasets": run.datasets}
    settings = {name: part for name, part in parts.items() if part is not None} | run.settings
    return _located(services.runs.create(actor, run.kind, settings), response)


@router.post("/runs/{run_id}:cancel", status_code=202)
def cancel_run(services: ServicesOf, actor: Starter, run_id: str, response: Response) -> RunView:
    """Cancel a run; its process is asked to end, and made to five seconds later."""
    return _located(services.runs.cancel(actor, run_id), response)


@router.post("/runs/{run_id}:retry", status_code=202, dependencies=[ONCE])
def retry_run(
    services: ServicesOf, actor: CostlyStarter, run_id: str, response: Response
) -> RunView:
    """Try a run again that failed or was cancelled."""
    return _located(services.runs.retry(actor, run_id), response)


@router.get("/runs/{run_id}")
def read_run(services: ServicesOf, actor: Reader, run_id: str, response: Response) -> RunView:
    """Return a run."""
    return tagged(services.runs.read(actor, run_id), response)


@router.get("/runs/{run_id}/comparison")
def compare_runs(
    services: ServicesOf,
    actor: CostlyReader,
    run_id: str,
    other: Annotated[str, Query(alias="with", max_length=100)],
) -> RunComparison:
    """Return the figures of two runs of one kind side by side, each pair on a common scale."""
    return services.comparisons.compare(actor, run_id, other)


@router.get("/runs/{run_id}/log", response_class=PlainTextResponse)
def read_log(services: ServicesOf, actor: Reader, run_id: str) -> str:
    """Return what happened to a run, a line for each."""
    return services.runs.log(actor, run_id)


@router.get("/runs/{run_id}/artefacts")
def list_artefacts(services: ServicesOf, actor: Reader, run_id: str) -> PageOf[ArtefactView]:
    """List what a run left for who may read runs: certificates, figures and pages, no data."""
    return PageOf(items=services.runs.artefacts(actor, run_id))


@router.get("/runs/{run_id}/artefacts/{name:path}", response_class=FileResponse)
def read_artefact(services: ServicesOf, actor: Reader, run_id: str, name: str) -> Response:
    """Return a file that a run left, to be saved: no browser shows it as a page of ours."""
    artefact, path = services.runs.artefact(actor, run_id, name)
    file = quote(name.rpartition("/")[2])
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{file}",
        "Content-Security-Policy": _SANDBOX,
        "ETag": f'"{artefact.digest}"',
    }
    is_page = artefact.media_type in ("text/html", "image/svg+xml")
    return FileResponse(
        path, headers=headers, media_type=OCTETS if is_page else artefact.media_type
    )


def _located(view: RunView, response: Response) -> RunView:
    response.headers["Location"] = f"/api/v1/runs/{view.id}"
    return tagged(view, response)
