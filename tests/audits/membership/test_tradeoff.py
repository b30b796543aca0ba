"""The grid of epsilons: what its points are."""

import numpy as np
import pytest

from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.membership.tradeoff import Grid, Tradeoff, jobs_of, tradeoff
from policy_engine.audits.privacy.accounting import epsilon_of
from policy_engine.audits.privacy.mitigation import mitigation_efficiency
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import CentralPrivacy, Layer, Network

NETWORK = Network(
    layers=(Layer(units=32),), learning_rate=0.01, epochs=20, batch_size=25, privacy=None
)
SETTINGS = Settings(attacks=("loss",), seed=3)
STAGES = []


@pytest.fixture(scope="module")
def found():
    random = np.random.default_rng(0)
    records = records_of_arrays(random.integers(2, size=(400, 30)), np.arange(400) % 2)
    grid = Grid(noise_multipliers=(8.0,), local_epsilons=(1.0,))
    private = NETWORK.model_copy(update={"privacy": CentralPrivacy(noise_multiplier=1.0)})
    return tradeoff(records, private, SETTINGS, grid, progress=lambda *told: STAGES.append(told))


@pytest.mark.nightly
def test_the_original_comes_first_and_is_not_private(found):
    assert [point.kind for point in found.points] == ["original", "central", "local"]
    assert found.architecture.privacy is None
    assert isinstance(found.original.epsilon, NotApplicable)
    assert isinstance(found.original.phi_precision, NotApplicable)


@pytest.mark.nightly
def test_a_central_point_has_the_epsilon_of_its_training(found):
    (point,) = found.of("central")
    spent = epsilon_of(8.0, 25 / 100, 20 * 4, 1 / 100)
    assert (point.setting, point.epsilon, point.delta) == (8.0, spent.value, 1 / 100)


def test_a_local_point_has_the_epsilon_of_a_record(found):
    (point,) = found.of("local")
    assert (point.setting, point.epsilon, point.delta) == (1.0, 30.0, 0.0)


def test_privacy_takes_from_the_attack_what_overfitting_gave(found):
    original, central, local = found.points
    assert original.train_accuracy > 0.95
    assert original.recall.value + original.precision.value > 1.3
    assert central.train_accuracy < original.train_accuracy
    assert local.precision.value < original.precision.value


def test_efficiency_is_that_of_the_figures_shown(found):
    original, _, local = found.points
    accuracies = original.test_accuracy, local.test_accuracy
    recalls = original.recall.value, local.recall.value
    assert local.phi_recall == mitigation_efficiency(accuracies, recalls, 2)


@pytest.mark.usefixtures("found")
def test_every_model_of_the_grid_tells_how_far_it_is():
    assert {stage.partition(":")[0] for stage, _, _ in STAGES} == {
        f"model {number} of 3" for number in (1, 2, 3)
    }


def test_a_tradeoff_is_its_json(found):
    assert Tradeoff.model_validate_json(found.model_dump_json()) == found


def test_the_grid_of_the_paper():
    jobs = list(jobs_of(NETWORK, SETTINGS, Grid(epsilons=(1.0,))))
    assert [job.kind for job in jobs].count("central") == 6
    assert jobs[1].network.privacy.noise_multiplier == 2
    assert jobs[6].network.privacy.epsilon == 1.0
    assert [job.settings.local_epsilon for job in jobs[7:]] == [8, 5, 3, 1, 0.1]
