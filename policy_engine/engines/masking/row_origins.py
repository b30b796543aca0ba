"""Which row of its input each row of an output that another run made is."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from policy_engine.engines.masking.common_forms import common_forms, identifying_words
from policy_engine.engines.masking.kept_values import stored_types
from policy_engine.engines.masking.marks import mark_key
from policy_engine.engines.origins import rows_at
from policy_engine.kernels.row_matching import match_rows


def rows_before(
    table: pa.Table, output: pa.Table, unmasked: Sequence[str], names: Sequence[str]
) -> pa.Table | None:
    """Return some columns of an input, row by row as an output has its rows.

    None where these do not match by the `unmasked` columns, which are published as they are: there
    are none, two rows are equal in them, or a row of the output is none of the input.
    """
    forms = common_forms(unmasked, *(stored_types(one.schema) for one in (table, output)))
    if not forms:
        return None
    key = mark_key()
    rows = match_rows(*(identifying_words(one, forms, key) for one in (table, output)))
    if rows is None:
        return None
    of_output = np.full(output.num_rows, -1, dtype=np.int64)
    of_output[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    return rows_at(table, tuple(names), of_output)
