"""A zoo of models whose leakage is known, and what an audit has to say of each.

The data are drawn here: ten numbers of which two tell the class, which in one record of five is
nevertheless the other one. Who learns those by heart leaks; who learns the two numbers does not.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from policy_engine import terms
from policy_engine.audits.membership import auditing
from policy_engine.audits.membership.attacks.attack_models import ATTACK_MODELS
from policy_engine.audits.membership.attacks.label_only import LabelOnly
from policy_engine.audits.membership.attacks.lira_offline import LiraOffline
from policy_engine.audits.membership.attacks.shokri import Shokri
from policy_engine.audits.membership.auditing import audit
from policy_engine.audits.membership.learners.network import NetworkLearner
from policy_engine.audits.membership.learners.scikit import EstimatorLearner
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.membership.result import Gain
from policy_engine.audits.membership.settings import Settings
from policy_engine.methods.audits.classifier import CentralPrivacy, Layer, Network

ATTACKS = ("loss", "lira-offline", "rmia")


@cache
def records(kind="plain", count=640):
    draw = np.random.default_rng(11)
    features = draw.normal(size=(count, 10))
    labels = (features[:, 0] + features[:, 1] > 0).astype(int)
    labels ^= draw.random(count) < {"plain": 0.2, "shuffled": 0.5}.get(kind, 0.2)
    if kind == "simple":
        features = features[:, :2]
    if kind == "fourfold":
        features, labels = (np.repeat(one[: count // 4], 4, axis=0) for one in (features, labels))
    return records_of_arrays(features, labels, kind)


def audited(learner, data=None, attacks=ATTACKS, shadows=6):
    learner = learner if hasattr(learner, "train") else EstimatorLearner.from_object(learner)
    settings = Settings(attacks, shadows=shadows, seed=5)
    return audit(data or records(), learner, settings, architecture="of the zoo")


def found_by(found):
    """The calibrated attacks whose AUC is above that of guessing beyond its interval."""
    calibrated = [one for one in found.attacks if terms.attacks()[one.attack].flag("calibrated")]
    return {one.attack for one in calibrated if one.figures.auc.low > 0.5}


CALIBRATED = {"lira-offline", "rmia"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (RandomForestClassifier(30), "plain"),
        (RandomForestClassifier(30), "shuffled"),
        (MLPClassifier((128,), max_iter=250, learning_rate_init=5e-3), "plain"),
    ],
    ids=["forest", "forest on shuffled labels", "network"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_model_that_learns_by_heart_is_found_by_calibrated_attacks(model, kind):
    found = audited(model, records(kind))
    assert found.target_train.accuracy > 0.95
    assert found_by(found) == CALIBRATED
    assert max(one.figures.auc.value for one in found.attacks) > 0.7
    assert found.attack(found.strongest).figures.accuracy.low > 0.6


def test_a_tree_that_learns_by_heart_is_found_though_its_scores_are_two():
    found = audited(DecisionTreeClassifier(), records("shuffled"))
    assert found.target_train.accuracy == 1
    assert found.attack("label-only").figures.accuracy.low > 0.6
    assert not found.attack("loss").degenerate
    assert found.attack(found.strongest).figures.accuracy.low > 0.6


@pytest.mark.nightly
def test_of_a_constant_every_ranking_is_degenerate():
    found = audited(DummyClassifier(), attacks=(*ATTACKS, "shokri"))
    assert all(one.degenerate for one in found.attacks if one.ranks)
    assert found_by(found) == set()
    gains = [one.gain for one in found.attacks if isinstance(one.gain, Gain)]
    assert not any(one.auc.outcome() == "more" for one in gains)
    assert found.epsilon_lower.reason


def test_of_a_model_that_generalises_nothing_can_be_told_and_that_is_said():
    found = audited(LogisticRegression(C=0.01), records("simple", 2400))
    assert abs(found.target_train.accuracy - found.target_test.accuracy) < 0.05
    assert not any(one.degenerate for one in found.attacks if one.ranks)
    assert all(one.figures.auc.value < 0.55 for one in found.attacks)
    assert_nothing_is_promised(found)


@pytest.mark.nightly
def test_of_differentially_private_training_nothing_beyond_its_epsilon_is_found():
    private = CentralPrivacy(epsilon=1.0)
    network = Network(layers=(Layer(units=8),), epochs=2, batch_size=100, privacy=private)
    found = audited(NetworkLearner(network), records("plain", 1600), shadows=3)
    assert found.epsilon_upper.value <= 1
    assert found.epsilon_lower.value <= found.epsilon_upper.substitution
    assert found_by(found) == set()


def test_of_records_that_stand_on_both_sides_it_is_said():
    """Four times over, a record is a member and none at once: no figure means what it says."""
    found = audited(RandomForestClassifier(10), records("fourfold"))
    assert "records that are on both sides" in " ".join(found.warnings)


def test_of_a_dozen_records_nothing_can_be_told_and_that_is_said():
    found = audited(LogisticRegression(C=0.01), records("plain", 24), ("loss", "rmia"), 2)
    assert found.target_test.records <= 6
    assert_nothing_is_promised(found)


def assert_nothing_is_promised(found):
    said = " ".join(found.verdict)
    assert "proof of safety" in said or "be told" in said
    assert "No attack gains more" not in said


# -- dead attack models are put in


class Dead:
    name, view = "dead", staticmethod(ATTACK_MODELS[-1].view)

    def __init__(self, odds):
        self.given = odds

    def odds(self, _lessons, asked, _seed):
        return [self.given(one[:, 0]) for one in asked]


def _raised(_shown):
    raise RuntimeError


DEAD = {
    "constant": np.zeros_like,
    "not a number": lambda own: own * np.nan,
    "flipped": lambda own: -own,
    "raises": _raised,
}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", DEAD)
def test_an_audit_says_that_its_attack_model_is_dead_and_does_not_count_it(kind, monkeypatch):
    """The forest leaks; whoever believed this attack would release it."""
    dead = Shokri(models=(Dead(DEAD[kind]),))
    monkeypatch.setattr(auditing, "attacks_of_model", lambda *_: (dead, LiraOffline(), LabelOnly()))
    found = audited(RandomForestClassifier(20), attacks=("shokri", "lira-offline"))
    shokri = found.attack("shokri")
    assert shokri.degenerate.startswith("No attack model has learnt anything (dead: it")
    assert found.strongest != "shokri"
    assert "shokri" not in {one.attack for one in found.games}
    assert found.epsilon_lower.attack != "shokri"
    assert found_by(found) == {"lira-offline"}


@pytest.mark.nightly
def test_an_audit_replaces_a_dead_attack_model_by_the_next(monkeypatch):
    mixed = Shokri(models=(Dead(np.zeros_like), ATTACK_MODELS[-1]))
    monkeypatch.setattr(auditing, "attacks_of_model", lambda *_: (mixed, LabelOnly()))
    found = audited(RandomForestClassifier(20), attacks=("shokri",)).attack("shokri")
    assert not found.degenerate
    assert found.figures.auc.low > 0.6
    assert any("not dead, for it gives nearly all records one score" in n for n in found.notes)
