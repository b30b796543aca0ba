"""Certificates of permuted values: what contradicts them, models of them, and later releases."""

import json

import pytest
from applying import applied
from building import DATASET, anonymize, permission, policy
from modelled import MODEL, people_table, train, use

from policy_engine import apply_policy, certify_output
from policy_engine.certificate.certificate import Certificate, read_certificate
from policy_engine.certificate.page import certificate_html
from policy_engine.certificate.sources import as_upstream
from policy_engine.errors import CertificateError, DataError

ASKED = {"method": "probabilistic-k-anonymity", "k": 3, "quasi": ["age"], "sensitive": ["x"]}
TABLE = {"age": [20, 21, 22, 40, 41, 42, 43], "x": [*"abcdefg"]}
KEY = b"k" * 32
_TREE = '{"name": "DecisionTreeClassifier", "parameters": {"min_samples_leaf": 20}}'


@pytest.fixture(scope="module")
def certificate():
    return applied(TABLE, **ASKED).certificate


def stated(certificate, achieved):
    document = json.loads(certificate.to_jsonld())
    document["pe:certificate"]["measurements"][0]["achieved"] = achieved
    return json.dumps(document)


@pytest.mark.parametrize("achieved", [0, 0.3, 1 / 8, 1.5, 2])
def test_a_probability_is_one_over_the_rows_of_a_class(certificate, achieved):
    with pytest.raises(CertificateError, match=f"linkProbability cannot be {achieved:g} in 7 rows"):
        read_certificate(stated(certificate, achieved))


def test_classes_are_as_many_as_their_rows_allow(certificate):
    assert read_certificate(stated(certificate, 1 / 3)) == certificate
    with pytest.raises(CertificateError, match="7 rows cannot form 2 classes of 7 or more"):
        read_certificate(stated(certificate, 1 / 7))


def test_it_shows_the_probability_and_says_what_it_is_not(certificate):
    page = certificate_html(certificate)
    assert "linkProbability" in page
    assert "not k-anonymity" in page
    assert isinstance(certificate, Certificate)
    assert certificate.holds


def test_columns_of_a_release_hold_values_and_no_cells(certificate):
    assert as_upstream(certificate).generalised == ()


@pytest.mark.nightly
def test_a_model_of_permuted_values_is_trained_again_by_their_key(tmp_path):
    data = people_table(tmp_path / "people.csv", 600)
    roles = {"identifier": ["name"], "quasi": ["age", "city"], "label": f"{DATASET}/disease"}
    guided = {"algorithm": "accuracy-guided", "k": 10}
    action = anonymize(method="probabilistic-k-anonymity", **guided, **roles)
    table = permission(uid="http://x.org/policy#1", action=action, output="http://x.org/anonPeople")
    text = policy([table, train(_TREE), use(bounds={"auc": 0.95})])
    record = tmp_path / "record.json"
    call = {"asset": MODEL, "seed": 1, "key": KEY, "record": record}
    made = apply_policy(text, {DATASET: data}, tmp_path / "out" / "model", **call)
    again = {"data": {DATASET: data}, "record": record, "asset": MODEL}
    proven = certify_output(made.path.parent, text, key=KEY, **again)
    assert proven.output_digest == made.certificate.output_digest
    with pytest.raises(DataError, match="V006 How values were permuted"):
        certify_output(made.path.parent, text, **again)
