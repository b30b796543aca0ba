"""Questions about eighteen persons, under a policy that asks for two units in a cell."""

import pyarrow as pa
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

CHECK = (
    ("pe:outputCheck", "eq", "bundesbank"),
    ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}),
    ("pe:minUnits", "eq", 2),
    ("pe:minDegreesOfFreedom", "eq", 2),
)
PEOPLE = pa.table(
    {
        "person": range(18),
        "region": ["a"] * 12 + ["c"] * 6,
        "pay": [1000.0 + 7 * n for n in range(18)],
        "ill": [n < 7 or n > 14 for n in range(18)],
    }
)
NOBODY_ELSE = "person NOT IN (0, 1, 2)"
"""Three who are ill are left out."""
MIXED = "person NOT IN (0, 1, 7, 8)"
"""Two who are ill are left out, and two who are not."""


def ask(path, *queries, table=PEOPLE):
    """Return the rows of answers to queries, one after another, and the reasons of the last."""
    for sql in queries:
        given = query_data(
            sql, [policy_with(*CHECK)], RESEARCHER, {TABLE: table}, output_ledger=path
        )
    reasons = {one.value for cell in given.checked.verdict.cells() for one in cell.reasons}
    return given.table.to_pylist(), reasons
