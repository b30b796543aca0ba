"""Whatever aggregates are asked for, linear programmes bound no person's value by what was shown.

Who attacks knows everything but pay and illness: all answers that were shown are equations in the
pay of rows, which is not negative, and in whether each row is of an illness, between 0 and 1.
"""

from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with
from scipy.optimize import linprog

from policy_engine.api.deciding import query_data

CHECK = (
    ("pe:outputCheck", "eq", "sacro"),
    ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}),
    ("pe:minUnits", "eq", 3),
)
KEYS = ("region", "sector")
GROUPINGS = {
    "": [()],
    " GROUP BY region": [("region",)],
    " GROUP BY sector": [("sector",)],
    " GROUP BY region, sector": [("region", "sector")],
    " GROUP BY ROLLUP (region, sector)": [("region", "sector"), ("region",), ()],
    " GROUP BY CUBE (region, sector)": [("region", "sector"), ("region",), ("sector",), ()],
}
P_PERCENT = 0.1


def random_table(draws, persons):
    """Return persons with one row, or with one to three."""
    most = draws.choice([1, 3])
    numbers = np.repeat(np.arange(persons), draws.integers(1, most + 1, persons))
    size = len(numbers)
    return pa.table(
        {
            "person": numbers,
            "region": draws.choice(["a", "b"], size),
            "sector": draws.choice(["x", "y", "z"], size),
            "age": draws.integers(20, 80, size),
            "pay": draws.integers(50, 150, size).astype(float),
            "ill": draws.random(size) < 0.45,
        }
    )


@dataclass(frozen=True)
class Question:
    """A random query: where, by which grouping, and which of pay and illness it sums up."""

    where: str
    grouping: str

    @property
    def sql(self):
        figures = "COUNT(*) FILTER (WHERE ill) AS ill, SUM(pay) AS pay, COUNT(*) AS n"
        keys = "GROUPING(region) AS no_region, GROUPING(sector) AS no_sector, "
        is_grouped = [name for name in KEYS if name in self.grouping]
        bits = keys if len(is_grouped) == len(KEYS) else ""
        shown = "".join(f"{name}, " for name in is_grouped)
        condition = f" WHERE {self.where}" if self.where else ""
        return f"SELECT {shown}{bits}{figures} FROM T{condition}{self.grouping}"


def random_question(draws, persons):
    """Return a question about all, or about those of some ages, or but for some persons."""
    low, high = sorted(draws.integers(20, 80, 2).tolist())
    some = ", ".join(map(str, draws.choice(persons, draws.integers(1, 6)).tolist()))
    conditions = ["", "", f"age BETWEEN {low} AND {high}", f"person NOT IN ({some})"]
    conditions += [f"region = 'a' OR person IN ({some})", f"NOT (age < {low} AND sector = 'x')"]
    return Question(str(draws.choice(conditions)), str(draws.choice([*GROUPINGS])))


def meant(question, row, table):
    """Return which rows of the table a row of an answer is about."""
    condition = question.where or "TRUE"
    for name in KEYS:
        if name in question.grouping and not row.get(f"no_{name}"):
            condition = f"({condition}) AND {name} = '{row[name]}'"
    with duckdb.connect() as connection:
        connection.register("T", table)
        return np.array(connection.execute(f"SELECT {condition} FROM T").fetchall())[:, 0]


def ask_at_random(table, seed, ledger, questions):
    """Return the equations that are shown, by the column that they are in: masks and figures."""
    draws = np.random.default_rng(seed)
    persons = int(table["person"].to_numpy().max()) + 1
    shown = {"ill": [], "pay": []}
    for _ in range(questions):
        question = random_question(draws, persons)
        policies = [policy_with(*CHECK)]
        result = query_data(
            question.sql, policies, RESEARCHER, {TABLE: table}, output_ledger=ledger
        )
        for row in [] if result.table is None else result.table.to_pylist():
            for column, equations in shown.items():
                if row[column] is not None:
                    equations.append((meant(question, row, table), float(row[column])))
    return shown


def bounds(equations, goal, most):
    """Return the least and the largest total of a goal, a mask, that equations allow."""
    masks = np.array([mask for mask, _ in equations], float)
    figures = np.array([figure for _, figure in equations])
    ends = []
    for sign in (1, -1):
        result = linprog(sign * goal, A_eq=masks, b_eq=figures, bounds=(0, most))
        ends.append(sign * result.fun if result.status == 0 else sign * -np.inf)
    return tuple(ends)


def told(equations, table, column, most):
    """Return the goals, rows and persons and small groups, whose total is known too closely."""
    values = table[column].to_numpy().astype(float)
    persons = table["person"].to_numpy()
    groups = [persons == one for one in np.unique(persons)]
    groups += [np.arange(len(values)) == row for row in range(len(values))]
    found = []
    for mask in groups:
        low, high = bounds(equations, mask.astype(float), most)
        share = P_PERCENT * values[mask].sum() if column == "pay" else 0
        if high - low <= max(share, 1e-6):
            found.append((np.flatnonzero(mask).tolist(), low, high))
    return found


def check_nothing_is_told(seed, ledger, questions, persons=24):
    table = random_table(np.random.default_rng(seed), persons)
    shown = ask_at_random(table, seed, ledger, questions)
    for column, most in (("ill", 1), ("pay", None)):
        if shown[column]:
            assert told(shown[column], table, column, most) == [], column
    return sum(map(len, shown.values()))


@pytest.mark.one_in(7)
@pytest.mark.parametrize(("seed", "questions"), [(0, 3), *((seed, 5) for seed in range(6))])
def test_linear_programmes_tell_no_value_by_what_was_shown(tmp_path, seed, questions):
    assert check_nothing_is_told(seed, tmp_path / "outputs", questions) > 0


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 112))
def test_linear_programmes_tell_no_value_by_many_answers(tmp_path, seed):
    check_nothing_is_told(seed, tmp_path / "outputs", 12)


def test_linear_programmes_tell_values_where_two_answers_differ_by_one():
    table = random_table(np.random.default_rng(1), 24)
    pay = table["pay"].to_numpy()
    everybody, others = np.ones(len(pay), bool), np.arange(len(pay)) != 5
    equations = [(everybody, pay.sum()), (others, pay[others].sum())]
    [[rows, low, high], *_] = told(equations, table, "pay", None)
    assert 5 in rows
    assert low == pytest.approx(high)
