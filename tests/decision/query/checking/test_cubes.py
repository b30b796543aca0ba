"""Counts by CUBE and its like, held against linear programmes over all combinations of the keys."""

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with
from scipy.optimize import linprog

from policy_engine.api.deciding import query_data

KEYS = ("k0", "k1", "k2")
SETS = [one for size in range(4) for one in combinations(KEYS, size)]
GROUPINGS = {
    "CUBE (k0, k1, k2)": SETS,
    "ROLLUP (k0, k1, k2)": [KEYS[:size] for size in range(4)],
    "GROUPING SETS ((k0, k1, k2), (k0, k1), (k2), ())": [KEYS, KEYS[:2], KEYS[2:], ()],
}


def people(seed):
    """Return some persons with three keys of two or three values, some of which are rare."""
    draws = np.random.default_rng(seed)
    count = int(draws.integers(60, 200))
    columns = {
        key: draws.choice(size, count, p=draws.dirichlet(np.ones(size)))
        for key, size in zip(KEYS, (2, 3, 3), strict=True)
    }
    values = {key: [f"v{one}" for one in column] for key, column in columns.items()}
    return pa.table({"person": range(count), **values})


def counted(path, table, grouping, profile):
    """Return the rows of an answer, with whether each key is added up."""
    added = ", ".join(f"{key}, GROUPING({key}) AS all_{key}" for key in KEYS)
    sql = f"SELECT {added}, COUNT(*) AS n FROM T GROUP BY {grouping}"
    check = ("pe:outputCheck", "eq", profile), ("pe:minUnits", "eq", 5)
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
    policy = policy_with(*check, unit)
    return query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=path).table


def equations(rows, cells):
    """Return the shown cells as rows over combinations of keys, their counts, and the others."""
    shown, counts, hidden = [], [], []
    for row in rows.to_pylist():
        known = {key: row[key] for key in KEYS if not row[f"all_{key}"]}
        own = [known.items() <= {*zip(KEYS, one, strict=True)} for one in cells]
        (hidden if row["n"] is None else shown).append(np.array(own, float))
        counts += [] if row["n"] is None else [row["n"]]
    return np.array(shown).reshape(-1, len(cells)), np.array(counts, float), hidden


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("profile", ["sacro", "dwb-2015"])
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_no_withheld_cell_follows_from_the_cells_of_one_answer(tmp_path, grouping, profile, seed):
    table = people(seed)
    cells = [*product(*(sorted(set(table[key].to_pylist())) for key in KEYS))]
    rows = counted(tmp_path / "ledger", table, grouping, profile)
    shown, counts, hidden = equations(rows, cells)
    assert len(hidden), "What is withheld is listed."
    for cell in hidden if len(shown) else ():
        ends = [linprog(sign * cell, A_eq=shown, b_eq=counts, method="highs") for sign in (1, -1)]
        assert {end.status for end in ends} <= {0, 3}
        is_bounded = all(end.status == 0 for end in ends)
        assert not is_bounded or -ends[1].fun - ends[0].fun > 1e-6
