"""What the classes of a table disclose of a label that is released beside them.

Classes that are formed for models of a label are to be alike in it: whoever knows the class of a
person then knows the label. That is counted here, in integers, so that the parts of a table add up
to what is counted on the whole.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.grouping import classes_of

_MOSTLY = 20
"""Classes are mostly of one label where at most one row in so many has another: 95% have it."""
_WIDEST = 2**62


@dataclass(frozen=True)
class LabelTally:
    """What is counted of the classes of a part of a table.

    So many rows are in classes in which at least 95% have one label (`mostly_one`), and in which
    all have one (`all_one`); `by_class` rows have the most frequent label of their class. Of labels
    that are numbers, `total` and `squares` are the sums of the numbers and of their squares, and
    `squares_by_size` has the sum of the squared sums of the classes of each size.
    """

    rows: int = 0
    mostly_one: int = 0
    all_one: int = 0
    by_class: int = 0
    total: int = 0
    squares: int = 0
    squares_by_size: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        class_of: NDArray[np.int64],
        count: int,
        codes: NDArray[np.int32],
        numbers: NDArray[Any] | None = None,
    ) -> "LabelTally":
        """Return what is counted in whole classes.

        `class_of` (rows,) numbers their classes 0 .. count-1, `codes` (rows,) their labels from 0,
        -1 for a missing one, which is a label too. `numbers` (codes,) are the integers that the
        labels are, None where they are not numbers.
        """
        most = _most_frequent(class_of, count, codes)
        sizes = np.bincount(class_of, minlength=count)
        tally = cls(
            rows=len(class_of),
            mostly_one=int(sizes[_MOSTLY * (sizes - most) <= sizes].sum()),
            all_one=int(sizes[most == sizes].sum()),
            by_class=int(most.sum()),
        )
        return tally if numbers is None else tally._with_sums(class_of, count, codes, numbers)

    def _with_sums(
        self,
        class_of: NDArray[np.int64],
        count: int,
        codes: NDArray[np.int32],
        numbers: NDArray[Any],
    ) -> "LabelTally":
        present = codes >= 0
        times = np.bincount(codes[present], minlength=len(numbers))
        pairs = list(zip(times.tolist(), numbers.tolist(), strict=True))
        sizes = np.bincount(class_of[present], minlength=count)
        sums: NDArray[Any] = np.zeros(count, dtype=_dtype_of(numbers, len(codes)))
        np.add.at(sums, class_of[present], numbers[codes[present]])
        by_size: Counter[int] = Counter()
        for size, total in zip(sizes.tolist(), sums.tolist(), strict=True):
            if size:
                by_size[size] += total * total
        return LabelTally(
            rows=self.rows,
            mostly_one=self.mostly_one,
            all_one=self.all_one,
            by_class=self.by_class,
            total=sum(n * number for n, number in pairs),
            squares=sum(n * number * number for n, number in pairs),
            squares_by_size=dict(by_size),
        )

    def __add__(self, other: "LabelTally") -> "LabelTally":
        by_size = Counter(self.squares_by_size)
        for size, squares in other.squares_by_size.items():  # Counter's sum drops what is negative
            by_size[size] += squares
        return LabelTally(
            rows=self.rows + other.rows,
            mostly_one=self.mostly_one + other.mostly_one,
            all_one=self.all_one + other.all_one,
            by_class=self.by_class + other.by_class,
            total=self.total + other.total,
            squares=self.squares + other.squares,
            squares_by_size=dict(by_size),
        )

    def explained(self, present: int) -> float | None:
        """Return the share of the variance of the numbers that classes explain, of `present` rows
        that have one; None where all are equal, or there is none.

        It is the sum of squares between classes over that of all rows, the coefficient of
        determination of the means of classes.
        """
        if not present or not self.squares_by_size:
            return None
        mean = Fraction(self.total * self.total, present)
        between = sum(
            (Fraction(squares, size) for size, squares in sorted(self.squares_by_size.items())),
            Fraction(),
        )
        spread = self.squares - mean
        return float((between - mean) / spread) if spread else None


@dataclass(frozen=True)
class LabelDisclosure:
    """What classes disclose of a label, in rows as `LabelTally` counts them.

    `overall` rows have the most frequent label of the whole table: what is known of a person
    without any class. `explained` is the share of the variance of labels that are numbers, None
    for others.
    """

    mostly_one: int
    all_one: int
    by_class: int
    overall: int
    explained: float | None = None


def disclosure_of(tally: LabelTally, counts: NDArray[np.int64], missing: int) -> LabelDisclosure:
    """Return what a whole table discloses, given how many rows have each label, (labels,), and how
    many have none."""
    return LabelDisclosure(
        mostly_one=tally.mostly_one,
        all_one=tally.all_one,
        by_class=tally.by_class,
        overall=max(int(counts.max(initial=0)), missing),
        explained=tally.explained(int(counts.sum())),
    )


def _most_frequent(
    class_of: NDArray[np.int64], count: int, codes: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return how many rows of every class have its most frequent label, (count,)."""
    # The pairs are numbered in the order of their classes.
    pair_of, pairs = classes_of([class_of.astype(np.int32), codes + 1])
    times = np.bincount(pair_of, minlength=pairs)
    owner = np.empty(pairs, dtype=np.int64)
    owner[pair_of] = class_of
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, owner, times)
    return most


def _dtype_of(numbers: NDArray[Any], rows: int) -> type:
    """Return a type in which the sum of so many of the numbers is exact."""
    largest = max(map(abs, numbers.tolist()), default=0)
    return np.int64 if largest * max(rows, 1) < _WIDEST else object
