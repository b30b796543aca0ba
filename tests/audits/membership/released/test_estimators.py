import warnings
import zipfile
from importlib import import_module

import numpy as np
import pytest

from policy_engine.audits.membership.learners.scikit import _MODULES
from policy_engine.audits.membership.released.estimators import _STRIPPERS, strip_estimator
from policy_engine.audits.membership.released.files import (
    read_estimator,
    trees_of,
    write_estimator,
)
from policy_engine.errors import AuditError

SEED = 987_654_321
RELEASED = sorted(set(_MODULES) - {"KNeighborsClassifier"})
COUNTS = {"n_node_samples", "weighted_n_node_samples", "impurity", "count", "gain"}


def data(rows=400, classes=2):
    draw = np.random.default_rng(5)
    features = draw.integers(-2, 3, (rows, 4)).astype(np.float32)
    features[:, 3] = features[:, 3] > 0
    labels = (features[:, 0] + draw.normal(size=rows) > 0).astype(int)
    return features, labels + (classes == 3) * (features[:, 1] > 1)


def fitted(name, classes=2, **more):
    kind = getattr(import_module(f"sklearn.{_MODULES[name]}"), name)
    small = {"n_estimators": 3, "max_iter": 30, "random_state": SEED}
    known = kind().get_params()
    given = {key: value for key, value in (small | more).items() if key in known}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(**given).fit(*data(classes=classes))


def said(model, features):
    able = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    return getattr(model, able)(features)


def values_in(part, seen=None):
    """Yield every attribute of a model and of all that it is made of, with its name."""
    seen = seen if seen is not None else set()
    if id(part) in seen:
        return
    seen.add(id(part))
    if isinstance(part, list | tuple) or (isinstance(part, np.ndarray) and part.dtype == object):
        for one in part if not isinstance(part, np.ndarray) else part.ravel():
            yield from values_in(one, seen)
    elif hasattr(part, "__dict__") and type(part).__module__.startswith("sklearn"):
        for name, value in vars(part).items():
            yield name, value
            yield from values_in(value, seen)


def test_every_classifier_that_a_policy_may_have_released_is_known():
    assert sorted(_STRIPPERS) == RELEASED


@pytest.mark.one_in(4)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", RELEASED)
def test_a_released_file_says_what_the_model_says_but_for_rounding(tmp_path, name, classes):
    model, (features, labels) = fitted(name, classes), data(classes=classes)
    kept = strip_estimator(model, features, labels, 10)
    write_estimator(kept, tmp_path / "model.skops")
    again = read_estimator(tmp_path / "model.skops")
    assert (said(again, features) == said(kept, features)).all()
    assert (again.predict(features) == model.predict(features)).mean() > 0.85
    write_estimator(strip_estimator(model, features, labels, 10), tmp_path / "other.skops")
    assert (tmp_path / "other.skops").read_bytes() == (tmp_path / "model.skops").read_bytes()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", RELEASED)
def test_a_released_model_has_no_counts_seeds_or_scores(tmp_path, name):
    features, labels = data()
    write_estimator(strip_estimator(fitted(name), features, labels, 10), tmp_path / "model.skops")
    model = read_estimator(tmp_path / "model.skops")
    for key, value in values_in(model):
        assert "random" not in key or value is None, key
        assert not [word for word in ("score_", "loss_", "rng", "count", "optim") if word in key]
    for tree in trees_of(model):
        nodes = tree.__getstate__()["nodes"]
        assert not [one for one in COUNTS & set(nodes.dtype.names) if nodes[one].any()]
    for row in getattr(model, "_predictors", ()):
        assert not [
            one for one in COUNTS if one in row[0].nodes.dtype.names and row[0].nodes[one].any()
        ]
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        whole = b"".join(archive.read(one) for one in archive.namelist())
    assert str(SEED).encode() not in whole
    assert SEED.to_bytes(4, "little") not in whole
    assert str(len(labels)).encode() not in whole


def test_naive_bayes_tells_no_count_of_a_value_and_class():
    features, labels = data()
    model = strip_estimator(fitted("BernoulliNB"), features, labels, 10)
    sizes = np.bincount(labels)
    told = np.exp(model.feature_log_prob_) * (sizes[:, None] + 2) - 1
    true = np.array([(features[labels == one] > 0).sum(axis=0) for one in (0, 1)])
    assert np.abs(told - true).max() > 1
    steps = np.exp(model.feature_log_prob_) * 40
    assert np.allclose(steps, np.round(steps))  # half of a twentieth: ten of two hundred


def test_the_mean_of_a_bit_is_in_steps_of_ten_records():
    features, labels = data()
    model = strip_estimator(fitted("GaussianNB"), features, labels, 10)
    for one, size in enumerate(np.bincount(labels)):
        exact = features[labels == one, 3].sum()
        near = [(exact + more) / size for more in (-1, 1)]
        told = model.theta_[one, 3]
        assert told * 20 == pytest.approx(round(told * 20))  # steps of a twentieth: 10 of 200
        assert min(abs(told - other) for other in near) < 0.05


def test_a_tree_that_leads_out_of_itself_is_not_asked(tmp_path):
    features, labels = data()
    model = strip_estimator(fitted("DecisionTreeClassifier"), features, labels, 10)
    state = model.tree_.__getstate__()
    state["nodes"]["left_child"][0] = 1_000_000
    model.tree_.__setstate__(state)
    write_estimator(model, tmp_path / "model.skops")
    with pytest.raises(AuditError, match=r"A017 .* holds a malformed tree"):
        read_estimator(tmp_path / "model.skops")


def test_a_kind_that_nothing_is_known_of_is_refused(tmp_path):
    from sklearn.preprocessing import FunctionTransformer

    with pytest.raises(AuditError, match="A017 It is not known what a KNeighborsClassifier needs"):
        strip_estimator(fitted("KNeighborsClassifier"), *data(), 10)
    with pytest.raises(AuditError, match="A017 The file of the model would hold"):
        write_estimator(FunctionTransformer(fitted), tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_a_pickle_is_warned_of_beside_it(tmp_path):
    features, labels = data()
    write_estimator(
        strip_estimator(fitted("GaussianNB"), features, labels, 10), tmp_path / "model.joblib"
    )
    warning = (tmp_path / "model.joblib.WARNING.txt").read_text()
    assert "RUNS WHATEVER CODE IT HOLDS" in warning
