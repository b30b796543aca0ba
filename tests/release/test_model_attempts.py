import json
from contextlib import suppress

import pyarrow as pa
import pytest
from building import ANALYST, DATASET, OUTPUT, anonymize, permission, policy
from modelled import (
    LEAKING,
    decision_on,
    file_names,
    of_raw,
    of_table,
    train,
    training_table,
    use,
)
from pyarrow.csv import read_csv
from pyarrow.parquet import write_table as write_parquet

from policy_engine import apply_policy
from policy_engine.errors import AuditError, CertificateError, OutputError
from policy_engine.release.attack_measurements import attempted_model


@pytest.mark.nightly
def test_what_was_refused_is_kept_and_not_made_again(table, tmp_path, attempts):
    text = of_raw(LEAKING, bounds={"auc": 0.65})
    for place in ("one", "other"):  # another place and no record begin nothing anew
        with pytest.raises(CertificateError, match="V007") as caught:
            apply_policy(text, {DATASET: table}, tmp_path / place, seed=1)
    assert "It was already made from this seed" in caught.value.problems[0].hint
    assert file_names(tmp_path) == ["one", "one/certificate.jsonld"]
    assert len(json.loads((attempts / "attempts.json").read_text())["attempts"]) == 1
    with pytest.raises(CertificateError, match="V007"):
        apply_policy(text, {DATASET: table}, tmp_path / "other", seed=1, report=tmp_path / "why")
    assert (tmp_path / "why" / "audit.json").exists()
    assert len(json.loads((attempts / "attempts.json").read_text())["attempts"]) == 1


@pytest.mark.nightly
def test_a_release_says_how_often_it_was_tried(table, tmp_path):
    strict = of_raw(bounds={"auc": 0.65})
    tried = 0
    for seed in range(3):
        with suppress(CertificateError):
            apply_policy(strict, {DATASET: table}, tmp_path / str(seed), seed=seed)
        tried += 1
    shuffled = tmp_path / "people.csv"
    first, *rows = table.read_text().splitlines()
    shuffled.write_text("\n".join([first, *reversed(rows)]) + "\n")
    release = apply_policy(of_raw(), {DATASET: shuffled}, tmp_path / "out", seed=9)
    assert release.certificate.attempts == len(release.record.attempts) == tried + 1
    assert all(one.pooled >= one.reached.high for one in release.certificate.attacks)
    assert [one.made for one in release.record.attempts][-1] != release.record.attempts[0].made
    assert decision_on(of_raw(), tmp_path / "out", ANALYST).permitted


def test_data_that_are_written_otherwise_begin_no_attempts_anew(table, tmp_path):
    def about(data):
        piece = training_table(data, of_raw())
        return attempted_model(piece.plan, piece.table, 1, repeats=False)

    plain, people = about(table), read_csv(table)
    age = people.column("age")
    written = [[f"{one}.0" for one in age.to_pylist()], age.cast(pa.decimal128(20, 1)), age]
    for number, column in enumerate([*written, age.cast(pa.float64())]):
        place = people.schema.get_field_index("age")
        file = tmp_path / f"{number}.parquet"
        write_parquet(people.set_column(place, "age", pa.array(column)), file)
        found = about(file)
        assert (found.data, found.records) == (plain.data, plain.records)
        assert found.former == about(file).former


def test_a_column_that_nothing_is_learnt_from_is_none_of_the_data(table):
    def about(*sensitive):
        how = anonymize(method="k-anonymity", k=5, quasi=["age", "city"], sensitive=list(sensitive))
        piece = training_table(
            table, policy([permission(action=how, output=OUTPUT), train(), use()])
        )
        return attempted_model(piece.plan, piece.table, 1, repeats=False)

    alone, more = about("disease"), about("disease", "name")
    assert (more.data, more.records) == (alone.data, alone.records)
    assert more.former != alone.former


@pytest.mark.nightly
def test_a_policy_that_allows_one_attempt_allows_no_second(table, tmp_path):
    once = of_raw(attempts=1)
    apply_policy(once, {DATASET: table}, tmp_path / "one", seed=1)
    apply_policy(once, {DATASET: table}, tmp_path / "again", seed=1)
    with pytest.raises(AuditError, match=r"A020 A model of these records, or .* attacked once"):
        apply_policy(once, {DATASET: table}, tmp_path / "other", seed=2)


def test_edits_that_change_nothing_begin_no_attempts_anew(table, tmp_path):
    def made(model, features=("age", "city"), data=table, **more):
        named = [f"{DATASET}/{name}" for name in features]
        text = policy([train(model, DATASET, feature=named, **more), use()])
        piece = training_table(data, text)
        return attempted_model(piece.plan, piece.table, 1, repeats=False)

    plain = made("LogisticRegression")
    edits = [
        made('{"name": "LogisticRegression", "parameters": {"random_state": 7, "verbose": 1}}'),
        made('{"name": "LogisticRegression", "parameters": {"C": 1, "n_jobs": 2}}'),
        made("LogisticRegression", ("city", "age")),
        made("LogisticRegression", trainingShare=0.2499999),
    ]
    assert {(one.way, one.data) for one in edits} == {(plain.way, plain.data)}
    other = made('{"name": "LogisticRegression", "parameters": {"C": 2}}')
    assert other.data == plain.data
    assert other.way != plain.way
    named = tmp_path / "named.csv"
    named.write_text("\n".join(f"{row},x" for row in table.read_text().splitlines()) + "\n")
    assert made("LogisticRegression", data=named).data == plain.data
    assert made("LogisticRegression", ("age",)).data != plain.data


def test_a_side_too_small_for_shadows_is_no_attempt(table, tmp_path, attempts, monkeypatch):
    def refused(*_):
        raise AuditError.of("A001", "A side of a shadow model is too small.")

    monkeypatch.setattr("policy_engine.audits.membership.splits._check_shadows", refused)
    for text in (of_raw(), of_table()):
        with pytest.raises(AuditError, match="A001"):
            apply_policy(text, {DATASET: table}, tmp_path / "out", seed=1)
    assert json.loads((attempts / "attempts.json").read_text())["attempts"] == []


def test_attempts_never_lie_in_the_folder_that_is_shared(table, tmp_path):
    for inside in (tmp_path / "out", tmp_path / "out" / "model" / "attempts"):
        with pytest.raises(OutputError, match="O002 Attempts are only for the owner"):
            apply_policy(of_raw(), {DATASET: table}, tmp_path / "out", attempts=inside)
    assert file_names(tmp_path) == []
