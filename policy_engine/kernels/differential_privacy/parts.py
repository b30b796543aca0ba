"""The figures of a release that spend epsilon: what each draws, and how neighbours change it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Mechanism = Literal[
    "discrete-laplace",
    "discrete-gaussian",
    "permute-and-flip",
    "exponential",
    "partition-selection",
]
_CHOICES = frozenset({"permute-and-flip", "exponential"})


@dataclass(frozen=True)
class NoisyPart:
    """A figure of a release, drawn once for each of its cells (groups, rounds of top-k).

    Neighbours differ in at most `cells` of its cells, in each by at most `sensitivity`: units of
    the grid, or of a score. Where neighbours exchange a unit rather than add one, the cells of both
    count; a cell that both are in may change by what one takes away and the other adds. `share` is
    its part of the release's epsilon.

    Choices of `is_monotone` lose half as much: a unit more raises every score or leaves it, as it
    does counts (McKenna and Sheldon, NeurIPS 2020, and so OpenDP). Not so where
    units are exchanged. Raises ValueError for what is not above 0, a share above 1, or a partition
    selection of a sensitivity other than one unit.
    """

    mechanism: Mechanism
    share: Fraction
    cells: int
    sensitivity: int
    is_monotone: bool = False

    def __post_init__(self) -> None:
        if not (0 < self.share <= 1 and self.cells > 0 and self.sensitivity > 0):
            raise ValueError(f"A share is above 0 and at most 1, numbers above 0. Given: {self}.")
        if self.mechanism == "partition-selection" and self.sensitivity != 1:
            raise ValueError(f"Partitions are selected by their units. Given: {self}.")

    @property
    def is_gaussian(self) -> bool:
        """Whether its noise has no epsilon without a delta."""
        return self.mechanism == "discrete-gaussian"

    @property
    def is_partition_selection(self) -> bool:
        """Whether it spends epsilon and delta by deciding which groups are there."""
        return self.mechanism == "partition-selection"

    def strength(self, scale: Fraction) -> Fraction:
        """Return what one cell loses at a scale: epsilon, or the sensitivity in sigmas."""
        return self._reach / scale

    def scale(self, strength: Fraction) -> Fraction:
        """Return the scale at which one cell has this strength."""
        return self._reach / strength

    def rho(self, strength: Fraction) -> Fraction:
        """Return the rho of zCDP of all cells at a strength.

        For epsilon: its square, halved (Bun and Steinke 2016, proposition 1.4), of the exponential
        mechanism an eighth (Cesar and Rogers 2021); of the discrete Gaussian, the L2 sensitivity of
        all cells (Canonne, Kamath and Steinke 2020, theorem 4 and corollary 16).
        """
        return self.cells * strength**2 / (8 if self.mechanism == "exponential" else 2)

    @property
    def _reach(self) -> Fraction:
        is_doubled = self.mechanism in _CHOICES and not self.is_monotone
        return Fraction(self.sensitivity * (2 if is_doubled else 1))


@dataclass(frozen=True)
class PrivacyLoss:
    """Epsilon and delta."""

    epsilon: Fraction
    delta: Fraction
