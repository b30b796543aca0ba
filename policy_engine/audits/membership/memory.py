"""How much memory an audit may use, and whether it suffices."""

from policy_engine.data.available_memory import format_size
from policy_engine.errors import AuditError

_SPARED = 0.9
"""The share of the available memory that an audit may plan to use."""


def check_memory(needed: int, available: int, lower: str) -> None:
    """Raise AuditError (A008) where an estimate is above what there is; `lower` says the way."""
    if needed > available * _SPARED:
        message = (
            f"The audit would need about {format_size(needed)} of memory. "
            f"There are {format_size(available)}, of which it may use {_SPARED:.0%}."
        )
        raise AuditError.of("A008", message, lower)


def models_at_once(one_model: int, two_models: int, available: int, most: int) -> int:
    """Return how many models fit in memory together, from the estimates for one and for two."""
    each = max(two_models - one_model, 1)
    fitting = 1 + int(max(available * _SPARED - one_model, 0)) // each
    return max(1, min(fitting, most))
