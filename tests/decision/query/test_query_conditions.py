"""Which rows may be read, as the condition in SQL that policies come to."""

from dataclasses import replace
from datetime import UTC

import pytest
from building import ANALYST
from query_samples import (
    NOW,
    PEOPLE,
    VISITS,
    ask,
    catalog,
    column,
    people_and_visits,
    policy,
    refined,
    rule,
    where,
)
from sqlglot import exp, parse_one

from policy_engine.decision import Decider, Request
from policy_engine.decision.query import logic
from policy_engine.decision.query.filters import RowTable, row_filter
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import QueryError
from policy_engine.policy.model import READ

OLD, NAMED, EARLY = where("age", "gt", 5), where("name", "eq", "x"), where("id", "lt", 9)
SO, NOT_SO = (where("dateTime", "lt", f"20{year}-01-01T00:00:00Z") for year in (30, 20))
UNKNOWN = where("http://x.org/unknown", "eq", 1)
AGE, NAME, ID = "age > 5", "name = 'x'", "id < 9"


def joined(how, *constraints):
    return {how: {"@list": list(constraints)}}


def condition(permissions, prohibitions=(), **parts):
    """Return the condition on the people that policies come to; None of what is denied."""
    given = policy(permissions, prohibitions, **parts)
    result = ask("SELECT id FROM People", given, run=False)
    text = result.sql.replace('"People".', "").replace('"', "")
    start, _, rest = text.partition(" WHERE ")
    assert not result.permitted or start.startswith("SELECT id FROM (SELECT id FROM People")
    return rest.removesuffix(") AS People") if result.permitted else None


def one_of(*parts):
    """Return that exactly one of some conditions is true, none of them unknown."""
    count = " + ".join(f"CASE WHEN {part} THEN 1 ELSE 0 END" for part in parts)
    unknown = " OR ".join(f"({part}) IS NULL" for part in parts)
    too_many = f"WHEN ({count}) > 1 THEN FALSE"
    return f"CASE {too_many} WHEN {unknown} THEN NULL ELSE ({count}) = 1 END"


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        (OLD, AGE),
        (joined("and", OLD, NAMED), f"{AGE} AND {NAME}"),
        (joined("andSequence", OLD, NAMED), f"{AGE} AND {NAME}"),
        (joined("or", OLD, NAMED), f"{AGE} OR {NAME}"),
        (joined("xone", OLD, NAMED), one_of(AGE, NAME)),
        (joined("xone", OLD, NAMED, EARLY), one_of(AGE, NAME, ID)),
        (joined("xone", OLD, SO), one_of(AGE, "TRUE")),
        (joined("and", OLD, SO), AGE),
        (joined("or", OLD, NOT_SO), AGE),
        (joined("and", OLD, UNKNOWN), f"{AGE} AND NULL"),
        (joined("or", OLD, UNKNOWN), f"{AGE} OR NULL"),
        (joined("or", joined("and", OLD, NAMED), EARLY), f"({AGE} AND {NAME}) OR {ID}"),
        (joined("and", joined("or", OLD, NAMED), EARLY), f"({AGE} OR {NAME}) AND {ID}"),
    ],
    ids=range(13),
)
def test_rule_permits_where_its_constraint_is_true_and_prohibits_where_it_is_not_false(
    constraint, said
):
    assert condition([rule(PEOPLE, constraint)]) == f"COALESCE({said}, FALSE)"
    assert condition([rule(PEOPLE)], [rule(PEOPLE, constraint)]) == f"NOT COALESCE({said}, TRUE)"


@pytest.mark.parametrize(
    ("constraint", "permitted", "prohibited"),
    [
        (SO, "", None),
        (NOT_SO, None, ""),
        (UNKNOWN, None, None),
        (joined("and", OLD, NOT_SO), None, ""),
        (joined("or", OLD, SO), "", None),
    ],
    ids=range(5),
)
def test_what_is_not_about_rows_stands_as_it_was_decided(constraint, permitted, prohibited):
    assert condition([rule(PEOPLE, constraint)]) == permitted
    assert condition([rule(PEOPLE)], [rule(PEOPLE, constraint)]) == prohibited


OLD_ROW, NAMED_ROW, EARLY_ROW = (f"COALESCE({one}, FALSE)" for one in (AGE, NAME, ID))
ANY_ROW = f"{OLD_ROW} OR {EARLY_ROW}"
NOT_NAMED = f"NOT COALESCE({NAME}, TRUE)"


@pytest.mark.parametrize(
    ("permissions", "prohibitions", "conflict", "said"),
    [
        ([[OLD], [NAMED]], [], "prohibit", f"{OLD_ROW} OR {NAMED_ROW}"),
        ([[OLD, NAMED]], [], "prohibit", f"COALESCE({AGE} AND {NAME}, FALSE)"),
        ([[OLD], []], [], "prohibit", ""),
        ([[]], [[OLD], [NAMED]], "prohibit", f"NOT COALESCE({AGE}, TRUE) AND {NOT_NAMED}"),
        ([[OLD]], [[NAMED]], "prohibit", f"{OLD_ROW} AND {NOT_NAMED}"),
        (
            [[OLD], [EARLY]],
            [[NAMED]],
            "prohibit",
            f"({ANY_ROW}) AND {NOT_NAMED}",
        ),
        (
            [[OLD]],
            [[NAMED]],
            "perm",
            f"{OLD_ROW} AND NOT (COALESCE({NAME}, TRUE) AND NOT {OLD_ROW})",
        ),
        (
            [[OLD], [EARLY]],
            [[NAMED]],
            "perm",
            f"({ANY_ROW}) AND NOT (COALESCE({NAME}, TRUE) AND NOT ({ANY_ROW}))",
        ),
        ([[]], [[NAMED]], "perm", ""),
    ],
    ids=range(9),
)
def test_rows_are_those_of_some_permission_and_of_no_prohibition(
    permissions, prohibitions, conflict, said
):
    given = [[rule(PEOPLE, *one) for one in of] for of in (permissions, prohibitions)]
    assert condition(*given, conflict=conflict) == said


def test_refinement_of_a_target_holds_beside_the_constraints_of_its_rule():
    assert condition([rule(refined(PEOPLE, OLD))]) == OLD_ROW
    both = f"COALESCE({NAME} AND {AGE}, FALSE)"
    assert condition([rule(refined(PEOPLE, OLD), NAMED)]) == both
    assert condition([rule(PEOPLE)], [rule(refined(PEOPLE, OLD))]) == f"NOT COALESCE({AGE}, TRUE)"


def test_prohibition_of_another_policy_is_lifted_by_none():
    one = policy([rule(PEOPLE, OLD)], conflict="perm")
    other = policy([], [rule(PEOPLE, NAMED)], conflict="perm", uid="http://x.org/other")
    found = ask("SELECT id FROM People", one, other, run=False).sql.replace('"People".', "")
    assert f"WHERE {OLD_ROW} AND {NOT_NAMED})" in found.replace('"', "")


def test_each_table_has_the_condition_on_its_own_rows():
    sql = "SELECT p.id FROM People p, Visits v"
    people = ask(sql, people_and_visits(OLD), run=False).sql.replace('"', "")
    assert people == (
        "SELECT p.id FROM (SELECT People.id FROM People WHERE COALESCE(People.age > 5, FALSE)) "
        "AS p, (SELECT 1 AS _ FROM Visits) AS v"
    )
    noted = refined(VISITS, where(column("note", VISITS), "eq", "a"))
    held = policy([rule([PEOPLE, VISITS])], [rule(noted)])
    visits = ask(sql, held, run=False).sql.replace('"', "")
    assert visits == (
        "SELECT p.id FROM (SELECT People.id FROM People) AS p, (SELECT 1 AS _ FROM Visits "
        "WHERE NOT COALESCE(Visits.note = 'a', TRUE)) AS v"
    )


# -- three-valued logic -------------------------------------------------------------------------


def sql_of(node):
    return node.sql("duckdb")


TRUE, FALSE, A, B = "TRUE", "FALSE", "a", "b"


@pytest.mark.parametrize(
    ("parts", "every", "some"),
    [
        ([], TRUE, FALSE),
        ([TRUE], TRUE, TRUE),
        ([FALSE], FALSE, FALSE),
        ([A], A, A),
        ([A, B], "a AND b", "a OR b"),
        ([A, TRUE], A, TRUE),
        ([TRUE, A], A, TRUE),
        ([A, FALSE], FALSE, A),
        ([FALSE, A, B], FALSE, "a OR b"),
        (["a OR b", "c AND d"], "(a OR b) AND (c AND d)", "(a OR b) OR (c AND d)"),
        (["NULL", A], "NULL AND a", "NULL OR a"),
    ],
)
def test_conditions_are_joined_and_constants_folded(parts, every, some):
    assert sql_of(logic.conjunction([*map(parse_one, parts)])) == every
    assert sql_of(logic.disjunction([*map(parse_one, parts)])) == some


@pytest.mark.parametrize(
    ("part", "negated", "taken"),
    [
        (TRUE, FALSE, TRUE),
        (FALSE, TRUE, FALSE),
        ("NULL", "NOT NULL", "b"),
        (A, "NOT a", "COALESCE(a, b)"),
        ("a = 1", "NOT a = 1", "COALESCE(a = 1, b)"),
        ("a OR b", "NOT (a OR b)", "COALESCE(a OR b, b)"),
    ],
)
def test_condition_is_negated_and_unknown_taken_for_something(part, negated, taken):
    assert sql_of(logic.negation(parse_one(part))) == negated
    assert sql_of(logic.coalesce(parse_one(part), exp.column("b"))) == taken


@pytest.mark.parametrize(
    ("text", "every", "some"),
    [
        (A, {A}, {A}),
        ("a AND b AND c", {A, B, "c"}, {"a AND b AND c"}),
        ("a OR b", {"a OR b"}, {A, B}),
        ("(a AND b) AND (c OR d)", {A, B, "c OR d"}, {"(a AND b) AND (c OR d)"}),
        ("COALESCE(a AND b, FALSE)", {A, B}, {"a AND b"}),
        ("COALESCE(a AND b, TRUE)", {"COALESCE(a AND b, TRUE)"}, {"COALESCE(a AND b, TRUE)"}),
        ("COALESCE(a OR b, FALSE) OR c", {"COALESCE(a OR b, FALSE) OR c"}, {A, B, "c"}),
        ("COALESCE(a, FALSE, b)", {"COALESCE(a, FALSE, b)"}, {"COALESCE(a, FALSE, b)"}),
    ],
)
def test_parts_of_a_condition_are_what_it_is_put_together_from(text, every, some):
    assert logic.parts(parse_one(text), exp.And) == every
    assert logic.parts(parse_one(text), exp.Or) == some


def test_exactly_one_of_one_is_itself():
    assert sql_of(logic.exactly_one([exp.column("a")])) == A


def test_number_that_is_nan_is_missing():
    assert sql_of(logic.nan_to_null(exp.column("a"))) == "CASE WHEN a <= 0 OR -a < 0 THEN a END"


@pytest.mark.parametrize("join", [logic.conjunction, logic.disjunction, logic.exactly_one])
def test_condition_that_is_too_long_to_be_run_is_not_understood(join, monkeypatch):
    few = [exp.column(name) for name in "abc"]
    assert join(few)
    monkeypatch.setattr(logic, "_MOST_PARTS", 7)
    with pytest.raises(logic.NotUnderstood, match="it has too many constraints"):
        join(few)


def test_condition_of_as_many_parts_as_are_allowed_is_run(monkeypatch):
    pair = [exp.column("a"), exp.column("b")]  # an AND of two columns, each with its name
    monkeypatch.setattr(logic, "_MOST_PARTS", 5)
    assert logic.conjunction(pair)
    monkeypatch.setattr(logic, "_MOST_PARTS", 4)
    with pytest.raises(logic.NotUnderstood):
        logic.conjunction(pair)


# -- what a rule's conditions evaluated to --------------------------------------------------------


def filtered(permissions, prohibitions=(), change=lambda matches: matches):
    """Return the condition on the people, and what was not understood, by changed matches."""
    data = catalog()
    tables = Tables(data)
    request = Request(assignee=ANALYST, action=READ, targets=(column("id"),))
    decider = Decider([policy(permissions, prohibitions)])
    access = decider.row_access(request, NOW, [PEOPLE], request.targets, None)
    matches = tuple(change(access.decision.matches))
    decision = access.decision.model_copy(update={"matches": matches})
    types = tables.types(PEOPLE, ("id", "name", "age"))
    table = RowTable(data.dataset(PEOPLE), "People", types, (VISITS,), UTC)
    found = row_filter(replace(access, decision=decision), table)
    return sql_of(found.condition).replace('"', "").replace("People.", ""), found.not_understood


NOT_KNOWN = "what its conditions evaluated to is not known."


@pytest.mark.parametrize("change", [lambda _: (), lambda matches: matches * 2], ids=["no", "two"])
@pytest.mark.parametrize("target", [PEOPLE, refined(PEOPLE, NAMED)], ids=["whole", "refined"])
def test_rule_of_which_it_is_not_known_what_holds_permits_nothing_and_prohibits_all(target, change):
    bound = rule(target, OLD)
    assert filtered([bound])[1] == ()
    p0, f0 = (f"http://x.org/policy/{name}" for name in ("p0", "f0"))
    assert filtered([bound], change=change) == ("FALSE", (f"{p0} permits no row: {NOT_KNOWN}",))
    found = filtered([rule(PEOPLE)], [bound], change)
    assert found == ("FALSE", (f"{f0} prohibits every row: {NOT_KNOWN}",))


def test_rule_without_conditions_needs_none_that_are_known():
    for change in (lambda _: (), lambda matches: matches * 2):
        assert filtered([rule(PEOPLE)], change=change) == ("TRUE", ())
    refines = [rule(refined(PEOPLE, NAMED))]
    assert filtered(refines, change=lambda _: ())[0] == "FALSE"


def test_rules_that_are_too_many_to_run_together_are_told_with_their_table(monkeypatch):
    monkeypatch.setattr(logic, "_MOST_PARTS", 12)
    with pytest.raises(QueryError) as caught:
        filtered([rule(PEOPLE, OLD), rule(PEOPLE, NAMED)])
    [problem] = caught.value.problems
    said = f"The rules on the rows of {PEOPLE} cannot be run together: "
    assert (problem.code, problem.message) == ("Q007", f"{said}it has too many constraints.")
