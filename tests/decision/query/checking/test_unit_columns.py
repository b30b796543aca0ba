"""Whose rows a query reads: nobody who writes it can say so."""

import pyarrow as pa
import pytest
import sqlglot
from output_checked import RESEARCHER, TABLE, policy_with
from sqlglot import exp

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.unit_columns import add_unit, check_names
from policy_engine.decision.query.scope import DATASET

SACRO = ("pe:outputCheck", "eq", "sacro")
UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
NAMES = ("unit of privacy", "Unit of Privacy", "row of its dataset", "number of a row")


def asked(tmp_path, sql, *refinements, table):
    policy = policy_with(SACRO, *refinements)
    ledger = tmp_path / "outputs"
    return query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=ledger)


@pytest.fixture
def visits():
    """Return a hundred visits of four persons."""
    return pa.table({"person": [n % 4 for n in range(100)], "cost": list(range(100))})


@pytest.mark.parametrize("refinements", [(), (UNIT,)])
@pytest.mark.parametrize("name", NAMES)
def test_column_that_claims_to_be_the_unit_is_refused(tmp_path, visits, name, refinements):
    inner = f'SELECT cost, person * 1000 + cost AS "{name}" FROM T'
    for sql in (
        f"SELECT SUM(cost) FROM ({inner}) AS t",
        f"WITH v AS ({inner}) SELECT COUNT(*) FROM v",
        f'SELECT COUNT(*) FROM (SELECT person AS "{name} 0" FROM T) AS t',
    ):
        result = asked(tmp_path, sql, *refinements, table=visits)
        assert [one.code for one in result.reasons] == ["K017"]


@pytest.mark.parametrize("name", NAMES)
def test_column_of_a_table_with_such_a_name_is_refused(tmp_path, visits, name):
    table = visits.append_column(name, pa.array(range(100)))
    result = asked(tmp_path, "SELECT COUNT(*) FROM (SELECT * FROM T) AS t", UNIT, table=table)
    assert [one.code for one in result.reasons] == ["K017"]


def test_other_names_are_not_refused():
    check_names(sqlglot.parse_one('SELECT "unit", "row of" FROM "number"'), ["rows of a dataset"])
    with pytest.raises(NotCheckableError):
        check_names(sqlglot.parse_one("SELECT 1"), ["Number of a row"])


def test_added_column_has_another_name_each_time():
    names = set()
    for _ in range(2):
        tree = sqlglot.parse_one("SELECT FROM (SELECT a FROM T) AS s", dialect="duckdb")
        assert isinstance(tree, exp.Select)
        for table in tree.find_all(exp.Table):
            table.meta[DATASET] = TABLE
        names.add(add_unit(tree, lambda _: "person").name)
    assert len(names) == 2
    assert all(len(name) > len("unit of privacy") + 20 for name in names)
