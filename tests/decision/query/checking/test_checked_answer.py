"""Answers to queries under a policy that lets only checked aggregates be read."""

from itertools import count

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.errors import LedgerError

SACRO = ("pe:outputCheck", "eq", "sacro")
UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
LOOKUP = "http://example.com/Visits"


def people():
    """Return 84 persons of the north and 34 of the south, by sector: 78 and 6, 33 and 1."""
    sizes = {
        ("north", "city"): 78,
        ("north", "farm"): 6,
        ("south", "city"): 33,
        ("south", "farm"): 1,
    }
    cells = [cell for cell, size in sizes.items() for _ in range(size)]
    return pa.table(
        {
            "person": list(range(len(cells))),
            "region": [region for region, _ in cells],
            "sector": [sector for _, sector in cells],
            "pay": [1000.0 + number for number in range(len(cells))],
            "ill": [number % 3 == 0 for number in range(len(cells))],
            "shift": [number % 7 for number in range(len(cells))],
            "grade": [number % 10 for number in range(len(cells))],
            "part": [number % 2 for number in range(len(cells))],
            "gain": [number - 50.0 for number in range(len(cells))],
            "note": ["x" if number == 7 else "1" for number in range(len(cells))],
        }
    )


@pytest.fixture
def ask(tmp_path):
    """Return a function that answers a query about T, by itself unless a ledger is given."""
    numbers = count()

    def answer(sql, *refinements, table=None, policies=None, **more):
        data = {TABLE: people() if table is None else table}
        ledger = {"output_ledger": tmp_path / f"outputs-{next(numbers)}"}
        policies = policies or [policy_with(SACRO, *refinements)]
        return query_data(sql, policies, RESEARCHER, data, **{**ledger, **more})

    return answer


def rows(result):
    return result.checked.table.to_pylist()


def suppressed(result):
    return {(one.row, one.column): one.codes for one in result.checked.suppressed}


WITHHELD = ("K049",)
"""What who asked learns of every suppressed cell."""


def owner_codes(result):
    return {reason.value for cell in result.checked.judged.cells() for reason in cell.reasons}


@pytest.fixture
def refused(ask):
    """Return a function that gives the code for which a query is refused, with nothing shown."""

    def code(sql, *refinements, **more):
        result = ask(sql, *refinements, **more)
        assert not result.permitted
        assert result.table is None
        return result.reasons[0].code

    return code


def test_small_cells_are_missing_and_listed_with_their_reason(ask):
    result = ask("SELECT region, sector, COUNT(*) AS n FROM T GROUP BY region, sector")
    assert [row["n"] for row in rows(result)] == [None, None, None, None]
    assert [*suppressed(result).values()] == [WITHHELD] * 4
    assert owner_codes(result) == {"K002", "K003"}
    assert not result.permitted


def test_one_way_table_shows_large_cells(ask):
    result = ask("SELECT region, COUNT(*) AS n FROM T GROUP BY region ORDER BY n")
    assert rows(result) == [{"region": "south", "n": 34}, {"region": "north", "n": 84}]
    assert suppressed(result) == {}
    assert result.checked.profile == "sacro 1.0"


def test_cell_is_suppressed_by_the_row_column_and_keys_that_are_shown(ask):
    result = ask("SELECT sector AS s, COUNT(*) AS n FROM T WHERE region = 'north' GROUP BY s")
    assert rows(result) == [{"s": "city", "n": None}, {"s": "farm", "n": None}]
    assert suppressed(result) == {(0, "n"): WITHHELD, (1, "n"): WITHHELD}
    assert result.checked.suppressed[1].keys == {"s": "farm"}
    assert not result.permitted


REFUSED = {
    "SELECT region FROM T": "K024",
    "SELECT region, COUNT(*) FROM T": "K024",
    "SELECT DISTINCT region, COUNT(*) FROM T GROUP BY 1": "K017",
    "SELECT COUNT(*) OVER () FROM T": "K017",
    "SELECT COUNT(*) FROM T WHERE pay > (SELECT AVG(pay) FROM T)": "K017",
    "SELECT COUNT(*) FROM T WHERE EXISTS (SELECT 1 FROM T)": "K017",
    "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM T GROUP BY pay) AS s": "K017",
    "SELECT COUNT(*) FROM (SELECT pay FROM T LIMIT 1) AS s": "K017",
    "SELECT COUNT(*) FROM T UNION SELECT COUNT(*) FROM T": "K017",
    "SELECT SUM(MAX(pay)) FROM T": "K017",
    "SELECT COUNT(*) FROM T LIMIT (SELECT 1)": "K017",
    "SELECT region, COUNT(*) FROM T GROUP BY region ORDER BY SUM(COUNT(*)) OVER ()": "K017",
    "SELECT STRING_AGG(region) FROM T": "K018",
    "SELECT FIRST(pay) FROM T": "K018",
    "SELECT ANY_VALUE(pay) FROM T": "K018",
    "SELECT ARG_MAX(region, pay) FROM T": "K018",
    "SELECT BOOL_OR(ill) FROM T": "K018",
    "SELECT SUM(DISTINCT pay) FROM T": "K018",
    "SELECT COUNT(DISTINCT region, pay) FROM T": "K018",
    "SELECT SUM(CASE WHEN pay < 9 THEN 1 WHEN ill THEN 100 ELSE 0 END) FROM T": "K018",
    "SELECT COUNT(*) FROM T AS a JOIN T AS b ON a.region = b.region": "K019",
    "SELECT COUNT(*) FROM T AS a JOIN T AS b USING (person, ill)": "K017",
    "SELECT SUM(pay + gain) FROM T": "K018",
    "SELECT SUM(pay * shift) FROM T": "K018",
    "SELECT AVG(pay + 1000000) FROM T": "K018",
    "SELECT SUM(GREATEST(pay, 1001)) FROM T": "K018",
    "SELECT SUM(CASE WHEN person = 7 THEN 2 * pay ELSE pay END) FROM T": "K018",
    "SELECT AVG(CASE WHEN person = 7 THEN pay ELSE 0 END) FROM T": "K018",
    "SELECT SUM(CASE WHEN person = 7 AND ill THEN 3 ELSE 5 END) FROM T": "K018",
    "SELECT AVG(CASE WHEN ill THEN 1 WHEN person = 7 THEN NULL ELSE 0 END) FROM T": "K018",
    "SELECT SUM(10 + CAST(person = 7 AND ill AS INT) + 5 * shift) FROM T": "K018",
    "SELECT STDDEV(CASE WHEN person = 7 THEN pay ELSE 0 END) FROM T": "K018",
    "SELECT COVAR_POP(pay, CAST(person = 7 AS INT)) FROM T": "K018",
    "SELECT REGR_SLOPE(pay, CASE WHEN person = 7 THEN 1e6 ELSE shift END) FROM T": "K018",
    "SELECT MEDIAN(CASE WHEN person = 7 THEN pay WHEN ill THEN 0 ELSE 1e9 END) FROM T": "K018",
    "SELECT MODE(CASE WHEN person = 7 THEN pay ELSE -person END) FROM T": "K018",
    "SELECT COUNT(DISTINCT CASE WHEN person = 7 AND ill THEN 1 ELSE 0 END) FROM T": "K018",
    "SELECT SUM(x) FROM (SELECT pay * (1 + CAST(person = 7 AS INT)) AS x FROM T) AS s": "K018",
    "SELECT SUM(x) FROM (SELECT pay AS x FROM T) AS s": "K018",
    "SELECT SUM(2 * pay) FROM T": "K018",
    "SELECT SUM(CAST(pay AS FLOAT)) FROM T": "K018",
    "SELECT SUM(pay / 1e308 / 1e15 / 3) FROM T": "K018",
    "SELECT SUM(2) FROM T": "K018",
    "SELECT SUM(CASE WHEN ill THEN 5 ELSE 0 END) FROM T": "K018",
    "SELECT COVAR_POP(pay, CAST(shift AS FLOAT) * 16777213) FROM T": "K018",
    "SELECT COVAR_POP(pay, shift), REGR_SXY(shift, pay) FROM T": "K018",
    "SELECT CORR(pay, person) FROM T": "K018",
    "SELECT SUM(x) FROM (SELECT pay FROM T) AS s(x)": "K017",
}


@pytest.mark.one_in(16)
@pytest.mark.parametrize(("sql", "code"), REFUSED.items())
def test_query_that_cannot_be_checked_is_refused_with_a_code(refused, sql, code):
    assert refused(sql) == code


@pytest.fixture
def with_visits(tmp_path):
    """Return a function that answers a query about T and Visits, 50 visits of five persons."""
    visits = pa.table({"person": [n % 5 for n in range(50)], "place": ["x"] * 50})
    data, numbers = {TABLE: people(), LOOKUP: visits}, count()

    def answer(sql, *refinements):
        policies = [policy_with(SACRO, *refinements, target=[TABLE, LOOKUP])]
        ledger = tmp_path / f"outputs-{next(numbers)}"
        return query_data(sql, policies, RESEARCHER, data, output_ledger=ledger)

    return answer


def test_query_without_the_unit_of_the_policy_is_refused(with_visits):
    sql = "SELECT COUNT(*) AS n FROM Visits"
    assert with_visits(sql, UNIT).reasons[0].code == "K019"
    assert with_visits(sql).permitted


def test_persons_are_counted_and_not_rows(ask):
    """Nine persons have a hundred rows each."""
    table = pa.table({"person": [n % 9 for n in range(900)], "pay": list(range(900))})
    result = ask("SELECT COUNT(*) AS n FROM T", UNIT, table=table)
    assert suppressed(result) == {(0, "n"): WITHHELD}
    assert ask("SELECT COUNT(*) AS n FROM T", table=table).permitted


def test_join_that_multiplies_rows_is_refused(with_visits):
    sql = "SELECT place, COUNT(*) AS n FROM T JOIN Visits USING (person) GROUP BY place"
    assert with_visits(sql, UNIT).reasons[0].code == "K019"
    assert with_visits(sql).reasons[0].code == "K019"


def test_unit_is_read_through_subqueries_that_do_not_select_it(ask):
    sql = "SELECT COUNT(*) AS n FROM (SELECT pay FROM T WHERE region = 'north') AS s"
    assert rows(ask(sql, UNIT)) == [{"n": 84}]
    sql = "WITH s AS (SELECT pay FROM T WHERE sector = 'farm') SELECT COUNT(*) AS n FROM s"
    assert suppressed(ask(sql, UNIT)) == {(0, "n"): WITHHELD}


KINDS = {
    "COUNT(DISTINCT person)": "K002",
    "COUNT(DISTINCT shift)": None,
    "SUM(pay)": None,
    "AVG(pay)": None,
    "MEDIAN(pay)": "K009",
    "MEDIAN(ROUND(grade, 0))": None,
    "QUANTILE_CONT(grade, 0.25)": None,
    "PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY grade)": None,
    "MODE(pay)": "K009",
    "QUANTILE_CONT(pay, 0.01)": "K009",
    "QUANTILE_CONT(pay, 1)": "K008",
    "MIN(pay)": "K008",
    "MAX(pay)": "K008",
    "STDDEV(pay)": None,
    "SKEWNESS(pay)": None,
    "CORR(pay, gain)": "K011",
    "CORR(pay, shift)": None,
    "REGR_SLOPE(pay, shift)": None,
    "REGR_SLOPE(pay, part)": "K013",
    "MODE(grade)": None,
    "SUM(gain)": "K007",
    "COUNT(*) FILTER (WHERE ill)": None,
    "SUM(CASE WHEN ill THEN 1 ELSE 0 END)": None,
    "SUM(CASE WHEN sector = 'farm' THEN 1 ELSE 0 END)": "K002",
    "AVG(CAST(sector = 'farm' AS INT))": "K002",
    "COUNT(*) FILTER (WHERE sector = 'city')": "K002",
    "SUM(CASE WHEN sector = 'farm' THEN pay END)": "K002",
    "100.0 * SUM(pay) / COUNT(*) FILTER (WHERE sector = 'farm')": "K002",
    "COALESCE(COUNT(*) FILTER (WHERE sector = 'farm'), 0)": "K002",
    "CASE WHEN COUNT(*) FILTER (WHERE sector = 'farm') = 7 THEN 1 ELSE 0 END": "K002",
    "ROUND(AVG(pay), 1) + COUNT(*)": None,
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("aggregate", "code"), KINDS.items())
def test_class_of_an_aggregate_decides_by_which_rules_it_is_judged(ask, aggregate, code):
    result = ask(f"SELECT {aggregate} AS x FROM T")
    told = (code,) if code in ("K007", "K008") else WITHHELD
    assert suppressed(result) == ({} if code is None else {(0, "x"): told})
    assert code is None or code in owner_codes(result)
    assert (rows(result)[0]["x"] is None) == (code is not None)


SPELLINGS = {
    "a mean of a condition": "AVG(sector = 'a') AS n FROM T GROUP BY region",
    "a mean of a CASE": "AVG(CASE WHEN sector = 'a' THEN 1 ELSE 0 END) AS n FROM T GROUP BY region",
    "a mean of decimals": "AVG(CASE WHEN sector = 'a' THEN 1.0 ELSE 0.00 END) AS n FROM T "
    "GROUP BY region",
    "a total": "SUM(CASE WHEN sector = 'a' THEN 1 ELSE 0 END) AS n FROM T GROUP BY region",
    "a total of a column": "SUM(code) AS n FROM T GROUP BY region",
    "FILTER": "COUNT(*) FILTER (WHERE sector = 'a') AS n FROM T GROUP BY region",
    "a count of a CASE": "COUNT(CASE WHEN sector = 'a' THEN 1 END) AS n FROM T GROUP BY region",
    "COUNT_IF": "COUNT_IF(sector = 'a') AS n FROM T GROUP BY region",
    "a row": "COUNT(*) AS n FROM T GROUP BY region, sector HAVING sector = 'a'",
}


def workers(others):
    """Return 600 persons of two regions, of whom some have another sector in each."""
    return pa.table(
        {
            "person": range(600),
            "region": ["north" if n % 2 else "south" for n in range(600)],
            "sector": ["b" if n < 2 * others else "a" for n in range(600)],
            "code": [int(n >= 2 * others) for n in range(600)],
        }
    )


@pytest.mark.one_in(12)
@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_all_but_few_of_a_group_are_withheld_however_it_is_asked(ask, spelling):
    """Of 300 persons, 285 are not nearly all, while 15 can hide in the others; 291 are."""
    profiles = {"sacro": (15, 9), "abs": (15, 9), "dwb-2015": (30, 29)}
    for profile, (enough, few) in profiles.items():
        policies, sql = (
            [policy_with(("pe:outputCheck", "eq", profile))],
            f"SELECT region, {spelling}",
        )
        shown = ask(sql, table=workers(enough), policies=policies)
        hidden = ask(sql, table=workers(few), policies=policies)
        assert [row["n"] is None for row in rows(shown)] == [False, False]
        assert not any(row["n"] for row in rows(hidden))
        assert "K003" in owner_codes(hidden)


def test_key_that_a_condition_names_the_value_of_is_no_line(ask):
    sql = "SELECT sector, region, COUNT(*) AS n FROM T WHERE sector = 'a' GROUP BY ALL ORDER BY 1"
    result = ask(sql, table=workers(100))
    assert [row["n"] for row in rows(result)][:2] == [200, 200]


def test_released_aggregates_are_those_of_the_plain_query(ask):
    figures = ask("SELECT COUNT(*) AS n, SUM(pay) AS s, MEDIAN(grade) AS m FROM T")
    assert rows(figures) == [{"n": 118, "s": 124903.0, "m": 4.0}]


def test_total_of_a_column_of_two_values_is_judged_as_a_count(ask):
    """Of 118 persons, two have the code 2: with the number of persons, the total tells that."""
    table = people().append_column("code", pa.array([2] * 2 + [1] * 116))
    result = ask("SELECT SUM(code) AS s, AVG(code) AS a FROM T", table=table)
    assert suppressed(result) == {(0, "s"): WITHHELD, (0, "a"): WITHHELD}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("code", ["1", "1.0", "1.", "1e0"])
def test_codes_of_a_case_are_the_same_however_they_are_written(ask, code):
    case = f"CASE WHEN ill THEN {code} ELSE 0.0 END"
    result = ask(f"SELECT AVG({case}) AS a, SUM({case}) AS s FROM T")
    assert rows(result) == [{"a": pytest.approx(40 / 118), "s": 40}]


def test_figures_have_the_digits_that_are_certain(ask):
    table = people().set_column(3, "pay", pa.array([0.1] * 59 + [0.5] * 59))
    [row] = rows(
        ask("SELECT SUM(shift) / 10.0 * 3 AS s, AVG(grade) * 0.1 AS a FROM T", table=table)
    )
    assert [f"{one:.15g}" == str(one) for one in row.values()] == [True, True]


def test_having_and_order_see_nothing_of_suppressed_cells(ask):
    by = "SELECT region, COUNT(*) FILTER (WHERE sector = 'farm') AS n FROM T GROUP BY region"
    assert rows(ask(f"{by} HAVING n > 3 OR n IS NULL")) == []
    assert [row["region"] for row in rows(ask(f"{by} ORDER BY n DESC"))] == ["north", "south"]


FAILING = [
    "SELECT COUNT(*) AS n FROM T WHERE CAST(CASE WHEN person = 7 THEN 'x' ELSE '1' END AS INT) = 1",
    "SELECT COUNT(*) FILTER (WHERE CAST(note AS INT) = 1) AS n FROM T",
]


@pytest.mark.parametrize("sql", FAILING)
def test_query_does_not_fail_on_the_value_of_one_person(ask, sql):
    result = ask(sql)
    assert not result.reasons
    assert result.checked is not None


def test_expression_does_not_fail_on_a_suppressed_cell(ask):
    sql = "SELECT region, CAST(CASE WHEN COUNT(*) FILTER (WHERE sector = 'farm') = 6 THEN 'x' "
    result = ask(f"{sql} ELSE '1' END AS INT) AS n FROM T GROUP BY region")
    assert {row["n"] for row in rows(result)} == {None}


def test_query_that_fails_whatever_the_values_has_one_code(refused):
    assert refused("SELECT SUM(region) AS n FROM T") == "K022"


def test_rows_of_a_nearly_unique_key_are_not_listed(ask):
    result = ask("SELECT pay, COUNT(*) AS n FROM T GROUP BY pay")
    assert (rows(result), result.permitted) == ([], False)
    assert result.checked.is_shortened
    assert result.checked.codes == ("K049",)


def test_it_is_said_that_rows_may_be_missing_whether_any_are_or_not(ask):
    sql = "SELECT shift % 2 AS odd, COUNT(*) AS n FROM T WHERE ill GROUP BY odd"
    result = ask(sql)
    assert (len(rows(result)), result.checked.codes) == (2, ())
    assert result.checked.is_shortened
    nobody = ask(sql.replace("ill", "pay < 0"))
    assert (rows(nobody), nobody.checked.codes) == ([], ("K049",))


def test_combinations_of_keys_that_nobody_has_look_like_those_that_few_have(ask):
    table = pa.table({"a": ["x"] * 40 + ["y"] * 41, "b": ["u"] * 20 + ["v"] * 20 + ["v"] * 41})
    result = ask("SELECT a, b, COUNT(*) AS n FROM T GROUP BY a, b", table=table)
    cells = {(row["a"], row["b"]): row["n"] for row in rows(result)}
    assert cells == {("x", "u"): None, ("x", "v"): 20, ("y", "u"): None, ("y", "v"): None}
    assert set(suppressed(result).values()) == {WITHHELD}


def test_totals_of_grouping_sets_are_rows_of_their_own(ask):
    sql = "SELECT region, GROUPING(region) AS g, COUNT(*) AS n FROM T GROUP BY ROLLUP (region)"
    assert [(row["region"], row["g"], row["n"]) for row in rows(ask(sql))] == [
        ("north", 0, 84),
        ("south", 0, 34),
        (None, 1, 118),
    ]


def test_rows_that_another_rule_lets_be_read_are_not_checked():
    policies = [policy_with()]
    result = query_data("SELECT pay FROM T", policies, RESEARCHER, {TABLE: people()})
    assert result.permitted
    assert result.checked is None


def test_answer_is_not_given_without_a_ledger_of_earlier_ones(ask):
    with pytest.raises(LedgerError, match="no ledger of them is given") as error:
        ask("SELECT COUNT(*) AS n FROM T", output_ledger=None)
    assert error.value.code == "K023"


def test_query_is_only_rewritten_in_a_dry_run(ask, refused):
    result = ask("SELECT COUNT(*) AS n FROM T", run=False, output_ledger=None)
    assert result.permitted
    assert result.table is None
    assert result.check.profile.title == "sacro 1.0"
    assert "COUNT" in result.sql
    assert refused("SELECT pay FROM T", run=False) == "K024"


def test_cells_of_two_answers_that_differ_by_one_person_are_not_both_released(ask, tmp_path):
    """ACRO 1.0.2 releases both tables, whose difference is cells of 6 and 1."""
    by_sector = "SELECT region, COUNT(*) FILTER (WHERE sector = 'city') AS n FROM T GROUP BY region"
    ledger = tmp_path / "outputs"
    first = ask("SELECT region, COUNT(*) AS n FROM T GROUP BY region", output_ledger=ledger)
    assert [row["n"] for row in rows(first)] == [84, 34]
    assert not ask(by_sector, output_ledger=ledger).permitted
    cities = "SELECT region, COUNT(*) AS n FROM T WHERE sector = 'city' GROUP BY region"
    second = ask(cities, output_ledger=ledger)
    assert set(suppressed(second).values()) == {WITHHELD}
    assert not second.permitted


def test_same_answer_is_given_again(ask, tmp_path):
    sql, ledger = "SELECT region, COUNT(*) AS n FROM T GROUP BY region", tmp_path / "outputs"
    assert rows(ask(sql, output_ledger=ledger)) == rows(ask(sql, output_ledger=ledger))


def test_overlapping_conditions_do_not_single_out_a_person(ask, tmp_path):
    ledger = tmp_path / "outputs"
    assert ask("SELECT SUM(pay) AS s FROM T", output_ledger=ledger).permitted
    others = ask("SELECT SUM(pay) AS s FROM T WHERE person <> 7", UNIT, output_ledger=ledger)
    assert suppressed(others) == {(0, "s"): WITHHELD}


def test_persons_are_the_same_in_subqueries(ask, tmp_path):
    ledger = tmp_path / "outputs"
    assert ask("SELECT COUNT(*) AS n FROM T", output_ledger=ledger).permitted
    inner = "SELECT COUNT(*) AS n FROM (SELECT pay FROM T WHERE person <> 7) AS s"
    assert suppressed(ask(inner, output_ledger=ledger)) == {(0, "n"): WITHHELD}


def test_totals_do_not_reveal_a_suppressed_cell(ask):
    table = pa.table({"a": [n // 30 for n in range(90)] + [3] * 4})
    result = ask("SELECT a, COUNT(*) AS n FROM T GROUP BY ROLLUP (a)", table=table)
    cells = {row["a"]: row["n"] for row in rows(result)}
    assert cells[3] is None
    assert cells[None] is None or sum(n is None for n in cells.values()) > 1


def test_measures_of_one_answer_do_not_differ_by_a_person(ask):
    table = people().set_column(3, "pay", pa.array([None] + [1000.0 + n for n in range(117)]))
    result = ask("SELECT COUNT(*) AS n, AVG(pay) AS a FROM T", table=table)
    assert len(suppressed(result)) == 1
    assert set(suppressed(result).values()) == {WITHHELD}


def test_scope_of_the_ledger_is_the_one_of_the_policy(ask, tmp_path):
    sql, ledger = "SELECT COUNT(*) AS n FROM T", tmp_path / "outputs"
    scope = ("pe:ledgerScope", "eq", "assignee")
    assert ask(sql, scope, output_ledger=ledger).permitted
    assert not ask(f"{sql} WHERE person <> 7", scope, output_ledger=ledger).permitted


def test_rows_of_one_person_are_told_apart_by_the_ledger(ask, tmp_path):
    """Person 7 has two rows: without one of them, all persons are still in the answer."""
    table = pa.table(
        {"person": [n // 2 for n in range(120)], "pay": [1000.0 + n for n in range(120)]}
    )
    ledger = tmp_path / "outputs"
    assert ask("SELECT SUM(pay) AS s FROM T", UNIT, table=table, output_ledger=ledger).permitted
    most = ask(
        "SELECT SUM(pay) AS s FROM T WHERE pay <> 1015", UNIT, table=table, output_ledger=ledger
    )
    assert suppressed(most) == {(0, "s"): WITHHELD}


def test_rows_of_nobody_are_told_apart_by_the_ledger(ask, tmp_path):
    table = people().set_column(0, "person", pa.array([None, *range(1, 118)], pa.int64()))
    ledger = tmp_path / "outputs"
    assert ask("SELECT SUM(pay) AS s FROM T", UNIT, table=table, output_ledger=ledger).permitted
    sql = "SELECT SUM(pay) AS s FROM T WHERE person IS NOT NULL"
    assert suppressed(ask(sql, UNIT, table=table, output_ledger=ledger)) == {(0, "s"): WITHHELD}


def test_shape_of_what_all_but_one_have_in_common_is_suppressed(ask):
    table = people().append_column("visits", pa.array([9, 5] + [0] * 116))
    result = ask("SELECT VARIANCE(visits) AS v, CORR(pay, visits) AS r FROM T", table=table)
    assert suppressed(result) == {(0, "v"): WITHHELD, (0, "r"): WITHHELD}


@pytest.mark.parametrize(
    "link",
    [
        "ON T.person = Visits.person AND T.sector = Visits.place",
        "ON (T.person = Visits.person AND T.sector = Visits.place)",
        "ON T.ill = T.ill",
    ],
)
@pytest.mark.parametrize("side", ["", "LEFT"])
def test_join_by_more_than_a_key_is_refused(with_visits, link, side):
    """The other columns would be a condition that equality of somebody's secret decides."""
    sql = f"SELECT COUNT(*) AS n FROM T {side} JOIN Visits {link}"
    [reason] = with_visits(sql, UNIT).reasons
    assert reason.code == "K017"


def test_join_by_a_condition_is_refused(with_visits):
    sql = "SELECT COUNT(*) AS n FROM T JOIN Visits ON T.person = Visits.person AND T.ill"
    assert with_visits(sql, UNIT).reasons[0].code == "K017"


@pytest.mark.nightly
def test_presence_of_a_key_does_not_tell_who_has_it(ask):
    """Person 78 farms, the others who are asked about live in the city: both are listed anyway."""
    for person in (7, 78):
        sql = f"SELECT sector, COUNT(*) AS n FROM T WHERE person = {person} OR sector = 'city'"
        result = ask(f"{sql} GROUP BY sector")
        assert [(row["sector"], row["n"]) for row in rows(result)] == [
            ("city", None),
            ("farm", None),
        ]
        computed = ask(
            f"SELECT CASE WHEN person = {person} THEN pay END AS k, COUNT(*) FROM T GROUP BY k"
        )
        assert [one.code for one in computed.reasons] == ["K017"]


EMPTY = ("person = 7 AND pay > 1006", "person = 7 AND pay <= 1006")


@pytest.mark.one_in(24)
@pytest.mark.parametrize("profile", ["sacro", "dwb-2015", "abs", "bundesbank"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM T WHERE {}",
        "SELECT COUNT(*) FILTER (WHERE {}) AS n FROM T",
        "SELECT COUNT(*) FILTER (WHERE NOT ({})) AS n FROM T",
        "SELECT SUM(pay) FILTER (WHERE NOT ({})) AS n FROM T",
        "SELECT AVG(CAST({} AS INT)) AS n FROM T",
    ],
)
def test_cell_of_nobody_looks_like_one_of_few(ask, profile, sql):
    """One of the two conditions holds of person 7, and the other one of nobody."""
    policies = [policy_with(("pe:outputCheck", "eq", profile))]
    result, other = (ask(sql.format(one), policies=policies) for one in EMPTY)
    assert rows(result) == rows(other) == [{"n": None}]
    assert suppressed(result) == suppressed(other)


def test_primary_and_secondary_suppression_look_alike(ask):
    """Who knew that a cell has enough units would compute the other one from the total: 1."""
    table = pa.table({"a": ["x"] + ["y"] * 10 + ["z"] * 10})
    result = ask("SELECT a, COUNT(*) AS n FROM T GROUP BY ROLLUP (a)", table=table)
    assert [row["n"] for row in rows(result)] == [None, None, 10, 21]
    assert suppressed(result) == {(0, "n"): WITHHELD, (1, "n"): WITHHELD}
    assert {one.outcome for one in result.checked.suppressed} == {"suppressed"}
    assert {"K002", "K014"} <= owner_codes(result)


def test_self_join_in_a_subquery_is_refused_where_it_multiplies_rows(refused):
    joined = "SELECT a.region FROM T AS a JOIN T AS b ON a.region = b.region"
    assert refused(f"SELECT region, COUNT(*) AS n FROM ({joined}) AS s GROUP BY region") == "K019"


@pytest.mark.nightly
def test_unit_with_one_row_each_and_rows_as_units_are_answered_alike(ask):
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
    sql = "SELECT sector, COUNT(*) AS n, SUM(pay) AS s FROM T GROUP BY sector"
    by_row, by_unit = ask(sql), ask(sql, unit)
    assert rows(by_unit) == rows(by_row)
    assert suppressed(by_unit) == suppressed(by_row)


def test_cells_that_a_condition_excludes_are_not_protected_by_others(ask):
    cells = [("north", "farm"), ("north", "shop"), ("south", "farm"), ("south", "shop")]
    rows_of = [key for key in cells for _ in range(30)]
    table = pa.table(
        {
            "id": range(120),
            "region": [region for region, _ in rows_of],
            "sector": [sector for _, sector in rows_of],
        }
    )
    sql = "SELECT region, sector, COUNT(*) AS n FROM T WHERE region = 'north' GROUP BY CUBE(1, 2)"
    answer = ask(sql, table=table)
    assert [row["n"] for row in rows(answer)] == [30, 30, 60, 30, 30, 60]
    assert not suppressed(answer)


def test_a_total_does_not_tell_the_count_of_a_number_that_a_condition_excludes(ask, tmp_path):
    ages = [age for age in range(20, 60) for _ in range(3 if age == 30 else 15)]
    table, ledger = pa.table({"id": range(len(ages)), "age": ages}), tmp_path / "both"
    sql = "SELECT age, COUNT(*) AS n FROM T WHERE age <> 30 GROUP BY age"
    first = ask("SELECT SUM(age) AS s FROM T", table=table, output_ledger=ledger)
    second = ask(sql, table=table, output_ledger=ledger)
    # The total less the counts that are shown, times their ages, would be 30 times 3.
    assert rows(first)[0]["s"] is not None
    assert all(row["n"] is None for row in rows(second))
