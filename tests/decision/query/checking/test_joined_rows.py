"""Joins that leave a person out, or would if the person's secret were another one."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

CODES = "http://example.com/C"
UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
POLICY = policy_with(("pe:outputCheck", "eq", "sacro"), UNIT, target=[TABLE, CODES])


def answer(sql, folder, flags, *, is_ill=True):
    ill = [n % 3 == 0 for n in range(200)]
    ill[10] = is_ill
    people = pa.table({"id": range(200), "ill": ill, "region": ["n", "s"] * 100})
    codes = pa.table({"flag": flags, "name": ["yes", "no"][: len(flags)]})
    data = {TABLE: people, CODES: codes}
    return query_data(sql, [POLICY], RESEARCHER, data, output_ledger=folder / f"outputs-{is_ill}")


@pytest.mark.parametrize("counted", ["*", "C.flag"])
@pytest.mark.parametrize("side", ["", "LEFT"])
@pytest.mark.parametrize("is_ill", [True, False])
def test_joins_with_a_table_that_lacks_values_are_refused(tmp_path, counted, side, is_ill):
    sql = f"SELECT COUNT({counted}) AS n FROM T {side} JOIN C ON T.ill = C.flag WHERE id < 40"
    assert [one.code for one in answer(sql, tmp_path, [True], is_ill=is_ill).reasons] == ["K019"]


def test_joins_with_a_table_of_all_values_are_answered(tmp_path):
    sql = "SELECT C.name, COUNT(*) AS n FROM T JOIN C ON T.ill = C.flag GROUP BY C.name"
    rows = answer(sql, tmp_path, [True, False]).table.to_pylist()
    assert rows == [{"name": "no", "n": 132}, {"name": "yes", "n": 68}]


RATES = "http://example.com/R"
RATED = policy_with(("pe:outputCheck", "eq", "sacro"), UNIT, target=[TABLE, RATES])


def rated(sql, folder, rates, *, is_x):
    """Return the codes, or the rows, of a query of people and of the rates of sectors by year; of
    everybody but person 10 it is known in which sector they are."""
    sectors = ["x" if n % 2 or (n == 10 and is_x) else "y" for n in range(200)]
    people = pa.table({"id": range(200), "sector": sectors})
    columns = dict(zip(("sector", "year"), zip(*rates, strict=True), strict=True))
    data = {TABLE: people, RATES: pa.table({key: [*one] for key, one in columns.items()})}
    result = query_data(sql, [RATED], RESEARCHER, data, output_ledger=folder / f"outputs-{is_x}")
    return [one.code for one in result.reasons] or result.table.to_pylist()


YEARLY = (("x", 2019), ("y", 2019), ("y", 2020))
TWICE = (("x", 2019), ("x", 2020), ("y", 2019))
BY_ONE_YEAR = "(SELECT sector FROM R WHERE year = {}) AS r USING (sector)"


ONE_PERSON = "SELECT COUNT(*) AS n FROM (SELECT * FROM T WHERE id = 10) AS t JOIN R USING (sector)"
BY_SECTOR = (
    "SELECT COUNT(*) AS n FROM T JOIN (SELECT sector FROM R WHERE year = 2019 OR (year = 2020 AND "
    "sector = 'x')) AS r USING (sector) WHERE id < 13"
)


@pytest.mark.parametrize(
    ("sql", "rates"),
    [
        (f"SELECT COUNT(*) AS n FROM T JOIN {BY_ONE_YEAR.format(2020)} WHERE id < 40", YEARLY),
        (f"SELECT COUNT(*) AS n FROM T JOIN {BY_ONE_YEAR.format(2019)} WHERE id < 40", YEARLY),
        (ONE_PERSON, TWICE),
        (BY_SECTOR, TWICE),
    ],
)
def test_partners_count_whatever_conditions_subqueries_have(tmp_path, sql, rates):
    answers = [rated(sql, tmp_path, rates, is_x=is_x) for is_x in (True, False)]
    assert answers == [["K019"], ["K019"]]


@pytest.mark.nightly
def test_filtered_subquery_of_one_row_for_each_value_is_a_condition(tmp_path):
    rates = (("x", 2019), ("y", 2020))
    few = f"SELECT COUNT(*) AS n FROM T JOIN {BY_ONE_YEAR.format(2020)} WHERE id < 13"
    answers = [rated(few, tmp_path, rates, is_x=is_x) for is_x in (True, False)]
    assert answers == [[{"n": None}]] * 2
    many = f"SELECT COUNT(*) AS n FROM T JOIN {BY_ONE_YEAR.format(2020)}"
    assert rated(many, tmp_path, rates, is_x=False) == [{"n": 100}]
