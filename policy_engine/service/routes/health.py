"""The routes by which operators see that the service is well."""

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel

from policy_engine import __version__
from policy_engine.errors import ServiceError
from policy_engine.service.calls.callers import AllowedHere, ServicesOf
from policy_engine.service.identity.roles import Verb
from policy_engine.service.metrics.exposition import MEDIA_TYPE, exposition

router = APIRouter(include_in_schema=False)


class Health(BaseModel):
    """That the service answers."""

    status: str = "ok"
    version: str = __version__


@router.get("/healthz")
def answers() -> Health:
    """Say that the process answers."""
    return Health()


@router.get("/readyz")
def is_ready(services: ServicesOf) -> Health:
    """Say that calls can be answered and runs carried out: the database answers, the supervisor of
    runs works, and there is room on the disk. Raises ServiceError (N013) with what is wrong."""
    problems = [*services.figures.problems()]
    if problems:
        raise ServiceError(*problems)
    return Health()


@router.get("/metrics", dependencies=[Depends(AllowedHere(Verb.READ_METRICS))])
def read_metrics(services: ServicesOf) -> Response:
    """Return the figures of the service, as Prometheus reads them."""
    return Response(exposition(services.figures.metrics()), media_type=MEDIA_TYPE)
