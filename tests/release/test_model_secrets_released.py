"""A model is released only if its columns are not given away, and its certificate says so."""

import json

import numpy as np
import pytest
from building import ANALYST, DATASET
from modelled import CITY, bound, decision_on, of_raw, people_table, with_secrets

from policy_engine import apply_policy
from policy_engine.audits.attribute import learning
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.consistency import contradictions
from policy_engine.certificate.shortcomings import proven
from policy_engine.errors import AuditError, CertificateError

AUC = {"auc": 0.95}


@pytest.fixture(autouse=True, scope="module")
def few_trees():
    with pytest.MonkeyPatch.context() as patch:
        for name, number in (("_TREES", 10), ("_TRIAL_TREES", 10), ("_STEPS", 2_000)):
            patch.setattr(learning, name, number)
        yield


def asks(most):
    return with_secrets(of_raw(bounds=AUC), bound("advantage", most), CITY)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return people_table(tmp_path_factory.mktemp("people") / "people.csv", 2000)


@pytest.fixture(scope="module")
def released(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    arguments = {"seed": 3, "attempts": folder / "attempts"}
    release = apply_policy(asks(0.6), {DATASET: people}, folder / "out", **arguments)
    return release, folder / "out"


@pytest.mark.nightly
def test_what_attacks_reach_is_certified_and_allows_reading(released):
    certificate = released[0].certificate
    assert len(certificate.secret_attacks) == 12
    assert all(one.holds for one in certificate.secret_attacks)
    assert "fredrikson on city, all values" in proven(certificate)
    assert load_certificate(released[1]) == certificate
    assert decision_on(asks(0.6), released[1], ANALYST).permitted


def test_a_stricter_policy_denies_what_was_released(released):
    assert not decision_on(asks(0.5), released[1], ANALYST).permitted


def test_the_answer_about_the_record_itself_gives_a_column_away(released):
    """A naive Bayes classifier is as sure as age and city make it: who knows the age learns the
    city from the answer, of members and of others."""
    figures = {one.key[:3]: one.reached for one in released[0].certificate.secret_attacks}
    assert figures["black-box-forest", "city", "all values"].low > 0.02
    assert figures["fredrikson", "city", "all values"].low < 0.02


@pytest.mark.nightly
def test_a_bound_that_is_broken_releases_nothing(people, tmp_path):
    arguments = {"seed": 3, "attempts": tmp_path / "attempts"}
    with pytest.raises(CertificateError) as refusal:
        apply_policy(asks(0.15), {DATASET: people}, tmp_path / "out", **arguments)
    assert {one.code for one in refusal.value.problems} == {"V007"}
    certificate = load_certificate(tmp_path / "out")
    assert not certificate.output_digest
    assert certificate.secret_attacks
    assert not decision_on(asks(0.15), tmp_path / "out", ANALYST).permitted


def test_a_bound_that_so_few_cannot_show_is_refused_before_training(people, tmp_path):
    with pytest.raises(AuditError, match=r"A021 .*cannot be shown with"):
        apply_policy(asks(0.01), {DATASET: people}, tmp_path / "out", attempts=tmp_path / "a")
    assert not (tmp_path / "out").exists()


@pytest.mark.nightly
def test_a_later_attempt_has_wider_ends(released, people):
    folder = released[1].parent
    again = apply_policy(
        *(asks(0.9), {DATASET: people}, folder / "again"), seed=4, attempts=folder / "attempts"
    )
    assert again.certificate.attempts > 1
    for one in again.certificate.secret_attacks:
        assert one.pooled >= min(one.reached.high, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attack": "confidence", "about": "one value"}, "several figures"),
        ({"column": "age"}, "that its plan does not make"),
        ({"reached": {"value": 0.0, "low": 0.0, "high": 0.001}}, "members give no interval"),
        ({"reached": {"value": 1.2, "low": 1.0, "high": 1.5}}, "No advantage is beyond 1"),
        ({"reached": {"reason": "it is tired"}}, "does not apply, and it always does"),
        ({"pooled": 0.5}, "do not match its number of attempts"),
    ],
)
def test_figures_that_no_attack_has_are_contradictions(released, change, message):
    text = json.loads(released[0].certificate.to_jsonld())
    attacks = text["pe:certificate"]["secret_attacks"]
    attacks[0] = {**attacks[0], **change}
    with pytest.raises(CertificateError, match=message):
        read_certificate(json.dumps(text))


def test_the_certificate_contradicts_nothing(released):
    assert not [*contradictions(released[0].certificate)]
    assert np.isfinite([one.reached.value for one in released[0].certificate.secret_attacks]).all()
