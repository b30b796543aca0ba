"""The routes by which operators see that the service is well."""

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from policy_engine import __version__
from policy_engine.errors import ServiceError
from policy_engine.service.calls.callers import ServicesOf

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
    """Say that the database answers. Raises ServiceError (N013) where it does not."""
    try:
        with services.database.reading() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError:
        raise ServiceError.of("N013", "The database does not answer.") from None
    return Health()
