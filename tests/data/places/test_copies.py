import pytest
from small_s3 import small_s3

from policy_engine.data.places.copies import _file_name, copying, origin_of
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError

SECRETS = {"AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "SECRET"}


@pytest.fixture
def bucket(monkeypatch):
    """Return a bucket, and what gives the URL of a key in it."""
    for name, value in {**SECRETS, "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    with small_s3() as server:
        place = f"127.0.0.1:{server.server_address[1]}"

        def url(key):
            return f"s3://bucket/{key}?endpoint_override={place}&scheme=http&region=us-east-1"

        yield server, url


def test_a_file_of_a_bucket_is_copied_and_gone_behind_the_block(bucket):
    server, url = bucket
    server.objects["/bucket/kept/people.csv"] = b"name\nAnn\n"
    with copying() as copy:
        path = copy(url("kept/people.csv"))
        assert (path.name, path.read_bytes()) == ("people.csv", b"name\nAnn\n")
        assert origin_of(str(path)) == "s3://bucket/kept/people.csv?***"
    assert not path.exists()
    assert origin_of(str(path)) == str(path)


def test_the_data_files_of_a_folder_are_copied(bucket):
    server, url = bucket
    for name in ("year=2020/a.csv", "year=2021/b.csv", "_SUCCESS"):
        server.objects[f"/bucket/people.csv/{name}"] = b"name\nAnn\n"
    with copying() as copy:
        table = read_table(copy(url("people.csv")))
    assert table.to_pydict() == {"name": ["Ann"] * 2, "year": ["2020", "2021"]}


def test_a_key_that_is_not_there_is_told_and_no_secret(bucket):
    _, url = bucket
    with (
        copying() as copy,
        pytest.raises(DataError, match=r"C002 .*s3://bucket/none.csv") as caught,
    ):
        copy(url("none.csv"))
    assert not any(one in str(caught.value) for one in ("endpoint", *SECRETS.values()))


@pytest.mark.nightly
def test_a_storage_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    url = "s3://KEY:SECRET@bucket/a.csv?endpoint_override=127.0.0.1:1&scheme=http&region=x"
    with copying() as copy, pytest.raises(DataError, match=r"C019 .*nothing answers") as caught:
        copy(url)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("place", ["http://x.org/a.csv", "ftp://ann:secret@x.org/a.csv"])
def test_other_places_are_refused(place):
    with copying() as copy, pytest.raises(DataError, match="C019 No table is read from") as caught:
        copy(place)
    assert "secret" not in str(caught.value)


def test_a_copy_of_a_table_of_a_database_is_an_arrow_file(tmp_path):
    import duckdb

    with duckdb.connect(str(tmp_path / "a.db")) as database:
        database.execute("CREATE TABLE t AS SELECT 7 AS age")
    with copying() as copy:
        path = copy(f"duckdb:{tmp_path}/a.db#t")
        assert read_table(path).to_pydict() == {"age": [7]}


@pytest.mark.parametrize(
    ("key", "endings", "name"),
    [
        ("a.csv.gz", ("csv", "csv.gz"), "a.csv.gz"),
        ("export", ("csv", "csv.gz"), "export.csv"),
        ("x%2F..%2F.a b.csv", (), "a b.csv"),
    ],
)
def test_a_copy_has_the_ending_of_its_format(key, endings, name):
    assert _file_name(f"s3://bucket/{key}", endings) == name
