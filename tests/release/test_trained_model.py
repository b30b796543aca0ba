import json
import shutil

import pytest
from building import ANALYST, DATASET, OUTPUT
from modelled import (
    LEAKING,
    MODEL,
    TEAM,
    decision_on,
    file_names,
    of_raw,
    of_release,
    of_table,
)

from policy_engine import apply_policy
from policy_engine.api.certifying import certify_output
from policy_engine.api.planning import estimate_policy, plan_policy
from policy_engine.audits.membership.released.files import read_estimator
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.shortcomings import proven, shortcomings
from policy_engine.errors import CertificateError, DataError, OutputError, PlanError
from policy_engine.release.trained_model import _given_or_drawn_seed


@pytest.fixture(scope="module")
def released(table, tmp_path_factory):
    """Return a model as it was released, and the folder of it."""
    folder = tmp_path_factory.mktemp("model") / "out"
    text = of_release()
    return apply_policy(text, {DATASET: table}, folder, seed=1), folder


def test_only_the_model_is_released_beside_its_certificate(released):
    release, folder = released
    assert release.path == folder / "model"
    assert file_names(folder) == [
        *("certificate.jsonld", "model", "model/architecture.json", "model/encoding.json"),
        "model/model.skops",
    ]


def test_the_certificate_says_what_the_table_kept_and_what_the_attacks_reached(released):
    certificate, record = load_certificate(released[1]), released[0].record
    assert certificate.holds
    assert [(m.bound, m.achieved >= 5) for m in certificate.measurements] == [("k", True)]
    assert [one.attack for one in certificate.attacks] == ["loss", "lira-offline", "rmia"]
    for attack in certificate.attacks:
        assert (attack.bound.measure, attack.bound.asked) == ("auc", 0.75)
        assert attack.reached.low <= attack.reached.value <= attack.reached.high <= 0.75
    assert record.input.rows == certificate.rows_out + record.held_out == 480
    assert certificate.rows_out == 119  # a quarter of each class, rounded down
    # The table that it learnt from is not a part of the release, so what it lost is not told.
    assert certificate.utility.reason == "the table that the model learnt from is not released"
    assert record.utility.classes > 1


def test_the_model_was_trained_on_the_anonymised_share_and_predicts(released):
    model = read_estimator(released[1] / "model" / "model.skops")
    encoding = json.loads((released[1] / "model" / "encoding.json").read_text())
    assert encoding["classes"] == ["flu", "none"]
    assert [one["name"] for one in encoding["columns"]] == ["age", "city"]
    assert model.n_features_in_ == sum(one["width"] for one in encoding["columns"])


def test_the_order_is_sanitise_train_audit_publish():
    plan = plan_policy(of_release())
    assert [step.step for step in plan.steps] == [
        *("read", "drop", "anonymize", "train", "audit", "publish")
    ]
    assert plan.publish.asset == MODEL


def test_who_may_read_the_model_is_decided_by_the_certificate(released):
    text, folder = of_release(), released[1]
    assert decision_on(text, folder, ANALYST).permitted
    assert decision_on(text, folder, TEAM).permitted
    assert not decision_on(text, folder, "http://x.org/stranger").permitted
    assert not decision_on(text, None, ANALYST).permitted


def test_the_table_between_is_readable_by_nobody(released):
    decision = decision_on(of_release(), released[1], ANALYST, OUTPUT)
    assert not decision.permitted
    assert "no certificate that is valid" in decision.reason


@pytest.mark.parametrize(
    "change",
    [
        lambda model: (model / ".hidden").write_text("a payload"),
        lambda model: (model / "_payload").write_text("x"),
        lambda model: (model / "empty").mkdir(),
        lambda model: (model / "link").symlink_to("encoding.json"),
        lambda model: (model / "encoding.json").rename(model / "encoding\n.json"),
        lambda model: (model / "architecture.json").unlink(),
        lambda model: model.rename(model.parent / "elsewhere"),
        lambda model: (model.rename(model.parent / "a"), model.symlink_to("a")),
    ],
)
def test_whatever_is_changed_in_the_folder_of_a_model_is_noticed(released, tmp_path, change):
    copied = shutil.copytree(released[1], tmp_path / "out")
    assert load_certificate(copied).holds
    change(copied / "model")
    with pytest.raises((CertificateError, DataError), match=r"V004|C003 .* is a link"):
        load_certificate(copied)


def test_whatever_lies_beside_a_released_model_is_noticed(released, tmp_path):
    copied = shutil.copytree(released[1], tmp_path / "out")
    lock, mine = copied / ".policy-engine.lock", copied / f".policy-engine.stage.{'0' * 32}"
    lock.touch()
    mine.mkdir(0o700)
    assert load_certificate(copied).holds
    for name in ("model.pkl", ".hidden", ".policy-engine.claim.pkl"):
        (copied / name).write_bytes(b"a pickle")
        for place in (copied, copied / "certificate.jsonld"):
            with pytest.raises(CertificateError, match=f"V004 .* does not cover '{name}' beside"):
                decision_on(of_release(), place, ANALYST)
        with pytest.raises(CertificateError, match="V004"):
            certify_output(copied, of_release())
        (copied / name).unlink()
    mine.chmod(0o755)
    with pytest.raises(CertificateError, match="V004"):
        load_certificate(copied)


def test_a_model_is_released_into_a_folder_of_its_own(table, tmp_path):
    with pytest.raises(OutputError, match=r"O002 The report .* would be in the folder of the rel"):
        apply_policy(of_release(), {DATASET: table}, tmp_path, report=tmp_path / "audit")
    for number in range(4):
        (tmp_path / f"{number}.csv").touch()
    with pytest.raises(OutputError, match=r"O001 .* contains '0.csv', '1.csv', '2.csv' and 1 more"):
        apply_policy(of_release(), {DATASET: table}, tmp_path)


def test_a_certificate_alone_is_still_one(released, tmp_path):
    alone = shutil.copy(released[1] / "certificate.jsonld", tmp_path)
    assert load_certificate(alone).holds
    with pytest.raises(CertificateError, match="V004 The model 'model' is not beside"):
        load_certificate(tmp_path)


def test_a_certificate_of_looser_bounds_is_not_valid(released):
    strict = of_release(bounds={"auc": 0.6})
    assert not decision_on(strict, released[1], ANALYST).permitted


@pytest.mark.nightly
def test_a_model_that_gives_too_much_away_stays_where_it_is(table, tmp_path):
    text = of_raw(LEAKING, bounds={"precision": 0.65})
    with pytest.raises(CertificateError, match=r"V007 precision at most 0.65 is required, but"):
        apply_policy(text, {DATASET: table}, tmp_path / "out", seed=1, report=tmp_path / "why")
    assert file_names(tmp_path / "out") == ["certificate.jsonld"]
    assert file_names(tmp_path / "why") == ["audit.html", "audit.json"]
    refusal = load_certificate(tmp_path / "out")
    # Nothing was released: a digest of it would be one of data that nobody may see.
    assert (refusal.output_digest, refusal.commitment, refusal.measurements) == ("", None, ())
    decision = decision_on(text, tmp_path / "out", ANALYST)
    assert not decision.permitted
    assert "precision at most 0.65 is required, but the attack " in decision.reason


def test_a_model_that_says_labels_alone_is_attacked_by_what_it_decides_by(table, tmp_path):
    text = of_raw("LinearSVC", attacks=("label-only",))
    release = apply_policy(text, {DATASET: table}, tmp_path, seed=1)
    assert [one.attack for one in release.certificate.attacks] == [
        *("label-only", "lira-offline", "rmia")
    ]
    report = release.release.reports[0]
    assert not any("only labels" in said for said in report.warnings)


def test_what_a_policy_names_only_adds_to_the_attacks_of_the_gate(table, tmp_path):
    text = of_raw("DecisionTreeClassifier", attacks=("label-only",), bounds={"auc": 0.6})
    with pytest.raises(CertificateError, match=r"V007 auc at most 0.6 .* the attack lira-offline"):
        apply_policy(text, {DATASET: table}, tmp_path, seed=1)


def test_the_certificate_says_how_often_the_model_is_right(released):
    certificate = load_certificate(released[1])
    [told], report = certificate.models, released[0].release.reports[0]
    for said, side in (
        (told.on_members, report.target_train),
        (told.on_others, report.target_test),
    ):
        assert said.low <= side.accuracy <= said.high
        assert all(
            100 * figure == pytest.approx(round(100 * figure)) for figure in vars(said).values()
        )
    assert certificate.attempts == 1
    [audit] = certificate.plan.audits
    once = audit.model_copy(update={"method": audit.method.model_copy(update={"attempts": 1})})
    steps = tuple(once if step == audit else step for step in certificate.plan.steps)
    plan = certificate.plan.model_copy(update={"steps": steps})
    assert certificate.model_copy(update={"plan": plan}).holds
    assert not certificate.model_copy(update={"plan": plan, "attempts": 2}).holds
    assert {"tensorflow", "scikit-learn"} & set(certificate.versions)


@pytest.mark.nightly
def test_a_failed_audit_leaves_an_earlier_release_as_it_was(table, tmp_path):
    good, bad = of_raw(), of_raw(LEAKING, bounds={"precision": 0.65})
    apply_policy(good, {DATASET: table}, tmp_path, seed=1)
    before = (tmp_path / "certificate.jsonld").read_bytes()
    with pytest.raises(CertificateError, match="V007"):
        apply_policy(bad, {DATASET: table}, tmp_path, seed=1, overwrite=True)
    assert (tmp_path / "certificate.jsonld").read_bytes() == before
    assert load_certificate(tmp_path).holds


def test_a_model_of_raw_records_is_certified_by_its_audit_alone(table, tmp_path):
    release = apply_policy(of_raw(), {DATASET: table}, tmp_path, seed=1)
    assert release.certificate.measurements == ()
    assert release.certificate.utility.reason == "nothing was generalised"
    assert decision_on(of_raw(), tmp_path, ANALYST).permitted


def test_a_table_is_released_once_a_model_of_it_is_audited(table, tmp_path):
    release = apply_policy(of_table(), {DATASET: table}, tmp_path, seed=1)
    assert [step.step for step in release.plan.steps][-2:] == ["audit", "publish"]
    assert [one.attack for one in release.certificate.attacks] == [
        *("loss", "lira-offline", "rmia")
    ]
    assert release.certificate.rows_out == release.table.num_rows == 480
    assert decision_on(of_table(), tmp_path, ANALYST, OUTPUT).permitted


def test_an_audited_table_in_memory_is_the_one_that_is_released(table):
    release = apply_policy(of_table(), {DATASET: table}, seed=1)
    assert release.certificate.rows_out == release.table.num_rows == 480


@pytest.mark.nightly
def test_an_audited_table_is_certified_again_with_its_input_alone(table, tmp_path, monkeypatch):
    # Certifying takes no seed, and by some a model of so few records goes beyond the bound.
    monkeypatch.setattr("policy_engine.release.trained_model.secrets.randbits", lambda _bits: 2)
    apply_policy(of_table(), {DATASET: table}, tmp_path, seed=1)
    with pytest.raises(DataError, match="V006"):
        certify_output(tmp_path, of_table())
    found = certify_output(tmp_path, of_table(), data={DATASET: table})
    assert found.holds
    assert not found.tells_making  # without the record, the data may be any


def test_a_model_cannot_be_certified_again(table, released):
    with pytest.raises(DataError, match="V006 A model does not show"):
        certify_output(released[1], of_release(), data={DATASET: table})


@pytest.mark.nightly
def test_a_model_is_certified_again_with_its_input_and_a_record_that_has_its_seed(table, tmp_path):
    record = tmp_path / "record.json"
    made = apply_policy(of_release(), {DATASET: table}, tmp_path / "out", seed=1, record=record)
    again = certify_output(tmp_path / "out", of_release(), {DATASET: table}, record=record)
    same = {"time": made.certificate.time}
    assert again.model_copy(update=same) == made.certificate
    assert again.attacks
    assert again.attempts == 1


@pytest.mark.nightly
def test_the_same_seed_gives_the_same_figures_and_is_not_told(table, tmp_path):
    made = [
        apply_policy(of_release(), {DATASET: table}, tmp_path / name, seed=86_420_531)
        for name in ("one", "other")
    ]
    assert made[0].certificate.attacks == made[1].certificate.attacks
    text = (tmp_path / "one" / "certificate.jsonld").read_text()
    assert "86420531" not in text
    assert "splits" not in text


@pytest.mark.nightly
def test_the_noise_of_a_private_model_that_is_released_follows_from_no_seed(table, tmp_path):
    private = {
        "layers": [{"units": 2}],
        "epochs": 1,
        "batch_size": 60,
        "privacy": {"noise_multiplier": 2.0},
    }
    text = of_raw(json.dumps(private), bounds={"auc": 0.9})
    report = apply_policy(text, {DATASET: table}, tmp_path / "out", seed=1).release.reports[0]
    assert any("came from the operating system's random bits" in said for said in report.warnings)
    assert report.epsilon_lower.members == "drawn-first"


def test_a_model_that_holds_its_records_is_not_released(table, tmp_path):
    forest = '{"name": "RandomForestClassifier", "parameters": {"oob_score": true}}'
    for text in (of_raw("KNeighborsClassifier"), of_release(forest)):
        with pytest.raises(PlanError, match=r"M012 .* that of this model holds"):
            apply_policy(text, {DATASET: table}, tmp_path / "out", seed=1)
    assert file_names(tmp_path) == []


def test_the_seed_that_is_drawn_cannot_be_tried_out():
    assert max(_given_or_drawn_seed(None) for _ in range(9)) > 1 << 120
    assert _given_or_drawn_seed(7) == 7


def test_without_a_seed_none_is_the_same():
    assert _given_or_drawn_seed(None) != _given_or_drawn_seed(None)


def test_a_model_is_no_table_and_the_one_between_is_never_handed_out(released, tmp_path):
    with pytest.raises(DataError, match="C010 The release is a model"):
        _ = released[0].table
    for place in (tmp_path / "between.csv", tmp_path / "between"):
        with pytest.raises(DataError, match="C010 The release is a model"):
            released[0].write(place)
    assert file_names(tmp_path) == []


@pytest.mark.parametrize("output", [None, "model.csv", "table:people"])
def test_a_model_needs_a_folder(table, tmp_path, output):
    place = output if output is None or ":" in output else tmp_path / output
    with pytest.raises(OutputError, match="O002"):
        apply_policy(of_raw(), {DATASET: table}, place)
    assert file_names(tmp_path) == []


def test_audits_are_not_run_on_spark():
    with pytest.raises(PlanError, match="M009 The spark engine has no method 'membership-inf"):
        plan_policy(of_release(), engine="spark")


def test_the_cost_is_estimated_from_a_few_records(table):
    cost = estimate_policy(of_release(shadows=5), {DATASET: table})
    assert (cost.models, cost.records, cost.calibrated_on) == (6, 119, 119)
    assert 0 < cost.cpu_seconds < 60
    assert estimate_policy(of_table(shadows=4), {DATASET: table}).models == 5


def test_a_prohibition_of_training_stops_the_plan():
    text = json.loads(of_release())
    text["prohibition"] = [{"target": OUTPUT, "action": {"@id": "pe:train"}}]
    with pytest.raises(PlanError, match="M008"):
        plan_policy(json.dumps(text))


def test_the_certificate_says_what_the_files_of_the_model_give_away(released):
    certificate = load_certificate(released[1])
    assert certificate.files == released[0].certificate.files
    assert certificate.files.holds
    assert (certificate.files.smallest_leaf, certificate.files.rare_values) == (10, 0)
    assert "smallestLeaf 10 (at least 10), rareValues 0 (at most 0)" in proven(certificate)


def test_a_certificate_without_what_files_give_away_proves_nothing(released):
    silent = load_certificate(released[1]).model_copy(update={"files": None})
    assert not silent.holds
    assert "V011" in [problem.code for problem in shortcomings(silent)]


def test_a_pickle_is_released_only_where_it_is_allowed(table, tmp_path):
    release = apply_policy(of_raw(), {DATASET: table}, tmp_path, seed=1, allow_pickle=True)
    assert [name for name in file_names(tmp_path) if "joblib" in name] == [
        *("model/model.joblib", "model/model.joblib.WARNING.txt")
    ]
    assert release.certificate.files.holds
