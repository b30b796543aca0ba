"""Which totals are of columns that have negative values anywhere: of these no rule judges any cell.

Where a cell alone decided, whether a total goes to a person would tell the sign of one contribution
to who chooses the rows of the cell.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from policy_engine.audits.outputs.reasons import Reason
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.sql_nodes import named
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Masks = NDArray[np.uint32]


def negative_totals(
    gathered: GatheredAnswer, rows: UnfilteredRows, tables: "Mapping[str, pa.Table]"
) -> "Masks":
    """Return the reasons (bits) against cells of totals that somebody's negative value is among, in
    the cell or elsewhere: (rows of the answer, aggregates).

    Raises NotCheckableError: K017 for an argument that cannot be read, K022 if the query fails.
    """
    aggregates = gathered.queries.query.aggregates
    masks = np.zeros((len(gathered.sets), len(aggregates)), np.uint32)
    totals = [number for number, one in enumerate(aggregates) if one.kind == "total"]
    if not totals:
        return masks
    values = [tried(rows.resolved(aggregates[number].arguments[0])) for number in totals]
    select = rows.source.copy()
    entries = zip(values, totals, strict=True)
    select.set("expressions", [named(exp.Min(this=value), f"m{place}") for value, place in entries])
    smallest = run_checked({"": to_sql(select, "duckdb")}, tables)[""]
    for number in totals:
        value = smallest[f"m{number}"][0].as_py()
        if value is not None and value < 0:
            masks[:, number] |= np.uint32(Reason.NEGATIVE_VALUES.bit)
    return masks
