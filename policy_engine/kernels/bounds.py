"""The bounds that every equivalence class has to satisfy."""

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Distance = Literal["variational", "ordered", "hierarchical"]

TOLERANCE = 1e-9
"""By how much a figure may miss its bound, relatively: as much as rounding alone can cause."""

_INFINITE = float("inf")


class Ancestry(NamedTuple):
    """A taxonomy of sensitive values.

    `parent` (nodes,) is -1 at the root, node 0; `height` (nodes,) is 0 at the leaves; `leaf`
    (m,) is the node of every code.
    """

    parent: "NDArray[np.int64]"
    height: "NDArray[np.int64]"
    leaf: "NDArray[np.int64]"


class Diversity(NamedTuple):
    """The bounds on the values of one sensitive column; the defaults bound nothing.

    `distinct` and `entropy` are the l of distinct and entropy l-diversity, `recursive` the
    (c, l) of recursive diversity; `alpha`, `t`, `beta`, `enhanced_beta` and `delta` are those
    of (alpha,k)-anonymity, t-closeness, beta-likeness and delta-disclosure privacy. Every value
    that occurs is to occur `least` times. Where bounds hold `within` groups, the parents of values
    in the `ancestry` are the groups, and `distinct`, `entropy` and `alpha` hold in each of them.
    """

    distinct: int = 0
    entropy: float = 0.0
    recursive: tuple[float, int] = (_INFINITE, 0)
    alpha: float = 1.0
    t: float = _INFINITE
    distance: Distance = "variational"
    ancestry: Ancestry | None = None
    beta: float = _INFINITE
    enhanced_beta: float = _INFINITE
    delta: float = _INFINITE
    least: int = 0
    within: bool = False


class ClassConstraint(NamedTuple):
    """The bounds that both sides of a cut have to satisfy.

    `size` is the least number of rows, or of persons, in a class (the k of k-anonymity);
    `diversity` holds one entry for each sensitive column.
    """

    size: int
    diversity: tuple[Diversity, ...] = ()
