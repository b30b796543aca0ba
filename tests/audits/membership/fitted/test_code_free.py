import json
from importlib.util import find_spec

import numpy as np
import pytest
from model_files import DESCRIPTION, PICKLE, archive, keras, layer, npz, skops
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

from policy_engine.audits.membership.fitted.code_free import code_free_kind
from policy_engine.errors import AuditError


@pytest.fixture
def kind_of(tmp_path):
    """Return a function that gives the kind of a file's content."""

    def kind(content, name="sent"):
        path = tmp_path / name
        path.write_bytes(content)
        return code_free_kind(path)

    return kind


def test_weights_and_descriptions_are_told_by_their_content(kind_of):
    fitted = LogisticRegression().fit(np.eye(4), [0, 0, 1, 1])
    assert kind_of(skops(fitted), "model.pkl") == "skops"
    assert kind_of(keras(layer(), layer("Dropout"))) == "keras"
    assert kind_of(b"tree\nversion=v4\n") == "lightgbm"
    assert kind_of(b'{"learner": {}}') == "xgboost"
    assert kind_of(DESCRIPTION) == "description"


def activation(module):
    return activation_of("system", module)


def activation_of(function, module="builtins"):
    return layer(activation=layer("function", module, function=function))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(not find_spec("keras"), reason="keras is not installed")
def test_models_that_keras_saves_are_taken(kind_of, tmp_path):
    import keras as library

    table = library.Input((4, 3))
    hidden = library.layers.Conv1D(2, 2, kernel_regularizer="l2", activation="gelu")(table)
    hidden = library.layers.BatchNormalization(gamma_constraint="non_neg")(hidden)
    hidden = library.layers.Bidirectional(library.layers.LSTM(2))(hidden)
    answers = library.layers.Dense(2, activation="softmax")(library.layers.Dropout(0.1)(hidden))
    model = library.Model(table, answers)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.save(tmp_path / "own.keras")
    assert kind_of((tmp_path / "own.keras").read_bytes()) == "keras"


CODE = {
    "pickle": PICKLE,
    "weights of torch": archive(archive__data__pkl=PICKLE, **{"archive/data.pkl": PICKLE}),
    "torchscript": archive(**{"m/code/net.py": "", "m/constants.pkl": PICKLE}),
    "lambda": keras(layer("Lambda")),
    "registered lambda": keras(layer("keras>Lambda")),
    "class of a module": keras(layer("Popen", "subprocess")),
    "function of a module": keras(activation("os")),
    "function of keras that fetches files": keras(
        layer(activation=layer("function", "keras.utils", function="get_file"))
    ),
    "own class": keras(layer(registered="mine>Dense")),
    "lambda by a name with a dot": keras(layer("layers.Lambda", "keras")),
    "lambda of another module": keras(layer("Lambda", "keras")),
    "lookup by a name with a dot": keras(
        layer("layers.StringLookup", "keras", vocabulary="/etc/passwd")
    ),
    "function that runs code": keras(activation_of("exec")),
    "function by a name with a dot": keras(activation_of("utils.get_file", "keras.activations")),
    "class without a module": keras(layer("Lambda", None)),
    "module without a class": keras({"module": "os", "config": {}}),
    "name that is no text": keras(layer(["Dense"])),
    "class of types": keras({"class_name": "__typespec__", "spec_name": "Popen", "config": []}),
    "vocabulary in a file": keras(layer("StringLookup", vocabulary="/etc/passwd")),
}


@pytest.mark.parametrize("content", CODE.values(), ids=[*CODE])
def test_what_is_or_names_code_is_refused_whatever_it_is_called(kind_of, content, capfd):
    check_refused(kind_of, content, capfd)


def test_a_function_in_skops_is_refused(kind_of, capfd):
    check_refused(kind_of, skops(FunctionTransformer(json.loads)), capfd)


def check_refused(kind_of, content, capfd):
    for name in ("model.npz", "model.keras", "model.json"):
        with pytest.raises(AuditError, match="A015"):
            kind_of(content, name)
    assert "code of the file was run" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (npz(weights=np.array([{"a": 1}], dtype=object)), "A014"),
        (npz(weights=np.eye(2)), "A014"),
        (b"PK\x03\x04 cut off", "A014"),
        (b"", "A014"),
        (archive(config__json="{", model__weights__h5=b""), "A014"),
        (archive(config__json="[" * 100_000, model__weights__h5=b""), "A014"),
        (b'{"name": "os.system"}', "A009"),
        (b'{"name": "GaussianNB", "module": "os"}', "A009"),
        (b'{"kind": "network", "layers": [{"units": 2, "activation": "os.system"}]}', "A009"),
        (b"{" * 100_000, "A009"),
        (b'{"name": "' + b"a" * 2**20 + b'"}', "A009"),
    ],
)
def test_what_is_not_a_model_is_refused(kind_of, content, code):
    with pytest.raises(AuditError, match=code):
        kind_of(content, "model.npz")
