import datetime as dt
import sqlite3
from contextlib import closing

import duckdb
import pytest
from applying import applied, rows_of

from policy_engine.data.catalog import make_catalog
from policy_engine.data.places.database_files import read_duckdb, read_sqlite
from policy_engine.engines.tables import table_digest
from policy_engine.errors import DataError

IRI = "http://x.org/People"
ROWS = {"name": ["Ann", "Ben"], "age": [20, 30]}


@pytest.fixture(params=["duckdb", "sqlite"])
def make(request, tmp_path):
    """Return what makes a database of statements, and says where its table `people` is."""
    number = iter(range(9))

    def run(*statements):
        path = tmp_path / f"people{next(number)}.db"
        opened = duckdb.connect if request.param == "duckdb" else sqlite3.connect
        with closing(opened(str(path))) as database:
            for one in statements:
                database.execute(one)
            database.commit() if request.param == "sqlite" else None
        return f"{request.param}:{path}#people"

    return run


PEOPLE = "CREATE TABLE people (name TEXT, age BIGINT)"


def test_a_table_is_read_in_the_order_of_its_values(make):
    place = make(PEOPLE, "INSERT INTO people VALUES ('Ben', 30), ('Ann', 20)")
    catalog = make_catalog({IRI: place})
    assert catalog.dataset(IRI).columns == ("name", "age")
    assert catalog.tables[IRI].to_pydict() == ROWS
    other = make(
        PEOPLE, "INSERT INTO people VALUES ('Ann', 20)", "INSERT INTO people VALUES ('Ben', 30)"
    )
    assert table_digest(catalog.tables[IRI]) == table_digest(make_catalog({IRI: other}).tables[IRI])


def test_a_view_and_a_name_of_any_letters_are_read(make):
    place = make(PEOPLE, 'CREATE VIEW "a ""b" AS SELECT age FROM people')
    assert make_catalog({IRI: place.replace("#people", '#a "b')}).dataset(IRI).columns == ("age",)


def test_a_release_is_made_of_a_table_and_nothing_is_written_to_its_file(make, tmp_path):
    ages = ", ".join(f"('x', {age})" for age in (20, 21, 60, 61))
    place = make(PEOPLE, f"INSERT INTO people VALUES {ages}")
    before = {one: one.read_bytes() for one in tmp_path.iterdir()}
    release = applied(place, method="k-anonymity", k=2, quasi=["age"])
    assert rows_of(release) == [("[20 - 21]",)] * 2 + [("[60 - 61]",)] * 2
    assert {one: one.read_bytes() for one in tmp_path.iterdir()} == before


def test_a_table_that_is_not_there_is_named_with_its_neighbour(make):
    place = make(PEOPLE)
    with pytest.raises(DataError, match=r"C019 .*no table 'peple'.*Did you mean 'people'"):
        make_catalog({IRI: place.replace("#people", "#peple")})


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    ("rest", "code"),
    [
        ("{folder}/none.db#t", "C002"),
        ("{folder}/text.db#t", "C003"),
        ("{folder}/text.db", "C019"),
        ("//{folder}/text.db#t", "C019"),
    ],
)
def test_what_is_not_such_a_file_or_not_so_spelt_is_refused(kind, rest, code, tmp_path):
    (tmp_path / "text.db").write_text("nothing of a database\n" * 200)
    with pytest.raises(DataError, match=code):
        make_catalog({IRI: f"{kind}:{rest.format(folder=tmp_path)}"})
    assert [one.name for one in tmp_path.iterdir()] == ["text.db"]


def test_types_of_duckdb_are_kept(tmp_path):
    path = tmp_path / "a.db"
    with duckdb.connect(str(path)) as database:
        database.execute(
            "CREATE TABLE t AS SELECT 1.50::DECIMAL(5,2) a, DATE '1999-12-31' b, true c, "
            "'x'::ENUM('x', 'y') d, TIMESTAMPTZ '2000-01-01 00:00:00+01' e, [1, 2] f"
        )
    table = read_duckdb(f"duckdb:{path}#t")
    kinds = ["decimal128(5, 2)", "date32[day]", "bool", "string", "timestamp[us, tz=UTC]"]
    assert [str(one.type) for one in table.schema][:5] == kinds
    assert table.column("b").to_pylist() == [dt.date(1999, 12, 31)]


def test_a_view_of_duckdb_reads_no_other_file(tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with duckdb.connect(str(tmp_path / "a.db")) as database:
        database.execute(f"CREATE VIEW v AS SELECT * FROM read_csv('{tmp_path}/secret.csv')")
    with pytest.raises(DataError, match=r"C019 .*reads something else"):
        read_duckdb(f"duckdb:{tmp_path}/a.db#v")


@pytest.mark.parametrize(
    ("cells", "kind", "code"),
    [
        ("(1), (NULL), (2)", "int64", ""),
        ("(1), (2.5)", "double", ""),
        ("('a'), ('')", "string", ""),
        ("(x'00')", "binary", ""),
        ("(NULL)", "string", ""),
        ("(1), ('a')", "", "C009"),
        ("(9007199254740993), (2.5)", "", "C009"),
        ("(CAST(x'ff' AS TEXT))", "", "C008"),
        ("(1.5), (9e999)", "", "C009 .* are infinite"),
        ("(1), (-9e999)", "", "C009 .* are infinite"),
    ],
)
def test_a_column_of_sqlite_has_the_type_of_its_cells(cells, kind, code, tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute("CREATE TABLE t (a)")
        database.execute(f"INSERT INTO t VALUES {cells}")
        database.commit()
    if code:
        with pytest.raises(DataError, match=code):
            read_sqlite(f"sqlite:{tmp_path}/a.db#t")
    else:
        assert str(read_sqlite(f"sqlite:{tmp_path}/a.db#t").schema.field("a").type) == kind


def test_a_damaged_name_in_a_file_of_sqlite_is_refused(tmp_path):
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE tiny (first_name)")
        database.commit()
    path.write_bytes(path.read_bytes().replace(b"first_name", b"first\xff\xfeame"))
    with pytest.raises(DataError, match=r"C00[38]"):
        read_sqlite(f"sqlite:{path}#tiny")
