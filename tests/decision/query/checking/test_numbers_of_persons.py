"""Numbers of persons beside figures of rows, of which persons have several."""

from itertools import count

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

CHECK = (
    ("pe:outputCheck", "eq", "dwb-2015"),
    ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"}),
)
SIZES = {("north", "a"): 40, ("north", "b"): 5, ("south", "a"): 40, ("south", "b"): 30}
PERSONS = "SELECT region, kind, COUNT(DISTINCT id) AS n FROM T GROUP BY region, kind"


def stays(times):
    """Return the stays of persons by region and kind: of the north and b, there are five."""
    persons = [key for key, size in SIZES.items() for _ in range(size)]
    rows = [(number, *key, day) for number, key in enumerate(persons) for day in range(times)]
    names = ("id", "region", "kind", "day")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return pa.table(columns | {"pay": [100 + number % 37 for number in range(len(rows))]})


@pytest.fixture
def ask(tmp_path):
    numbers = count()

    def answers(table, *queries):
        ledger = tmp_path / f"outputs-{next(numbers)}"
        return [
            query_data(sql, [policy_with(*CHECK)], RESEARCHER, {TABLE: table}, output_ledger=ledger)
            for sql in queries
        ][-1].table.to_pydict()

    return answers


def test_who_knows_numbers_of_persons_does_not_know_those_of_rows(ask):
    sql = "SELECT region, AVG(pay) AS pay FROM T GROUP BY region"
    pay = ask(stays(3), PERSONS, sql)
    assert None not in pay["pay"]


@pytest.mark.parametrize("asked", ["COUNT(*)", "AVG(pay)", "COUNT(DISTINCT id)"])
def test_persons_with_one_row_each_are_as_many_as_their_rows(ask, asked):
    sql = f"SELECT region, {asked} AS x FROM T GROUP BY region"
    assert ask(stays(1), PERSONS, sql)["x"][0] is None


def test_totals_of_persons_tell_the_number_of_few(ask):
    sql = "SELECT region, COUNT(DISTINCT id) AS n FROM T GROUP BY region"
    # Of the south, another count is withheld that would tell the few by the number of all persons.
    assert ask(stays(3), PERSONS, sql)["n"] == [None, None]
    assert ask(stays(3), sql)["n"] == [45, 70]
