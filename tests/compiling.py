"""Compile the kernels that take seconds, so that the processes of the tests find them on disk."""

import numpy as np
from applying import applied
from building import column
from drawn import interval, ints

from policy_engine.kernels.bounds import ClassConstraint, Diversity
from policy_engine.kernels.box_counts import box_counts
from policy_engine.kernels.guided_tree import guided_partition
from policy_engine.kernels.layout import SensitiveRows
from policy_engine.kernels.local_suppression import suppress_cells
from policy_engine.kernels.microaggregation import microaggregate
from policy_engine.kernels.near_pairs import pairs_within

AGES = {"age": [20, 21, 40, 41], "ill": ["flu", "cold"] * 2}
ASKED = {"k": 2, "quasi": ["age"], "sensitive": ["ill"], "method": "l-diversity", "l": 2}

if __name__ == "__main__":
    applied(AGES, **ASKED, polish=True)
    applied(AGES, **ASKED, algorithm="full-domain")
    alike = {"age": AGES["age"], "ill": ["flu", "flu", "cold", "cold"]}
    applied(alike, **ASKED, algorithm="microaggregation")
    masked = [
        column("pay", masking="rank-swapping", p=0.5),
        column("cap", masking="noise", sdShare=0.1),
        column("job", masking="pram", keep=0.5),
    ]
    pay = {"pay": [1, 2, 3, 4], "cap": [1.5, 2, 3, 4], "job": ["a", "b"] * 2}
    applied({**AGES, **pay}, **ASKED, masked=masked, key=b"k" * 32)
    few = np.arange(4)
    rows, bounds = SensitiveRows((ints(few % 2),), None), ClassConstraint(2, (Diversity(),))
    guided_partition([interval(few)], rows, bounds, few[:, None].astype(np.int32))
    points = np.arange(6.0)[:, None]
    microaggregate(points, 2, np.arange(6, dtype=np.uint64))
    codes, counts = np.array([[0, 0], [0, 1], [5, -1]], np.int32), np.array([3, 1, 3])
    for missing in ("category", "wildcard"):
        suppress_cells(codes, counts, 3, np.array([1, 1]), np.array([7, 7]), missing)
    box_counts(points, np.ones(6, dtype=np.int64), points, points + 1)
    pairs_within(points, points, np.ones(1))
