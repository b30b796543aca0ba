"""Whatever persons and rows are counted, an intruder of its own code learns of no row that is ill.

Who attacks knows all figures that were shown, and all columns but one: of each person, all rows.
"""

import numpy as np
import pyarrow as pa
import pytest
from intruders import HolderFigure, known_holders
from output_checked import RESEARCHER, TABLE, policy_with
from test_random_statistics import meant

from policy_engine.api.deciding import query_data

PROFILES = ["sacro", "bundesbank", "iab", "fsrdc"]
CALLS = {
    "COUNT(*) FILTER (WHERE ill)": (False, True),
    "COUNT(*) FILTER (WHERE NOT ill)": (False, False),
    "AVG(CASE WHEN ill THEN 1.0 ELSE 0.0 END)": (False, True),
    "COUNT(DISTINCT person) FILTER (WHERE ill)": (True, True),
    "COUNT(DISTINCT person) FILTER (WHERE NOT ill)": (True, False),
}
GROUPINGS = [(), (), ("region",), ("sector",), ("visit",)]


def visits(draws):
    """Return the visits of some persons, of whom few have several, or most."""
    size, most = int(draws.integers(20, 40)), int(draws.choice([2, 3, 5]))
    several = np.where(draws.random(size) < 0.2, most, 1)
    sizes = several if draws.random() < 0.5 else draws.integers(1, most + 1, size)
    persons = np.repeat(np.arange(size), sizes)
    ill = draws.random(size if draws.random() < 0.5 else len(persons)) < 0.45
    return pa.table({
        "person": persons,
        "visit": np.concatenate([np.arange(one) for one in sizes]),
        "region": draws.choice(["a", "b"], size)[persons],
        "sector": draws.choice(["x", "y"], len(persons)),
        "age": draws.integers(20, 80, size)[persons],
        "ill": ill[persons] if len(ill) == size else ill,
    })  # fmt: skip


def condition(draws):
    low, high = sorted(draws.integers(20, 80, 2).tolist())
    chosen = [f"age BETWEEN {low} AND {high}", "visit = 0", f"age < {high}", "sector = 'x'"]
    return str(draws.choice(["TRUE"] * 4 + chosen))


def shown_figures(table, draws, ledger, policy, questions):
    """Return the figures that are shown of random questions."""
    figures = []
    for _ in range(questions):
        calls = draws.choice([*CALLS], draws.integers(1, 4), replace=False).tolist()
        keys, where = GROUPINGS[draws.integers(len(GROUPINGS))], condition(draws)
        named = [f"{call} AS f{place}" for place, call in enumerate(calls)]
        sql = f"SELECT {', '.join([*keys, *named])} FROM T WHERE {where}"
        sql = sql.replace(" WHERE TRUE", "") + (f" GROUP BY {', '.join(keys)}" if keys else "")
        answer = query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=ledger).table
        for row in [] if answer is None else answer.to_pylist():
            own = [f"{key} = '{row[key]}'" for key in keys]
            figures += [
                HolderFigure(meant(table, [where, *own]), *CALLS[call])
                for place, call in enumerate(calls)
                if row[f"f{place}"] is not None
            ]
    return figures


def told(path, seed, questions):
    """Return what follows from the figures that are shown, and how many these are."""
    draws = np.random.default_rng(seed)
    least, table = int(draws.choice([3, 4, 5])), visits(draws)
    policy = policy_with(
        ("pe:outputCheck", "eq", str(draws.choice(PROFILES))),
        ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}),
        ("pe:minUnits", "eq", least),
    )
    figures = shown_figures(table, draws, path, policy, questions)
    if not figures:
        return [], 0
    persons, ill = table["person"].to_numpy(), table["ill"].to_numpy()
    found = known_holders(figures, persons, ill)
    of_persons = [ill[persons == person] for person in np.unique(persons)]
    if all(one.all() or not one.any() for one in of_persons):
        found += known_holders(figures, persons, ill, is_whole=True)
    return found, len(figures)


@pytest.mark.one_in(60)
@pytest.mark.parametrize("seed", range(60))
def test_of_no_row_it_follows_whether_it_is_ill(tmp_path, seed):
    found, _ = told(tmp_path / "outputs", seed, 3)
    assert found == []


SIZES = np.array([5] * 4 + [1] * 19)
PERSONS = np.repeat(np.arange(23), SIZES)
ALL = np.ones(len(PERSONS), bool)
TWO_KINDS = [HolderFigure(ALL, is_of_persons=True), HolderFigure(ALL, is_of_persons=False)]


def test_intruder_knows_all_rows_of_those_with_most():
    assert known_holders(TWO_KINDS, PERSONS, PERSONS < 11) == [*range(20)]
    assert known_holders(TWO_KINDS[:1], PERSONS, PERSONS < 11) == []
    assert known_holders(TWO_KINDS[1:], PERSONS, PERSONS < 11) == []


def test_intruder_knows_that_those_with_many_rows_are_none_where_all_rows_are_alike():
    holders = PERSONS >= 12
    assert known_holders(TWO_KINDS, PERSONS, holders, is_whole=True) == [*range(20)]
    assert known_holders(TWO_KINDS, PERSONS, holders) == []
