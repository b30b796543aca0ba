"""The application: routes, errors and pages."""

from typing import Any

from fastapi import Depends, FastAPI

from policy_engine import __version__
from policy_engine.service.calls.body_limits import BodyLimit
from policy_engine.service.calls.characters import check_characters
from policy_engine.service.calls.hosts import KnownHosts, host_name
from policy_engine.service.calls.marking import Marking
from policy_engine.service.calls.refusals import REFUSALS, add_refusals, name_media_type
from policy_engine.service.routes import (
    access,
    budgets,
    datasets,
    decisions,
    events,
    health,
    links,
    models,
    pages,
    people,
    plans,
    policies,
    providers,
    releases,
    reviews,
    runs,
    uploads,
)
from policy_engine.service.services import Services
from policy_engine.service.settings import LOOPBACK, ServiceSettings

PREFIX = "/api/v1"
_RESOURCES = (
    # A call is compared with one route after another: those that are called most come first.
    decisions.router,
    policies.router,
    people.router,
    providers.router,
    datasets.router,
    models.router,
    uploads.router,
    plans.router,
    access.router,
    reviews.router,
    budgets.router,
    runs.router,
    releases.router,
    events.router,
)


class ServiceApi(FastAPI):
    """An application whose document says how refusals come."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        document = super().openapi()
        name_media_type(document)
        return document


def make_app(services: Services) -> FastAPI:
    """Return the application that answers by services."""
    app = ServiceApi(
        title="policy_engine",
        summary="One policy from text to a verified release and the decisions about it.",
        version=__version__,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # it would load its scripts from another host
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(check_characters)],
    )
    app.state.services = services
    add_refusals(app)
    for router in _RESOURCES:
        app.include_router(router, prefix=PREFIX, responses=REFUSALS)
    app.include_router(health.router)
    app.include_router(links.router)
    app.include_router(providers.provider_router)
    app.include_router(pages.router)
    app.add_middleware(KnownHosts, names=_hosts(services.settings))
    app.add_middleware(BodyLimit, largest=services.settings.largest_body)
    meter = services.meters.calls
    app.add_middleware(Marking, is_secure=services.settings.is_secure, meter=meter)
    return app


def _hosts(settings: ServiceSettings) -> list[str]:
    """Return the names that the service answers to: a page elsewhere cannot give it another one."""
    public = settings.public_url.partition("://")[2].partition("/")[0]
    names = {*LOOPBACK, settings.host, host_name(public)}
    return sorted(one.lower() for one in names if one)
