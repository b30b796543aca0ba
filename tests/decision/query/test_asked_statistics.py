"""What SQL asks of statistics, and what is not asked of them in any words."""

from decimal import Decimal

import pytest
from asking_statistics import BY_SEX, DAYS, MEDIAN, ROWS, UNITS, VISITS, policy_text
from sqlglot import exp

from policy_engine.decision.query.allowed_statistics import AllowedStatistics, AnswerLoss
from policy_engine.decision.query.asked_statistics import read_asked
from policy_engine.decision.query.grammar import parse_query
from policy_engine.decision.query.row_comparisons import NotAskableError
from policy_engine.errors import RequestError
from policy_engine.plan.products import products
from policy_engine.policy import read_policy

WARD = {"@id": f"{VISITS}/ward", "pe:keys": ["1", "2"]}


def asked(sql, dialect="duckdb"):
    return read_asked(parse_query(sql, dialect), ("sex", "days"), "person")


def allowed(*aggregates, **changes):
    policy = read_policy(policy_text(*aggregates, **changes))
    return AllowedStatistics(policy, products(policy)[0].statistics)


def refusal(sql, menu, epsilon="0.5", delta="0"):
    with pytest.raises(NotAskableError) as error:
        menu.answered(parse_query(sql, "duckdb"), AnswerLoss.of(epsilon, delta))
    return str(error.value)


@pytest.mark.parametrize(
    ("sql", "figure"),
    [
        ("COUNT(*)", ("count", "", None)),
        ("count(Days)", ("count", "days", None)),
        ("COUNT(DISTINCT v.person)", ("count-units", "", None)),
        ("SUM(days)", ("sum", "days", None)),
        ("AVG(days)", ("mean", "days", None)),
        ("VAR_POP(days)", ("variance", "days", None)),
        ("MEDIAN(days)", ("quantile", "days", Decimal("0.5"))),
        ("QUANTILE_CONT(days, 0.90)", ("quantile", "days", Decimal("0.9"))),
        (
            "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY days)",
            ("quantile", "days", Decimal("0.25")),
        ),
    ],
)
def test_figures_are_functions_of_a_column(sql, figure):
    assert asked(f"SELECT {sql} FROM Visits AS v").figures == (figure,)


def test_groups_are_named_by_column_place_or_alias():
    for group in ("sex", "1", "s", "ALL"):
        one = asked(f"SELECT sex AS s, COUNT(*) AS n FROM v GROUP BY {group} ORDER BY n LIMIT 3")
        assert one.group_by == ("sex",)
        assert [name for name, _ in one.shown] == ["s", "n"]
        assert (one.order[0][0], len(one.limits)) == (("count", "", None), 1)


def test_what_is_ordered_by_is_asked_for_too():
    assert len(asked("SELECT COUNT(*) FROM v GROUP BY sex ORDER BY SUM(days)").figures) == 2


def conditions(where):
    some = asked(f"SELECT COUNT(*) FROM v WHERE {where}").conditions
    return [(one.column, one.comparison, one.values, one.of_numbers) for one in some]


def test_conditions_are_comparisons_joined_by_and():
    assert conditions("days >= 3 AND 9 > Days AND (sex = 'f')") == [
        ("days", ">=", ("3",), True),
        ("days", "<", ("9",), True),
        ("sex", "is any of", ("f",), False),
    ]
    assert conditions("days BETWEEN -1 AND 2.50") == [
        ("days", ">=", ("-1",), True),
        ("days", "<=", ("2.5",), True),
    ]
    assert conditions("sex NOT IN ('m', 'f') AND days IN (2, 1)") == [
        ("sex", "is none of", ("f", "m"), False),
        ("days", "is any of", ("1", "2"), True),
    ]
    assert conditions("sex IS NOT NULL AND days IS NULL") == [
        ("sex", "is not missing", (), False),
        ("days", "is missing", (), False),
    ]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT * FROM v", "not a figure"),
        ("SELECT days FROM v", "not grouped by"),
        ("SELECT sex, COUNT(*) FROM v", "not grouped by"),
        ("SELECT sex FROM v GROUP BY sex", "no figure"),
        ("SELECT person, COUNT(*) FROM v GROUP BY person", "unit of privacy"),
        ("SELECT COUNT(person) FROM v", "unit of privacy"),
        ("SELECT COUNT(DISTINCT sex) FROM v", "COUNT.DISTINCT person"),
        ("SELECT SUM(DISTINCT days) FROM v", "is not a column"),
        ("SELECT SUM(days + 1) FROM v", "is not a column"),
        ("SELECT SUM(other) FROM v", "'other' is not among"),
        ("SELECT MIN(days) FROM v", "not a figure"),
        ("SELECT COUNT(*) + 1 FROM v", "not a figure"),
        ("SELECT COUNT(*) OVER () FROM v", "not a figure"),
        ("SELECT COUNT(*) FILTER (WHERE days > 1) FROM v", "not a figure"),
        ("SELECT DISTINCT COUNT(*) FROM v", "DISTINCT is not answered"),
        ("SELECT COUNT(*) FROM v GROUP BY sex HAVING COUNT(*) > 9", "HAVING is not answered"),
        ("SELECT COUNT(*) FROM v GROUP BY ROLLUP (sex)", "not a column"),
        ("SELECT COUNT(*) FROM v JOIN w ON true", "Joins"),
        ("SELECT COUNT(*) FROM v, w", "Joins"),
        ("SELECT COUNT(*) FROM (SELECT * FROM v)", "one dataset"),
        ("SELECT COUNT(*) FROM v UNION SELECT COUNT(*) FROM v", "one SELECT"),
        ("WITH w AS (SELECT 1) SELECT COUNT(*) FROM v", "WITH is not answered"),
        ("SELECT COUNT(*) FROM v WHERE days IN (SELECT days FROM v)", "Subqueries|Conditions"),
        ("SELECT COUNT(*) FROM v WHERE days > 1 OR sex = 'f'", "joined by AND"),
        ("SELECT COUNT(*) FROM v WHERE days > sex", "literal"),
        ("SELECT COUNT(*) FROM v WHERE days % 2 = 1", "is not a column|literal"),
        ("SELECT COUNT(*) FROM v WHERE days < '3'", "not with a text"),
        ("SELECT COUNT(*) FROM v WHERE person = 'p1'", "unit of privacy"),
        ("SELECT COUNT(*) FROM v LIMIT 1 + 1", "whole number"),
        ("SELECT COUNT(*) FROM v ORDER BY 2", "no entry 2"),
        ("SELECT COUNT(*) FROM v WHERE days BETWEEN SYMMETRIC 3 AND 1", "SYMMETRIC is not"),
        ("SELECT SUM(days) FROM v AS w(days, sex)", "COLUMNS is not answered in w"),
        ("SELECT COUNT(* EXCLUDE (days)) FROM v", "EXCEPT is not answered"),
        ("SELECT COUNT(*) FROM v WHERE days < 1e999", "all numbers"),
        ("SELECT QUANTILE_CONT(days, 1e-999999) FROM v", "not a figure"),
    ],
)
def test_anything_else_is_not_answered(sql, reason):
    with pytest.raises(NotAskableError, match=reason):
        asked(sql)


def test_what_is_in_parentheses_is_read_as_without():
    assert conditions("(sex) = ('f') AND (days) IN ((1)) AND ((days)) IS NULL") == [
        ("sex", "is any of", ("f",), False),
        ("days", "is any of", ("1",), True),
        ("days", "is missing", (), False),
    ]
    assert asked("SELECT (sex), SUM((days)) FROM v GROUP BY (sex)").group_by == ("sex",)
    with pytest.raises(NotAskableError, match="'f' = 'f' is not answered in WHERE"):
        conditions("'f' = 'f'")


def test_all_that_is_not_answered_is_told_at_once():
    sql = "SELECT AVG(days), MIN(days), other FROM v WHERE days > 1 OR sex = 'f' GROUP BY days, 2"
    told = refusal(f"{sql} HAVING COUNT(*) > 9 LIMIT 1 + 1", allowed(UNITS, DAYS), "2")
    for part in (
        "HAVING is not answered.",
        "MIN(days) is not a figure that is answered.",
        "The column 'other' is not among those",
        "days > 1 OR sex = 'f' is not answered in WHERE.",
        "LIMIT takes a whole number",
        "AVG(days) is not declared.",
        "At most epsilon 1 may be asked for.",
    ):
        assert part in told
    both = refusal("SELECT MIN(days) FROM v GROUP BY days", allowed(UNITS, DAYS))
    assert both.endswith("answered. 'days' is not declared as a column to group by.")


def test_only_what_is_declared_is_answered():
    menu = allowed(UNITS, DAYS, MEDIAN)
    assert refusal("SELECT AVG(days) FROM v", menu) == "AVG(days) is not declared."
    assert refusal("SELECT COUNT(*) FROM v", menu) == "COUNT(*) is not declared."
    at = refusal("SELECT QUANTILE_CONT(days, 0.9) FROM v", menu)
    assert at == "QUANTILE_CONT(days, 0.9) is not declared."
    assert "group by" in refusal("SELECT SUM(days) FROM v GROUP BY days", menu)
    assert menu.menu() == (
        "SELECT any of COUNT(DISTINCT person), SUM(days), QUANTILE_CONT(days, 0.5); "
        "GROUP BY any of sex; WHERE on any of sex, days; at most epsilon 1."
    )


def test_no_more_than_the_permission_has_is_answered():
    menu, sql = allowed(ROWS), "SELECT COUNT(*) FROM v"
    assert refusal(sql, menu, "1.01") == "At most epsilon 1 may be asked for."
    assert "At most epsilon 1" in refusal(sql, menu, "1", "1e-9")
    _, part = menu.answered(parse_query(sql, "duckdb"), AnswerLoss.of("1.0"))
    assert part.aggregation.epsilon == 1


def test_keys_of_a_file_are_those_of_all_columns():
    keys = {"pe:keys": {"@id": "http://e.org/keys.csv"}}
    menu = allowed(ROWS, by=[f"{VISITS}/sex", f"{VISITS}/ward"], query=keys)
    assert "group by all" in refusal("SELECT COUNT(*) FROM v GROUP BY sex", menu)
    menu.answered(
        parse_query("SELECT COUNT(*) FROM v GROUP BY ward, sex", "duckdb"), AnswerLoss.of("1")
    )


def test_groups_without_keys_need_a_delta():
    menu = allowed(ROWS, by=[f"{VISITS}/sex"], delta="1e-6")
    assert "delta above 0" in refusal("SELECT COUNT(*) FROM v GROUP BY sex", menu)
    tree = parse_query("SELECT COUNT(*) FROM v GROUP BY sex", "duckdb")
    _, part = menu.answered(tree, AnswerLoss.of("1", "1e-7"))
    assert part.aggregation.key_selection is not None


def test_groups_are_by_some_of_the_declared_columns():
    menu = allowed(ROWS, by=[*BY_SEX, WARD])
    tree = parse_query("SELECT COUNT(*) FROM v GROUP BY ward", "duckdb")
    assert menu.answered(tree, AnswerLoss.of("1"))[1].aggregation.group_names == ("ward",)


def test_what_the_parser_knows_and_the_reader_does_not_is_refused():
    tree = parse_query("SELECT COUNT(*) FROM v WHERE days BETWEEN 1 AND 3", "duckdb")
    tree.find(exp.Between).set("anything", exp.Null())
    with pytest.raises(NotAskableError, match="ANYTHING is not answered in days BETWEEN 1 AND 3"):
        read_asked(tree, ("days",), "person")


def test_count_without_an_argument_is_of_rows():
    assert asked("SELECT count() FROM v", "clickhouse").figures == (("count", "", None),)


_NO_EPSILONS = ["0", "-1", "inf", "nan", "x", "", "1_0", "\u0661", 0.1, True, "1e-10", "1E-5000"]
_NO_EPSILONS += ["1E-99999999", "1e10", "1" * 5000, Decimal("1e5000"), "1." + "1" * 101, None]


@pytest.mark.parametrize("epsilon", _NO_EPSILONS)
def test_an_epsilon_is_one_that_a_policy_could_have(epsilon):
    with pytest.raises(RequestError, match=r"D003.* Allowed is a number from 1e-9 to 100,"):
        AnswerLoss.of(epsilon)


@pytest.mark.parametrize("delta", ["-1e-9", "1e-4", "1e-31", "1e-99999999", "nan"])
def test_a_delta_is_one_that_a_policy_could_have(delta):
    with pytest.raises(RequestError, match=r"D003.* Allowed is 0 or a number from 1e-30"):
        AnswerLoss.of("1", delta)


def test_no_digit_of_an_epsilon_is_rounded():
    epsilon = f"0.{'3' * 60}"
    tree = parse_query("SELECT COUNT(*) FROM v", "duckdb")
    _, part = allowed(ROWS).answered(tree, AnswerLoss.of(f" {epsilon}00"))
    assert str(part.aggregation.epsilon) == epsilon


@pytest.mark.parametrize("delta", ["-0", "-0.0", "0e5", 0])
def test_a_delta_of_zero_is_one_number(delta):
    assert str(AnswerLoss.of("1", delta).delta) == "0"
