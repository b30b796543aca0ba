"""One rule grants all that one query reads, and a query is as strict as a decision."""

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from building import PEOPLE as SIX
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from query_samples import (
    NOW,
    PEOPLE,
    PEOPLE_ROWS,
    VISITS,
    VISITS_ROWS,
    ask,
    catalog,
    column,
    columns,
    people_and_visits,
    policy,
    refined,
    rows,
    rule,
    where,
)

from policy_engine import apply_policy
from policy_engine.data.catalog import make_catalog
from policy_engine.decision import Decider, Request
from policy_engine.policy import read_policy
from policy_engine.policy.model import READ

JOIN = "SELECT p.age, v.cost FROM People p JOIN Visits v ON p.id = v.id"
MEN = where("sex", "eq", "male")
OLD = where("age", "gt", 35)
DEAR = where(column("cost", VISITS), "gt", 3)
READ_BY_JOIN = (*columns("id", "age"), column("id", VISITS), column("cost", VISITS))


def decide(targets, *policies):
    request = Request(assignee=ANALYST, action=READ, targets=tuple(targets))
    return Decider(policies).decide(request, NOW)


def test_two_tables_that_two_rules_grant_are_not_joined():
    apart = policy([rule(PEOPLE), rule(VISITS)])
    assert not decide(READ_BY_JOIN, apart).permitted
    result = ask(JOIN, apart)
    assert not result.permitted
    assert "all of it together, may not be read" in result.reasons[0].message
    assert str(result.reasons[1]) == (
        "Q006 Each of 'People' and 'Visits' may be read alone. "
        "One permission has to name all of them as its target."
    )
    assert result.decision.request.targets == READ_BY_JOIN
    assert rows("SELECT age FROM People", apart)
    assert rows("SELECT cost FROM Visits", apart)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age FROM People UNION ALL SELECT cost FROM Visits",
        "SELECT age FROM People WHERE id IN (SELECT id FROM Visits)",
        "SELECT age, (SELECT max(cost) FROM Visits) AS top FROM People",
        "SELECT age FROM People ORDER BY (SELECT max(cost) FROM Visits)",
        "WITH v AS (SELECT cost FROM Visits) SELECT age, cost FROM People, v",
        "SELECT age FROM People LIMIT (SELECT count(*) FROM Visits)",
    ],
)
def test_what_is_read_anywhere_in_a_query_is_read_together(sql):
    assert rows(sql, policy([rule(PEOPLE), rule(VISITS)])) is None
    assert rows(sql, people_and_visits()) is not None


def test_what_may_not_be_read_alone_either_is_not_said_to_be():
    result = ask(JOIN, policy([rule(PEOPLE)]))
    assert [one.code for one in result.reasons] == ["Q006"]


def test_a_denial_says_which_columns_of_several_tables_one_rule_grants():
    both = policy([rule([*columns("id", "age"), VISITS]), rule(PEOPLE)])
    result = ask("SELECT age, secret, cost FROM People p JOIN Visits v ON p.id = v.id", both)
    assert result.allowed == (
        {PEOPLE: ("id", "age"), VISITS: ("id", "cost")},
        {PEOPLE: ("id", "age", "secret")},
    )
    assert rows(result.suggestion, both) == [(20, 1.5), (20, 2.5), (30, 4.0)]


def test_rows_of_one_target_are_read_with_those_of_another():
    assert rows(JOIN, people_and_visits(MEN)) == [(30, 4.0)]
    dear = policy([rule([PEOPLE, refined(VISITS, DEAR)])])
    assert rows(JOIN, dear) == [(30, 4.0)]


def test_a_constraint_on_the_rows_of_one_table_grants_none_of_another():
    men = policy([rule([PEOPLE, VISITS], MEN)])
    result = ask("SELECT cost FROM Visits, People WHERE People.id = 2", men)
    assert not result.permitted
    assert "a column of another table" in result.reasons[-1].message
    assert rows("SELECT age FROM People", men) == [(30,), (40,)]


def test_two_rules_that_differ_in_the_rows_of_one_table_count_together():
    two = policy([rule([refined(PEOPLE, MEN), VISITS]), rule([refined(PEOPLE, OLD), VISITS])])
    assert len(rows("SELECT p.id, note FROM People p, Visits", two)) == 2 * 3
    young = where("age", "lt", 25)
    crossed = policy(
        [rule([refined(PEOPLE, young), VISITS]), rule([PEOPLE, refined(VISITS, DEAR)])]
    )
    # Ann with any visit, or anybody with a dear one: rows that no single rule grants never meet.
    assert rows("SELECT p.id, note FROM People p, Visits", crossed) == [
        (1, "a"),
        (1, "b"),
        (1, "c"),
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_a_rule_that_lets_all_be_read_together_counts_wherever_it_stands(order):
    narrow = rule([refined(PEOPLE, MEN), refined(VISITS, DEAR)])
    result = ask(JOIN, policy([narrow, rule([PEOPLE, VISITS])][::order]))
    assert result.table.num_rows == 3
    assert not result.reasons
    [counted] = result.decision.counted
    assert counted.rule == result.decision.rule == f"http://x.org/policy/p{int(order == 1)}"
    assert "'http://x.org/policy/p" not in result.decision.reason


@pytest.mark.parametrize("order", [1, -1])
def test_of_rules_for_rows_of_several_tables_one_is_chosen_by_what_it_means(order):
    old = [refined(PEOPLE, OLD), VISITS]
    both = [refined(PEOPLE, MEN), refined(VISITS, DEAR)]
    chosen, left = (f"http://x.org/policy/{name}" for name in ("a", "b"))
    rules = [rule(old, uid=chosen), rule(both, uid=left)]
    result = ask("SELECT age, cost FROM People, Visits", policy(rules[::order]))
    assert {row["age"] for row in result.table.to_pylist()} == {40}
    assert result.table.num_rows == 3
    [told] = result.reasons
    assert (told.code, left in told.message, chosen in told.hint) == ("Q009", True, True)
    assert [one.rule for one in result.decision.counted] == [result.decision.rule] == [chosen]


def test_a_rule_that_adds_no_row_is_not_counted():
    rules = [rule(PEOPLE, MEN, OLD), rule(PEOPLE, MEN), rule(PEOPLE, where("sex", "eq", "none"))]
    result = ask("SELECT age FROM People", policy(rules))
    names = [one.rule.rsplit("/", 1)[1] for one in result.decision.counted]
    assert sorted(names) == ["p1", "p2"]
    never = rule(PEOPLE, where("dateTime", "lt", {"@value": "2020-01-01", "@type": "xsd:date"}))
    result = ask("SELECT age FROM People", policy([never, rule(PEOPLE, MEN)]))
    assert [one.rule for one in result.decision.counted] == ["http://x.org/policy/p1"]


def test_a_prohibition_on_the_rows_of_one_table_holds_in_a_join():
    held = policy([rule([PEOPLE, VISITS])], [rule(PEOPLE, where("id", "eq", 1))])
    assert rows(JOIN, held) == [(30, 4.0)]
    of_both = policy([rule([PEOPLE, VISITS])], [rule([PEOPLE, VISITS], where("id", "eq", 1))])
    assert rows(JOIN, of_both) is None


def test_a_permission_for_a_part_lifts_no_prohibition_of_the_whole():
    mine = policy([rule(PEOPLE)], [rule(PEOPLE)], uid="http://x.org/mine", conflict="perm")
    other = policy([rule([PEOPLE, VISITS])], uid="http://x.org/other")
    assert rows("SELECT age FROM People", mine, other)
    assert not decide(READ_BY_JOIN, mine, other).permitted
    assert rows(JOIN, mine, other) is None


def jointly(operator, *assets):
    return where("https://w3id.org/policy-engine/ns#jointly", operator, [*assets])


def test_jointly_forbids_what_is_read_in_one_query():
    both = column("cost", VISITS), column("age")
    apart = policy([rule([PEOPLE, VISITS])], [rule([PEOPLE, VISITS], jointly("isAllOf", *both))])
    assert rows(JOIN, apart) is None
    assert rows("SELECT p.name, cost FROM People p JOIN Visits v ON p.id = v.id", apart)
    rest = jointly("isAllOf", *both), MEN
    in_part = policy([rule([PEOPLE, VISITS])], [rule(PEOPLE, *rest)])
    assert rows("SELECT p.age, v.cost FROM People p, Visits v", in_part) is not None
    assert {age for age, _ in rows("SELECT p.age, v.cost FROM People p, Visits v", in_part)} == {20}
    assert len(rows("SELECT age FROM People", in_part)) == len(PEOPLE_ROWS["id"])


def test_a_permission_for_what_is_read_jointly_is_for_nothing_else():
    named = policy([rule([PEOPLE, VISITS], jointly("isAnyOf", *READ_BY_JOIN))])
    assert rows(JOIN, named)
    assert rows(JOIN.replace("p.age", "p.age, p.name"), named) is None
    assert rows("SELECT count(*) FROM Visits", named) is None


# -- outputs and their inputs -----------------------------------------------------------------


LINK = "SELECT o.age, i.name FROM anonPeople o JOIN People i ON o.disease = i.disease"
READ_BY_LINK = (
    *(f"{OUTPUT}/{name}" for name in ("age", "disease")),
    *(f"{DATASET}/{name}" for name in ("name", "disease")),
)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The policy that anonymises six people, their table, and the release."""
    file = tmp_path_factory.mktemp("people") / "people.csv"
    file.write_text(SIX)
    owner = read_policy(people_policy())
    return owner, file, apply_policy(owner, {DATASET: file})


def linked(release, sql, *constraints, targets=(DATASET, OUTPUT)):
    """Return what a query comes to under a rule for an output and its input, as in `decide`."""
    owner, file, made = release
    both = policy([rule([*targets], *constraints)], uid="http://x.org/linking")
    data = make_catalog({DATASET: file, OUTPUT: made.table})
    found = ask(sql, owner, both, data=data, certificates=[made.certificate])
    asked = found.decision.request
    decision = Decider([owner, both], [made.certificate]).decide(asked, NOW)
    assert decision.permitted == found.permitted
    return found


def test_a_release_is_not_joined_with_its_input_though_one_rule_covers_both(release):
    found = linked(release, LINK)
    assert not found.permitted
    assert "does not name both in pe:jointly" in found.reasons[0].message
    assert set(found.decision.request.targets) == set(READ_BY_LINK)
    assert linked(release, "SELECT age FROM anonPeople").permitted
    assert linked(release, "SELECT age FROM People").permitted
    assert found.allowed == (
        {OUTPUT: ("age", "disease")},
        {DATASET: ("name", "disease")},
    )


def test_a_release_is_joined_with_its_input_where_a_rule_names_both(release):
    named = jointly("isAnyOf", OUTPUT, f"{DATASET}/disease", f"{DATASET}/name")
    assert linked(release, LINK, named).table.num_rows == 6 * 3
    assert not linked(release, LINK.replace("i.name", "i.phone"), named).permitted


@pytest.mark.parametrize(
    "assets",
    [
        [OUTPUT],
        [DATASET],
        [f"{OUTPUT}/age", f"{OUTPUT}/disease"],
        ["http://x.org"],
        ["http://x.org", OUTPUT],
        [OUTPUT, f"{DATASET}/disease"],
    ],
    ids=["output", "input", "columns", "above", "above and output", "too few columns"],
)
def test_what_does_not_name_an_output_and_its_input_lets_neither_be_joined(release, assets):
    assert not linked(release, LINK, jointly("isAnyOf", *assets)).permitted
    assert not linked(release, LINK, jointly("isAllOf", *assets)).permitted


def test_or_names_nothing(release):
    named = jointly("isAnyOf", OUTPUT, DATASET)
    either = {"or": {"@list": [named, where("dateTime", "gt", "2020-01-01T00:00:00Z")]}}
    assert not linked(release, LINK, either).permitted


# -- as strict as decisions -----------------------------------------------------------------------

ASSETS = (PEOPLE, VISITS, *columns("id", "age"), column("id", VISITS), column("cost", VISITS))
SOME = st.lists(st.sampled_from(ASSETS), min_size=1, max_size=4, unique=True)
JOINTLY = st.builds(jointly, st.sampled_from(["isAnyOf", "isAllOf", "isNoneOf"]), SOME)
RULES = st.builds(rule, SOME, *[JOINTLY]) | st.builds(rule, SOME)
POLICIES = st.builds(
    policy,
    st.lists(RULES, min_size=1, max_size=4),
    st.lists(RULES, max_size=2),
    conflict=st.sampled_from(["perm", "prohibit"]),
)
READ_OF = {
    "People p": (["p.id", "p.age"], PEOPLE),
    "Visits v": (["v.id", "v.cost"], VISITS),
}


@settings(max_examples=examples(50))
@given(POLICIES, st.data())
def test_a_query_is_permitted_where_the_decision_on_all_it_reads_is(given_policy, data):
    tables = data.draw(st.lists(st.sampled_from([*READ_OF]), min_size=1, unique=True))
    names, targets = [], []
    for table in tables:
        every, dataset = READ_OF[table]
        some = data.draw(st.lists(st.sampled_from(every), unique=True))
        names += some
        targets += [column(name[2:], dataset) for name in some] or [dataset]
    sql = f"SELECT {', '.join(names) or '1'} FROM {', '.join(tables)}"
    result = ask(sql, given_policy, data=DATA, run=False)
    assert result.permitted == decide(targets, given_policy).permitted
    if result.suggestion:
        assert ask(result.suggestion, given_policy, data=DATA, run=False).permitted


DATA = catalog()
OF_PEOPLE = st.none() | st.builds(
    where, st.just("id"), st.sampled_from(["lt", "gt"]), st.integers(0, 4)
)
OF_VISITS = st.none() | st.builds(
    where, st.just(column("cost", VISITS)), st.sampled_from(["lt", "gt"]), st.integers(0, 4)
)
HALVES = st.lists(st.tuples(OF_PEOPLE, OF_VISITS), min_size=1, max_size=3)


def of_rows(halves):
    """Return a rule for some people and some visits."""
    some, others = halves
    people = refined(PEOPLE, some) if some else PEOPLE
    return rule([people, refined(VISITS, others) if others else VISITS])


def holds(constraint, value):
    if constraint is None:
        return True
    right = constraint["rightOperand"]
    return value < right if constraint["operator"] == "lt" else value > right


@settings(max_examples=examples(30))
@given(HALVES, OF_PEOPLE)
def test_rows_of_two_tables_meet_where_one_rule_grants_both(permitted, forbidden):
    held = [rule([refined(PEOPLE, forbidden)])] if forbidden else []
    found = rows(PAIRS, policy([of_rows(one) for one in permitted], held), data=DATA) or []
    by_rule = [
        {
            (number, note)
            for number in PEOPLE_ROWS["id"]
            for note, cost in zip("abc", VISITS_ROWS["cost"], strict=True)
            if holds(some, number) and holds(others, cost)
            if not (forbidden and holds(forbidden, number))
        }
        for some, others in permitted
    ]
    assert set(found) <= set.union(*by_rule)
    assert any(set(found) >= one for one in by_rule)


PAIRS = "SELECT p.id, v.note FROM People p, Visits v"
