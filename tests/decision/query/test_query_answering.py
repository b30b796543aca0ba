import pyarrow as pa
import pytest
from building import DATASET, OUTPUT
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
    may_read,
    people_and_visits,
    policy,
    refined,
    rows,
    rule,
    where,
)

from policy_engine import apply_policy, query_data
from policy_engine.certificate.beside import load_certificate
from policy_engine.data.catalog import make_catalog
from policy_engine.decision import World
from policy_engine.decision.query import running
from policy_engine.decision.query.running import run
from policy_engine.errors import CertificateError, QueryError, RequestError
from policy_engine.policy import load_policy

MEN = where("sex", "eq", "male")


def test_rows_are_those_that_a_constraint_permits():
    assert rows("SELECT name FROM People", may_read("name", constraints=[MEN])) == [
        ("Bob",),
        ("Cid",),
    ]


def test_a_column_of_the_filter_cannot_be_asked_for():
    assert rows("SELECT name, sex FROM People", may_read("name", constraints=[MEN])) is None


def test_columns_are_granted_together_by_one_rule():
    apart = policy([rule(columns("name")), rule(columns("age"))])
    assert rows("SELECT name FROM People", apart)
    assert rows("SELECT age FROM People", apart)
    assert rows("SELECT name, age FROM People", apart) is None
    assert rows("SELECT name FROM People WHERE age > 1", apart) is None


def test_a_permission_that_is_over_permits_nothing():
    late = where("dateTime", "lt", {"@value": "2025-01-01T00:00:00Z", "@type": "xsd:dateTime"})
    assert rows("SELECT name FROM People", may_read("name", constraints=[late])) is None


def test_a_prohibition_without_purpose_and_assignee_prohibits():
    forbids = rule(columns("age"), MEN, assignee=None)
    both = policy([rule(columns("name", "age"))], [forbids])
    assert rows("SELECT age FROM People", both) == [(20,)]
    assert len(rows("SELECT name FROM People", both)) == 4


def test_what_is_unknown_is_prohibited():
    both = policy([rule(PEOPLE)], [rule(PEOPLE, MEN)])
    assert rows("SELECT id FROM People", both) == [(1,)]


def test_or_in_a_prohibition_prohibits_either():
    either = {"or": {"@list": [where("age", "gt", 35), where("age", "lt", 25)]}}
    both = policy([rule(PEOPLE)], [rule(PEOPLE, either)])
    assert rows("SELECT id FROM People", both) == [(2,)]


def test_two_permissions_are_alternatives():
    two = policy([rule(PEOPLE, MEN), rule(PEOPLE, where("age", "lteq", 20))])
    assert rows("SELECT id FROM People", two) == [(1,), (2,), (3,)]


def test_a_constraint_of_another_assignee_is_not_applied():
    other = rule(PEOPLE, where("age", "gt", 100), assignee="http://x.org/other")
    assert len(rows("SELECT id FROM People", policy([other, rule(PEOPLE)]))) == 4
    assert rows("SELECT id FROM People", policy([other])) is None


def test_a_rule_on_a_table_is_none_on_a_table_whose_name_it_begins():
    longer = policy([rule(f"{PEOPLE}2")])
    assert rows("SELECT id FROM People", longer) is None
    assert rows("SELECT id FROM People", policy([rule(PEOPLE[:-1])])) is None


def test_xone_is_exactly_one():
    one = {"xone": {"@list": [MEN, where("age", "gt", 35)]}}
    assert rows("SELECT id FROM People", policy([rule(PEOPLE, one)])) == [(2,)]


@pytest.mark.parametrize("value", ["19/02/2020", "2020", "2020-02-30", "", "2020-02-19Z"])
def test_a_date_that_is_none_is_refused_and_never_cut(value):
    data = make_catalog({PEOPLE: pa.table({"id": [1], "day": pa.array([0], pa.date32())})})
    read = policy([rule(PEOPLE, where("day", "gt", value))])
    with pytest.raises(QueryError, match="Q007"):
        ask("SELECT id FROM People", read, data=data)


VALUES = ["1 OR 1=1", "male' OR '1'='1", "x'; DROP TABLE People; --", "\\"]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_of_a_policy_is_a_value(value):
    read = policy([rule(PEOPLE, where("sex", "eq", value))])
    data = catalog({**PEOPLE_ROWS, "sex": [value, "x", None, "male"]})
    assert rows("SELECT id FROM People", read, data=data) == [(1,)]


@pytest.mark.parametrize(
    ("dialect", "literal"),
    [
        ("spark", r"'\\\' OR 1=1 --'"),
        ("postgres", r"'\'' OR 1=1 --'"),
        ("duckdb", r"'\'' OR 1=1 --'"),
    ],
)
def test_a_value_of_a_policy_is_quoted_as_the_dialect_does(dialect, literal):
    read = policy([rule(PEOPLE, where("sex", "eq", "\\' OR 1=1 --"))])
    sql = ask("SELECT id FROM People", read, dialect=dialect, run=False).sql
    assert f"= {literal}, FALSE)" in sql


def test_a_value_of_a_policy_is_a_value_of_a_number():
    with pytest.raises(QueryError, match="Q007"):
        ask("SELECT id FROM People", policy([rule(PEOPLE, where("age", "eq", "1 OR 1=1"))]))


def test_a_text_is_read_by_the_type_of_its_column():
    read = policy([rule(PEOPLE, where("age", "gteq", "30"))])
    assert rows("SELECT id FROM People", read) == [(2,), (3,)]


def test_union_hides_no_table():
    only = policy([rule(VISITS)])
    assert rows("SELECT id FROM Visits UNION SELECT id FROM People", only) is None
    assert rows("SELECT id FROM Visits UNION ALL SELECT id FROM Visits", only) is not None


def test_stars_ctes_counts_and_plain_columns_are_understood():
    read = people_and_visits(MEN)
    assert rows("SELECT * FROM People", read)[0] == (2, "Bob", "male", 30, "s2")
    assert rows("SELECT count(*) FROM People", read) == [(2,)]
    assert rows("WITH men AS (SELECT * FROM People) SELECT count(*) FROM men", read) == [(2,)]
    assert rows("SELECT cost, age FROM People NATURAL JOIN Visits", read) == [(4.0, 30)]


def test_a_table_of_which_no_column_is_read_is_decided_on_as_a_whole():
    some = may_read("id", "name")
    assert rows("SELECT count(*) FROM People", some) is None
    assert rows("SELECT count(id) FROM People", some) == [(4,)]
    assert rows("SELECT v.id FROM Visits v, People", some) is None


def test_the_filter_holds_below_an_outer_join():
    read = people_and_visits(MEN)
    sql = "SELECT v.cost, p.age FROM Visits v LEFT JOIN People p ON v.id = p.id"
    assert rows(sql, read) == [(1.5, None), (2.5, None), (4.0, 30)]


def test_a_query_that_fails_on_hidden_rows_does_not_fail():
    data = catalog({**PEOPLE_ROWS, "name": ["hidden", "2", "3", "hidden"]})
    read = may_read("name", constraints=[MEN])
    assert rows("SELECT CAST(name AS INT) FROM People", read, data=data) == [(2,), (3,)]


def test_a_query_that_fails_on_rows_says_so():
    with pytest.raises(QueryError, match=r"Q008.*conversion") as error:
        ask("SELECT CAST(name AS INT) FROM People", may_read("name", constraints=[MEN]))
    assert "Bob" not in str(error.value)


def test_a_prohibition_yields_to_its_own_policy_alone():
    mine = policy([rule(PEOPLE, MEN)], [rule(PEOPLE)], uid="http://x.org/1", conflict="perm")
    other = policy([rule(PEOPLE)], uid="http://x.org/2")
    assert rows("SELECT id FROM People", mine, other) == [(2,), (3,)]
    strict = policy([rule(PEOPLE, MEN)], [rule(PEOPLE)], conflict="prohibit")
    assert rows("SELECT id FROM People", strict, other) is None


def test_a_constraint_on_another_table_is_not_understood():
    foreign = where(column("cost", VISITS), "gt", 1)
    assert rows("SELECT id FROM People", policy([rule(PEOPLE, foreign)])) is None
    both = policy([rule(PEOPLE), rule(VISITS)], [rule(PEOPLE, foreign)])
    assert rows("SELECT id FROM People", both) is None


@pytest.mark.parametrize("operator", ["isA", "hasPart", "isPartOf", "lt"])
def test_an_operator_that_a_text_does_not_have_permits_nothing(operator):
    odd = where("sex", operator, "male")
    result = ask("SELECT id FROM People", policy([rule(PEOPLE, odd)]))
    assert not result.permitted
    assert ask("SELECT id FROM People", policy([rule(PEOPLE)], [rule(PEOPLE, odd)])).table is None


def test_a_refinement_of_the_target_filters_rows():
    men = refined(PEOPLE, MEN)
    assert rows("SELECT id FROM People", policy([rule([men])])) == [(2,), (3,)]
    both = policy([rule(PEOPLE)], [rule([men])])
    assert rows("SELECT id FROM People", both) == [(1,)]


def test_a_prohibition_of_several_targets_of_which_one_is_refined_prohibits_every_row():
    plain = policy([rule(PEOPLE)], [rule([refined(column("age"), MEN), column("name")])])
    assert rows("SELECT age, name FROM People", plain) is None
    young, old = where("age", "lt", 25), where("age", "gt", 35)
    either = policy([rule(PEOPLE)], [rule([refined(PEOPLE, young), refined(column("age"), old)])])
    assert rows("SELECT id, age FROM People", either) is None


def test_a_part_that_is_not_understood_makes_the_rule_so():
    foreign = where(column("cost", VISITS), "gt", 1)
    either = {"or": {"@list": [foreign, MEN]}}
    result = ask("SELECT id FROM People", policy([rule(PEOPLE, either)]))
    assert [one.code for one in result.reasons] == ["Q006", "Q007"]


def test_two_of_xone_settle_it_whatever_is_unknown():
    three = [where("age", "gt", 35), where("id", "gt", 2), where("sex", "eq", "x")]
    both = policy([rule(PEOPLE)], [rule(PEOPLE, {"xone": {"@list": three}})])
    data = catalog({**PEOPLE_ROWS, "sex": [None] * 4})
    assert rows("SELECT id FROM People", both, data=data) == [(3,)]


def test_what_is_run_sees_nothing_else(monkeypatch):
    seen = []

    def noted(texts, tables):
        seen.append({name: (one.column_names, one.num_rows) for name, one in tables.items()})
        return run(texts, tables)

    monkeypatch.setattr(running, "run", noted)
    ask("SELECT name FROM People", may_read("id", "name", constraints=[MEN]))
    assert seen[-1] == {"People": (["name"], 2)}


def test_a_denial_names_the_columns_and_the_largest_choices():
    two = policy([rule(columns("id", "name")), rule(columns("id", "age"))])
    result = ask("SELECT id, name, age, secret FROM People", two)
    assert result.allowed == ({PEOPLE: ("id", "name")}, {PEOPLE: ("id", "age")})
    assert "'secret'" in result.reasons[0].message
    assert result.suggestion == 'SELECT "id", "name" FROM "People"'
    assert rows(result.suggestion, two) is not None


def test_no_smaller_query_is_suggested_where_a_condition_reads_too_much():
    result = ask("SELECT id FROM People WHERE secret = 's1'", may_read("id"))
    assert result.allowed == ({PEOPLE: ("id",)},)
    assert not result.suggestion


def test_no_smaller_query_is_suggested_where_entries_are_counted():
    assert not ask("SELECT secret, id FROM People ORDER BY 2", may_read("id")).suggestion


def test_a_suggestion_of_a_star_lists_what_may_be_read():
    result = ask("SELECT * FROM People p JOIN Visits USING (id)", may_read("id", "age"))
    assert rows(result.suggestion, may_read("id", "age"))[0] == (1, 20, 1.5, "a")


def test_without_run_nothing_is_read(tmp_path):
    import pyarrow.parquet as pq

    file = tmp_path / "people.parquet"
    pq.write_table(pa.table(PEOPLE_ROWS), file)
    data = make_catalog({PEOPLE: file})
    whole, damaged = file.read_bytes(), bytearray(file.read_bytes())
    damaged[4:60] = bytes(56)
    file.write_bytes(bytes(damaged))
    result = ask("SELECT id FROM People", policy([rule(PEOPLE, MEN)]), data=data, run=False)
    assert result.table is None
    assert "'male'" in result.sql
    file.write_bytes(whole)
    assert rows("SELECT id FROM People", policy([rule(PEOPLE, MEN)]), data=data) == [(2,), (3,)]


def test_files_of_csv_have_the_types_and_missing_values_of_the_engine(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("id,day,age,none\n1,2020-01-01,20,\n2,2021-01-01,,\n3,,40,\n")
    data = make_catalog({PEOPLE: file})
    late = policy([rule(PEOPLE, where("day", "lt", "2021-06-01"), where("age", "gt", "1"))])
    assert rows("SELECT id FROM People", late, data=data) == [(1,)]
    none = policy([rule(PEOPLE, where("none", "gt", 1))])
    assert rows("SELECT id FROM People", none, data=data) == []


def test_one_dialect_becomes_another():
    read = may_read("name", constraints=[MEN])
    text = ask("SELECT `name` FROM People", read, dialect="spark", run=False).sql
    assert text == (
        "SELECT `name` FROM (SELECT `People`.`name` FROM `People` "
        "WHERE COALESCE(`People`.`sex` = 'male', FALSE)) AS `People`"
    )


def test_tables_that_share_a_name_go_by_their_iris():
    other = "http://x.org/other/people"
    data = make_catalog({PEOPLE: pa.table({"id": [1]}), other: pa.table({"id": [2]})})
    read = policy([rule([PEOPLE, other])])
    assert rows(f'SELECT id FROM "{other}"', read, data=data) == [(2,)]
    assert rows("SELECT id FROM People", read, data=data) == [(1,)]
    with pytest.raises(QueryError, match="Q003"):
        ask("SELECT id FROM PEOPLE", read, data=data)


def test_tables_whose_iris_differ_in_case_alone_are_two():
    lower = PEOPLE.lower()
    data = make_catalog({PEOPLE: pa.table({"id": [1]}), lower: pa.table({"id": [2]})})
    read = policy([rule(PEOPLE)])
    assert rows(f'SELECT id FROM "{PEOPLE}"', read, data=data) == [(1,)]
    assert rows(f'SELECT id FROM "{lower}"', read, data=data) is None
    sql = f'SELECT a.id, b.id FROM "{PEOPLE}" a, "{lower}" b'
    assert rows(sql, policy([rule([PEOPLE, lower])]), data=data) == [(1, 2)]


def test_a_dataset_called_as_a_system_table_is_the_dataset():
    system = "http://x.org/pg_tables"
    data = make_catalog({system: pa.table({"id": [7]})})
    assert rows("SELECT * FROM pg_tables", policy([rule(system)]), data=data) == [(7,)]


def test_all_tables_are_decided_on_by_one_decision():
    result = ask("SELECT p.age FROM People p JOIN Visits v ON p.id = v.id", people_and_visits())
    assert set(result.decision.request.targets) == {
        *columns("id", "age"),
        column("id", VISITS),
    }


def test_columns_of_one_name_are_kept_apart():
    result = ask("SELECT v.id, w.id FROM Visits v JOIN Visits w USING (id)", policy([rule(VISITS)]))
    assert result.table.column_names == ["id", "id_2"]


def test_short_names_of_purposes_are_known():
    read = policy([rule(VISITS, purpose="marketing")])
    assert rows("SELECT id FROM Visits", read) is None
    assert len(rows("SELECT id FROM Visits", read, purpose="marketing")) == len(VISITS_ROWS["id"])


def test_data_of_an_output_is_what_was_certified(released):
    read = load_policy(released / "policy.jsonld")
    proof = [load_certificate(released / "release")]
    good = make_catalog({OUTPUT: released / "release" / "anonPeople.csv"})
    sql, options = "SELECT disease, age FROM anonPeople", {"purpose": "marketing"}
    assert len(rows(sql, read, data=good, certificates=proof, **options)) == 6
    assert rows(sql, read, data=good, **options) is None
    other = make_catalog({OUTPUT: released / "people.csv"})
    with pytest.raises(CertificateError, match="V004"):
        ask(sql, read, data=other, certificates=proof, **options)


@pytest.mark.parametrize("given", ["release", "release/anonPeople.csv"])
def test_an_output_is_given_by_its_iri(released, given):
    data, policies = {"": released / given}, [released / "policy.jsonld"]
    asked = rf"D001 .*that of {DATASET}, and .*is the output {OUTPUT}\. .*={released}/release/anon"
    with pytest.raises(RequestError, match=asked):
        query_data("SELECT age FROM anonPeople", policies, "http://x.org/analyst", data)


def test_a_table_in_memory_is_what_was_certified(people):
    read = load_policy(people / "policy.jsonld")
    release = apply_policy(read, {DATASET: people / "people.csv"})
    sql, options = "SELECT count(*) FROM anonPeople", {"purpose": "marketing"}
    proof = {"certificates": [release.certificate], **options}
    assert rows(sql, read, data=make_catalog({OUTPUT: release.table}), **proof) == [(6,)]
    with pytest.raises(CertificateError, match="V004"):
        ask(sql, read, data=make_catalog({OUTPUT: release.table.slice(1)}), **proof)


@pytest.mark.parametrize("sql", ["SELECT count(*) AS n FROM Visits", "SELECT id FROM Visits"])
def test_an_operand_beside_the_datasets_is_no_column_of_one(sql):
    own = "http://x.org/data/clearance"
    high = policy([rule(VISITS, where(own, "gteq", 3))])
    for level, permitted in ((5, True), (2, False)):
        known = World(time=NOW.time, values={own: (level,)})
        assert ask(sql, high, world=known).permitted == permitted
