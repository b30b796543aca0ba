import importlib
import sys

import numpy as np
import pytest

from policy_engine.audits.generative.models.loading import load_fits, load_model
from policy_engine.audits.generative.models.protocols import Discriminates, Reconstructs, Samples
from policy_engine.audits.membership.training.runtime import ignore_deprecations, need_keras
from policy_engine.errors import AuditError, DataError

MODULE = """
import numpy as np

class Model:
    def sample(self, n, *, label=None, seed):
        return np.full((n, 2), seed)

class Spoilt:
    def __init__(self):
        raise OSError("no weights")

def function(n, *, label=None, seed):
    return np.full((n, 2), 10 * (label or 0) + seed)

def unlabelled(n, seed):
    return np.full((n, 2), seed)

def make():
    return Model()

model = Model()
number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "generators_of_users.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    importlib.invalidate_caches()
    yield "generators_of_users"
    sys.modules.pop("generators_of_users", None)


@pytest.mark.parametrize("name", ["Model", "model", "make", "function", "unlabelled"])
def test_objects_classes_and_functions_of_python_are_models(name, module):
    model = load_model(f"{module}:{name}")
    assert isinstance(model, Samples)
    assert model.sample(3, seed=4).tolist() == [[4, 4]] * 3


def test_a_function_gets_its_label(module):
    assert load_model(f"{module}:function").sample(1, label=2, seed=1).tolist() == [[21, 21]]


def test_the_path_of_imports_is_as_it_was(module):
    before = [*sys.path]
    load_model(f"{module}:model")
    assert sys.path == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("generators_of_users:number", "not a generative model"),
        ("generators_of_users:none", "has no 'none'"),
        ("generators_of_users:Spoilt", "raises OSError when it is called"),
        ("generators_of_nobody:model", "cannot be imported"),
        ("generators_of_users", "module:object"),
    ],
)
def test_what_is_no_model_is_refused(name, text, module):
    assert module
    with pytest.raises(AuditError, match=text) as error:
        load_model(name)
    assert error.value.code == "A014"


def test_an_object_is_a_model_or_is_refused():
    with pytest.raises(AuditError, match="not a generative model"):
        load_model(np.zeros(3))


def test_a_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(DataError, match=r"generator\.keras") as error:
        load_model(tmp_path)
    assert error.value.code == "C002"


def test_a_file_that_is_no_model_of_keras_is_refused(tmp_path):
    (tmp_path / "x.keras").write_text("not a model")
    with pytest.raises(AuditError, match="opened by Keras") as error:
        load_model(tmp_path / "x.keras")
    assert error.value.code == "A014"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three models: codes of 2 numbers and 3 classes, and records of (2, 2)."""
    keras, path = need_keras(), tmp_path_factory.mktemp("models")
    layers = keras.layers
    noise, label = keras.Input((2,)), keras.Input((3,))
    joined = layers.Concatenate()([noise, label])
    image = layers.Reshape((2, 2))(layers.Dense(4)(joined))
    record = keras.Input((2, 2))
    flat = layers.Flatten()(record)
    codes = layers.Dense(2)(flat), layers.Dense(2)(flat)
    models = {
        "generator": keras.Model([noise, label], image),
        "encoder": keras.Model(record, [*codes]),
        "discriminator": keras.Model(record, layers.Dense(1)(flat)),
    }
    with ignore_deprecations():
        for name, model in models.items():
            model.save(path / f"{name}.keras")
    return path


def test_a_folder_of_keras_models_samples_reconstructs_and_discriminates(folder):
    model = load_model(folder)
    samples = model.sample(4, label=1, seed=0)
    assert samples.shape == (4, 2, 2)
    assert np.array_equal(samples, model.sample(4, label=1, seed=0))
    assert not np.allclose(samples, model.sample(4, label=2, seed=0))
    assert isinstance(model, Reconstructs)
    assert isinstance(model, Discriminates)
    means = [model.reconstruct(samples, label=1, passes=0, seed=seed) for seed in (0, 1)]
    passes = [model.reconstruct(samples, label=1, passes=2, seed=seed) for seed in (0, 1)]
    assert np.array_equal(*means)
    assert means[0].shape == samples.shape
    assert not np.allclose(*passes)
    assert model.discriminate(samples).shape == (4,)


def test_a_file_of_keras_samples_alone(folder):
    model = load_model(str(folder / "generator.keras"))
    assert isinstance(model, Samples)
    assert not isinstance(model, Reconstructs)
    assert not isinstance(model, Discriminates)
    assert model.sample(3, seed=1).shape == (3, 2, 2)


FITS = """
class Fitted:
    def fit(self, features, labels, seed):
        self.seed = seed

def make():
    return Fitted()

def function(features, labels, seed):
    return seed

fitted = Fitted()
number = 3
"""


@pytest.mark.parametrize("name", ["Fitted", "fitted", "make", "function"])
def test_objects_classes_and_functions_of_python_fit(name, tmp_path, monkeypatch):
    (tmp_path / "generators_that_fit.py").write_text(FITS)
    monkeypatch.chdir(tmp_path)
    importlib.invalidate_caches()
    fits = load_fits(f"generators_that_fit:{name}")
    fitted = fits.fit(None, None, 4)
    assert getattr(fitted, "seed", fitted) in (4, None)
    with pytest.raises(AuditError, match="A014 generators_that_fit:number cannot be fitted"):
        load_fits("generators_that_fit:number")
    with pytest.raises(AuditError, match="A014 A file of Keras is fitted already"):
        load_fits("generator.keras")
    sys.modules.pop("generators_that_fit", None)


def test_a_class_of_generators_is_made_anew_for_each_fit():
    class Remembers:
        fits = 0

        def fit(self, features, labels, seed):  # noqa: ARG002
            self.fits += 1

    fits = load_fits(Remembers)
    assert [fits.fit(None, None, 0).fits for _ in range(3)] == [1, 1, 1]
