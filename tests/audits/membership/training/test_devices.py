import sys
from types import SimpleNamespace

import numpy as np
import pytest

from policy_engine.audits.membership.learners import learner_of
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.membership.training import runtime
from policy_engine.methods.audits.classifier import CentralPrivacy, Layer, Network


def tensorflow(gpus, asked):
    """A TensorFlow that says what it was asked."""
    experimental = SimpleNamespace(
        set_memory_growth=lambda one, grows: asked.append((one, grows)),
        enable_op_determinism=lambda: asked.append("determinism"),
    )
    config = SimpleNamespace(list_physical_devices=lambda _: gpus, experimental=experimental)
    return SimpleNamespace(config=config)


@pytest.mark.parametrize(
    ("gpus", "expected"), [([], []), (["one"], [("one", True), "determinism"])]
)
def test_a_gpu_is_told_to_do_the_same_each_time(monkeypatch, gpus, expected):
    asked = []
    made = tensorflow(gpus, asked)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    real = __import__

    def imported(name, *given):
        return made if name == "tensorflow" else real(name, *given)

    monkeypatch.setattr("builtins.__import__", imported)
    assert runtime.need_tensorflow() is made
    assert asked == expected


@pytest.mark.parametrize("privacy", [None, CentralPrivacy(noise_multiplier=1.0)])
def test_the_same_seed_gives_the_same_network_on_a_gpu(privacy):
    if not runtime.gpus(runtime.need_tensorflow()):
        pytest.skip("NO GPU IS HERE: that figures are repeated on one is not tested")
    random = np.random.default_rng(0)
    records = records_of_arrays(random.normal(size=(400, 30)), np.arange(400) % 3)
    network = Network(layers=(Layer(units=64, dropout=0.2),), epochs=5, privacy=privacy)
    once, again = (
        learner_of(network).train(records, [np.arange(200)], [1]).logits(records.features)
        for _ in range(2)
    )
    assert (once == again).all()
