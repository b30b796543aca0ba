import pytest

from policy_engine.errors import AuditError
from policy_engine.methods.audits.classifier import Estimator, Network, read_architecture


def problems(text):
    with pytest.raises(AuditError) as caught:
        read_architecture(text, "model.json")
    return [str(problem) for problem in caught.value.problems]


def test_an_empty_description_is_the_usual_network():
    assert read_architecture("{}") == Network()
    assert read_architecture("{}").layers[0].units == 128


def test_a_network_is_read_layer_by_layer():
    layers = '[{"units": 8, "activation": "relu", "dropout": 0.2}, {"units": 4}]'
    text = f'{{"layers": {layers}, "epochs": 3}}'
    found = read_architecture(text)
    assert [(one.units, one.activation, one.dropout) for one in found.layers] == [
        (8, "relu", 0.2),
        (4, "relu", 0.0),
    ]
    assert found.epochs == 3


def test_a_description_with_a_name_is_an_estimator():
    text = '{"name": "MLPClassifier", "parameters": {"hidden_layer_sizes": [8, 4]}}'
    found = read_architecture(text)
    assert isinstance(found, Estimator)
    assert found.parameters == {"hidden_layer_sizes": (8, 4)}


def test_what_is_read_is_written_and_read_again():
    text = '{"layers": [{"units": 8}], "privacy": {"epsilon": 2, "delta": 1e-5}}'
    found = read_architecture(text)
    assert read_architecture(found.model_dump_json()) == found


def test_all_that_is_wrong_is_told_at_once():
    text = '{"layers": [{"units": 0}], "epochs": "ten", "epoch": 3}'
    found = problems(text)
    assert len(found) == 3
    assert all(one.startswith("A009 ") for one in found)
    assert any("layers.0.units" in one for one in found)
    assert any("epoch is not known" in one for one in found)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "nonsense", "3", "null", '{"name": "os.system"}', '{"kind": "tree"}'),
        *("[" * 100_000, '{"layers":' * 5_000 + "1" + "}" * 5_000),
    ],
)
def test_what_is_no_description_is_refused(text):
    assert all(one.startswith("A009 ") for one in problems(text))
