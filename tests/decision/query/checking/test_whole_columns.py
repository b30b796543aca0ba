"""What a whole column is decides how its aggregates are judged, not the rows that are chosen."""

from decimal import Decimal

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})


def world(secret, others=0):
    """Return 200 persons of whom a third are sick, from the 25th on; of the first 25, number 10 has
    a secret, and the rest are all alike."""
    sick = [others] * 25 + [int(n % 3 == 0) for n in range(175)]
    sick[10] = secret
    numbers = range(200)
    return pa.table(
        {
            "id": numbers,
            "half": [n % 2 for n in numbers],
            "sick": sick,
            "well": [1 - one for one in sick],
            "ill": [bool(one) for one in sick],
            "visits": [one * 2 + n % 2 if n > 24 else 2 * one for n, one in enumerate(sick)],
            "pay": [1000.0 + 60 * (7 * n % 20) for n in numbers],
        }
    )


@pytest.fixture
def seen(tmp_path):
    """Return a function that tells all that is seen of the answer to a query."""

    def answer(table, sql, profile, name):
        policies = [policy_with(("pe:outputCheck", "eq", profile), UNIT)]
        result = query_data(
            sql, policies, RESEARCHER, {TABLE: table}, output_ledger=tmp_path / name
        )
        codes = sorted(reason.code for reason in result.reasons)
        checked = result.checked and (result.checked.codes, result.checked.outcome)
        return result.permitted, codes, checked, result.table and result.table.to_pylist()

    return answer


@pytest.mark.one_in(48)
@pytest.mark.parametrize("profile", ["sacro", "abs", "iab", "dwb-2015"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(sick) FROM T WHERE id IN (10, 12)",
        "SELECT SUM(sick) FROM T WHERE id BETWEEN 5 AND 24",
        "SELECT SUM(well) FROM T WHERE id BETWEEN 5 AND 24",
        "SELECT SUM(visits), AVG(visits) FROM T WHERE id BETWEEN 5 AND 24",
        "SELECT QUANTILE_DISC(sick, 0.97) FROM T WHERE id BETWEEN 5 AND 24",
        "SELECT MEDIAN(visits), MODE(visits) FROM T WHERE id BETWEEN 5 AND 24",
        "SELECT MODE(sick) FROM T WHERE id BETWEEN 5 AND 24",
        "SELECT COUNT(DISTINCT sick) FROM T WHERE id BETWEEN 5 AND 24",
        "SELECT COUNT(DISTINCT ill) FROM (SELECT * FROM T WHERE id BETWEEN 5 AND 24) AS s",
        "SELECT COUNT(DISTINCT ill) FILTER (WHERE id BETWEEN 5 AND 24) FROM T",
    ],
)
def test_it_is_not_told_whether_a_chosen_person_is_like_the_others(seen, sql, profile):
    for others in (0, 1):
        one, other = (seen(world(i, others), sql, profile, f"{others}{i}") for i in (0, 1))
        assert one == other


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(sick) AS n, AVG(well) AS m FROM T",
        "SELECT half, SUM(sick) AS n FROM T GROUP BY half",
        "SELECT SUM(sick) AS n FROM T WHERE half = 1",
        "SELECT half, COUNT(DISTINCT id) AS n FROM T GROUP BY half",
        "SELECT QUANTILE_DISC(ROUND(pay, -2), 0.5) AS m, SUM(pay) AS s FROM T",
    ],
)
def test_ordinary_answers_pass(seen, sql):
    permitted, _, checked, _ = seen(world(1), sql, "sacro", "outputs")
    assert permitted
    assert not checked[0]


@pytest.mark.parametrize(
    ("sql", "refused"),
    [
        ("MEDIAN(sick) FROM T", True),
        ("STDDEV(sick) FROM T", True),
        ("SKEWNESS(visits) FROM T", False),
        ("MODE(ROUND(pay, -3)) FROM T", True),
        ("MEDIAN(ROUND(pay, -1)) FROM T", False),
        ("COUNT(DISTINCT pay) FROM T GROUP BY half", True),
        ("COUNT(DISTINCT half) FROM T", False),
        ("COUNT(DISTINCT id) FROM T GROUP BY half", False),
    ],
)
def test_few_values_have_no_percentiles_and_groups_no_counts_of_values(seen, sql, refused):
    codes = seen(world(1), "SELECT " + sql, "sacro", "outputs")[1]
    assert codes == (["K018"] if refused else [])


# -- totals of columns with negative values go to a person, whoever has them

BY_DWB = policy_with(("pe:outputCheck", "eq", "dwb-2015"), UNIT)
CHOSEN = "SELECT SUM(gain) AS s, AVG(gain) AS m, COUNT(*) AS n FROM T WHERE id < 40"


def suppressed_of(gains, sql, folder):
    table = pa.table({"id": range(120), "half": [n % 2 for n in range(120)], "gain": gains})
    answer = query_data(sql, [BY_DWB], RESEARCHER, {TABLE: table}, output_ledger=folder / "outputs")
    return [(cell.row, cell.column, cell.codes) for cell in answer.checked.suppressed]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("gain", [-11.5, 11.5])
def test_what_is_told_does_not_tell_the_sign_of_a_chosen_person(tmp_path, gain):
    gains = [10.0 + n for n in range(119)] + [-3.0]
    gains[7] = gain
    assert suppressed_of(gains, CHOSEN, tmp_path) == [(0, "s", ("K007",)), (0, "m", ("K007",))]


def test_groups_without_negative_values_are_for_a_person_as_the_others_are(tmp_path):
    gains = [10.0 + n for n in range(119)] + [-3.0]
    sql = "SELECT half, SUM(gain) AS s FROM T GROUP BY half"
    assert suppressed_of(gains, sql, tmp_path) == [(0, "s", ("K007",)), (1, "s", ("K007",))]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("far", [float("inf"), 1e200])
@pytest.mark.parametrize("place", [7, 119])
def test_who_has_a_value_without_bounds_does_not_decide_what_is_shown(tmp_path, place, far):
    gains = [10.0 + n for n in range(120)]
    gains[place] = far
    table = pa.table({"id": range(120), "gain": gains})
    sql = "SELECT SUM(gain) AS s, AVG(gain) AS m, STDDEV(gain) AS d, COUNT(*) AS n FROM T "
    for number, condition in enumerate(("WHERE id < 40", "WHERE id >= 40")):
        answer = query_data(
            sql + condition,
            [BY_DWB],
            RESEARCHER,
            {TABLE: table},
            output_ledger=tmp_path / str(number),
        )
        assert [cell.column for cell in answer.checked.suppressed] == ["s", "m", "d"]


def test_totals_of_what_is_never_negative_are_shown(tmp_path):
    assert suppressed_of([10.0 + n for n in range(120)], CHOSEN, tmp_path) == []


@pytest.mark.parametrize("rich", [(3, 7), (3, 150), (149, 150)])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(fortune) FROM T",
        "SELECT AVG(fortune) FROM T WHERE id < 30",
        "SELECT SUM(CASE WHEN id < 30 THEN fortune ELSE 0 END) FROM T",
    ],
)
def test_whether_exact_totals_are_too_large_does_not_tell_who_is_added_up(seen, rich, sql):
    fortunes = [Decimal(9 * 10**37 if one in rich else 1000 + one) for one in range(200)]
    column = pa.array(fortunes, pa.decimal128(38, 0))
    table = world(0).append_column("fortune", column)
    assert seen(table, sql, "bundesbank", "ledger") == (False, ["K022"], None, None)


def test_long_decimals_whose_total_is_exact_are_added_up(seen):
    column = pa.array([Decimal(10**29 * (1000 + one)) for one in range(200)], pa.decimal128(38, 0))
    table = world(0).append_column("fortune", column)
    sql = "SELECT SUM(fortune) AS s FROM T"
    *_, rows = seen(table, sql, "bundesbank", "ledger")
    assert rows == [{"s": Decimal(2199) * 10**31}]
