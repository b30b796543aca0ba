"""Local suppression: the search for few cells that make a table k-anonymous without them."""

from policy_engine.kernels.local_suppression.suppression import Suppression, suppress_cells

__all__ = ["Suppression", "suppress_cells"]
