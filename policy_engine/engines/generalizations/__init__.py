"""Generalisations of quasi-identifiers: what cells show of values, one way of doing it a file."""

from policy_engine.engines.generalizations.generalizer import Generalizer
from policy_engine.engines.generalizations.kinds import (
    covered,
    covering,
    encoded,
    generalizer,
    losses,
)

__all__ = ["Generalizer", "covered", "covering", "encoded", "generalizer", "losses"]
