"""Records with their class as one more value, where they have one."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Material, RecordSet


def labelled_values(material: Material, records: RecordSet) -> NDArray[np.float64]:
    """Return values (n, d), with the classes as the last column where the records have some."""
    values = records.values.astype(np.float64)
    if records.labels is None or material.audited.labels is None:
        return values
    return np.column_stack([values, records.labels])


def labelled_cells(material: Material, records: RecordSet) -> NDArray[np.float64]:
    """Return what is equal for equal cells alone, (n, d): exact numbers where there are some, or
    else the values; with the classes as the last column where the records have some."""
    if records.exact is None:
        return labelled_values(material, records)
    return labelled_values(material, replace(records, values=records.exact.astype(np.float64)))
