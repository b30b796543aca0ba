"""After a table with a withheld cell of nobody, no total tells that it is one."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.api.reviewing_answers import accept_answer, submit_answer
from policy_engine.decision.query.checking.reviewed_cells import AnswerReview

UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
SIZES = {
    ("d1", "north", 30): {"x": 0, "y": 20, "z": 24},
    ("d2", "north", 35): {"x": 21, "y": 22, "z": 23},
    ("d3", "south", 41): {"x": 25, "y": 26, "z": 27},
    ("d4", "south", 46): {"x": 28, "y": 29, "z": 32},
}
DISTRICTS = "SELECT district, sector, COUNT(*) AS n FROM T GROUP BY district, sector"
AGES = "SELECT age, sector, COUNT(*) AS n FROM T GROUP BY age, sector"


def people(sizes=SIZES):
    """Return persons of four districts and ages, and of three sectors: one cell is of nobody."""
    rows = [
        (*place, sector, "mf"[number % 2])
        for place, counts in sizes.items()
        for sector, count in counts.items()
        for number in range(count)
    ]
    names = ("district", "region", "age", "sector", "sex")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    return pa.table({"id": [*range(len(rows))], **columns})


@pytest.fixture
def ask(tmp_path):
    """Return a function that answers a query after earlier ones, by a profile."""

    def answer(sql, profile="sacro"):
        policy = policy_with(("pe:outputCheck", "eq", profile), UNIT)
        data, ledger = {TABLE: people()}, tmp_path / "outputs.ledger"
        return query_data(sql, [policy], RESEARCHER, data, output_ledger=ledger)

    return answer


def shown(answer):
    return [row["n"] for row in answer.table.to_pylist()]


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("first", "later"),
    [
        (DISTRICTS, "SELECT COUNT(*) AS n FROM T WHERE district = 'd1'"),
        (DISTRICTS, "SELECT COUNT(*) AS n FROM T WHERE district IN ('d1')"),
        (DISTRICTS, "SELECT COUNT(*) AS n FROM T WHERE district < 'd2'"),
        (DISTRICTS, "SELECT COUNT(*) AS n FROM T WHERE UPPER(district) = 'D1'"),
        (DISTRICTS, "SELECT COUNT(*) AS n FROM T WHERE district = 'd1' OR district = 'd2'"),
        (DISTRICTS, "SELECT COUNT(*) AS n FROM T"),
        (DISTRICTS, "SELECT COUNT(*) FILTER (WHERE sector = 'x') AS n FROM T"),
        (AGES, "SELECT COUNT(*) AS n FROM T WHERE age BETWEEN 30 AND 33"),
        (AGES, "SELECT COUNT(*) AS n FROM T WHERE FLOOR(age / 10) = 3"),
    ],
)
def test_no_total_tells_of_a_withheld_cell_that_it_is_of_nobody(ask, first, later):
    assert shown(ask(first)) == [None, *[n for one in SIZES.values() for n in one.values()][1:]]
    assert shown(ask(later)) == [None]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("keys", ["district", "region, sector", "region", "sector"])
def test_a_later_table_withholds_a_cell_that_would_tell_it(ask, keys):
    ask(DISTRICTS)
    later = shown(ask(f"SELECT {keys}, COUNT(*) AS n FROM T GROUP BY {keys}"))
    assert later[0] is None
    assert all(later[1:])


def test_bands_tell_no_more_than_their_ages(ask):
    bands = "SELECT FLOOR(age / 10) AS band, sector, COUNT(*) AS n FROM T GROUP BY band, sector"
    assert shown(ask(AGES))[0] is None
    assert shown(ask(bands)) == [42, 47, 53, 55, 59]  # The first one would be 21.


def test_totals_without_the_cell_are_given(ask):
    ask(DISTRICTS)
    assert shown(ask("SELECT COUNT(*) AS n FROM T WHERE district = 'd3'")) == [78]
    by_sex = "SELECT sex, COUNT(*) AS n FROM T WHERE region = 'south' GROUP BY sex"
    assert shown(ask(by_sex)) == [82, 85]


def test_a_cell_that_another_one_hides_leaves_totals_as_they_are(ask):
    ask("SELECT district, sector, COUNT(*) AS n FROM T WHERE sex = 'm' GROUP BY district, sector")
    assert shown(ask("SELECT COUNT(*) AS n FROM T")) == [277]


def test_where_zeros_disclose_nothing_totals_are_given(ask):
    ask(DISTRICTS, "bundesbank")
    assert shown(ask("SELECT COUNT(*) AS n FROM T WHERE region = 'north'", "bundesbank")) == [110]


@pytest.mark.nightly
def test_a_zero_that_a_person_accepted_is_told_by_totals_and_another_one_is_not(tmp_path):
    south = ("d3", "south", 41)
    data = {TABLE: people({**SIZES, south: {**SIZES[south], "y": 0}})}
    policies, ledger = [policy_with(("pe:outputCheck", "eq", "sacro"), UNIT)], tmp_path / "ledger"

    def answer(sql, review=None):
        return query_data(sql, policies, RESEARCHER, data, output_ledger=ledger, review=review)

    assert shown(answer(DISTRICTS)).count(None) == 2
    sql = DISTRICTS.replace("GROUP", "WHERE district = 'd1' AND sector = 'x' GROUP")
    result, folder = answer(sql, AnswerReview(is_exception=True)), tmp_path / "folder"
    submit_answer(result, sql, folder, by="rita", exception="Everybody knows that one.")
    accept_answer(folder, policies, data, ledger, reason="They do.", by="carl")
    totals = [f"SELECT COUNT(*) AS n FROM T WHERE district = '{one}'" for one in ("d1", "d3")]
    assert [shown(answer(one)) for one in totals] == [[44], [None]]
