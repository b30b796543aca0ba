"""All tables by two of several columns, one after another in one ledger, held against linear
programmes over all combinations of the columns: no withheld small count is known.
"""

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from policy_engine.api.deciding import query_data

LEAST = 10
POLICY = policy_with(
    ("pe:outputCheck", "eq", "sacro"), ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
)


def persons(draws, names, count):
    """Return the values of persons in columns of two to four, which depend on each other."""
    shared, columns = draws.random(count), {}
    for name in names:
        edges = np.cumsum(draws.dirichlet(np.full(draws.integers(2, 5), 1.5)))[:-1]
        places = np.where(draws.random(count) < 0.4, shared, draws.random(count))
        columns[name] = np.searchsorted(edges, places)
    return columns


def answered(path, columns, draws):
    """Yield each table by two columns in a random order: these, and the counts that are shown."""
    table = pa.table({"person": range(len(next(iter(columns.values())))), **columns})
    pairs = [*combinations(columns, 2)]
    for place in draws.permutation(len(pairs)):
        one, other = pairs[place]
        sql = f"SELECT {one}, {other}, COUNT(*) AS n FROM T GROUP BY {one}, {other}"
        answer = query_data(sql, [POLICY], RESEARCHER, {TABLE: table}, output_ledger=path).table
        rows = [] if answer is None else answer.to_pylist()
        yield one, other, {(row[one], row[other]): row["n"] for row in rows}


def told(path, seed, names, count):
    """Return which withheld small counts are known, and how many counts are shown and withheld."""
    draws = np.random.default_rng(seed)
    columns = persons(draws, names, count)
    values = [np.unique(columns[name]).tolist() for name in names]
    worlds = dict(zip(names, np.array([*product(*values)]).T, strict=True))
    sums, counts, withheld = [np.ones(len(worlds[names[0]]))], [count], []
    for one, other, shown in answered(path, columns, draws):
        for pair in product(np.unique(columns[one]).tolist(), np.unique(columns[other]).tolist()):
            is_in = ((worlds[one] == pair[0]) & (worlds[other] == pair[1])).astype(float)
            size = int(((columns[one] == pair[0]) & (columns[other] == pair[1])).sum())
            if shown.get(pair) is None:
                withheld.append((is_in, size))
            else:
                assert shown[pair] == size
                sums.append(is_in)
                counts.append(size)
    equations = csr_matrix(np.array(sums))
    small = [(cell, size) for cell, size in withheld if size < LEAST]
    known = [size for cell, size in small if is_known(cell, size, equations, counts)]
    return known, len(counts) - 1, len(withheld)


def is_known(cell, size, equations, counts):
    """Return whether a count may not be one less, or not one more, as far as the others tell."""
    ends = [
        linprog(sign * cell, A_eq=equations, b_eq=counts, method="highs-ipm") for sign in (1, -1)
    ]
    assert {end.status for end in ends} == {0}
    low, high = np.ceil(ends[0].fun - 1e-6), np.floor(-ends[1].fun + 1e-6)
    return high < size + 1 or low > max(size - 1, 0)


def test_tables_by_two_of_four_columns_tell_no_withheld_count(tmp_path):
    known, shown, withheld = told(tmp_path / "outputs", 1, "abcd", 300)
    assert known == []
    assert min(shown, withheld) > 10


@pytest.mark.nightly
@pytest.mark.parametrize(("seed", "count"), [(2, 600), (3, 2000)])
def test_all_tables_by_two_of_nine_columns_tell_no_withheld_count(tmp_path, seed, count):
    known, shown, withheld = told(tmp_path / "outputs", seed, "abcdefghi", count)
    assert known == []
    assert min(shown, withheld) > 50
