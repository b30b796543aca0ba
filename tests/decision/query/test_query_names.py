"""Names of columns that differ slightly from the data's: never a way around a prohibition."""

import unicodedata
from urllib.parse import quote, unquote

import pyarrow as pa
import pytest
from building import ANALYST
from everyday import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from query_samples import NOW, PEOPLE, VISITS, ask, column, policy, rows, rule, where

from policy_engine.api.deciding import decide_request
from policy_engine.data.catalog import make_catalog
from policy_engine.data.column_names import column_iri, fold_name
from policy_engine.decision import World, read_request
from policy_engine.decision.query.answering import query
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.plan.spelling import column_problems
from policy_engine.policy import Hierarchy

E_ACUTE, E_AND_ACUTE = "\u00e9", "e\u0301"


def table(*names):
    return make_catalog({PEOPLE: pa.table({name: [n] for n, name in enumerate(names)})})


def on(name):
    """Return a policy that permits the people but for one column."""
    return policy([rule(PEOPLE)], [rule(f"{PEOPLE}/{name}")])


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        *(("name", "Name"), ("NAME", "name"), ("%4Eame", "name"), ("n%61me", "Name")),
        *(("%20Name", " Name"), ("%20name", " Name"), ("a%2Fb", "a/b"), ("a%2fb", "A/b")),
        *((E_ACUTE, E_ACUTE), ("%C3%A9", E_ACUTE), ("e%CC%81", E_AND_ACUTE), ("a.b", "a.b")),
        *((E_ACUTE, E_AND_ACUTE), (E_AND_ACUTE, E_AND_ACUTE), ("e%CC%81", E_ACUTE)),
        *(("a%22b", 'a"b'), ("100%25", "100%"), ("%2541", "%41")),
    ],
)
def test_a_prohibition_binds_the_column_as_sql_matches_its_name(name, asked):
    data = table(asked, "other")
    quoted = asked.replace('"', '""')
    assert rows(f'SELECT "{quoted}" FROM People', on(name), data=data) is None
    assert rows("SELECT * FROM People", on(name), data=data) is None
    assert rows("SELECT other FROM People", on(name), data=data) == [(1,)]


@pytest.mark.parametrize("asked", ["Name", "name", "NAME"])
def test_a_permission_is_of_the_column_as_sql_matches_its_name(asked):
    read = policy([rule(column("name"))])
    assert rows("SELECT nAME FROM People", read, data=table(asked, "other")) == [(0,)]
    assert rows("SELECT other FROM People", read, data=table(asked, "other")) is None


def test_a_constraint_is_about_the_column_as_sql_matches_its_name():
    data = make_catalog({PEOPLE: pa.table({"Name": ["a", "b"], "Age": [1, 2]})})
    read = policy([rule(PEOPLE, where("AGE", "gt", 1))])
    assert rows("SELECT name FROM People", read, data=data) == [("b",)]
    held = policy([rule(PEOPLE)], [rule(PEOPLE, where("age", "gt", 1))])
    assert rows("SELECT name FROM People", held, data=data) == [("a",)]


@pytest.mark.parametrize(
    ("name", "columns", "hint"),
    [
        ("Name", (" Name", "other"), "Did you mean ' Name', http://x.org/data/People/%20Name?"),
        ("Name", ("Name ", "other"), "%20"),
        ("Name", ("Nme", "other"), "Did you mean 'Nme'?"),
        ("a/b", ("a/b", "other"), "written as %2F"),
        ("a#b", ("a#b", "other"), "written as %2F"),
        ("a%2541", ("aA", "other"), ""),
        ("secret", ("other",), ""),
    ],
)
def test_a_column_that_the_data_lacks_is_an_error_with_the_nearest_name(name, columns, hint):
    for sql in ("SELECT other FROM People", "SELECT 1"):
        with pytest.raises(DataError) as caught:
            ask(sql, on(name), data=table(*columns))
        [problem] = caught.value.problems
        assert problem.code == "C005"
        assert hint in problem.hint
        assert problem.place.pointer == "/prohibition/0/target/0"


@pytest.mark.parametrize(
    "where_it_stands",
    [
        {"target": [f"{PEOPLE}/nmae"]},
        {"constraint": [where("nmae", "eq", "x")]},
        {"target": {"source": PEOPLE, "refinement": [where("nmae", "eq", "x")]}},
        {"target": {"@type": "Asset", "uid": "http://x.org/e", "partOf": f"{PEOPLE}/nmae"}},
    ],
)
@pytest.mark.parametrize("kind", ["permission", "prohibition"])
def test_a_column_counts_wherever_a_rule_names_it(where_it_stands, kind):
    one = {"uid": "http://x.org/r", "assignee": ANALYST, "target": PEOPLE, "action": "read"}
    parts = {kind: [{**one, **where_it_stands}]}
    plain = [rule(PEOPLE)] if kind == "prohibition" else []
    with pytest.raises(DataError, match="C005"):
        ask("SELECT id FROM People", policy(plain, **parts))


def test_a_column_counts_in_hierarchies_too():
    edges = Hierarchy(asset=((column("nmae"), "http://x.org/personal"),))
    held = policy([rule(PEOPLE)], [rule("http://x.org/personal")])
    for given_by in ({"hierarchy": edges}, {"world": World(time=NOW.time, memberships=edges)}):
        with pytest.raises(DataError, match="C005"):
            ask("SELECT id FROM People", held, **given_by)
    edges = Hierarchy(asset=((column("NAME"), "http://x.org/personal"),))
    assert rows("SELECT name FROM People", held, hierarchy=edges) is None
    assert len(rows("SELECT id FROM People", held, hierarchy=edges)) == 4


def test_a_dataset_in_another_case_is_an_error():
    for other in (PEOPLE.lower(), f"{PEOPLE.upper().replace('HTTP', 'http')}/name"):
        with pytest.raises(DataError, match="C001"):
            ask("SELECT id FROM People", policy([rule(PEOPLE)], [rule(other)]))


def test_what_policies_say_of_other_data_is_none_of_it():
    other = policy([rule(PEOPLE), rule("http://x.org/data/Other/name"), rule(f"{PEOPLE}2/x")])
    assert len(rows("SELECT id FROM People", other)) == 4


def test_what_is_made_of_a_dataset_is_no_column_of_it():
    made = {"output": f"{PEOPLE}/safe", "action": "use"}
    both = policy([rule(PEOPLE, **made), rule(f"{PEOPLE}/safe/x"), rule(f"{PEOPLE}/safe")])
    assert column_problems(both, table("id")) == []
    with pytest.raises(PolicyEngineError, match=r"lies within .* which data is given for"):
        ask("SELECT id FROM People", both)


ODD = [E_ACUTE, E_AND_ACUTE, "\u0130", "\u1e9e", "\u200b"]
LETTERS = st.sampled_from([*"aAbB .\"'%/?#\\-~_", *ODD])
NAMES = st.lists(LETTERS, min_size=1, max_size=4).map("".join)


def spelled(draw, name):
    """Draw a way to write a column's name in an IRI."""
    changed = draw(st.sampled_from([str, str.upper, str.lower, str.strip, str.swapcase]))(name)
    form = draw(st.sampled_from(["", "NFC", "NFD", "NFKC"]))
    changed = unicodedata.normalize(form, changed) if form else changed
    safe = draw(st.sampled_from(["", "/", "/?#", E_ACUTE + E_AND_ACUTE]))
    written = "".join(one if one in safe else quote(one, safe="") for one in changed)
    encoded = draw(st.sampled_from(["", "a", "A"]))
    return written.replace(encoded, f"%{ord(encoded):02x}") if encoded else written


@st.composite
def cases(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique_by=fold_name))
    near = draw(st.sampled_from(names))
    return names, spelled(draw, near)


def permitted(names, held):
    """Return the columns that may be read: none, where a name is refused as an error."""
    data = make_catalog({PEOPLE: pa.table({name: [1] for name in names}), VISITS: {"a": [1]}})
    found = []
    for name in names:
        quoted = name.replace('"', '""')
        sql = f'SELECT "{quoted}" FROM People'
        if query(sql, [held], ANALYST, data, world=NOW).permitted:
            found.append(name)
    return found


def check_prohibited(names, written):
    """Two names are one here where they are once case, blanks and forms of accents are gone."""
    try:
        held = on(written)
        found = permitted(names, held)
    except PolicyEngineError:
        return
    meant = fold_name(unquote(written))
    assert [name for name in found if fold_name(name) == meant] == []
    assert len(found) == len(names) - 1  # a name that means nothing would have been an error


@settings(deadline=None, max_examples=examples(60))
@given(cases())
@example((["a/b"], "a/b"))
@example(([" A"], "A"))
@example(([E_AND_ACUTE], E_ACUTE))
def test_what_is_prohibited_by_any_spelling_is_never_given_out(case):
    check_prohibited(*case)


@pytest.mark.nightly
@given(cases())
def test_what_is_prohibited_by_many_spellings_is_never_given_out(case):
    check_prohibited(*case)


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(NAMES, min_size=1, max_size=3, unique_by=fold_name), st.data())
def test_every_column_has_an_iri_that_prohibits_it_alone(names, data):
    assume(not {".", ".."} & set(names))
    name = data.draw(st.sampled_from(names))
    held = policy([rule(PEOPLE)], [rule(column_iri(PEOPLE, name))])
    assert permitted(names, held) == [other for other in names if other != name]
    read = policy([rule(column_iri(PEOPLE, name))])
    assert permitted(names, read) == [name]


def test_a_request_is_in_the_datas_spelling_too():
    data = {PEOPLE: pa.table({"Name": ["x"], "age": [1]})}
    held = on("name")

    def decided(target):
        asked = read_request(ANALYST, "read", [f"{PEOPLE}/{target}"])
        return decide_request([held], [], asked, data=data, world=NOW).permitted

    assert not decided("Name")
    assert not decided("NAME")
    assert decided("age")
    assert decided("AGE")
    with pytest.raises(DataError, match="C005"):
        decided("%20name")


@pytest.mark.parametrize("name", ["Bücher", "bücher", '"B%C3%BCcher"', '"http://x.org/Bücher"'])
def test_a_table_is_called_with_letters_of_any_script(name):
    books = "http://x.org/B%C3%BCcher"
    data = make_catalog({"http://x.org/Bücher": pa.table({"id": [1]})})
    assert rows(f"SELECT id FROM {name}", policy([rule(books)]), data=data) == [(1,)]
