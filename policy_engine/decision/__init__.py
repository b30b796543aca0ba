"""Who may read what, for which purpose, and why."""

from policy_engine.decision.decider import Decider, decide
from policy_engine.decision.model import (
    Decision,
    Grant,
    Match,
    NearMiss,
    OutstandingDuty,
    Request,
    RowAccess,
    World,
)
from policy_engine.decision.requests import read_request
from policy_engine.decision.worlds import read_world

__all__ = [
    "Decider",
    "Decision",
    "Grant",
    "Match",
    "NearMiss",
    "OutstandingDuty",
    "Request",
    "RowAccess",
    "World",
    "decide",
    "read_request",
    "read_world",
]
