"""Full-domain generalisation: the search of a lattice of heights, and what it is made of."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from policy_engine.kernels.full_domain.ladder import Ladder, lattice_size, leaf_shares

if TYPE_CHECKING:  # compiled kernels, which whoever has ladders alone does not need
    from policy_engine.kernels.full_domain.node_search import LatticeRecoding, search

__all__ = ["Ladder", "LatticeRecoding", "lattice_size", "leaf_shares", "search"]


def __getattr__(name: str) -> Any:
    """Return what the search is made of, which is loaded when somebody asks for it."""
    if name not in ("LatticeRecoding", "search"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.node_search"), name)
