"""Functions that a query may call whose answer is checked: with one value each, and never slow."""

import pyarrow as pa
import pytest
import sqlglot
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.allowed_functions import check_length
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.reading_checked import check_row_expression

MOMENTS = (
    *("now()", "today()", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "age(born)"),
    "CASE WHEN id = 10 AND now() > born THEN 1 ELSE 0 END",
)
LONG_OR_SLOW = (
    "REPLACE(name, 'a', 'aa')",
    "REPLACE(name, name, 'a')",
    "REPLACE(name, '', 'a')",
    "REGEXP_REPLACE(name, 'a', 'aa')",
    "CONCAT_WS(name, '', '', '')",
    "HEX(name)",
    "PRINTF('%99999d', id)",
    "FORMAT('{:>99999}', name)",
    "REPEAT(name, 99999)",
    "RPAD(name, 99999, ' ')",
    "LEVENSHTEIN(name, name)",
    "DAMERAU_LEVENSHTEIN(name, name)",
    "REGEXP_MATCHES(name, '(a?){0,999}b')",
    "REGEXP_MATCHES(name, name)",
    f"REGEXP_MATCHES(name, '{'a?' * 51}')",
    "name SIMILAR TO '(a?){0,999}b'",
)
ALLOWED = (
    *("ROUND(pay / 3, -2)", "COALESCE(name, 'a') || 'b'", "CONCAT(name, 'b')", "UPPER(TRIM(name))"),
    *("REPLACE(name, '-', ' ')", "REPLACE(name, 'ab', '')", "TRANSLATE(name, 'ab', 'xy')"),
    *("age(born, DATE '2026-01-31')", "YEAR(born)", "DATE_DIFF('year', born, DATE '2026-01-31')"),
    *("name LIKE '%a_b%'", "REGEXP_MATCHES(name, '^a[0-9]+$')", "TRY_CAST(name AS INT)"),
    *("born > CAST('2026-01-31' AS DATE) - INTERVAL 1 YEAR", "CASE WHEN ill THEN 1 END"),
)


def parsed(text):
    return sqlglot.parse_one(text, dialect="duckdb")


@pytest.mark.parametrize("text", [*MOMENTS, *LONG_OR_SLOW])
def test_functions_of_the_moment_and_long_or_slow_ones_are_refused(text):
    with pytest.raises(NotCheckableError) as error:
        check_row_expression(parsed(text))
    assert error.value.problem.code == "K017"


@pytest.mark.parametrize("text", MOMENTS)
def test_moment_is_asked_for_as_a_constant(text):
    with pytest.raises(NotCheckableError) as error:
        check_row_expression(parsed(text))
    assert "DATE '2026-01-31'" in error.value.problem.hint


@pytest.mark.parametrize("text", ALLOWED)
def test_steady_and_short_functions_are_allowed(text):
    check_row_expression(parsed(text))


def test_expressions_have_a_length_with_their_constants():
    check_length([parsed("a || 'bcd'")])
    with pytest.raises(NotCheckableError):
        check_length([parsed(f"a || '{'b' * 50_000}'")] * 2)


def asked(sql, tmp_path, *, ill=True):
    """Return the codes for which a query of a table of forty is refused, None if it is not."""
    table = pa.table(
        {
            "id": list(range(40)),
            "name": ["n"] * 40,
            "ill": [ill if n == 10 else n % 2 == 0 for n in range(40)],
        }
    )
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
    policy = policy_with(("pe:outputCheck", "eq", "dwb-2015"), unit)
    ledger = tmp_path / f"ledger {ill}"
    result = query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=ledger)
    return [one.code for one in result.reasons] if result.checked is None else None


MOMENTARY = (
    "SELECT COUNT(*) FROM T WHERE id < 30 OR (id = 30 AND now() < TIMESTAMPTZ '2026-01-31 12:00')",
    "SELECT COUNT(*) FILTER (WHERE now() > TIMESTAMPTZ '2026-01-31 12:00:00') FROM T",
    "SELECT now() < TIMESTAMPTZ '2026-01-31 12:00:00' AS late, COUNT(*) FROM T GROUP BY late",
    "SELECT COUNT(*) FROM (SELECT id, current_date AS d FROM T) AS s WHERE YEAR(d) > id",
    "SELECT COUNT(*) AS n FROM T HAVING n > 10 AND now() > TIMESTAMPTZ '2026-01-31 12:00:00'",
    "SELECT COUNT(*), current_date FROM T",
)


@pytest.mark.parametrize("sql", MOMENTARY)
def test_moment_is_refused_wherever_it_is_asked_for(sql, tmp_path):
    assert asked(sql, tmp_path) == ["K017"]


def test_text_that_grows_for_one_person_is_refused_in_both_worlds(tmp_path):
    text = "CASE WHEN id = 10 AND ill THEN 'aaaaaaaaaa' ELSE '' END"
    for _ in range(4):
        text = f"REPLACE({text}, 'a', '{'a' * 100}')"
    sql = f"SELECT COUNT(*) FROM T WHERE LENGTH({text}) >= 0"
    assert [asked(sql, tmp_path, ill=ill) for ill in (True, False)] == [["K017"], ["K017"]]


@pytest.mark.nightly
def test_names_that_stand_for_ever_longer_texts_are_refused(tmp_path):
    names = [f"n{k} || n{k} AS n{k + 1}" for k in range(40)]
    aliases = f"SELECT name || name AS n0, {', '.join(names)}, COUNT(*) FROM T GROUP BY n40"
    query = "SELECT name || name AS n0, id FROM T"
    for k in range(20):
        query = f"SELECT n{k} || n{k} AS n{k + 1}, id FROM ({query}) AS s{k}"
    subqueries = f"SELECT COUNT(*) FROM ({query}) AS s WHERE n20 <> ''"
    assert asked(aliases, tmp_path) == asked(subqueries, tmp_path) == ["K017"]
