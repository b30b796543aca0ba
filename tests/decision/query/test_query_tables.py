"""What the datasets of a catalog are called in a query, and which types their columns have."""

from datetime import UTC, datetime, time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.data.catalog import make_catalog
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import QueryError

HERE, THERE = "http://x.org/a/", "http://x.org/b/"


def tables(*iris):
    return Tables(make_catalog({iri: pa.table({"id": [1]}) for iri in iris}))


@pytest.mark.parametrize(
    ("iris", "names"),
    [
        ((f"{HERE}People", f"{HERE}Visits"), ["People", "Visits"]),
        ((f"{HERE}People", f"{THERE}people"), [f"{HERE}People", f"{THERE}people"]),
        ((f"{HERE}a%20b", "http://x.org/c#d", "urn:x:e"), ["a b", "d", "e"]),
        ((f"{HERE}%FF",), ["%FF"]),
        ((f"{HERE}%00",), ["%00"]),
        (("http://x.org/A", "http://x.org/a"), ["http://x.org/A", "http://x.org/a 1"]),
        (
            (f"{HERE}a", f"{HERE}A", f"{THERE}a"),
            [f"{HERE}a", f"{HERE}A 1", f"{THERE}a"],
        ),
    ],
)
def test_table_is_called_by_the_end_of_its_iri_where_no_other_one_is(iris, names):
    assert dict(tables(*iris).names) == dict(zip(iris, names, strict=True))


@pytest.mark.parametrize(
    ("iris", "name", "found"),
    [
        ((f"{HERE}People",), "pEOPLE", f"{HERE}People"),
        ((f"{HERE}People",), f"{HERE}People", f"{HERE}People"),
        ((f"{HERE}People",), "HTTP://X.org/a/P%65ople", f"{HERE}People"),
        ((f"{HERE}People", f"{THERE}people"), "people", f"{THERE}people"),
        ((f"{HERE}People", f"{THERE}people"), "People", f"{HERE}People"),
        ((f"{HERE}a%20b",), "a b", f"{HERE}a%20b"),
        ((f"{HERE}a%20b",), "A%20B", f"{HERE}a%20b"),
        ((f"{HERE}a%20b",), "A B", f"{HERE}a%20b"),
        (("http://x.org/A", "http://x.org/a"), "a", "http://x.org/a"),
    ],
)
def test_table_is_found_by_its_iri_or_the_end_of_it_in_any_case(iris, name, found):
    assert tables(*iris).dataset(name).iri == found
    assert tables(*iris).is_name(name) or ":" in name


@pytest.mark.parametrize(
    ("iris", "name", "message", "hint"),
    [
        (
            (f"{HERE}People", f"{THERE}people"),
            "PEOPLE",
            f"Several tables are called 'PEOPLE': '{HERE}People' and '{THERE}people'.",
            "Write the whole IRI in double quotes.",
        ),
        ((f"{HERE}Visits", f"{HERE}People"), "x", "Given: 'People' and 'Visits'.", ""),
        ((f"{HERE}People",), "Poeple", "Given: 'People'.", "Did you mean 'People'?"),
        ((f"{HERE}People",), f"{THERE}People", "Given: 'People'.", ""),
        ((), "x", "None is given.", ""),
    ],
)
def test_table_that_is_not_one_is_refused_with_those_that_are(iris, name, message, hint):
    with pytest.raises(QueryError) as caught:
        tables(*iris).dataset(name)
    [problem] = caught.value.problems
    given = message if message.startswith("Several") else f"There is no table {name!r}. {message}"
    assert (problem.code, problem.message, problem.hint) == ("Q003", given, hint)


@pytest.mark.parametrize(
    ("name", "is_name"),
    [("people", True), ("A b", True), ("a%20B", True), (f"{HERE}PEOPLE", True), ("c", False)],
)
def test_name_that_could_be_taken_for_a_table_is_known(name, is_name):
    assert tables(f"{HERE}People", f"{HERE}a%20b").is_name(name) is is_name


def test_number_that_keeps_two_names_apart_is_a_name_too():
    assert tables("http://x.org/A", "http://x.org/a").is_name("HTTP://x.org/a 1")


# -- types --------------------------------------------------------------------------------------

PEOPLE = f"{HERE}People"
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def types(table, *names, **options):
    found = Tables(make_catalog({PEOPLE: table}, **options)).types(PEOPLE, names)
    return {name: str(kind) for name, kind in found.items()}


def test_types_are_those_of_the_values():
    texts = pa.array(["a", "a"]).dictionary_encode()
    table = pa.table({"id": pa.array([1, 2], pa.int8()), "kind": texts, "none": pa.nulls(2)})
    assert types(table, "id", "kind") == {"id": "int8", "kind": "string"}
    assert types(table, "none") == {"none": "null"}
    assert types(table) == {}


def test_types_of_csv_are_those_in_which_all_values_are_written(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("id,day,age,none\n1,2020-01-01,20,\n2,,x,\n")
    expected = {"id": "int64", "day": "date32[day]", "age": "string", "none": "null"}
    assert types(file, *expected) == expected
    assert types(file) == {}


def test_types_of_parquet_are_those_of_its_schema_and_of_folders_texts(tmp_path):
    folder = tmp_path / "people.parquet" / "year=2020"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"id": pa.array([1], pa.int16())}), folder / "a.parquet")
    assert types(folder.parent, "id", "year") == {"id": "int16", "year": "string"}


def test_types_are_looked_at_once(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("id\n1\n")
    known = Tables(make_catalog({PEOPLE: file}))
    first = known.types(PEOPLE, ("id",))
    file.write_text("id\nx\n")
    assert known.types(PEOPLE, ("id",)) is first


def test_columns_are_read_as_they_are_asked_for(tmp_path):
    columns = {"id": [1, 2], "name": ["a", "b"], "age": [3, 4]}
    file = tmp_path / "people.parquet"
    pq.write_table(pa.table(columns), file)
    for given in (pa.table(columns), file):
        known = Tables(make_catalog({PEOPLE: given}))
        assert known.read(PEOPLE, ("age", "id")).to_pydict() == {"age": [3, 4], "id": [1, 2]}
        assert known.read(PEOPLE, ()).to_pydict() == {"id": [1, 2]}


def test_csv_is_read_as_it_is_written(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("id,age\n01,1.50\n2,\n")
    known = Tables(make_catalog({PEOPLE: file}))
    read = known.read(PEOPLE, ("id", "age"))
    assert read["id"].to_pylist() == ["01", "2"]
    assert known.typed(read)["age"].to_pylist()[0] in (1.5, read["age"].to_pylist()[0])


@pytest.mark.parametrize(
    ("kind", "cell", "shown", "typed"),
    [
        (pa.timestamp("ns"), datetime(2026, 6, 1), datetime(2026, 6, 1), "timestamp[us]"),  # noqa: DTZ001
        (pa.timestamp("ns", "UTC"), NOON, NOON, "timestamp[us, tz=UTC]"),
        (pa.timestamp("s"), datetime(2026, 6, 1), datetime(2026, 6, 1), "timestamp[s]"),  # noqa: DTZ001
        (pa.time64("ns"), time(10), time(10), "time64[us]"),
        (pa.float64(), float("nan"), None, "double"),
        (pa.int8(), 5, 5, "int8"),
        (pa.large_string(), "a", "a", "string"),
    ],
)
def test_values_are_of_types_that_sql_has(kind, cell, shown, typed):
    known = Tables(make_catalog({PEOPLE: pa.table({"id": [1]})}))
    found = known.typed(pa.table({"c": pa.array([cell, None], kind)}))
    assert (found["c"].to_pylist(), str(found["c"].type)) == ([shown, None], typed)


def test_half_floats_are_whole_ones():
    known = Tables(make_catalog({PEOPLE: pa.table({"id": [1]})}))
    halves = pa.array([1.5, None], pa.float32()).cast(pa.float16())
    found = known.typed(pa.table({"c": halves}))
    assert (found["c"].to_pylist(), str(found["c"].type)) == ([1.5, None], "float")


def test_moment_that_is_finer_than_sql_has_it_stays_as_it_is():
    known = Tables(make_catalog({PEOPLE: pa.table({"id": [1]})}))
    fine = pa.array([1], pa.timestamp("ns"))
    assert str(known.typed(pa.table({"c": fine}))["c"].type) == "timestamp[ns]"
