"""What the rows of permuted values were made from."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PermutedSource:
    """What the rows of a release were made from, in its order, and the class of each, (rows,).

    `before` has the columns that are released, with the quasi-identifiers that the rows had.
    `persons` (rows,) numbers the persons, where they are counted.
    """

    before: pa.Table = field(repr=False)
    class_of: Ints = field(repr=False)
    persons: Ints | None = field(default=None, repr=False)
