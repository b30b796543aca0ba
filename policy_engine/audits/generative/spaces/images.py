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


@dataclass(frozen=True, eq=False)
class Unit:
    """The middle of the public records, and a power of two by which values are near 1, so that
    floats of 32 bits tell them apart."""

    middle: NDArray[np.float64]
    scale: float = 1.0

    @classmethod
    def fit(cls, values: NDArray[Any]) -> "Unit":
        """Return that of public records (n, d): of images, a scale of 1."""
        middle = values.mean(axis=0, dtype=np.float64)
        reach = float(np.abs(values - middle).max(initial=0.0))
        is_near = not reach or _NEAR[0] <= reach <= _NEAR[1]
        return cls(middle, 1.0 if is_near else float(2.0 ** -np.frexp(reach)[1]))

    def apply(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return values from the middle on, on the scale: where 32 bits would be infinite, as far
        out as they go."""
        if values.dtype == np.float32 and self.scale == 1.0:
            near: NDArray[np.float32] = values - self.middle.astype(np.float32)
            return near
        away = (np.asarray(values, np.float64) - self.middle) * self.scale
        return np.clip(away, -_FAR, _FAR).astype(np.float32)


def _some_public(material: Material) -> NDArray[Any]:
    public = material.public.values
    most = min(len(public), _ROWS, max(_VALUES // public.shape[1], 1))
    chosen = np.linspace(0, len(public) - 1, most).astype(np.int64)
    return np.asarray(public[chosen])


_NEAR = (1e-3, 1e4)
_FAR = 1e15
"""The squares of as many coordinates as there may be are finite."""


@dataclass(frozen=True, eq=False)
class Pixels:
    """Records as they are, from the middle of the public ones on."""

    unit: Unit | None = None
    notation: str = "pixels"
    ranks: int = 0

    @classmethod
    def fit(cls, material: Material) -> "Pixels":
        """Return the space, whose middle and scale are those of the public records."""
        return cls(Unit.fit(_some_public(material)))

    def apply(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return the points of records (n, d)."""
        return np.asarray(values, np.float32) if self.unit is None else self.unit.apply(values)


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """The 40 principal components of the public records, not whitened (MOSAICrOWN D5.2, 4.4.2)."""

    unit: Unit
    components: Components
    notation: str = "pca-40"
    ranks: int = 0

    @classmethod
    def fit(cls, material: Material) -> "PrincipalComponents":
        """Return the space by the public records alone."""
        public = _some_public(material)
        unit = Unit.fit(public)
        return cls(unit, principal_components(unit.apply(public), _COMPONENTS))

    def apply(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return the points of records (n, d)."""
        return self.components.project(self.unit.apply(values))


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
            oriented_gradients(
                np.clip(values[start : start + _BLOCK], -_FAR, _FAR).reshape(-1, *self.shape), cell
            )
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
