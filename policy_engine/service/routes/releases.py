"""The routes of releases and their certificates."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from policy_engine.service.calls.callers import ServicesOf, allowed
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.contrasts import ReleaseContrast
from policy_engine.service.resources.lineage import LineageView
from policy_engine.service.resources.releases import ReleasesView, ReleaseVerdict, ReleaseView

router = APIRouter(tags=["releases"])

Reader = Annotated[Actor, Depends(allowed(Verb.READ_RELEASES))]
Verifier = Annotated[Actor, Depends(allowed(Verb.READ_RELEASES, is_costly=True))]
Comparer = Annotated[Actor, Depends(allowed(Verb.READ_DATASETS, is_costly=True))]
Withdrawer = Annotated[Actor, Depends(allowed(Verb.WITHDRAW_RELEASES))]


class WithdrawalReason(BaseModel):
    """Why a release is withdrawn."""

    reason: Annotated[str, Field(min_length=1, max_length=2000)]


@router.get("/releases")
def list_releases(services: ServicesOf, actor: Reader) -> ReleasesView:
    """List releases, the newest first. That one is listed lets nobody read it."""
    return services.releases.all(actor)


@router.get("/releases/{release_id}:contrast")
def contrast_release(services: ServicesOf, actor: Comparer, release_id: str) -> ReleaseContrast:
    """Say how columns looked before and look after, without a value, to who may read about all that
    the release was made of."""
    return services.contrasts.of(actor, release_id)


@router.get("/releases/{release_id}")
def read_release(services: ServicesOf, actor: Reader, release_id: str) -> ReleaseView:
    """Return what is known of a release."""
    return services.releases.read(actor, release_id)


@router.get("/releases/{release_id}/certificate")
def read_certificate(services: ServicesOf, actor: Reader, release_id: str) -> dict[str, Any]:
    """Return the certificate of a release: what was measured on it, and by which policy."""
    return services.releases.certificate(actor, release_id).model_dump(mode="json")


@router.get("/releases/{release_id}/lineage")
def read_release_lineage(services: ServicesOf, actor: Verifier, release_id: str) -> LineageView:
    """Say what a release was made from and by which run, what was made of it, and who may read it
    by the policies in force."""
    return services.lineage.of_release(actor, release_id)


@router.post("/releases/{release_id}:verify")
def verify_release(services: ServicesOf, actor: Verifier, release_id: str) -> ReleaseVerdict:
    """Measure a release anew, and say whether it holds what its policy asks for."""
    return services.releases.verify(actor, release_id)


@router.post("/releases/{release_id}:withdraw")
def withdraw_release(
    services: ServicesOf, actor: Withdrawer, release_id: str, reason: WithdrawalReason
) -> ReleaseView:
    """Withdraw a release: from now on nobody may read it."""
    return services.releases.withdraw(actor, release_id, reason.reason)
