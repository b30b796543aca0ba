"""A generator of tables of the attacker's own."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.generative.material import AuditedColumn, RecordSet
from policy_engine.engines.synthesising.coding import learnt_table
from policy_engine.engines.synthesising.tables import fit
from policy_engine.methods.synthesisers.sequential_trees import SequentialTrees


def shadow_rows(
    records: RecordSet, columns: tuple[AuditedColumn, ...], rows: int, seed: int
) -> RecordSet:
    """Return so many synthetic rows, drawn from sequential trees that have learnt some records.

    Labels are learnt as one more column.
    """
    kinds = [one.is_number for one in columns]
    values = [*records.values.T]
    if records.labels is not None:
        kinds, values = [*kinds, False], [*values, records.labels]
    pairs = enumerate(zip(values, kinds, strict=True))
    table = pa.table({str(place): _cells(*pair) for place, pair in pairs})
    learnt = learnt_table(table)
    codes = fit(learnt, SequentialTrees()).rows(rows, seed)
    drawn = [
        _numbers(column.values, is_number=is_number)[codes[:, place]]
        for place, (column, is_number) in enumerate(zip(learnt.columns, kinds, strict=True))
    ]
    labels = None if records.labels is None else drawn.pop().astype(np.int64)
    return RecordSet("rows of another generator", np.column_stack(drawn), labels)


def _cells(values: NDArray[Any], is_number: bool) -> pa.Array:
    """Return numbers, or codes as texts, where they have no order; what is missing as such."""
    if is_number:
        return pa.array(values.astype(np.float64), from_pandas=True)
    return pa.array([None if code < 0 else str(int(code)) for code in values], pa.string())


def _numbers(values: pa.Array, *, is_number: bool) -> NDArray[np.float64]:
    missing = np.nan if is_number else -1.0
    return np.array([missing if one is None else float(one) for one in values.to_pylist()])
