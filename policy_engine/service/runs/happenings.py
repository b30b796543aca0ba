"""What happens to a run, as it is noted beside it."""

from sqlalchemy import text
from sqlalchemy.orm import Session

from policy_engine.service.runs.notices import send_notice
from policy_engine.service.store.runs import RunEvent

PROGRESS = "progress"
"""What happens often; of a run that ended it is no longer kept."""
_LOCK = 0x72756E73


def note(session: Session, run_id: str, what: str) -> None:
    """Note what happened to a run.

    Who reads the events after some number misses none: they become visible in their order. SQLite
    has one writer at a time anyhow.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    session.add(RunEvent(run_id=run_id, what=what))
    session.flush()
    send_notice(session)
