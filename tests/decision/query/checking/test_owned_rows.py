"""Whose the rows are that conditions are asked of."""

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.decision.query.checking.owned_rows import OWNER, RowOwners


def test_each_row_has_its_owner_in_place_of_its_number():
    owners = np.array([7, 7, 9])
    rows = RowOwners(10, exp.column("row"), lambda numbers: owners[numbers.to_numpy()])
    table = pa.table({"l0": ["a", "b", "a"], OWNER: [2, 0, 1]})
    assert rows.expressions() == {OWNER: exp.column("row")}
    assert rows.owned(table).to_pydict() == {"l0": ["a", "b", "a"], OWNER: [9, 7, 7]}
