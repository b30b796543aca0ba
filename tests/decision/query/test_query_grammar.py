from contextlib import suppress

import pytest
import sqlglot

from policy_engine.decision.query import grammar
from policy_engine.decision.query.grammar import parse_query
from policy_engine.errors import QueryError

WORDS = ("Invalid expression", "Unexpected token", "Expecting", "Error tokenizing", "ALIAS")


@pytest.mark.parametrize(
    ("sql", "code", "says"),
    [
        ("SELEC a FROM People", "Q001", "no query begins with 'SELEC'. Did you mean 'SELECT'?"),
        ("SELEC a", "Q002", "'SELEC' is not a query. Allowed is SELECT, .* mean 'SELECT'?"),
        ("SELECT a FRM People", "Q001", "'People' has no place here. Did you mean 'FROM'?"),
        ("SELECT a FROM p WHER a = 1", "Q001", "Did you mean 'WHERE'?"),
        ("SELECT (a FROM People", "Q001", "'\\)' is missing"),
        ("SELECT a FROM People WHERE", "Q001", "cannot be parsed"),
        ("SELECT 'a FROM People", "Q001", "Is a quote left open?"),
        ("DELETE FROM People", "Q002", "'DELETE' is not a query. Allowed is SELECT"),
        ("FOO BAR", "Q002", "'FOO' is not a query"),
    ],
)
def test_what_is_no_query_is_answered_in_our_words(sql, code, says):
    with pytest.raises(QueryError, match=says) as error:
        parse_query(sql, "duckdb")
    assert error.value.problems[0].code == code
    assert not any(word in str(error.value) for word in WORDS)


def test_every_function_that_is_named_is_allowed():
    for name in sorted(grammar._NAMED):
        for most in range(1, 4):
            given = ", ".join(["'day'"] * most)
            with suppress(sqlglot.ParseError):
                grammar._check(sqlglot.parse_one(f"SELECT {name}({given}) FROM t", read="duckdb"))
