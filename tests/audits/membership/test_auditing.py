from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from policy_engine.audits.membership.auditing import audit
from policy_engine.audits.membership.caveats import epsilon_caveats
from policy_engine.audits.membership.learners.learner import NOT_PRIVATE
from policy_engine.audits.membership.learners.scikit import EstimatorLearner
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS
from policy_engine.audits.membership.records import read_records, records_of_arrays
from policy_engine.audits.membership.released.files import read_estimator
from policy_engine.audits.membership.result import EncodedColumn, MembershipAudit
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.membership.shadows import Sanitiser
from policy_engine.audits.privacy.epsilon import EpsilonUpper
from policy_engine.errors import AuditError, DataError
from policy_engine.methods.audits.classifier import Estimator

ATTACKS = (
    *("loss", "entropy", "modified-entropy", "label-only", "calibrated-loss"),
    *("lira-online", "lira-offline", "rmia"),
)
TREE = Estimator(name="DecisionTreeClassifier", parameters={"min_samples_leaf": 2})
NEIGHBOURS = Estimator(name="KNeighborsClassifier", parameters={"n_neighbors": 3})


class LabelsAlone(ClassifierMixin, BaseEstimator):
    """Says a class, and not how sure it is."""

    def fit(self, features, labels):
        self.tree_ = DecisionTreeClassifier(random_state=0).fit(features, labels)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, features):
        return self.tree_.predict(features)


@cache
def bits(rows=400):
    """Return records whose labels are a coin: whatever is learnt of them is learnt by heart."""
    random = np.random.default_rng(0)
    labels = np.arange(rows) % 2
    return records_of_arrays(random.integers(0, 2, (rows, 24)), labels, "coins")


def run(records=None, attacks=ATTACKS, architecture=NEIGHBOURS, *, learner=None, **more):
    asked = ("shadows", "seed", "slices", "local_epsilon", "attack_domain", "targets")
    chosen = {name: more.pop(name) for name in asked if name in more}
    return audit(
        records or bits(),
        learner or EstimatorLearner.of(architecture),
        Settings(attacks, **{"shadows": 4, **chosen}),
        architecture=architecture,
        **more,
    )


@pytest.fixture(scope="module")
def learnt_by_heart():
    return run()


def test_records_learnt_by_heart_are_found(learnt_by_heart):
    found = learnt_by_heart
    assert [one.attack for one in found.attacks] == list(ATTACKS)
    assert found.target_train.accuracy > found.target_test.accuracy + 0.2
    gap = (1 + found.target_train.accuracy - found.target_test.accuracy) / 2
    assert found.attack("label-only").figures.accuracy.value == pytest.approx(gap)
    assert found.attack(found.strongest).figures.accuracy.low > 0.5
    for one in found.attacks:
        assert one.figures.members == one.figures.non_members == 100
        # three neighbours agree as often on others: entropy alone does not tell
        assert one.figures.auc.value > 0.5 or one.attack == "entropy"
        assert {part.name for part in one.classes} == {"0", "1"}


def test_an_audit_says_what_it_was_of(learnt_by_heart):
    found = learnt_by_heart
    assert (found.data, found.data_digest, found.records) == ("coins", bits().digest, 400)
    assert (found.features, found.classes, found.seed) == (24, ("0", "1"), 0)
    assert found.shadow_models == 4
    assert found.baseline == "label-only"
    assert found.attack("rmia").shadow_models == 4
    assert [one.attack for one in found.games] == [found.strongest]
    assert found.epsilon_upper.reason
    assert 0 <= found.epsilon_lower.value <= found.epsilon_lower.ceiling
    assert (found.epsilon_lower.members, found.epsilon_lower.pairs) == ("drawn", 66)
    assert {"policy-engine", "python", "numpy", "scikit-learn"} <= set(found.versions)
    assert any("0.1% means none" in said for said in found.warnings)
    assert MembershipAudit.model_validate_json(found.model_dump_json()) == found


def test_the_same_audit_gives_the_same_figures(learnt_by_heart, tmp_path):
    folder = tmp_path / "cache"
    assert run(cache=folder) == learnt_by_heart
    assert run(cache=folder, learner=replace(EstimatorLearner.of(NEIGHBOURS), workers=1)) == (
        learnt_by_heart
    )
    assert run(attacks=("loss",), seed=1).splits_digest != learnt_by_heart.splits_digest


def test_what_is_kept_is_not_trained_again(tmp_path, monkeypatch):
    run(attacks=("rmia",), cache=tmp_path)
    monkeypatch.delattr(EstimatorLearner, "train")
    run(attacks=("rmia", "calibrated-loss", "loss"), cache=tmp_path)


def test_a_model_that_learns_nothing_gives_nothing_away():
    learner = EstimatorLearner.from_object(DummyClassifier(strategy="prior"))
    found = run(learner=learner)
    for one in found.attacks:
        assert one.figures.accuracy.low <= 0.5 <= one.figures.accuracy.high, one.attack
        assert one.figures.auc.low <= 0.5 <= one.figures.auc.high, one.attack
    assert "no attack ranks" in found.epsilon_lower.reason
    single = found.games[0].single
    assert single.value == pytest.approx(0.5, abs=0.02)


def test_the_baseline_is_always_run_and_shadows_only_where_needed():
    found = run(attacks=("loss",))
    assert [one.attack for one in found.attacks] == ["loss", "label-only"]
    assert found.shadow_models == 0


def test_a_model_of_labels_alone():
    alone = EstimatorLearner.from_object(LabelsAlone())
    found = run(attacks=("label-only",), learner=alone)
    assert [one.attack for one in found.attacks] == ["label-only"]
    assert any("only labels" in said for said in found.warnings)
    assert found.epsilon_lower.reason
    with pytest.raises(AuditError, match=r"A005.*'loss' and 'rmia'"):
        run(attacks=("loss", "rmia"), learner=alone)


def test_online_shadows_come_in_pairs():
    found = run(attacks=("lira-online",), shadows=3)
    assert found.shadow_models == 4
    assert any("4 were trained instead of 3" in said for said in found.warnings)


@pytest.mark.nightly
def test_members_may_be_given():
    members = np.arange(60)
    found = run(attacks=("loss", "rmia"), members=members)
    assert found.target_train.records == found.target_test.records == 60
    assert found.epsilon_lower.members == "told"


def test_slices_by_columns():
    random = np.random.default_rng(1)
    table = pa.table(
        {
            "age": random.integers(20, 60, 200),
            "sex": ["f", "m"] * 100,
            "ill": random.permutation(["no", "yes"] * 100),
        }
    )
    found = run(read_records(table, "ill"), ("loss",), slices=("sex",))
    names = {one.name for one in found.attack("loss").slices if one.kind == "column"}
    assert names == {"sex = f", "sex = m"}
    assert [one.kind for one in found.encoding] == ["number", "one-hot"]
    with pytest.raises(DataError, match=r"C005.*'ages'.*Did you mean 'age'"):
        run(read_records(table, "ill"), ("loss",), slices=("ages",))


def test_perturbed_training_data_give_less_away(learnt_by_heart):
    plain = learnt_by_heart.attack("loss").figures.auc.value
    audits = {
        domain: run(local_epsilon=0.5, attack_domain=domain) for domain in ("original", "perturbed")
    }
    for found in audits.values():
        assert found.splits_digest == learnt_by_heart.splits_digest
        assert any("epsilon 0.5 for each attribute, 12 for a record" in w for w in found.warnings)
    original, perturbed = (one.attack("loss").figures.auc.value for one in audits.values())
    assert original < plain - 0.05
    # the noise itself is learnt by heart, and who holds the perturbed records sees that
    assert perturbed > original


def test_a_tiny_local_epsilon_leaves_nothing_of_the_original():
    found = run(local_epsilon=1e-6, attacks=("loss",))
    assert found.attack("loss").figures.auc.low < 0.5 < found.attack("loss").figures.auc.high


def test_a_sanitiser_stands_between_the_rows_and_the_model():
    def constant(rows):
        return records_of_arrays(np.zeros((len(rows), 24)), bits().labels[rows])

    found = run(attacks=("loss",), sanitiser=Sanitiser("constant", constant))
    assert found.attack("loss").figures.auc.value == pytest.approx(0.5)


def test_the_target_is_saved(tmp_path):
    run(attacks=("loss",), architecture=TREE, model=tmp_path / "target.skops")
    assert isinstance(read_estimator(tmp_path / "target.skops"), DecisionTreeClassifier)


def test_nothing_is_trained_where_memory_would_not_do(monkeypatch):
    monkeypatch.delattr(EstimatorLearner, "train")
    with pytest.raises(AuditError, match="A008"):
        run(available=lambda: 1000)


def test_progress_tells_of_models_and_attacks():
    told = []
    run(attacks=("loss", "rmia"), progress=lambda *step: told.append(step))
    assert {stage for stage, _, _ in told} == {"models", "attacks"}
    for stage, total in (("models", 500), ("attacks", 3)):
        steps = [done for name, done, _ in told if name == stage]
        assert steps == sorted(steps)
        assert (steps[0], steps[-1]) == (0, total)


class Private:
    """A learner whose models are said to be differentially private."""

    name, gives = "private", CONFIDENCE_ANSWERS
    proven = EpsilonUpper(
        delta=1e-3,
        noise_multiplier=1,
        sampling_rate=0.1,
        steps=10,
        rdp=3,
        pld=2,
        classic=4,
        value=2,
        substitution=5,
        substitution_delta=1e-5,
    )

    def train(self, records, rows, seeds, progress):
        trained = EstimatorLearner.of(NEIGHBOURS).train(records, rows, seeds, progress)
        return _Proven(trained.models, trained.classes, trained.gives)

    def memory(self, *_):
        return 1


class _Proven(type(EstimatorLearner.of(NEIGHBOURS).train(bits(), [np.arange(9)], [0]))):
    epsilon = Private.proven


def test_the_accountant_s_epsilon_is_kept_with_the_model(tmp_path):
    first, again = (run(attacks=("loss",), learner=Private(), cache=tmp_path) for _ in range(2))
    assert first.epsilon_upper == again.epsilon_upper == Private.proven
    assert first.epsilon_lower.delta == 1e-5
    assert any("a secret seed" in said for said in again.warnings)
    assert NOT_PRIVATE.reason == run(attacks=("loss",)).epsilon_upper.reason


def test_no_epsilon_is_claimed_of_records_that_were_sanitised_together():
    sanitiser = Sanitiser(
        "same", lambda rows: records_of_arrays(bits().features[rows], bits().labels[rows])
    )
    found = run(attacks=("loss",), learner=Private(), sanitiser=sanitiser)
    assert (
        "spends epsilon 2 at delta 0.001 of each row of the sanitised" in found.epsilon_upper.reason
    )
    assert not any("a secret seed" in said for said in found.warnings)


def test_epsilon_is_of_the_training_and_not_of_the_encoding():
    records = bits()
    about = EncodedColumn(name="age", kind="number", width=24, says="standardised")
    [_, said] = epsilon_caveats(replace(records, encoding=(about,)), is_secret=False)
    [noise] = epsilon_caveats(replace(records, encoding=()), is_secret=True)
    assert noise.endswith(
        "another training with the same seed gives another model and other figures."
    )
    assert "by which 'age' became features were computed from the records without noise" in said
    assert len(list(epsilon_caveats(records, is_secret=False))) == 1


@pytest.mark.nightly
def test_attacks_that_ask_models_more_are_run_where_they_are_named(tmp_path):
    named = ("label-only-boundary", "qmia", "lira-views")
    how = {"architecture": TREE, "shadows": 2, "cache": tmp_path}
    first, again = (run(bits(480), attacks=named, **how) for _ in range(2))
    assert [one.attack for one in first.attacks] == [*named, "label-only"]
    assert first == again
    assert first.attack("label-only-boundary").figures.auc.low > 0.5
    assert first.attack("qmia").shadow_models == 0


def test_reference_records_are_needed_before_anything_is_trained():
    members, others = np.arange(100), np.arange(100, 200)
    with pytest.raises(AuditError, match=r"A007 .* are neither audited nor trained on"):
        run(bits(200), attacks=("qmia",), members=members, non_members=others)
