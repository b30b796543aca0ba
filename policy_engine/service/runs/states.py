"""The states of a run."""

from enum import StrEnum


class RunState(StrEnum):
    """How far a run is."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


OWNED = (RunState.RUNNING, RunState.CANCELLING)
"""The states in which a supervisor has a run."""
ENDED = (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED)
