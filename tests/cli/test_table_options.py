import hashlib
import json
import sqlite3
import tempfile
from contextlib import closing

import pytest
from building import DATASET, PEOPLE, people_policy
from small_s3 import small_s3
from typer.testing import CliRunner

from policy_engine.certificate.record import read_record
from policy_engine.cli import app
from policy_engine.cli.parsing import parse_paths
from policy_engine.errors import DataError, RequestError

TEXT = "name;pay\nMüller;1,5\nGrün;2,5\n"


def run(*arguments):
    result = CliRunner().invoke(app, [*arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pay.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    return str(path)


def test_what_was_found_is_said_once_beside_the_answer(table):
    result = run("show", table)
    assert "Müller" in result.stdout
    assert "1.5" in result.stdout
    said = "pay.csv: read as Windows-1252 with ; between cells and , in decimals; --encoding, "
    assert result.stderr.count(said) == 1


def test_options_say_how_a_file_is_written(table):
    result = run("show", table, "--encoding", "cp1252", "--delimiter", ";", "--decimal", ",")
    assert ("1.5" in result.stdout, result.stderr) == (True, "")
    with pytest.raises(DataError, match="not UTF-8"):
        run("show", table, "--encoding", "utf-8", "--delimiter", ";")


def test_options_are_for_the_local_engine(table):
    with pytest.raises(RequestError, match="--engine local"):
        run("plan", "policy.yaml", "--data", table, "--decimal", ",", "--engine", "spark")


def test_a_table_comes_from_standard_input():
    result = CliRunner().invoke(app, ["show", "-", "--input-format", "csv"], TEXT)
    assert ("Müller" in result.stdout, "1.5" in result.stdout) == (True, True)
    assert "stdin.csv: read as UTF-8 with ;" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["show", "-"], "--input-format"),
        (["show", "a.csv", "--input-format", "csv"], "--data -"),
        (["plan", "-", "--data", "-", "--input-format", "csv"], "is one table"),
        (["plan", "p.yaml", "--data", "a=-", "--data", "b=-", "--input-format", "csv"], "is one"),
    ],
)
def test_standard_input_is_one_table_of_a_format(arguments, problem):
    with pytest.raises(RequestError, match=problem):
        run(*arguments)


def test_standard_input_has_a_format_that_is_known():
    with pytest.raises(DataError, match="not known"):
        run("show", "-", "--input-format", "docx")


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (["sqlite:a=b.db#t"], {"": "sqlite:a=b.db#t"}),
        (["postgresql://h/d?sslmode=require#t"], {"": "postgresql://h/d?sslmode=require#t"}),
        (["http://x.org/P=duckdb:a=b.db#t"], {"http://x.org/P": "duckdb:a=b.db#t"}),
        (["s3://b/year=2020/a.csv"], {"": "s3://b/year=2020/a.csv"}),
        (["https://h/a.csv?sign=b"], {"": "https://h/a.csv?sign=b"}),
        (["http://x.org/P=https://h/a.csv?s=b"], {"http://x.org/P": "https://h/a.csv?s=b"}),
        (["http://x.org/P=a.csv"], {"http://x.org/P": "a.csv"}),
    ],
)
def test_a_place_is_told_from_an_iri(options, paths):
    assert parse_paths(options) == paths


def test_a_password_is_in_no_message(tmp_path):
    policy = tmp_path / "policy.jsonld"
    policy.write_text(people_policy())
    place = "postgresql://ann:secret@127.0.0.1:1/d?application_name=secret#t"
    with pytest.raises(DataError, match="nothing listens") as caught:
        run("plan", str(policy), "--data", place)
    assert "secret" not in f"{caught.value} {caught.value.problems}"


@pytest.fixture
def catalog(tmp_path):
    (tmp_path / "people.csv").write_text("\n".join(PEOPLE.splitlines()).replace(",", "|"))
    about = {"downloadURL": "people.csv", "dialect": {"delimiter": "|"}}
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps({"dataset": {"id": DATASET, "distribution": about}}))
    (tmp_path / "policy.jsonld").write_text(people_policy())
    return path


def test_a_catalog_gives_data_in_the_place_of_their_option(catalog, tmp_path):
    out = tmp_path / "out.csv"
    policy = str(tmp_path / "policy.jsonld")
    run("apply", policy, "--catalog", str(catalog), "--output", str(out))
    assert out.read_text().splitlines()[0] == "age,city,disease"
    with pytest.raises(RequestError, match="twice"):
        run("plan", policy, "--catalog", str(catalog), "--data", f"{DATASET}=people.csv")


def test_data_are_given_by_one_of_both_options(tmp_path):
    with pytest.raises(RequestError, match="Missing option '--data', or '--catalog'"):
        run("apply", "policy.jsonld", "--output", str(tmp_path / "out.csv"))


def test_a_command_of_one_table_reads_that_of_a_database(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute("CREATE TABLE t AS SELECT 'Ann' AS name, 20 AS age")
        database.commit()
    assert "Ann" in run("show", f"sqlite:{tmp_path}/a.db#t").stdout
    with pytest.raises(DataError, match=r"C019 .*no table 'u'"):
        run("show", f"sqlite:{tmp_path}/a.db#u")


@pytest.mark.nightly
def test_what_is_on_another_machine_is_fetched_and_gone_at_the_end(tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "SECRET")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    (tmp_path / "copies").mkdir()
    (tmp_path / "policy.jsonld").write_text(people_policy())
    out, record = tmp_path / "out" / "people.csv", tmp_path / "record.json"
    with small_s3() as bucket:
        bucket.objects["/bucket/people.csv"] = PEOPLE.encode()
        place = f"127.0.0.1:{bucket.server_address[1]}"
        url = f"s3://bucket/people.csv?endpoint_override={place}&scheme=http&region=x"
        data = ("--data", f"{DATASET}={url}", "--output", str(out), "--record", str(record))
        run("apply", str(tmp_path / "policy.jsonld"), *data)
    [given] = read_record(record.read_text()).inputs
    assert given.location == "s3://bucket/people.csv?***"
    assert given.digest == hashlib.sha256(PEOPLE.encode()).hexdigest()
    assert [*(tmp_path / "copies").iterdir()] == []
