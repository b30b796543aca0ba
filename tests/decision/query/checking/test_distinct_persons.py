"""Numbers of persons as populations of persons: they do not add up as those of rows do."""

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.distinct_persons import DistinctPersons
from policy_engine.release.output_ledger import COUNT, DISTINCT_PERSONS, PERSONS, OutputCell

CHECK = (
    ("pe:outputCheck", "eq", "sacro"),
    ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"}),
)


def diagnoses(both):
    """Return the diagnoses of 100 persons, one of three and, but for 13, "z"; some have `both` "x"
    and "y"."""
    own = {n: ["x"] if n < 40 else ["y"] if n < 80 else ["w"] for n in range(100)}
    own |= {n: ["x", "y"] for n in both}
    for n in range(100):
        own[n] = [*own[n], "z"] if n % 8 else own[n]
    rows = [(n, diag, n % 2) for n, some in own.items() for diag in some]
    return pa.table(dict(zip(("id", "diag", "half"), zip(*rows, strict=True), strict=True)))


@pytest.fixture
def figures(tmp_path):
    """Return a function that gives the figures of the answers to queries, with one ledger."""

    def answers(table, *queries):
        given = [
            query_data(
                sql, [policy_with(*CHECK)], RESEARCHER, {TABLE: table}, output_ledger=tmp_path / "l"
            )
            for sql in queries
        ]
        return [row["n"] for one in given for row in one.table.to_pylist()]

    return answers


OF_WHOM = "SELECT COUNT(DISTINCT id) AS n FROM T WHERE diag "


@pytest.mark.one_in(4)
@pytest.mark.parametrize("last", range(3))
def test_two_groups_and_both_together_do_not_tell_who_is_in_both(figures, last):
    queries = [OF_WHOM + one for one in ("= 'x'", "= 'y'", "IN ('x', 'y')")]
    queries.append(queries.pop(last))
    assert [one is None for one in figures(diagnoses([5]), *queries)] == [False, False, True]


@pytest.mark.nightly
def test_of_enough_persons_it_is_told_that_they_are_in_both(figures):
    queries = [OF_WHOM + one for one in ("= 'x'", "= 'y'", "IN ('x', 'y')")]
    assert figures(diagnoses(range(12)), *queries) == [40, 52, 80]


def test_numbers_of_rows_of_one_each_are_numbers_of_persons(figures):
    """Who is in both has one row for each: rows tell how many persons have it."""
    rows = "SELECT COUNT(*) AS n FROM T WHERE diag = "
    queries = [f"{rows}'x'", f"{rows}'y'", f"{OF_WHOM}IN ('x', 'y')"]
    assert figures(diagnoses([5]), *queries) == [40, 41, None]


def test_tables_by_several_keys_and_their_totals_are_shown(figures):
    table = diagnoses(range(12))
    by = "SELECT {0}, COUNT(DISTINCT id) AS n FROM T GROUP BY {0}"
    whole = "SELECT COUNT(DISTINCT id) AS n FROM T"
    assert figures(table, by.format("diag"), by.format("half"), whole) == [
        20,
        40,
        52,
        87,
        50,
        50,
        100,
    ]


def part(numbers, places, least=2):
    units = np.array([0, 0, 1, 1, 2, 2, 3])
    return DistinctPersons(units, np.array(numbers), np.array(places), max(places) + 1, least)


def test_a_person_is_a_row_of_theirs_in_each_cell():
    populations = part([1, 3, 3, 4, 5], [0, 0, 1, 1, 1]).populations()
    [block] = populations.blocks
    masks = np.unpackbits(block.bits, axis=1, count=populations.units)
    assert [np.flatnonzero(one).tolist() for one in masks] == [[0, 2], [2, 4]]


def test_rows_tell_of_persons_where_few_have_several():
    persons = part([0, 1, 2, 3, 4, 6], [0, 0, 0, 0, 1, 1])
    cells = [
        OutputCell(place + 5, name, 3.0, 2)
        for name in (COUNT, PERSONS, "mean:pay")
        for place in (0, 1)
    ]
    told = [(one.population, one.measure, one.value) for one in persons.cells(cells, 5)]
    assert persons.have_several.tolist() == [True, False]
    assert told == [
        (8, DISTINCT_PERSONS, None),
        (7, DISTINCT_PERSONS, 3.0),
        (8, DISTINCT_PERSONS, 3.0),
    ]


def test_persons_in_many_sets_of_cells_are_not_compared(monkeypatch):
    persons = part([0, 2, 2, 4], [0, 0, 1, 1])
    assert persons.is_small
    monkeypatch.setattr("policy_engine.decision.query.checking.distinct_persons.MOST_PATTERNS", 3)
    assert not persons.is_small


@pytest.mark.parametrize(("measure", "count"), [(COUNT, 1), ("CORR(age, pay)", 1), ("sum:pay", 0)])
def test_where_rows_are_nearly_as_many_what_tells_of_these_tells_of_persons(measure, count):
    """Of 20 persons one has two rows, where ten are enough."""
    units = np.array([*range(20), 0])
    persons = DistinctPersons(units, np.arange(21), np.zeros(21, np.int64), 1, 10)
    cells = [*persons.cells([OutputCell(0, measure, 21.0, 10)], 0)]
    assert [(one.measure, one.population, one.value) for one in cells] == [
        (DISTINCT_PERSONS, 1, None)
    ] * count
