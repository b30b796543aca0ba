"""Audits of secrets end to end: what memorises leaks, what ignores the secret does not."""

import json

import numpy as np
import pyarrow as pa
import pytest

from policy_engine import Estimator, FittedModel, audit_attribute
from policy_engine.audits.attribute.settings import SecretSettings
from policy_engine.audits.membership.auditing import audit_splits
from policy_engine.audits.membership.records import read_records
from policy_engine.audits.membership.settings import Settings
from policy_engine.errors import AuditError

RECORDS = 600
CHEAP = ("fredrikson", "confidence")


@pytest.fixture(scope="module")
def people():
    """Records with a number of their own, and a secret and a label that nothing tells."""
    random = np.random.default_rng(5)
    return pa.table(
        {
            "number": np.arange(RECORDS, dtype=float),
            "secret": random.integers(0, 3, RECORDS),
            "member": np.arange(RECORDS) % 3 == 0,
            "label": random.integers(0, 2, RECORDS),
        }
    )


def memory_of(people):
    """A model that is sure of the labels of its members with their own secret, and of no other."""
    secrets, labels = (people.column(name).to_numpy() for name in ("secret", "label"))

    def shares(features):
        numbers = features[:, 0].astype(int)
        knows = (numbers % 3 == 0) & (secrets[numbers] == features[:, 1])
        sure = np.where(knows, np.where(labels[numbers] == 1, 0.95, 0.05), 0.5)
        return np.stack([1 - sure, sure], axis=1)

    return FittedModel(shares, classes=("0", "1"))


@pytest.mark.nightly
def test_a_model_that_memorises_gives_away_its_members_and_nobody_else(people):
    found = audit_attribute(
        people, "label", "secret", fitted=memory_of(people), members="member", attacks=CHEAP
    )
    one = found.attack("confidence")
    assert one.members.accuracy.value == 1
    assert one.members.advantage.value > 0.5
    assert abs(one.others.advantage.value) < 0.1
    assert one.excess.low > 0.4
    assert found.shows_advantage
    assert found.shows_excess
    assert found.strongest == "confidence"
    assert found.verdict.startswith("The model gives away 'secret' of those it was trained on")
    assert all(value.excess.low > 0 for value in one.values)


@pytest.mark.nightly
def test_what_a_forest_learns_from_tried_values_is_the_members_too(people):
    found = audit_attribute(
        people,
        *("label", "secret"),
        fitted=memory_of(people),
        members="member",
        attacks=["tried-forest"],
    )
    assert found.attack("tried-forest").excess.low > 0.3


@pytest.mark.nightly
def test_a_model_that_ignores_the_secret_gives_nothing_away(people):
    def shares(features):
        sure = np.where(features[:, 0] % 2 == 0, 0.8, 0.3)
        return np.stack([1 - sure, sure], axis=1)

    model = FittedModel(shares, classes=("0", "1"))
    found = audit_attribute(people, "label", "secret", fitted=model, members="member")
    assert not found.shows_advantage
    assert not found.shows_excess
    assert found.verdict.startswith("No attack is shown to guess 'secret'")


def rules(records=1200, seed=1):
    """Records whose label is that the secret is yes and a number is large: f tells half of it."""
    random = np.random.default_rng(seed)
    number, secret = random.integers(0, 8, records), random.random(records) < 0.4
    label = np.where(secret & (number >= 3), "in", "out")
    return pa.table({"number": number, "secret": np.where(secret, "yes", "no"), "label": label})


TREE = Estimator(name="DecisionTreeClassifier", parameters={"max_depth": 4})


@pytest.mark.nightly
def test_what_the_label_tells_is_imputed_without_the_model():
    found = audit_attribute(rules(), "label", "secret", TREE, attacks=("fredrikson",))
    one = found.attack("fredrikson")
    # The label tells the secret of who has a large number; so does it to the imputation.
    assert one.members.accuracy.value > 0.8
    assert one.added.low > 0.1  # over the marginals
    assert abs(one.members.advantage.value) < 0.03
    assert one.best == "population"
    assert not found.shows_excess


@pytest.mark.nightly
def test_the_model_is_trained_on_the_part_that_an_audit_of_membership_takes():
    table = rules(400)
    found = audit_attribute(table, "label", "secret", TREE, seed=7, attacks=("fredrikson",))
    records = read_records(table, "label")
    splits = audit_splits(records, [], Settings(seed=7, attacks=("loss",)))
    assert found.attack("fredrikson").members.records == len(splits.target_train)
    assert found.known_records == len(splits.target_train) // 2
    assert found.imputed_from == len(splits.target_train)


@pytest.mark.nightly
def test_the_same_seed_gives_the_same_figures_and_several_targets_their_spread():
    one, other = (
        audit_attribute(rules(400), "label", "secret", TREE, seed=3, targets=2, attacks=CHEAP)
        for _ in range(2)
    )
    assert one == other
    spread = one.over_targets[0].advantage
    assert len(spread.values) == 2
    assert spread.values[0] == one.attacks[0].members.advantage.value


@pytest.mark.nightly
def test_the_folder_has_figures_and_a_page_for_the_owner_alone(tmp_path):
    found = audit_attribute(
        rules(400), "label", "secret", TREE, out=tmp_path, attacks="confidence", targets=2
    )
    written = json.loads((tmp_path / "attribute.json").read_text())
    assert written["verdict"] == found.verdict
    page = (tmp_path / "attribute.html").read_text()
    assert page.index(found.verdict[:20]) < page.index("<svg")
    assert "Several models" in page
    assert (tmp_path / "attribute.html").stat().st_mode & 0o777 == 0o600


@pytest.mark.nightly
def test_a_model_of_labels_alone_is_attacked_by_labels():
    votes = Estimator(name="DecisionTreeClassifier")
    from policy_engine.audits.membership.learners.scikit import EstimatorLearner

    class Labels:
        def __init__(self):
            self.classes_ = None

        def get_params(self, **_):
            return {}

        def set_params(self, **_):
            return self

        def fit(self, features, labels):
            self.classes_ = np.unique(labels)
            assert len(features) == len(labels)
            return self

        def predict(self, features):
            return (features[:, 0] > 0).astype(np.int64)

    learner = EstimatorLearner(Labels(), votes.name)
    found = audit_attribute(
        rules(400), "label", "secret", learner, attacks=("confidence", "tried-labels")
    )
    assert [one.attack for one in found.attacks] == ["tried-labels"]
    assert "labels alone" in found.not_run[0].reason


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"secret": "label"}, "A035"),
        ({"secret": "none"}, "A035"),
        ({"attacks": ("fredriksen",)}, "A012"),
        ({"attacks": ("confidence", "confidence")}, "A012"),
        ({"targets": 0}, "A007"),
        ({"members": "member", "targets": 2}, "A011"),
        ({"members": "nobody"}, "A011"),
        ({"label": "none"}, "A002"),
    ],
)
def test_bad_requests_are_refused(people, arguments, code):
    request = {"label": "label", "secret": "secret", **arguments}
    with pytest.raises(AuditError) as refusal:
        audit_attribute(people, model=TREE, **request)
    assert refusal.value.code == code


def test_arrays_have_no_column_to_be_secret():
    with pytest.raises(AuditError, match="A035"):
        audit_attribute((np.zeros((9, 2)), np.zeros(9)), "label", "secret", TREE)


def test_a_secret_that_a_fitted_model_does_not_take_is_refused(people):
    model = FittedModel(lambda rows: rows, features=("number",))
    with pytest.raises(AuditError, match="A035"):
        audit_attribute(people, "label", "secret", fitted=model, members="member")


def test_too_few_others_to_learn_from_are_refused(people):
    few = people.slice(0, 90)
    with pytest.raises(AuditError, match=r"too few to learn from|fewer than 10 records"):
        audit_attribute(few, "label", "secret", fitted=memory_of(few), members="member")


def test_settings_ask_for_all_attacks_by_default():
    assert len(SecretSettings().requested) == 6
