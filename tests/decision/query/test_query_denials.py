"""What is said of a query that is denied, or of which rows are left out."""

import pytest
from query_samples import (
    PEOPLE,
    VISITS,
    ask,
    column,
    columns,
    people_and_visits,
    policy,
    refined,
    rule,
    where,
)

AGED = where("age", "gt", 25)
OVER = where("dateTime", "lt", "2020-01-01T00:00:00Z")
COST = where(column("cost", VISITS), "lt", 5)
P0, P1, F0 = (f"http://x.org/policy/{name}" for name in ("p0", "p1", "f0"))
NO_RULE = "No rule permits it, and what no rule permits is denied. The nearest,"


def aged_or_sexed():
    """Return a policy with a rule for names with ages, and one for names with sexes."""
    return policy([rule(columns("name", "age")), rule(columns("name", "sex"))])


def lacks(*names, table=PEOPLE):
    iris = [column(name, table) if name else table for name in names]
    return ", and ".join(f"it does not cover {iri}" for iri in iris)


def told(sql, *policies, **options):
    """Return code, sentence and hint of each of the reasons."""
    result = ask(sql, *policies, **options)
    return result.permitted, [(one.code, one.message, one.hint) for one in result.reasons]


@pytest.mark.parametrize(
    ("sql", "given", "sentence", "hint"),
    [
        (
            "SELECT name, age, sex FROM People",
            aged_or_sexed(),
            (
                "People: the columns 'name', 'sex' and 'age' together may not be read. "
                f"{NO_RULE} {P0}: {lacks('sex')}."
            ),
            f"{P1}: {lacks('age')}.",
        ),
        (
            "SELECT name, age, secret FROM People",
            aged_or_sexed(),
            (
                "People: the columns 'name', 'age' and 'secret' together may not be read. "
                f"{NO_RULE} {P0}: {lacks('secret')}."
            ),
            f"{P1}: {lacks('age', 'secret')}.",
        ),
        (
            "SELECT count(*) FROM People",
            aged_or_sexed(),
            f"People: the whole table may not be read. {NO_RULE} {P0}: {lacks('')}.",
            f"{P1}: {lacks('')}.",
        ),
        (
            "SELECT secret FROM People, Visits",
            policy([rule(columns("name"))]),
            (
                "People: the column 'secret' and Visits: the whole table, all of it together, may "
                f"not be read. {NO_RULE} {P0}: {lacks('secret')}, and {lacks('', table=VISITS)}."
            ),
            "",
        ),
        (
            "SELECT name FROM People",
            policy([rule(columns("name"), OVER)]),
            (
                f"People: the column 'name' may not be read. {NO_RULE} {P0}: its constraint is "
                "unsatisfied: dateTime is 2026-01-01T00:00:00Z, not before 2020-01-01T00:00:00Z."
            ),
            "",
        ),
        (
            "SELECT name FROM People",
            policy([rule(PEOPLE)], [rule(PEOPLE)]),
            f"People: the column 'name' may not be read. {F0} prohibits it.",
            "",
        ),
        (
            "SELECT name FROM People",
            policy([rule(PEOPLE)], [rule(PEOPLE, COST)]),
            f"People: the column 'name' may not be read. {F0} prohibits it.",
            f"Its constraint is unknown: {VISITS}/cost is not known.",
        ),
    ],
    ids=range(7),
)
def test_denial_says_what_may_not_be_read_and_why(sql, given, sentence, hint):
    assert told(sql, given) == (False, [("Q006", sentence, hint)])


def test_denial_names_each_rule_that_is_near():
    given = policy([rule(columns(name)) for name in ("name", "sex", "age")])
    [reason] = ask("SELECT secret FROM People", given).reasons
    near = [f"http://x.org/policy/p{number}: {lacks('secret')}." for number in range(3)]
    assert reason.message.endswith(near[0])
    assert reason.hint == " ".join(near[1:])


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            policy([rule(columns("name"), where("name", "lt", "x"))]),
            f"{P0} permits no row: odrl:lt is not supported on string.",
        ),
        (
            policy([rule(PEOPLE)], [rule(PEOPLE, where("name", "lt", "x"))]),
            f"{F0} prohibits every row: odrl:lt is not supported on string.",
        ),
        (
            policy([rule(columns("name"), where("age", "isAllOf", [1, 2]))]),
            f"{P0} permits no row: odrl:isAllOf is not supported with several values.",
        ),
        (
            policy([rule(columns("name"), where("age", "isA", 1))]),
            f"{P0} permits no row: odrl:isA is not supported on a column.",
        ),
        (
            policy([rule(columns("name"), where("age", "eq", {"@id": PEOPLE}))]),
            f"{P0} permits no row: a column can be compared with literals only, not with IRIs.",
        ),
        (
            policy([rule(columns("name"), {**where("age", "eq", 1), "unit": "http://x.org/u"})]),
            f"{P0} permits no row: a reference, a unit or a status is not supported on a column.",
        ),
        (
            policy([rule(columns("name"), {**where("age", "eq", 1), "status": "http://x.org/u"})]),
            f"{P0} permits no row: a reference, a unit or a status is not supported on a column.",
        ),
        (
            policy([rule(PEOPLE)], [rule([VISITS, refined(PEOPLE, AGED)])]),
            (
                f"{F0} prohibits every row: it has several targets, assignees or actions, and "
                "refines some."
            ),
        ),
    ],
    ids=range(8),
)
def test_denial_says_which_rule_was_not_understood(given, why):
    nothing = ("Q006", "People: no row of the column 'name' may be read.", "")
    assert told("SELECT name FROM People", given) == (False, [nothing, ("Q007", why, "")])


def test_denial_says_which_constraint_is_on_a_column_of_another_table():
    given = policy([rule([PEOPLE, VISITS], COST)])
    why = f"{P0} permits no row: {VISITS}/cost is a column of another table; "
    why += "put a condition on its rows into a refinement of its target."
    nothing = ("Q006", "People: no row of the column 'name' may be read.", "")
    found = told("SELECT name FROM People, Visits", given)
    assert found == (False, [nothing, ("Q007", why, "")])


def test_rule_that_was_not_understood_is_told_with_the_rows_of_others():
    given = policy([rule(PEOPLE, AGED), rule(PEOPLE, where("name", "isA", "x"))])
    why = f"{P1} permits no row: odrl:isA is not supported on a column."
    assert told("SELECT name FROM People", given) == (True, [("Q007", why, "")])


def test_rows_that_another_rule_grants_are_said_to_be_left_out():
    costly = refined(VISITS, where(column("cost", VISITS), "gt", 2))
    given = policy([rule([refined(PEOPLE, AGED), VISITS]), rule([PEOPLE, costly])])
    left = f"Rows that '{P1}' permits are left out."
    one = "One rule must grant everything read from 'People' and 'Visits' together; here it is "
    found = told("SELECT name, cost FROM People JOIN Visits USING (id)", given)
    assert found == (True, [("Q009", left, f"{one}'{P0}'.")])
    assert told("SELECT name FROM People, Visits", people_and_visits(AGED)) == (True, [])


# -- what would be permitted --------------------------------------------------------------------


def permitted(sql, *policies):
    """Return the choices of columns that may be read together, and the query suggested."""
    result = ask(sql, *policies)
    assert not result.permitted
    choices = [
        {iri.rpartition("/")[2]: " ".join(names) for iri, names in one.items()}
        for one in result.allowed
    ]
    return choices, result.suggestion


BOTH = [{"People": "name age"}, {"People": "name sex"}]


@pytest.mark.parametrize(
    ("sql", "choices", "suggestion"),
    [
        (
            "SELECT name, age, sex FROM People",
            BOTH,
            'SELECT "name", "age" FROM "People"',
        ),
        (
            "SELECT sex, name, upper(sex) AS s, age FROM People",
            BOTH,
            'SELECT "name", "age" FROM "People"',
        ),
        (
            "SELECT name, age || sex FROM People WHERE age > 1",
            BOTH,
            'SELECT "name" FROM "People" WHERE "age" > 1',
        ),
        (
            "SELECT name, age FROM People WHERE sex = 'male'",
            BOTH,
            'SELECT "name" FROM "People" WHERE "sex" = \'male\'',
        ),
        (
            "SELECT name, age, sex FROM People ORDER BY sex",
            BOTH,
            'SELECT "name", "sex" FROM "People" ORDER BY "sex"',
        ),
        ("SELECT name, age, sex FROM People ORDER BY 1", BOTH, ""),
        ("SELECT name, age, sex FROM People GROUP BY name, 2, sex", BOTH, ""),
        (
            "SELECT name, age, sex FROM People GROUP BY name, age, sex",
            BOTH,
            "",
        ),
        (
            "SELECT name AS a, age, sex FROM People WHERE a = '1' AND sex = '2'",
            BOTH,
            'SELECT "name" AS "a", "sex" FROM "People" WHERE "a" = \'1\' AND "sex" = \'2\'',
        ),
        ("SELECT age, sex FROM People WHERE name = 'x' AND age = 1 AND sex = 'y'", BOTH, ""),
        ("SELECT age FROM People UNION SELECT secret FROM People", [{"People": "age"}], ""),
        ("SELECT 1, secret FROM People", [], ""),
        ("SELECT * FROM People", BOTH, 'SELECT "People"."name", "People"."age" FROM "People"'),
        ("SELECT count(*) FROM People", BOTH, ""),
    ],
)
def test_smaller_query_reads_the_first_choice_that_makes_one(sql, choices, suggestion):
    assert permitted(sql, aged_or_sexed()) == (choices, suggestion)
