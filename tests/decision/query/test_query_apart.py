"""Columns that a policy keeps apart are kept so across queries, by what was answered before."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

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
    rows,
    rule,
    where,
)

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.log import DecisionLog
from policy_engine.errors import RequestError
from policy_engine.policy import Hierarchy
from policy_engine.policy.model import READ

SO_FAR = "https://w3id.org/policy-engine/ns#readSoFar"
NAME, AGE = columns("name", "age")
APART = where(SO_FAR, "isAllOf", [NAME, AGE])
KEPT = policy([rule([PEOPLE, VISITS])], [rule([PEOPLE, VISITS], APART)])


@pytest.fixture
def log(tmp_path):
    return DecisionLog.open(tmp_path / "log.jsonl")


def may(sql, log, *policies, **options):
    return ask(sql, *(policies or [KEPT]), log=log, **options).permitted


def decide(log, *targets, assignee=ANALYST, policies=(KEPT,), hierarchy=None):
    request = Request(assignee=assignee, action=READ, targets=targets)
    return log.decide(Decider(policies, hierarchy=hierarchy), request, NOW)


@pytest.mark.parametrize("names", [("name", "age"), ("age", "name")])
def test_the_second_of_two_columns_is_refused_in_either_order(log, names):
    first, second = (f"SELECT {name} FROM People" for name in names)
    assert may(first, log)
    assert not may(second, log)
    assert may(first, log)
    assert may("SELECT id FROM People", log)
    assert not may(f"SELECT id FROM People WHERE {names[1]} IS NOT NULL", log)


def test_both_in_one_query_are_refused_and_leave_either_open(log):
    result = ask("SELECT name, age FROM People", KEPT, log=log)
    assert not result.permitted
    assert "prohibits it" in result.reasons[0].message
    assert "pe:readSoFar is" in result.reasons[0].hint
    assert rows(result.suggestion, KEPT, log=log) is not None


def test_a_table_as_a_whole_is_each_of_its_columns(log):
    assert may("SELECT name FROM People", log)
    assert not may("SELECT count(*) FROM People", log)
    assert may("SELECT count(*) FROM Visits", log)


def test_without_a_log_it_is_refused_and_says_why():
    result = ask("SELECT name FROM People", KEPT)
    assert not result.permitted
    assert "not known without a decision log" in result.reasons[0].message
    request = Request(assignee=ANALYST, action=READ, targets=(NAME,))
    assert "without a decision log" in Decider([KEPT]).decide(request, NOW).reason


def test_decisions_and_queries_keep_apart_by_one_log(log):
    assert decide(log, NAME).permitted
    assert not may("SELECT age FROM People", log)
    assert not decide(log, AGE).permitted
    assert decide(log, AGE, assignee="http://x.org/other", policies=[ANYBODY]).permitted


ANYBODY = policy([rule(PEOPLE, assignee=None)], [rule(PEOPLE, APART, assignee=None)])
GROUP = "http://x.org/group"
MEMBERS = Hierarchy(party=((ANALYST, GROUP), ("http://x.org/other", GROUP)))


def test_what_a_group_has_read_its_members_have_and_the_other_way_round(log):
    options = {"policies": [ANYBODY], "hierarchy": MEMBERS}
    assert decide(log, NAME, assignee=GROUP, **options).permitted
    assert not decide(log, AGE, **options).permitted
    assert not decide(log, AGE, assignee=GROUP, **options).permitted


def test_what_one_member_has_read_another_has_not(log):
    options = {"policies": [ANYBODY], "hierarchy": MEMBERS}
    assert decide(log, NAME, **options).permitted
    assert decide(log, AGE, assignee="http://x.org/other", **options).permitted
    assert not decide(log, AGE, assignee=GROUP, **options).permitted


def test_a_permission_may_be_for_who_has_read_nothing_of_a_list(log):
    others = {"name": ["age", "secret"], "age": ["name", "secret"], "secret": ["name", "age"]}
    apart = policy(
        [
            rule(column(name), where(SO_FAR, "isNoneOf", columns(*rest)))
            for name, rest in others.items()
        ]
    )
    assert rows("SELECT age FROM People", apart) is None
    assert may("SELECT age FROM People", log, apart)
    assert not may("SELECT name FROM People", log, apart)
    assert not may("SELECT secret FROM People", log, apart)
    assert may("SELECT age FROM People", log, apart)


def test_what_was_denied_or_gave_no_row_was_not_read(log):
    men = where("sex", "eq", "male")
    of_others = policy([rule(VISITS, men)], [rule([PEOPLE, VISITS], APART)], uid="http://x.org/2")
    assert not may("SELECT cost FROM Visits", log, of_others)
    assert not may("SELECT name, age FROM People", log)
    assert log.history().assets(ANALYST) == ()
    assert may("SELECT age FROM People", log)


def test_rows_are_cut_out_by_what_all_of_a_query_reads(log):
    some = policy([rule([PEOPLE, VISITS])], [rule(PEOPLE, APART, where("id", "gt", 1))])
    assert len(rows("SELECT name FROM People", some, log=log)) == 4
    assert rows("SELECT age FROM People", some, log=log) == [(20,)]
    assert rows("SELECT age, cost FROM People p, Visits WHERE cost > 3", some, log=log) == [
        (20, 4.0)
    ]


def test_the_world_may_say_what_was_read_where_no_log_does(log):
    known = World(time=NOW.time, values={SO_FAR: (NAME,)})
    assert rows("SELECT age FROM People", KEPT, world=known) is None
    assert rows("SELECT id FROM People", KEPT, world=known) is not None
    with pytest.raises(RequestError, match="D005"):
        ask("SELECT id FROM People", KEPT, world=known, log=log)


def test_of_two_queries_at_once_one_has_its_column(tmp_path):
    path, start = tmp_path / "log.sqlite", Barrier(2)

    def asked(name):
        start.wait()
        return may(f"SELECT {name} FROM People", DecisionLog.open(path))

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(asked, ["name", "age"])) == [False, True]
