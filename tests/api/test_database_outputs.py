"""Releases in tables of databases: verified, whole or not at all, certified in the same file."""

import sqlite3
from functools import partial

import duckdb
import pytest
from applying import asking
from building import ANALYST, DATASET, OUTPUT
from signing import key_of, trust_text
from typer.testing import CliRunner

from policy_engine import (
    Request,
    apply_policy,
    certify_output,
    decide_request,
    load_policy,
    withdraw_release,
)
from policy_engine.api.signing import sign_policy_files
from policy_engine.certificate.beside import load_certificates
from policy_engine.cli import app
from policy_engine.data.places import database_outputs
from policy_engine.data.places.database_outputs import CERTIFICATES
from policy_engine.data.places.opening import read_place
from policy_engine.errors import PolicyEngineError
from policy_engine.policy.model import READ
from policy_engine.terms import expand_term

ROWS = "age,city,day,ill\n" + "".join(
    f"{20 + row},{'ab'[row % 2]},2020-01-0{1 + row % 3},{'' if row == 5 else 'flu'}\n"
    for row in range(12)
)
POLICY = asking(method="k-anonymity", k=3, quasi=["age", "city"], insensitive=["day", "ill"])
OTHER = asking(method="k-anonymity", k=4, quasi=["age", "city"], insensitive=["ill"])
REQUEST = Request(
    assignee=ANALYST, action=READ, targets=(OUTPUT,), purpose=expand_term("marketing")
)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return {DATASET: path}


@pytest.fixture(params=["duckdb", "sqlite"])
def place(request, tmp_path):
    return f"{request.param}:{tmp_path / 'x.db'}#people"


def run(place, statement):
    """Run a statement in the database of a place."""
    kind, _, rest = place.partition(":")
    file = rest.partition("#")[0]
    with (duckdb if kind == "duckdb" else sqlite3).connect(file) as database:
        return database.execute(statement).fetchall()


def codes(call):
    with pytest.raises(PolicyEngineError) as caught:
        call()
    return [one.code for one in caught.value.problems]


@pytest.mark.one_in(2)
def test_a_release_is_in_the_database_beside_its_certificate(tmp_path, data, place):
    record = tmp_path / "record.json"
    release = apply_policy(POLICY, data, place, record=record)
    assert release.table.num_rows == 12
    columns = ["age", "city", "ill"]
    assert sorted(read_place(place).select(columns).to_pylist(), key=repr) == sorted(
        release.table.select(columns).to_pylist(), key=repr
    )
    assert run(place, f"SELECT output FROM {CERTIFICATES}") == [("people",)]
    [found] = load_certificates(place)
    assert found == release.certificate
    assert decide_request([POLICY], [place], REQUEST).permitted
    assert certify_output(place, POLICY, data, record=record).holds
    assert not list(tmp_path.glob("*stage*"))


@pytest.mark.one_in(2)
def test_rows_that_were_changed_are_refused(data, place):
    apply_policy(POLICY, data, place)
    run(place, "UPDATE people SET ill = 'cold' WHERE ill = 'flu'")
    assert codes(lambda: decide_request([POLICY], [place], REQUEST)) == ["V004"]
    assert codes(lambda: certify_output(place, POLICY)) == ["V004"]


@pytest.mark.one_in(2)
def test_only_a_release_is_replaced_and_others_stay(data, place):
    run(place, "CREATE TABLE people (x INTEGER)")
    run(place, "CREATE TABLE other AS SELECT 1 AS one")
    assert codes(lambda: apply_policy(POLICY, data, place)) == ["O001"]
    assert codes(lambda: apply_policy(POLICY, data, place, overwrite=True)) == ["O001"]
    run(place, "DROP TABLE people")
    first = apply_policy(POLICY, data, place)
    assert codes(lambda: apply_policy(OTHER, data, place)) == ["O001"]
    second = apply_policy(OTHER, data, place, overwrite=True)
    assert load_certificates(place) == (second.certificate,)
    assert first.certificate.output_digest != second.certificate.output_digest
    assert run(place, "SELECT * FROM other") == [(1,)]


def test_nothing_appears_where_a_bound_cannot_be_kept(tmp_path, data, place):
    data[DATASET].write_text("age,city,day,ill\n1,a,2020-01-01,flu\n")
    assert codes(lambda: apply_policy(POLICY, data, place)) == ["R002"]
    assert not (tmp_path / "x.db").exists()


@pytest.mark.one_in(2)
def test_a_publication_that_fails_leaves_the_release_that_was_there(monkeypatch, data, place):
    first = apply_policy(POLICY, data, place)

    def certify(*_):
        raise KeyboardInterrupt

    kind = "_DuckDb" if place.startswith("duckdb") else "_Sqlite"
    monkeypatch.setattr(getattr(database_outputs, kind), "certify", certify)
    with pytest.raises(KeyboardInterrupt):
        apply_policy(OTHER, data, place, overwrite=True)
    assert load_certificates(place) == (first.certificate,)


def test_a_new_database_is_gone_where_its_publication_fails(monkeypatch, tmp_path, data, place):
    kind = "_DuckDb" if place.startswith("duckdb") else "_Sqlite"
    monkeypatch.setattr(getattr(database_outputs, kind), "certify", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        apply_policy(POLICY, data, place)
    assert not (tmp_path / "x.db").exists()


def test_what_is_made_of_a_release_in_a_database_names_it(data, place):
    made = apply_policy(POLICY, data, place)
    again = load_policy(
        asking(method="k-anonymity", k=2, quasi=["ill"])
        .replace(DATASET, OUTPUT)
        .replace(f'"output": "{OUTPUT}"', '"output": "http://x.org/again"')
    )
    release = apply_policy(again, {OUTPUT: place})
    assert [one.output_digest for one in release.certificate.upstream] == [
        made.certificate.output_digest
    ]


def test_a_signed_release_is_certified_and_withdrawn_under_a_trust_file(tmp_path, data, place):
    (tmp_path / "policy.jsonld").write_text(POLICY)
    key_of(1).write(tmp_path / "key")
    (tmp_path / "trust.json").write_text(trust_text())
    sign_policy_files([tmp_path / "policy.jsonld"], tmp_path / "key")
    apply_policy(tmp_path / "policy.jsonld", data, place, sign=tmp_path / "key")

    def decided(*status):
        proofs, trust = [place], tmp_path / "trust.json"
        return decide_request(
            [tmp_path / "policy.jsonld"], proofs, REQUEST, trust=trust, status=status
        )

    again = certify_output(place, tmp_path / "policy.jsonld", trust=tmp_path / "trust.json")
    assert again.output_digest == load_certificates(place)[0].output_digest
    assert decided().permitted
    assert codes(lambda: withdraw_release(place, "an error", key_of(1))) == ["O002"]
    statement = tmp_path / "statement.json"
    assert withdraw_release(place, "an error", key_of(1), statement=statement).asset == OUTPUT
    assert "Y015" in decided(statement).reason
    run(place, "DELETE FROM people WHERE ill IS NULL")
    assert codes(lambda: withdraw_release(place, "x", key_of(1), statement=statement)) == ["V004"]
    options = {"trust": tmp_path / "trust.json"}
    call = partial(certify_output, place, tmp_path / "policy.jsonld", **options)
    assert codes(call) == ["V004"]


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("postgresql://x/y#z", "O002"),
        ("duckdb:out.duckdb", "C019"),
        ("duckdb:no/out.duckdb#x", "O002"),
        ("duckdb:out.duckdb#a.b", "O002"),
        (f"sqlite:out.db#{CERTIFICATES}", "O002"),
        ("duckdb:people.csv#x", "O002"),
        ("sqlite:people.csv#x", "O002"),
        ("duckdb:.#x", "O002"),
    ],
)
def test_places_that_cannot_be_written_are_refused(tmp_path, monkeypatch, data, place, code):
    monkeypatch.chdir(tmp_path)
    assert codes(lambda: apply_policy(POLICY, data, place)) == [code]
    assert [one.name for one in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_file_in_memory_is_a_file(tmp_path, monkeypatch, data, kind):
    monkeypatch.chdir(tmp_path)
    apply_policy(POLICY, data, f"{kind}::memory:#x")
    assert (tmp_path / ":memory:").exists()


@pytest.mark.nightly
@pytest.mark.usefixtures("data")
def test_commands_take_places_of_databases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.jsonld").write_text(POLICY)
    place = "duckdb:out.duckdb#people"
    asked = ["apply", "policy.jsonld", "--data", f"{DATASET}=people.csv", "--output", place]
    done = CliRunner().invoke(app, asked)
    assert (done.exit_code, f"written: {place}" in done.output) == (0, True)
    asked = ["decide", "--policy", "policy.jsonld", "--certificate", place, "--target", OUTPUT]
    asked += ["--assignee", ANALYST, "--purpose", "marketing"]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert CliRunner().invoke(app, ["certify", place, "--policy", "policy.jsonld"]).exit_code == 0
