"""Generalisations of quasi-identifiers: how values become cells, one kind in each file."""

from policy_engine.engines.generalizations.generalizer import Generalizer
from policy_engine.engines.generalizations.kinds import (
    code_finder,
    covered_codes,
    encode_quasi_identifier,
    generalizer,
    losses,
)

__all__ = [
    "Generalizer",
    "code_finder",
    "covered_codes",
    "encode_quasi_identifier",
    "generalizer",
    "losses",
]
