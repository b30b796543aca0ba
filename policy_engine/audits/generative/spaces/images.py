"""Images, and other arrays, as points."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Material
from policy_engine.kernels.generative.colour_histograms import colour_histograms
from policy_engine.kernels.generative.oriented_gradients import oriented_gradients
from policy_engine.kernels.generative.principal_components import (
    Components,
    principal_components,
)

_COMPONENTS = 40
_ROWS = 20_000
_VALUES = 16_000_000
"""So many public records, or values of them, are enough to fit components on."""
_CELL = 9
_BLOCK = 2048


@dataclass(frozen=True)
class Pixels:
    """Records as they are."""

    notation: str = "pixels"
    ranks: int = 0

    def apply(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return the points of records (n, d)."""
        return np.asarray(values, np.float32)


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """The 40 principal components of the public records, not whitened (MOSAICrOWN D5.2, 4.4.2)."""

    components: Components
    notation: str = "pca-40"
    ranks: int = 0

    @classmethod
    def fit(cls, material: Material) -> "PrincipalComponents":
        """Return the space by the public records alone."""
        public = material.public.values
        most = min(len(public), _ROWS, max(_VALUES // public.shape[1], 1))
        chosen = np.linspace(0, len(public) - 1, most).astype(np.int64)
        return cls(principal_components(public[chosen], _COMPONENTS))

    def apply(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return the points of records (n, d)."""
        return self.components.project(values)


@dataclass(frozen=True)
class OrientedGradients:
    """Histograms of oriented gradients (MOSAICrOWN D5.2, 4.4.2): cells of nine pixels a side.

    Of images smaller than three cells the cells are smaller, so that there are three. Nothing is
    fitted.
    """

    shape: tuple[int, ...]
    notation: str = "hog"
    ranks: int = 0

    def apply(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return the points of images (n, d)."""
        cell = max(min(_CELL, min(self.shape[:2]) // 3), 1)
        blocks = [
            oriented_gradients(values[start : start + _BLOCK].reshape(-1, *self.shape), cell)
            for start in range(0, max(len(values), 1), _BLOCK)
        ]
        return np.concatenate(blocks)


@dataclass(frozen=True)
class ColourHistogram:
    """How the pixels are spread over the intensities of each colour. Nothing is fitted."""

    shape: tuple[int, ...]
    notation: str = "colour-histogram"
    ranks: int = 0

    def apply(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return the points of images (n, d)."""
        return colour_histograms(values.reshape(-1, *self.shape))
