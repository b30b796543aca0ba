"""Full-domain generalisation: the search of a lattice of heights, and what it is made of."""

from policy_engine.kernels.full_domain.ladder import Ladder, lattice_size, leaf_shares
from policy_engine.kernels.full_domain.node_search import LatticeRecoding, search

__all__ = ["Ladder", "LatticeRecoding", "lattice_size", "leaf_shares", "search"]
