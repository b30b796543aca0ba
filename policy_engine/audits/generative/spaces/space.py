"""What every space has."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class RecordSpace(Protocol):
    """A space in which records are near each other or not, by the distance of Euclid."""

    @property
    def notation(self) -> str:
        """The name of the space in settings and reports."""
        ...

    @property
    def ranks(self) -> int:
        """How many of the last columns of points are ranks of categories (`folded_categories`)."""
        ...

    def apply(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return the points (n, e) of the values (n, d) of records: finite."""
        ...
