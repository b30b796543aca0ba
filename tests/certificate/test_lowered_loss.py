"""Certificates tell in steps what it gained to leave outlying rows out, and only so."""

import pytest
from applying import applied, asking
from building import DATASET

from policy_engine import apply_policy, certify_output
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.consistency import contradictions
from policy_engine.engines.suppression_gain import LoweredLoss
from policy_engine.errors import CertificateError

ROWS = {
    "age": [20, 21, 22, 30, 31, 32, 40, 41, 42, 43],
    "pay": [10, 11, 12, 20, 21, 22, 30, 31, 32, 90000],
}
ASKED = {"method": "k-anonymity", "k": 3, "quasi": ["pay"]}
POLICY = asking(maxSuppression=0.1, **ASKED)


@pytest.fixture
def released(tmp_path):
    """A release without its outlier, in a folder, and its record."""
    return apply_policy(POLICY, {DATASET: ROWS}, tmp_path / "out", record=tmp_path / "record.json")


def test_a_certificate_tells_the_step_and_neither_figure(released, tmp_path):
    certificate = load_certificate(tmp_path / "out")
    assert certificate.lowered_loss == LoweredLoss.of(released.record.gain)
    assert certificate.lowered_loss.at_least > 0
    text = certificate.to_jsonld()
    assert f"{released.record.gain.without:.4}" not in text
    assert "by at least" in released._repr_html_()


def test_plans_that_leave_none_out_tell_nothing():
    certificate = applied(ROWS, **ASKED).certificate
    assert certificate.lowered_loss is None
    assert "lowered_loss" not in certificate.to_jsonld()


def test_certifying_again_keeps_it_and_the_record_shows_whether_it_is_true(released, tmp_path):
    again = certify_output(released.path, POLICY, {DATASET: ROWS}, record=tmp_path / "record.json")
    assert again.lowered_loss == released.certificate.lowered_loss
    file = tmp_path / "out" / "certificate.jsonld"
    step = f'"at_least": {released.certificate.lowered_loss.at_least}'
    text = file.read_text()
    assert text.count(step) == 1
    file.write_text(text.replace(step, '"at_least": 0.9'))
    assert certify_output(released.path, POLICY).lowered_loss.at_least == 0.9
    with pytest.raises(CertificateError, match="lowered the loss by at least 90%"):
        certify_output(released.path, POLICY, record=tmp_path / "record.json")


@pytest.mark.parametrize(
    ("asked", "at_least", "said"),
    [
        ({}, 0.5, "its plan leaves none out"),
        ({"maxSuppression": 0.1}, 0.51, "more exactly"),
    ],
)
def test_gains_that_no_release_has_are_refused(asked, at_least, said):
    certificate = applied(ROWS, **ASKED, **asked).certificate
    forged = certificate.model_copy(update={"lowered_loss": LoweredLoss(at_least=at_least)})
    assert any(said in one for one in contradictions(forged))
