"""What a query comes back with: its rows, what was decided, and by which rules."""

import hashlib
import json

import pyarrow as pa
import pytest
from building import ANALYST
from query_samples import (
    NOW,
    PEOPLE,
    VISITS,
    ask,
    column,
    columns,
    policy,
    refined,
    rows,
    rule,
    where,
)

from policy_engine.data.catalog import make_catalog
from policy_engine.decision import World
from policy_engine.decision.log import DecisionLog
from policy_engine.decision.query.answering import query
from policy_engine.decision.query.shuffling import fresh_key, order, take_rows
from policy_engine.decision.query.suggesting import permitted_choices
from policy_engine.errors import RequestError
from policy_engine.policy.model import READ

ALL = policy([rule([PEOPLE, VISITS])])
MEN, OLD, YOUNG = where("sex", "eq", "male"), where("age", "gt", 35), where("age", "lt", 25)
DEAR, NOTED = (
    where(column("cost", VISITS), "gt", 3),
    where(column("note", VISITS), "eq", "a"),
)
JOIN = "SELECT age, cost FROM People JOIN Visits USING (id)"


def test_query_of_no_table_is_run_and_nothing_is_decided():
    result = ask("SELECT 1 AS a", ALL)
    assert (result.permitted, result.sql) == (True, 'SELECT 1 AS "a"')
    assert result.table.to_pydict() == {"a": [1]}
    assert (result.decision, result.columns, result.reasons) == (None, {}, ())


def test_decision_is_on_all_columns_that_are_read_and_by_whom():
    result = ask("SELECT name, cost FROM People, Visits WHERE age > 1", ALL)
    assert result.columns == {PEOPLE: ("name", "age"), VISITS: ("cost",)}
    asked = result.decision.request
    assert (asked.assignee, asked.action) == (ANALYST, READ)
    assert asked.targets == (*columns("name", "age"), column("cost", VISITS))
    assert result.decision.permitted


@pytest.mark.parametrize(("world", "by"), [(NOW, "caller"), (None, "clock"), (World(), "clock")])
@pytest.mark.parametrize("sql", ["SELECT name FROM People", "SELECT secret FROM People"])
def test_decision_says_whose_time_it_is_by(world, by, sql):
    read = policy([rule(columns("name"))])
    decision = ask(sql, read, world=world).decision
    assert decision.time_by == by
    assert decision.permitted is ("name" in sql)


def test_query_is_decided_at_one_moment_where_no_time_is_told():
    over = policy([rule(VISITS, where("dateTime", "lt", "2020-01-01T00:00:00Z"))])
    since = policy([rule(VISITS, where("dateTime", "gt", "2020-01-01T00:00:00Z"))])
    for world in (None, World()):
        assert rows("SELECT id FROM Visits", over, world=world) is None
        assert len(rows("SELECT id FROM Visits", since, world=world)) == 3


def test_query_that_is_not_run_has_its_text_and_no_rows():
    result = ask("SELECT id FROM Visits", ALL, run=False)
    assert (result.permitted, result.table) == (True, None)
    assert result.sql == 'SELECT "id" FROM (SELECT "Visits"."id" FROM "Visits") AS "Visits"'
    assert ask("SELECT id FROM Visits", ALL).sql == result.sql


def test_reading_is_what_odrl_calls_it_where_policies_do_not_say():
    data = make_catalog({VISITS: pa.table({"id": [1]})})
    assert query("SELECT id FROM Visits", [], ANALYST, data).decision.request.action == READ


def test_who_asks_and_why_are_iris():
    with pytest.raises(RequestError, match="D001"):
        ask("SELECT id FROM Visits", ALL, purpose="what for")
    with pytest.raises(RequestError, match="D001"):
        query("SELECT 1", [ALL], "nobody at all", make_catalog({}))


def test_query_without_data_is_decided_too():
    assert query("SELECT 1 AS a", [ALL], ANALYST, make_catalog({})).permitted


# -- the log --------------------------------------------------------------------------------------


def logged(log):
    """Return the effect of each decision, and the rule that it is by."""
    found = [json.loads(line)["decision"] for line in log.path.read_text().splitlines()]
    return [(one["effect"], one["rule"].rpartition("/")[2]) for one in found]


def test_query_is_logged_before_it_is_run(tmp_path):
    log = DecisionLog.open(tmp_path / "log.jsonl")
    given = policy([rule(columns("age"), OLD), rule(columns("name"), where("name", "isA", "x"))])
    for sql, effect in (
        ("SELECT age FROM People", ("permit", "p0")),
        ("SELECT secret FROM People", ("deny", "")),
        ("SELECT name FROM People", ("permit", "p1")),
        ("SELECT 1", None),
    ):
        before = logged(log)
        ask(sql, given, log=log)
        assert logged(log) == before + ([effect] if effect else [])


def test_query_is_decided_by_what_the_log_says_was_done(tmp_path):
    log = DecisionLog.open(tmp_path / "log.jsonl")
    once = policy([rule(VISITS, where("count", "lteq", 1) | {"leftOperand": "count"})])
    assert rows("SELECT count(*) FROM Visits", once, log=log) == [(3,)]
    assert rows("SELECT count(*) FROM Visits", once, log=log) is None
    assert [one[0] for one in logged(log)] == ["permit", "deny"]


# -- rules for several tables ---------------------------------------------------------------------


def both(people=None, visits=None):
    """Return a rule for some people and some visits together."""
    return rule(
        [
            refined(PEOPLE, people) if people else PEOPLE,
            refined(VISITS, visits) if visits else VISITS,
        ]
    )


def names(grants):
    return sorted(one.rule.rpartition("/")[2] for one in grants)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("rules", "counted", "left", "ages"),
    [
        ([both()], ["p0"], "", [20, 20, 30]),
        ([both(MEN)], ["p0"], "", [30]),
        ([both(MEN), both(YOUNG)], ["p0", "p1"], "", [20, 20, 30]),
        ([both(None, DEAR), both(None, NOTED)], ["p0", "p1"], "", [20, 30]),
        ([both(MEN), both(YOUNG), both(None, DEAR)], ["p0", "p1"], "p2", [20, 20, 30]),
        ([both(None, DEAR), both(MEN), both(YOUNG)], ["p1", "p2"], "p0", [20, 20, 30]),
        ([both(MEN, DEAR), both(YOUNG)], ["p1"], "p0", [20, 20]),
        ([both(MEN, DEAR), both(MEN)], ["p1"], "", [30]),
        ([both(MEN, DEAR), both(YOUNG, DEAR), both(OLD, NOTED)], ["p0", "p1"], "p2", [30]),
        ([both(MEN), both()], ["p1"], "", [20, 20, 30]),
        ([both(MEN), both(MEN)], ["p0"], "", [30]),
    ],
    ids=range(11),
)
def test_rows_of_tables_that_meet_are_by_rules_that_differ_in_one_alone(rules, counted, left, ages):
    result = ask(JOIN, policy(rules))
    assert sorted(row["age"] for row in result.table.to_pylist()) == ages
    assert names(result.decision.counted) == counted
    told = [one for one in result.reasons if one.code == "Q009"]
    assert len(told) == bool(left)
    if told:
        assert told[0].message == f"Rows that 'http://x.org/policy/{left}' permits are left out."


@pytest.mark.parametrize(
    ("conditions", "counted"),
    [
        ([[MEN], [OLD]], ["p0", "p1"]),
        ([[MEN, OLD], [MEN]], ["p1"]),
        ([[MEN], [MEN, OLD]], ["p0"]),
        ([[], [MEN]], ["p0"]),
        ([[{"or": {"@list": [MEN, OLD]}}], [OLD]], ["p0"]),
        ([[OLD], [{"or": {"@list": [MEN, OLD]}}]], ["p1"]),
        ([[MEN], [MEN]], ["p0"]),
        ([[YOUNG], [{"and": {"@list": [MEN, OLD]}}], [OLD]], ["p0", "p2"]),
    ],
    ids=range(8),
)
def test_rule_that_adds_no_row_to_those_of_others_is_not_counted(conditions, counted):
    result = ask("SELECT id FROM People", policy([rule(PEOPLE, *one) for one in conditions]))
    assert names(result.decision.counted) == counted
    assert not result.reasons


# -- what could be asked instead ------------------------------------------------------------------


def test_choices_are_at_most_three_the_largest_first_and_none_part_of_another():
    given = policy(
        [
            rule(columns("id")),
            rule(columns("id", "name")),
            rule(columns("sex")),
            rule(columns("age", "sex", "secret")),
            rule(columns("age", "id")),
            rule(columns("secret", "name")),
        ]
    )
    result = ask("SELECT * FROM People", given)
    assert [one[PEOPLE] for one in result.allowed] == [
        ("sex", "age", "secret"),
        ("id", "name"),
        ("id", "age"),
    ]


def test_choices_leave_out_what_a_prohibition_keeps_apart():
    given = policy([rule(PEOPLE)], [rule(columns("secret"))])
    result = ask("SELECT * FROM People", given)
    assert result.allowed == ({PEOPLE: ("id", "name", "sex", "age")},)
    assert result.suggestion == (
        'SELECT "People"."id", "People"."name", "People"."sex", "People"."age" FROM "People"'
    )


def test_choices_of_two_tables_are_read_together():
    given = policy([rule([*columns("id", "age"), column("cost", VISITS)])])
    result = ask("SELECT age, cost, note FROM People, Visits", given)
    assert result.allowed == ({PEOPLE: ("age",), VISITS: ("cost",)},)
    assert result.suggestion == 'SELECT "age", "cost" FROM "People", "Visits"'


def test_no_choices_are_looked_for_among_very_many_columns():
    asked = []
    many = {PEOPLE: tuple(f"c{number}" for number in range(201))}
    assert permitted_choices(asked.append, many) == ()
    assert not asked


def test_rows_that_are_plainly_none_have_no_choices():
    result = ask("SELECT name FROM People", policy([rule(PEOPLE, where("name", "isA", "x"))]))
    assert (result.permitted, result.allowed, result.suggestion) == (False, (), "")


# -- what is shown --------------------------------------------------------------------------------


def csv(folder, *lines):
    file = folder / "people.csv"
    file.write_text("\n".join(lines) + "\n")
    return make_catalog({PEOPLE: file})


SHOWN_AS_NUMBER = 'CASE WHEN "People"."n" <= 0 OR -"People"."n" < 0 THEN "People"."n" END AS "n"'


@pytest.mark.parametrize("run", [True, False])
def test_number_that_may_be_nan_is_shown_as_missing_by_the_rows_that_are_shown(tmp_path, run):
    data = csv(tmp_path, "id,n,t", "1,5,a", "2,2.5,b")
    few = policy([rule(PEOPLE, where("id", "lt", 2))])
    for read, number in ((ALL, SHOWN_AS_NUMBER), (few, '"People"."n"')):
        sql = ask("SELECT n, t FROM People", read, data=data, run=run).sql
        assert sql.startswith(f'SELECT "n", "t" FROM (SELECT {number}, "People"."t" FROM "People"')


def test_nan_is_missing_in_what_is_shown():
    table = pa.table({"id": [1, 2], "n": [1.5, float("nan")]})
    data = make_catalog({PEOPLE: table})
    assert rows("SELECT n FROM People", ALL, data=data) == [(1.5,), (None,)]
    assert rows("SELECT count(n) FROM People", ALL, data=data) == [(1,)]
    assert SHOWN_AS_NUMBER in ask("SELECT n FROM People", ALL, data=data, run=False).sql


def test_columns_that_are_called_as_rows_are_numbered_are_columns():
    table = pa.table({"row": [1, 2, 3], "ROW_": [4, 5, 6], "id": [7, 8, 9]})
    data = make_catalog({PEOPLE: table})
    some = policy([rule(PEOPLE, where("row", "gt", 1), where("ROW_", "lt", 6))])
    assert rows("SELECT * FROM People", some, data=data) == [(2, 5, 8)]
    assert rows("SELECT id FROM People", some, data=data) == [(8,)]
    assert rows("SELECT count(*) FROM People", some, data=data) == [(1,)]


def test_rows_are_counted_where_no_column_is_read(tmp_path):
    assert rows("SELECT count(*) FROM People", ALL) == [(4,)]
    assert rows("SELECT count(*) FROM People", ALL, data=csv(tmp_path, "id,n", "1,2", "3,4")) == [
        (2,)
    ]
    both = ask("SELECT count(*) AS n FROM People, Visits", ALL)
    assert both.table.to_pydict() == {"n": [12]}
    assert 'SELECT 1 AS "_" FROM "Visits"' in both.sql


def test_order_of_rows_is_that_of_what_is_drawn_from_key_and_name():
    drawn = hashlib.shake_256(b"kt").digest(40)
    numbers = [int.from_bytes(drawn[at : at + 8], "little") for at in range(0, 40, 8)]
    assert [int(one) for one in order(5, b"k", "t")] == sorted(range(5), key=numbers.__getitem__)
    assert len(fresh_key()) == 32
    assert fresh_key() != fresh_key()


def test_rows_are_taken_in_an_order_and_texts_coded_as_they_come():
    coded = pa.chunked_array([["b", "a"], ["c", "b", None]]).dictionary_encode()
    table = pa.table({"id": [0, 1, 2, 3, 4], "c": coded})
    taken = take_rows(table, order(5, b"k", "t"))
    numbers = [int(one) for one in order(5, b"k", "t")]
    cells = ["b", "a", "c", "b", None]
    assert taken["id"].to_pylist() == numbers
    assert taken["c"].to_pylist() == [cells[one] for one in numbers]
    whole = taken["c"].combine_chunks()
    firsts = dict.fromkeys(one for one in taken["c"].to_pylist() if one is not None)
    assert whole.dictionary.to_pylist() == [*firsts]
    few = take_rows(table, order(5, b"k", "t")[:1])
    assert len(few["c"].combine_chunks().dictionary) == 1
