"""Whatever statistics are asked for, an intruder of its own code learns nobody's value.

Who attacks knows all figures that were shown, whom each is about, and of each set of columns all
other columns.
"""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from intruders import Figure, determined, nearly_known
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

PROFILES = ["sacro", "bundesbank", "iab", "fsrdc"]
COLUMNS = ("pay", "gain", "hours")
SINGLE = {
    "SUM": "sum",
    "AVG": "mean",
    "VAR_POP": "var",
    "STDDEV": "std",
    "SKEWNESS": "skew",
    "KURTOSIS": "kurtosis",
}
PAIRED = {
    "COVAR_POP": "cov",
    "CORR": "corr",
    "REGR_SLOPE": "slope",
    "REGR_INTERCEPT": "intercept",
    "REGR_SXY": "sxy",
    "REGR_R2": "r2",
}
UNKNOWN = [(one,) for one in COLUMNS] + [("pay", "gain"), COLUMNS]
GROUPINGS = [(), (), ("region",), ("sector",), ("region", "sector")]


def employees(draws, least):
    """Return some persons: few of them have a gain, large or like those of others."""
    size = int(draws.integers(18, 60))
    few = draws.permutation(size)[: draws.integers(least - 1, 3 * least + 2)]
    gain = np.zeros(size, int)
    gain[few] = draws.integers(50, draws.choice([150, 100_000]), len(few))
    amounts = [
        draws.integers(50, 150, size),
        np.exp(draws.normal(7, 1, size)).astype(int) + 1,
        draws.integers(0, 100_000, size),
    ]
    hours = draws.integers(1, 60, size)
    columns = {"pay": amounts[draws.integers(3)], "gain": gain, "hours": hours}
    return pa.table({
        "person": range(size),
        "region": draws.choice(["a", "b"], size),
        "sector": draws.choice(["x", "y", "z"], size),
        "age": draws.integers(20, 80, size),
        **{name: one.astype(float) for name, one in columns.items()},
    })  # fmt: skip


def condition(draws, size):
    low, high = sorted(draws.integers(20, 80, 2).tolist())
    some = ", ".join(map(str, draws.choice(size, draws.integers(1, 7)).tolist()))
    chosen = [f"age BETWEEN {low} AND {high}", f"person NOT IN ({some})", "region = 'a'"]
    chosen += [f"region = 'a' OR person IN ({some})", "sector <> 'x'", f"age < {high}"]
    return str(draws.choice(["TRUE"] * 5 + chosen))


def statistics(draws):
    """Return up to four calls of SQL, with the kind and the columns of each."""
    calls = []
    for _ in range(draws.integers(1, 5)):
        is_single = draws.random() < 0.7
        names = SINGLE if is_single else PAIRED
        function = str(draws.choice([*names]))
        columns = tuple(map(str, draws.choice(COLUMNS, 1 if is_single else 2, replace=False)))
        # SQL names first what is regressed.
        calls.append((f"{function}({', '.join(columns[::-1])})", names[function], columns))
    return calls


def shown_figures(table, draws, ledger, policy, questions):
    """Return the figures that are shown of random questions."""
    figures = []
    for _ in range(questions):
        calls, keys = statistics(draws), GROUPINGS[draws.integers(len(GROUPINGS))]
        where, chosen = condition(draws, len(table)), condition(draws, len(table))
        filters = [chosen if draws.random() < 0.2 else "TRUE" for _ in calls]
        parts = [
            f"{call} FILTER (WHERE {one}) AS f{place}"
            for place, ((call, _, _), one) in enumerate(zip(calls, filters, strict=True))
        ]
        sql = f"SELECT {', '.join([*keys, *parts])} FROM T WHERE {where}"
        sql = sql.replace(" FILTER (WHERE TRUE)", "").replace(" WHERE TRUE", "")
        sql += f" GROUP BY {', '.join(keys)}" if keys else ""
        answer = query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=ledger).table
        for row in [] if answer is None else answer.to_pylist():
            own = [f"{key} = '{row[key]}'" for key in keys]
            for place, ((_, kind, columns), one) in enumerate(zip(calls, filters, strict=True)):
                if row[f"f{place}"] is not None:
                    members = meant(table, [where, one, *own])
                    figures.append(Figure(kind, members, columns))
    return figures


def meant(table, conditions):
    """Return which rows satisfy all of some conditions."""
    with duckdb.connect() as connection:
        connection.register("T", table)
        both = " AND ".join(f"({one})" for one in conditions)
        return np.array(connection.execute(f"SELECT {both} FROM T").fetchall())[:, 0].astype(bool)


def told(path, seed, questions):
    """Return what follows from the figures that are shown, and how many these are."""
    draws = np.random.default_rng(seed)
    least = int(draws.choice([2, 3, 3, 5]))
    table = employees(draws, least)
    policy = policy_with(
        ("pe:outputCheck", "eq", str(draws.choice(PROFILES))),
        ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}),
        ("pe:minUnits", "eq", least),
        ("pe:minDegreesOfFreedom", "eq", least),
    )
    figures = shown_figures(table, draws, path, policy, questions)
    data = {name: [int(one) for one in table[name].to_pylist()] for name in COLUMNS}
    exact = [(names, found) for names in UNKNOWN if (found := determined(figures, data, names))]
    near = [(name, found) for name in COLUMNS if (found := nearly_known(figures, data, name, 0.1))]
    return exact + near, len(figures)


@pytest.mark.one_in(60)
@pytest.mark.parametrize("seed", [17, *(seed for seed in range(60) if seed != 17)])
def test_nobodys_value_follows_from_statistics_that_were_shown(tmp_path, seed):
    found, shown = told(tmp_path / "outputs", seed, 5)
    assert found == []
    assert shown or seed != 17


FIVE = {"x": [3, 19, 11, 40, 27], "y": [0, 0, 0, 0, 1]}
ALL, FIRST = np.ones(5, bool), np.arange(5) < 4


@pytest.mark.parametrize(
    ("kinds", "members", "known"),
    [
        (["sum", "mean"], [ALL, FIRST], [4]),
        (["sum", "var", "skew", "kurtosis"], [FIRST] * 4, [0, 1, 2, 3]),
        (["sum", "var"], [ALL] * 2, []),
        (["sum", "var", "std"], [ALL, ALL, FIRST], [4]),
    ],
)
def test_intruder_finds_what_finitely_many_values_agree_with(kinds, members, known):
    parts = zip(kinds, members, strict=True)
    figures = [Figure(kind, mask, ("x",)) for kind, mask in parts]
    assert [row for _, row in sorted(determined(figures, FIVE, ("x",)))] == known


@pytest.mark.parametrize("kind", ["cov", "corr", "slope", "intercept"])
def test_intruder_knows_of_whom_a_line_is_with_a_column_of_one(kind):
    figures = [Figure("sum", ALL, ("x",)), Figure("cov", ALL, ("y", "x"))]
    assert determined(figures, FIVE, ("x",)) == [("x", 4)]
    others = [*figures, Figure(kind, FIRST, ("x", "z"))]
    data = FIVE | {"z": [2, 5, 7, 1, 3]}
    assert determined(others, data, ("x",)) == [("x", 4)]


def test_intruder_bounds_values_by_totals_and_by_spheres():
    one, other = Figure("sum", ALL, ("x",)), Figure("sum", FIRST, ("x",))
    assert [row for row, _, _ in nearly_known([one, other], FIVE, "x", 0.1)] == [4]
    alike = {"x": [100, 101, 100, 101, 100]}
    told = [one, Figure("std", ALL, ("x",))]
    assert [row for row, _, _ in nearly_known(told, alike, "x", 0.1)] == [0, 1, 2, 3, 4]
    assert nearly_known([one], alike, "x", 0.1) == []
