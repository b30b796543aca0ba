"""A model of every kind that knows its members by heart is found to, from its file alone."""

import json
import os
import pickle
import warnings
import zipfile
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from fitted_faults import Memory

from policy_engine import FittedModel, audit_membership
from policy_engine.audits.membership.fitted.answer_cache import AnswerCache, ViewAnswers
from policy_engine.audits.membership.fitted.external import check_whole
from policy_engine.audits.membership.fitted.kinds import fitted_file
from policy_engine.audits.membership.fitted.loading import OpeningOptions, load
from policy_engine.audits.membership.fitted.target import open_target
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.membership.training.runtime import ignore_deprecations, need_keras
from policy_engine.errors import AuditError, DataError

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed: its models were NOT tested"
)
NET = """
import torch

def Net():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(60, 3, bias=False))
"""


def found_in(records, path, **how):
    return audit_membership(records, fitted=FittedModel(path, **how))


def loaded(path):
    """Return the model of a file as its process would, but in this one."""
    return load(fitted_file(path), OpeningOptions())[0]


def assert_found(audit, library):
    assert audit.fitted.library == library
    assert audit.fitted.versions
    assert audit.target_train.accuracy > 0.9
    assert audit.target_test.accuracy < 0.7
    assert audit.attack("loss").figures.auc.low > 0.6


@pytest.mark.nightly
def test_a_forest_in_skops_is_asked_by_the_names_of_its_columns(records, folder):
    import skops.io
    from sklearn.ensemble import RandomForestClassifier

    features, labels, is_member = records
    columns = {f"f{n}": features[:, n] for n in range(20)}
    names = np.array(["ham", "egg", "tea"])[labels]
    table = pa.table({**columns, "was": is_member, "label": names})
    known = table.filter(pa.array(is_member)).to_pandas()
    forest = RandomForestClassifier(20, random_state=0)
    forest.fit(known[[*reversed(columns)]], known["label"])
    skops.io.dump(forest, folder / "forest.skops")
    pyarrow.parquet.write_table(table, folder / "table.parquet")
    data = folder / "table.parquet"
    audit = audit_membership(data, "label", fitted=folder / "forest.skops", members="was")
    assert_found(audit, "scikit-learn")
    assert audit.classes == ("egg", "ham", "tea")
    assert audit.fitted.file == "forest.skops"


def test_functions_in_skops_are_refused(folder):
    import skops.io
    from sklearn.preprocessing import FunctionTransformer

    skops.io.dump(FunctionTransformer(os.system), folder / "hostile.skops")
    with pytest.raises(AuditError, match=r"A015 .*types that are not known to be harmless"):
        loaded(folder / "hostile.skops")


def test_a_pipeline_that_fills_in_what_is_missing_is_opened_from_skops(records, folder):
    import skops.io
    from sklearn.impute import SimpleImputer
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline

    features, labels, is_member = records
    pipeline = make_pipeline(SimpleImputer(), GaussianNB())
    skops.io.dump(pipeline.fit(features[is_member], labels[is_member]), folder / "filled.skops")
    said = loaded(folder / "filled.skops").answer(features[is_member])["probabilities"]
    assert (said.argmax(axis=1) == labels[is_member]).mean() > 0.9


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [
        "trees.json",
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("trees.ubj", "trees")),
    ],
)
def test_xgboost_is_found_in_its_own_formats(name, records, folder):
    import xgboost

    features, labels, is_member = records
    given = xgboost.DMatrix(features[is_member], labels[is_member])
    settings = {
        "objective": "multi:softprob",
        "num_class": 3,
        "min_child_weight": 0,
        "nthread": 1,
    }
    made = folder / (name if "." in name else f"{name}.json")
    xgboost.train(settings, given, 10).save_model(made)
    made.rename(folder / name)
    assert_found(found_in(records, folder / name), "xgboost")


@pytest.mark.nightly
def test_lightgbm_is_found_with_two_classes(records, folder):
    import lightgbm

    features, labels, is_member = records
    given = lightgbm.Dataset(features[is_member], labels[is_member] > 0)
    settings = {"objective": "binary", "min_data_in_leaf": 1, "verbosity": -1, "num_threads": 1}
    lightgbm.train(settings, given, 20).save_model(folder / "trees.txt")
    audit = found_in((features, (labels > 0).astype(int), is_member), folder / "trees.txt")
    assert_found(audit, "lightgbm")


def graph(weights, folder, last="Softmax"):
    import onnx
    from onnx import helper, numpy_helper

    nodes = [helper.make_node("MatMul", ["x", "w"], ["z"])]
    nodes += [helper.make_node(last, ["z"], ["y"])]
    shape = [onnx.TensorProto.FLOAT, [None, weights.shape[0]]], [onnx.TensorProto.FLOAT, [None, 3]]
    made = helper.make_graph(
        nodes,
        "memory",
        [helper.make_tensor_value_info("x", *shape[0])],
        [helper.make_tensor_value_info("y", *shape[1])],
        [numpy_helper.from_array(weights, "w")],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(made, opset_imports=opset, ir_version=9)
    path = folder / f"{last}.onnx"
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.nightly
@pytest.mark.parametrize("last", ["Softmax", "Identity"])
def test_onnx_is_found_whether_it_gives_probabilities_or_logits(last, weights, records, folder):
    assert_found(found_in(records, graph(weights, folder, last)), "onnxruntime")


@pytest.mark.nightly
def test_onnx_whose_weights_lie_in_other_files_is_refused(weights, records, folder):
    import onnx

    model, path = onnx.load(graph(weights, folder)), folder / "parts.onnx"
    onnx.save(model, path, save_as_external_data=True, size_threshold=0, location="weights")
    with pytest.raises(AuditError, match=r"A014 The model keeps weights in other files"):
        found_in(records, path)


@pytest.mark.parametrize("place", ["initializer", "attribute", "function", "sparse"])
def test_weights_in_other_files_are_found_wherever_they_are_named(place):
    import onnx

    far, model = onnx.TensorProto(data_location=1), onnx.ModelProto()
    far.external_data.add(key="location", value="weights")
    if place == "initializer":
        model.graph.initializer.append(far)
    elif place == "attribute":
        model.graph.node.add().attribute.add().g.node.add().attribute.add().tensors.append(far)
    elif place == "function":
        model.functions.add().node.add().attribute.add().t.CopyFrom(far)
    else:
        model.graph.sparse_initializer.add().values.CopyFrom(far)
    with pytest.raises(AuditError, match="A014 The model keeps weights in other files"):
        check_whole(model.SerializeToString(), "model.onnx")
    with pytest.raises(AuditError, match="A014 The ONNX file is damaged"):
        check_whole(model.SerializeToString()[:-1], "model.onnx")


@pytest.mark.nightly
def test_onnx_whose_answers_are_no_probabilities_is_refused(weights, records, folder):
    with pytest.raises(AuditError, match=r"A004 .*do not sum to 1"):
        found_in(records, graph(weights, folder, "Sigmoid"))


@pytest.mark.nightly
def test_what_code_of_ones_own_says_is_not_settled(weights, records, folder, tmp_path):
    """It may be another tomorrow, while the file stays the same; what a graph says is kept."""
    (folder / "memory.pkl").write_bytes(pickle.dumps(Memory()))
    known = (
        FittedModel(folder / "memory.pkl", trust_pickle=True),
        FittedModel(graph(weights, folder)),
    )
    for number, fitted in enumerate(known):
        with open_target(fitted) as (target, _):
            target.ask(records[0])
            answered = ViewAnswers([np.zeros((80, 3), np.float32)], target.is_reproducible)
        AnswerCache(tmp_path / str(number)).answers((1, 80, 3), lambda said=answered: said, (1, 1))
    assert [len([*tmp_path.glob(f"{number}/*")]) for number in range(2)] == [0, 1]


@needs_torch
@pytest.mark.nightly
def test_references_of_a_class_that_was_changed_are_asked_again(weights, records, folder, tmp_path):
    paths = [folder / f"{name}.pt" for name in ("target", "one", "other")]
    for number, path in enumerate(paths, 1):
        torch_net(weights / number, folder, path.stem)
    net = tmp_path / "net.py"
    how = {"model_class": f"{net}:Net", "references": tuple(paths[1:])}

    def audited(code, out):
        net.write_text(code)
        settings = Settings(attacks=("lira-offline",))
        fitted = FittedModel(paths[0], **how)
        return audit_membership(records, fitted=fitted, settings=settings, out=out).attacks

    audited(NET, tmp_path / "out")
    changed = NET.replace("Flatten()", "Tanh()")
    assert audited(changed, tmp_path / "out") == audited(changed, tmp_path / "afresh")


def save_keras(weights, path, last=lambda _: []):
    keras = need_keras()
    layers = [keras.Input((60,)), *last(keras), keras.layers.Dense(3, "softmax", use_bias=False)]
    model = keras.Sequential(layers)
    model.layers[-1].set_weights([weights])
    with ignore_deprecations():
        model.save(path)


@pytest.mark.nightly
def test_keras_is_asked_for_its_logits(weights, records, folder):
    save_keras(100 * weights, folder / "net.keras")
    with open_target(FittedModel(folder / "net.keras")) as (target, described):
        said = target.ask(records[0])
    assert (described.kind, described.library) == ("keras", "keras")
    # The softmax of logits such as these is 1 of every member, and all of them would tie.
    np.testing.assert_allclose(said["logits"], 100 * records[0] @ weights, rtol=1e-3, atol=1e-2)


def save_lambda(weights, path):
    save_keras(weights, path, lambda keras: [keras.layers.Lambda(lambda x: x)])
    return path


def test_keras_runs_no_code_of_a_lambda(weights, folder):
    with pytest.raises(ValueError, match="disallowed by default"):
        loaded(save_lambda(weights, folder / "lambda.keras"))


@pytest.mark.nightly
def test_a_lambda_in_keras_is_told_with_its_code(weights, records, folder):
    path = save_lambda(weights, folder / "lambda.keras")
    with pytest.raises(AuditError, match="A014 The file cannot be opened by keras"):
        found_in(records, path)


@needs_torch
def test_torchscript_is_found_where_it_is_trusted_alone(weights, records, folder):
    torch_net(weights, folder, "script")
    with pytest.raises(AuditError, match="A015 The file is a program of TorchScript"):
        found_in(records, folder / "script.pt")
    assert_found(found_in(records, folder / "script.pt", trust_pickle=True), "torch")


@needs_torch
def test_a_state_dict_is_found_with_its_class(weights, records, folder):
    torch_net(weights, folder, "weights")
    (folder / "net.py").write_text(NET)
    audit = found_in(records, folder / "weights.pt", model_class=f"{folder / 'net.py'}:Net")
    assert_found(audit, "torch")


@needs_torch
def test_a_whole_module_is_not_unpickled_in_the_place_of_its_weights(records, folder):
    import torch
    from fitted_faults import Opened

    mark = folder / "mark"
    torch.save({"0.weight": torch.zeros(1), "more": Opened(mark)}, folder / "whole.pt")
    (folder / "net.py").write_text(NET)
    with pytest.raises(AuditError, match="A014 The file cannot be opened by torch"):
        found_in(records, folder / "whole.pt", model_class=f"{folder / 'net.py'}:Net")
    assert not mark.exists()


def torch_net(weights, folder, name):
    import torch

    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(60, 3, bias=False))
    with torch.no_grad():
        net[1].weight.copy_(torch.from_numpy(weights.T))
    path = folder / f"{name}.pt"
    if name == "script":
        with warnings.catch_warnings():  # deprecated, and still what many files are
            warnings.simplefilter("ignore")
            torch.jit.trace(net, torch.zeros(1, 60)).save(str(path))
    else:
        torch.save(net.state_dict(), path)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a fitted model"),
        (b"a,b\n1,2\n", "is not a fitted model"),
        (json.dumps({"layers": []}).encode(), "is not a fitted model"),
        (b"\x89HDF\r\n\x1a\n", "Keras before version 3"),
        (b"tree\nversion=v4\nnothing else", "cannot be opened by lightgbm"),
        pytest.param(b'{"learner": {}}', "cannot be opened by xgboost", marks=pytest.mark.nightly),
    ],
    ids=["empty", "table", "recipe", "hdf5", "lightgbm", "xgboost"],
)
def test_a_file_that_is_no_model_is_refused(content, words, records, tmp_path):
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(AuditError, match=f"A014 .*{words}"):
        found_in(records, tmp_path / "model")


def test_an_archive_that_is_no_model_is_refused(records, tmp_path):
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("readme", "")
    with pytest.raises(AuditError, match="A014"):
        found_in(records, tmp_path / "model.zip")
    with pytest.raises(DataError, match="C002"):
        found_in(records, tmp_path / "nothing.zip")
