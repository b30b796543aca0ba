import duckdb
import pytest
from building import anonymize, permission, policy
from small_s3 import small_s3

from policy_engine import apply_policy, fetch_data, open_catalog
from policy_engine.errors import DataError

POLICY = policy(
    [
        permission(
            uid="http://x.org/policy/1",
            target="http://x.org/People",
            action=anonymize(method="k-anonymity", k=2, quasi=["ZIP"]),
            output="http://x.org/Out",
        )
    ]
)
CATALOG = """\
dataset:
- id: http://x.org/People
  distribution:
    downloadURL: people.csv
"""
SCHEMA = """\
    tableSchema:
      column:
      - {name: ZIP, datatype: %s}
"""


@pytest.fixture
def catalog(tmp_path):
    """Return what writes a catalog of a table of ZIP codes beside it, and gives its path."""

    def write(more="", rows="ZIP|x\n10|a\n10|b\n20|c\n20|d\n", text=CATALOG):
        (tmp_path / "people.csv").write_bytes(rows.encode())
        (tmp_path / "catalog.yaml").write_text(text + more)
        return tmp_path / "catalog.yaml"

    return write


def released(path):
    with open_catalog(path) as data:
        return apply_policy(POLICY, data).table.column(0).to_pylist()


def test_a_file_is_read_as_the_catalog_says(catalog):
    rows = "ZIP|Größe\n10|a\n12|b\n"
    path = catalog("    dialect: {delimiter: '|', encoding: utf-8}\n", rows)
    assert released(path) == ["[10 - 12]"] * 2
    assert (
        released(catalog("    dialect: {delimiter: '|'}\n" + SCHEMA % "string", rows))
        == ["{10, 12}"] * 2
    )


def test_a_column_that_has_not_the_type_that_is_stated_is_refused(catalog):
    rows = "ZIP,x\n10,1999-12-31\n10,x\n"
    with pytest.raises(DataError, match=r"C009 The column 'ZIP' is said to be of the type 'date'"):
        released(catalog(SCHEMA % "date", rows))
    assert released(catalog(SCHEMA % "integer", rows)) == ["10", "10"]


def test_nothing_is_said_of_files_behind_the_block(catalog):
    path = catalog(SCHEMA % "string", "ZIP\n10\n12\n")
    with open_catalog(path) as data:
        pass
    assert apply_policy(POLICY, data).table.column(0).to_pylist() == ["[10 - 12]"] * 2


def test_two_datasets_are_each_read_in_their_way(catalog, tmp_path):
    (tmp_path / "others.csv").write_text("ZIP;x\n30;a\n32;b\n")
    more = "    dialect: {delimiter: '|'}\n- id: http://x.org/Others\n  distribution:\n"
    path = catalog(f"{more}    downloadURL: others.csv\n    dialect: {{delimiter: ';'}}\n")
    with open_catalog(path) as data:
        others = {"http://x.org/People": data["http://x.org/Others"]}
        assert apply_policy(POLICY, others).table.column(0).to_pylist() == ["[30 - 32]"] * 2
        assert apply_policy(POLICY, data).table.column(0).to_pylist()[0] == "10"


def test_a_table_of_a_database_is_found_from_the_folder_of_the_catalog(catalog, tmp_path):
    with duckdb.connect(str(tmp_path / "a.db")) as database:
        database.execute("CREATE TABLE t AS SELECT 7 AS ZIP FROM range(2)")
    text = CATALOG.replace("downloadURL: people.csv", 'accessURL: "duckdb:a.db#t"')
    assert released(catalog(text=text)) == ["7", "7"]


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ("    mediaType: application/vnd.apache.parquet\n", CATALOG),
        (SCHEMA % "string", CATALOG.replace("people.csv", "people.parquet")),
        ("    dialect: {delimiter: ';'}\n", CATALOG.replace("people.csv", "people.xlsx")),
    ],
)
def test_what_does_not_fit_the_ending_is_refused(catalog, more, text):
    with pytest.raises(DataError, match="C020"):
        released(catalog(more, text=text))


def test_a_catalog_that_is_missing_is_told(tmp_path):
    with pytest.raises(DataError, match="C002"), open_catalog(tmp_path / "none.yaml"):
        pass


def test_a_file_of_another_machine_has_the_format_of_its_media_type(catalog, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "SECRET")
    with small_s3() as bucket:
        bucket.objects["/bucket/export"] = b"ZIP|x\n7|a\n7|b\n"
        place = f"127.0.0.1:{bucket.server_address[1]}"
        url = f"s3://bucket/export?endpoint_override={place}&scheme=http&region=x"
        more = "    mediaType: text/csv\n    dialect: {delimiter: '|'}\n"
        path = catalog(more, text=CATALOG.replace("people.csv", f'"{url}"'))
        assert released(path) == ["7", "7"]
        with fetch_data({"http://x.org/People": url, "http://x.org/B": "b.csv"}) as data:
            assert data["http://x.org/B"] == "b.csv"
            assert data["http://x.org/People"].read_bytes() == bucket.objects["/bucket/export"]


def test_in_python_another_machine_is_asked_only_by_name():
    with pytest.raises(DataError, match=r"C019 .*fetch_data"):
        apply_policy(POLICY, {"http://x.org/People": "https://x.org/people.csv"})
