"""Units in several cells of a line count once: 30 of 30 persons of a region are all of it."""

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with
from sqlglot import exp

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking import line_evidence
from policy_engine.decision.query.checking.evidence_query import EvidenceQueries
from policy_engine.decision.query.checking.evidence_tables import evidence_table
from policy_engine.decision.query.checking.line_evidence import with_line_units
from policy_engine.decision.query.checking.reading_checked import read_checked
from policy_engine.decision.query.grammar import parse_query

DIAGNOSES = ("flu", "cold", "ulcer")


def visits(ill, size=3):
    """Return so many visits of each person, of which so many are ill: 30 persons of region a, and
    all others of b."""
    rows = [
        ("ab"[person >= 30], person, visit, visit < some, DIAGNOSES[min(visit, 2)])
        for person, some in enumerate(ill)
        for visit in range(size)
    ]
    names = ("region", "person", "visit", "ill", "diagnosis")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


ALL_ILL = visits([2] * 15 + [3] * 15)
"""30 persons with three visits each, all ill at one of them; 15 not ill at another one."""


@pytest.fixture
def ask(tmp_path):
    """Return a function that gives the figures n of an answer, of at least ten persons each."""

    def figures(sql, table):
        check = ("pe:outputCheck", "eq", "bundesbank"), ("pe:minUnits", "eq", 10)
        policy = policy_with(*check, ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}))
        ledger = tmp_path / "answers"
        answer = query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=ledger)
        return answer.table["n"].to_pylist()

    return figures


@pytest.mark.parametrize(
    ("grouping", "shown"), [("ill", [None, None]), ("ROLLUP (ill)", [None, None, 30])]
)
def test_all_persons_of_a_line_are_not_shown_beside_some_of_them(ask, grouping, shown):
    """Of 30, 30 are ill at some visit and 15 are not at another: if the 15 were shown, it would be
    told that the other cell has not too few, so nearly all."""
    sql = f"SELECT ill, COUNT(DISTINCT person) AS n FROM T GROUP BY {grouping}"
    assert ask(sql, ALL_ILL) == shown


def test_all_persons_of_one_of_two_regions_are_not_shown(ask):
    sql = "SELECT region, ill, COUNT(DISTINCT person) AS n FROM T GROUP BY region, ill"
    table = visits([2] * 15 + [3] * 15 + [1] * 15 + [0] * 15)
    assert ask(sql, table) == [None] * 4, "of b, 30 of 30 have a visit at which they are not ill"


def test_all_persons_that_have_one_of_three_values_are_not_shown(ask):
    """Of 40, all have had the flu, 30 a cold and 20 an ulcer."""
    rows = [
        (person, kind)
        for kind, some in zip(DIAGNOSES, (40, 30, 20), strict=True)
        for person in range(some)
    ]
    table = pa.table({"person": [one for one, _ in rows], "diagnosis": [one for _, one in rows]})
    sql = "SELECT diagnosis, COUNT(DISTINCT person) AS n FROM T GROUP BY diagnosis"
    assert ask(sql, table)[1] is None


def test_persons_of_whom_enough_are_not_in_a_cell_are_shown(ask):
    """Of 60, 48 are ill at some visit, and 12 are not; 40 are not ill at some visit."""
    table = visits([3] * 20 + [1] * 28 + [0] * 12)
    sql = "SELECT ill, COUNT(DISTINCT person) AS n FROM T GROUP BY ill"
    assert ask(sql, table) == [40, 48]


@pytest.mark.parametrize(("once", "shown"), [(20, [None, None]), (40, [40, 560])])
def test_rows_are_shown_unless_they_tell_that_nearly_all_persons_have_some(ask, once, shown):
    """Of 200 persons with three visits each, all are ill, and so many are not ill at one visit: 20
    visits are all those of 6 at most, which are too few of 200, and 40 those of 13."""
    table = visits([3] * (200 - once) + [2] * once)
    assert ask("SELECT ill, COUNT(*) AS n FROM T GROUP BY ill", table) == shown


def test_persons_of_a_chosen_part_are_a_line(ask):
    """All 30 of region a are ill, and 15 of the 30 of b."""
    table = visits([1] * 45 + [0] * 15, size=1)
    sql = "SELECT ill, COUNT(DISTINCT person) FILTER (WHERE region = 'a') AS n FROM T GROUP BY ill"
    assert ask(sql, table)[1] is None


def table_of(rows):
    draws = np.random.default_rng(3)
    persons = draws.integers(0, rows // 3, rows)
    return pa.table({"person": persons, "place": draws.integers(0, 400, rows)})


def test_few_rows_show_that_no_cell_is_nearly_all_of_its_line(monkeypatch):
    """Of 12,000 rows in 400 cells, the first 2,500 have more than twenty times a cell's persons."""
    query = read_checked(
        parse_query("SELECT place, COUNT(*) AS n FROM T GROUP BY place", "duckdb"), frozenset()
    )
    queries, tables = EvidenceQueries(query, exp.column("person", quoted=True)), {}
    tables["T"] = table_of(12_000)
    part = evidence_table(queries, (0,), tables, 1)

    def line():
        [made] = with_line_units(queries, query.sets, [part], tables)
        return made["u0_0"].to_pylist()

    whole = line()
    assert set(whole) == {len(set(tables["T"]["person"].to_pylist()))}
    monkeypatch.setattr(line_evidence, "_FIRST_ROWS", 2_500)
    monkeypatch.setattr(line_evidence, "_SMALL_SHARE", 0.05)
    first = len(set(tables["T"]["person"][:2_500].to_pylist()))
    assert set(line()) == {first}
    monkeypatch.setattr(line_evidence, "_SMALL_SHARE", 0.001)
    assert line() == whole
