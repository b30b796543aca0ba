"""What tells a record from others: equal for records with the same values and class alone."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import RecordSet

_WIDE = 32


def record_marks(records: RecordSet) -> NDArray[np.void]:
    """Return a mark of each record, (n,), that is equal for equal ones of one class.

    0 is -0, and what is missing is equal to what is missing; where cells have `exact` numbers,
    these count. The marks of records with many values are their digests.
    """
    cells = records.values if records.exact is None else records.exact
    values = cells.astype(np.float64)
    if records.labels is not None:
        values = np.column_stack([values, records.labels])
    plain = np.ascontiguousarray(np.where(np.isnan(values), np.nan, values + 0.0))
    if plain.shape[1] > _WIDE:
        digests = b"".join(hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in plain)
        return np.frombuffer(digests, np.dtype("V16"))
    marks: NDArray[np.void] = plain.view(np.dtype((np.void, plain.itemsize * plain.shape[1])))
    return marks.ravel()
