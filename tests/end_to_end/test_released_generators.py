"""Generators that are released themselves, from the policy to rows drawn by the assignee."""

import json
import re
import shutil

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from building import ANALYST, DATASET, refinement
from signing import key_of, trust_text
from synthesising import MODEL, attacking, residents, training
from typer.testing import CliRunner

from policy_engine import (
    Request,
    apply_policy,
    audit_generative,
    certify_output,
    decide_request,
    load_generator,
    terms,
    withdraw_release,
)
from policy_engine.api.loading_generators import opened_generators
from policy_engine.certificate.certificate import read_certificate
from policy_engine.cli import app
from policy_engine.engines.local import LocalEngine
from policy_engine.errors import AuditError, CertificateError, DataError, OutputError, PlanError
from policy_engine.trust.trust_file import load_trust

COLUMNS = ("age", "wage", "town")
BOUNDS = {"auc": 0.75, "tprAtFpr": 0.25, "fpr": 0.01, "excessCopies": 0.3}
POLICY = training(*COLUMNS, leafSize=100, duty=BOUNDS)
ALONE = training(*COLUMNS, leafSize=100, duty={"auc": 0.75, "attack": ["model-density"]})


@pytest.fixture(autouse=True)
def _few_samples(monkeypatch):
    monkeypatch.setattr("policy_engine.plan.synthesis.SAMPLE", 2_000)


@pytest.fixture(autouse=True)
def _own_attempts(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def place(tmp_path):
    table = residents(1_600)
    wages = [round(one, -2) for one in table["wage"].to_pylist()]
    table = table.set_column(table.column_names.index("wage"), "wage", [wages])
    pacsv.write_csv(table, tmp_path / "people.csv")
    return tmp_path / "people.csv"


@pytest.mark.nightly
def test_a_generator_is_released_once_attacks_on_it_are_bounded(place, tmp_path):
    release = apply_policy(POLICY, {DATASET: place}, tmp_path / "out", seed=1)
    folder = tmp_path / "out" / "generator"
    assert sorted(one.name for one in folder.iterdir()) == ["generator.json", "generator.npz"]
    certificate = read_certificate((tmp_path / "out" / "certificate.jsonld").read_text())
    assert certificate == release.certificate
    assert certificate.rows_out == 2_000
    attacks = {one.attack for one in certificate.synthetic_attacks}
    assert {"model-density", "calibrated-model-density", "nearest-sample"} <= attacks
    assert certificate.holds
    assert "holds true values of its columns" in certificate.warning
    assert "on 2,000 rows that it made up" in certificate.warning
    assert release.record.held_out == 800
    with pytest.raises(DataError, match="a model, not a table"):
        _ = release.table


def test_a_certificate_tells_nothing_of_the_input_that_one_of_rows_does_not(place, tmp_path):
    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=7)
    text = (tmp_path / "out" / "certificate.jsonld").read_text()
    assert "people.csv" not in text
    assert not re.search(r"\b800\b", text)
    facts = json.loads(text)["pe:certificate"]
    step = facts["plan"]["steps"][2]
    assert set(step) == {"step", "columns", "synthesiser", "output"}


@pytest.mark.nightly
def test_the_assignee_draws_rows_by_python_and_by_the_command(place, tmp_path):
    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    generator = load_generator(tmp_path / "out")
    table = generator.sample(50, seed=3)
    assert sorted(table.column_names) == ["age", "town", "wage"]
    assert {*table["town"].to_pylist()} <= {"Rome", "Oslo", "Bern"}
    assert load_generator(tmp_path / "out" / "generator").sample(50, seed=3).equals(table)
    arguments = ["generate", str(tmp_path / "out"), "--rows", "50", "--seed", "3"]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0, told.output
    assert told.stdout.splitlines()[0] == "age,town,wage"
    assert len(told.stdout.splitlines()) == 51
    for name in ("rows.csv", "rows.parquet"):
        told = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / name)])
        assert told.exit_code == 0, told.output
    assert pacsv.read_csv(tmp_path / "rows.csv").to_pylist() == table.to_pylist()
    for name in ("rows.npz", "rows.npy"):
        told = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / name)])
        assert told.exception.code == "C004"
        assert not (tmp_path / name).exists()
    others = [*arguments[:-1], "4", "--output", str(tmp_path / "rows.csv")]
    assert CliRunner().invoke(app, others).exception.code == "O001"


def test_a_generator_counts_by_its_signature_under_a_trust_file(place, tmp_path, monkeypatch):
    for number in (1, 2):
        key_of(number).write(tmp_path / f"key{number}")
        (tmp_path / f"trust{number}.json").write_text(
            trust_text({"key": key_of(number).public.did, "outputs": ["*"]})
        )
    out = tmp_path / "out"
    apply_policy(ALONE, {DATASET: place}, out, seed=1, sign=tmp_path / "key1")
    load_generator(out, trust=tmp_path / "trust1.json")
    with pytest.raises(CertificateError, match="Y009"):
        load_generator(out, trust=tmp_path / "trust2.json")
    shutil.copytree(out / "generator", tmp_path / "alone")
    with pytest.raises(CertificateError, match="Y009 No certificate is beside the generator"):
        load_generator(tmp_path / "alone", trust=tmp_path / "trust1.json")
    with pytest.raises(CertificateError, match="Y009"):
        audit_generative(place, place, model=str(out), trust=tmp_path / "trust2.json")
    told = CliRunner().invoke(app, ["generate", str(out), "--rows", "1"])
    assert told.stderr.startswith("note: unsigned")
    monkeypatch.setenv("POLICY_ENGINE_TRUST", str(tmp_path / "trust2.json"))
    assert CliRunner().invoke(app, ["generate", str(out)]).exception.code == "Y009"
    withdraw_release(out, "an error in it", tmp_path / "key1")
    for options in ({}, {"trust": tmp_path / "trust1.json"}):
        with pytest.raises(CertificateError, match="Y015"):
            load_generator(out, **options)
        with pytest.raises(CertificateError, match="Y015"):
            audit_generative(place, place, model=str(out), **options)


def test_a_file_of_keras_makes_no_model_of_its_own_of_a_release_under_a_trust_file(tmp_path):
    (tmp_path / "trust.json").write_text(
        trust_text({"key": key_of(1).public.did, "outputs": ["*"]})
    )
    trust = load_trust(tmp_path / "trust.json")
    (tmp_path / "certificate.jsonld").write_text("{}")
    (tmp_path / "generator.keras").write_text("")
    with pytest.raises(CertificateError):
        opened_generators(str(tmp_path), trust)
    assert opened_generators(str(tmp_path)) == str(tmp_path)


def test_a_generator_that_is_not_the_certified_one_is_refused(place, tmp_path):
    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    path = tmp_path / "out" / "generator" / "generator.json"
    path.write_text(path.read_text() + " ")
    for where in (tmp_path / "out", tmp_path / "out" / "generator"):
        with pytest.raises(CertificateError) as caught:
            load_generator(where)
        assert caught.value.code == "V004"
    told = CliRunner().invoke(app, ["generate", str(tmp_path / "out")])
    assert told.exception.code == "V004"
    assert told.stdout == ""


def forged(folder):
    """Put the generator of other files in the place of the certified one."""
    path = folder / "generator" / "generator.json"
    path.write_text(path.read_text() + " ")


@pytest.mark.nightly
def test_whatever_path_leads_to_a_generator_its_certificate_is_asked(place, tmp_path, monkeypatch):
    out = tmp_path / "out"
    apply_policy(ALONE, {DATASET: place}, out, seed=1)
    assert load_generator(out).is_certified
    (tmp_path / "link").symlink_to(out / "generator")
    assert load_generator(tmp_path / "link").is_certified
    forged(out)
    monkeypatch.chdir(out / "generator")
    for path in (".", "../generator", tmp_path / "link", out):
        with pytest.raises(CertificateError, match="V004"):
            load_generator(path)
        with pytest.raises(CertificateError, match="V004"):
            audit_generative(place, place, model=path)
    certificate = out / "certificate.jsonld"
    text = certificate.read_text()
    for broken in ("{", text.replace("sha256", "sha257")):
        certificate.write_text(broken)
        with pytest.raises(CertificateError, match="V005"):
            load_generator(out / "generator")
    certificate.write_text(text)
    (out / "generator").rename(out / "other")
    with pytest.raises(CertificateError, match="V004 The certificate is for the model 'generator'"):
        load_generator(out / "other")


@pytest.mark.nightly
def test_a_generator_beside_a_certified_one_is_not_taken_for_an_uncertified_one(place, tmp_path):
    out = tmp_path / "out"
    apply_policy(ALONE, {DATASET: place}, out, seed=1)
    shutil.copytree(out / "generator", out / "other")
    (out / "link").symlink_to(out / "other")
    for name in ("other", "link"):
        with pytest.raises(CertificateError, match="the model 'generator', not for 'other'"):
            load_generator(out / name)
    assert load_generator(out / "generator").is_certified


def test_a_generator_that_lies_with_a_certificate_is_not_what_it_certifies(place, tmp_path):
    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    for one in (tmp_path / "out" / "generator").iterdir():
        (tmp_path / "out" / one.name).write_bytes(one.read_bytes())
    with pytest.raises(CertificateError, match="V004"):
        load_generator(tmp_path / "out")


def test_rows_of_a_generator_without_certificate_come_with_a_word(place, tmp_path):
    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    (tmp_path / "out" / "certificate.jsonld").unlink()
    assert not load_generator(tmp_path / "out" / "generator").is_certified
    told = CliRunner().invoke(app, ["generate", str(tmp_path / "out" / "generator")])
    assert told.exit_code == 0, told.output
    assert "no certificate is beside the generator" in told.stderr


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["rows.csv", "generator/rows.csv"])
def test_rows_are_not_written_into_a_release(name, place, tmp_path):
    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    output = tmp_path / "out" / name
    told = CliRunner().invoke(app, ["generate", str(tmp_path / "out"), "--output", str(output)])
    assert told.exception.code == "O001"
    assert not output.exists()


def test_members_without_columns_of_a_generator_are_told(place, tmp_path):
    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    others = residents(100).select(["age"]).rename_columns(["years"])
    with pytest.raises(AuditError, match="A032 The generator makes up the columns"):
        audit_generative(others, others, model=tmp_path / "out")


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["independent-marginals", "gaussian-copula"])
def test_every_generator_is_released(kind, place, tmp_path):
    policy = training(*COLUMNS, synthesiser=kind, duty=BOUNDS)
    release = apply_policy(policy, {DATASET: place}, tmp_path / "out", seed=1)
    assert release.certificate.holds
    assert load_generator(tmp_path / "out").synthesiser.notation == kind


def test_all_rows_of_a_person_are_learnt_or_none(tmp_path):
    table = residents(1_600)
    persons = [f"p{row // 2}" for row in range(table.num_rows)]
    policy = training(
        *COLUMNS,
        leafSize=100,
        duty={"auc": 0.999, "attack": ["model-density"]},
        more=[refinement("pe:privacyUnit", f"{DATASET}/name")],
    )
    table = table.set_column(0, "name", [persons])
    release = apply_policy(policy, {DATASET: table}, tmp_path / "out", seed=1)
    assert "the persons, by 'name', whose rows it learnt" in release.certificate.warning
    assert "name" not in load_generator(tmp_path / "out").columns


@pytest.mark.nightly
def test_a_generator_that_has_learnt_by_heart_is_not_released(place, tmp_path):
    policy = training(*COLUMNS, leafSize=1, duty=BOUNDS)
    with pytest.raises(CertificateError) as caught:
        apply_policy(policy, {DATASET: place}, tmp_path / "out", seed=1)
    messages = [one.message for one in caught.value.problems]
    assert {one.code for one in caught.value.problems} == {"V007"}
    assert any("model-density reaches" in one for one in messages)
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["certificate.jsonld"]


def test_a_value_that_the_input_lacks_is_found_in_the_files(place, tmp_path, monkeypatch):
    """Though hardly any sample has it."""
    train = LocalEngine.train_generator

    def train_on_others(self, table, *arguments):
        field, ages = table.schema.field("age"), table["age"].to_pylist()
        others = pa.array([*["999"] * 4, *ages[4:]]).cast(field.type)
        made = train(
            self, table.set_column(table.column_names.index("age"), field, others), *arguments
        )
        learnt = made.engine_state.learnt
        own = [40 if one == 999 else one for one in learnt["age"].to_pylist()]
        changed = learnt.set_column(learnt.column_names.index("age"), "age", [own])
        object.__setattr__(made.engine_state, "learnt", changed)
        return made

    monkeypatch.setattr(LocalEngine, "train_generator", train_on_others)
    with pytest.raises(CertificateError, match=r"of 'age' lies? outside of what the input has"):
        apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    assert not (tmp_path / "out" / "generator").exists()


def test_too_few_rows_to_calibrate_on_release_nothing(tmp_path):
    pacsv.write_csv(residents(300), tmp_path / "few.csv")
    with pytest.raises(AuditError) as caught:
        apply_policy(POLICY, {DATASET: tmp_path / "few.csv"}, tmp_path / "out", seed=1)
    assert caught.value.code == "A031"
    assert not (tmp_path / "out" / "generator").exists()


def test_the_generator_may_be_used_with_its_certificate_and_only_then(place, tmp_path):
    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)

    def may_use(target, proofs):
        request = Request(
            assignee=ANALYST,
            action=f"{terms.ODRL}use",
            targets=(target,),
            purpose=f"{terms.MOSAICROWN}marketing",
        )
        return decide_request([ALONE], proofs, request).permitted

    assert may_use(MODEL, [tmp_path / "out"])
    assert not may_use(MODEL, [])
    assert not may_use(f"{MODEL}/age", [tmp_path / "out"])
    assert not may_use(DATASET, [tmp_path / "out"])
    other = training(*COLUMNS, leafSize=99, duty={"auc": 0.75, "attack": ["model-density"]})
    request = Request(
        assignee=ANALYST,
        action=f"{terms.ODRL}use",
        targets=(MODEL,),
        purpose=f"{terms.MOSAICROWN}marketing",
    )
    assert not decide_request([other], [tmp_path / "out"], request).permitted


@pytest.mark.nightly
def test_a_generator_is_certified_again_by_training_it_again(place, tmp_path):
    record, out = tmp_path / "record.json", tmp_path / "out"
    released = apply_policy(ALONE, {DATASET: place}, out, seed=1, record=record)
    again = certify_output(out, ALONE, {DATASET: place}, record=record)
    assert again.output_digest == released.certificate.output_digest
    assert again.synthetic_attacks == released.certificate.synthetic_attacks
    with pytest.raises(DataError) as caught:
        certify_output(out, ALONE)
    assert caught.value.code == "V006"


def test_a_generator_is_released_into_a_folder_of_its_own(place, tmp_path):
    with pytest.raises(OutputError):
        apply_policy(ALONE, {DATASET: place}, tmp_path / "out.csv", seed=1)
    with pytest.raises(OutputError):
        apply_policy(ALONE, {DATASET: place}, seed=1)


def test_a_generator_is_not_compared_as_rows(place, tmp_path):
    from policy_engine import compare_release

    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    with pytest.raises(PlanError, match="no rows that could be compared"):
        compare_release(place, tmp_path / "out")


@pytest.mark.nightly
def test_a_released_generator_is_audited_like_any_other(place, tmp_path):
    apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    table = residents(1_600).select([*COLUMNS])
    audit = audit_generative(
        table.slice(0, 600),
        table.slice(600, 600),
        reference=table.slice(1_200),
        model=str(tmp_path / "out" / "generator"),
        attacks=["model-density", "calibrated-model-density", "nearest-sample"],
        samples=1_000,
    )
    assert {one.attack for one in audit.attacks} == {
        "model-density",
        "calibrated-model-density",
        "nearest-sample",
    }


@pytest.mark.nightly
def test_attempts_at_a_generator_and_at_rows_of_it_are_counted_together(place, tmp_path):
    first = apply_policy(ALONE, {DATASET: place}, tmp_path / "out", seed=1)
    assert first.certificate.attempts == 1
    rows = attacking(COLUMNS, leaf=100, auc=0.75, attack=["nearest-sample"])
    assert apply_policy(rows, {DATASET: place}, seed=1).certificate.attempts == 2
    third = apply_policy(ALONE, {DATASET: place}, tmp_path / "other", seed=3)
    assert third.certificate.attempts == len(third.record.attempts) == 3
    assert all(one.pooled > one.reached.high for one in third.certificate.synthetic_attacks)
