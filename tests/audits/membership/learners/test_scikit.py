import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from policy_engine.audits.membership.learners.scikit import EstimatorLearner
from policy_engine.audits.membership.observations import (
    CONFIDENCE_ANSWERS,
    LABEL_ANSWERS,
    Observations,
)
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.errors import AuditError
from policy_engine.methods.audits.classifier import Estimator

RANDOM = np.random.default_rng(0)
LABELS = np.arange(60) % 3
FEATURES = RANDOM.normal(LABELS[:, None], 1, (60, 4))
RECORDS = records_of_arrays(FEATURES, LABELS)
ROWS = [np.arange(30), np.arange(30, 60)]


def described(name, **parameters):
    return EstimatorLearner.of(Estimator(name=name, parameters=parameters), workers=1)


def trained(learner, rows=ROWS, seeds=(1, 2)):
    return learner.train(RECORDS, rows, seeds)


def softmax(logits):
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("RandomForestClassifier", {"n_estimators": 3}),
        ("ExtraTreesClassifier", {"n_estimators": 3}),
        ("GradientBoostingClassifier", {"n_estimators": 2}),
        ("HistGradientBoostingClassifier", {"max_iter": 2}),
        ("DecisionTreeClassifier", {}),
        ("LogisticRegression", {}),
        ("KNeighborsClassifier", {"n_neighbors": 3}),
        ("GaussianNB", {}),
        ("BernoulliNB", {}),
        ("MLPClassifier", {"hidden_layer_sizes": (4,), "max_iter": 2}),
    ],
)
def test_logits_are_of_the_probabilities_that_the_model_gives(name, parameters):
    learner = described(name, **parameters)
    models = trained(learner)
    assert learner.gives == CONFIDENCE_ANSWERS
    logits = models.logits(RECORDS.features)
    assert (logits.shape, logits.dtype) == ((2, 60, 3), np.float32)
    for said, model in zip(logits, models.models, strict=True):
        expected = model.predict_proba(RECORDS.features)
        assert softmax(said) == pytest.approx(expected, abs=1e-5)
    assert learner.memory(RECORDS, 30, 2) > learner.memory(RECORDS, 30, 1) > 0


def test_every_name_of_a_description_is_known_to_scikit_learn():
    from typing import get_args

    from policy_engine.methods.audits.classifier import EstimatorName

    for name in get_args(EstimatorName):
        assert type(described(name).estimator).__name__ == name


def test_a_model_without_probabilities_is_asked_for_what_it_decides_by():
    learner = described("LinearSVC")
    models = trained(learner)
    assert learner.gives == CONFIDENCE_ANSWERS
    logits = models.logits(RECORDS.features)
    assert np.allclose(logits[0], models.models[0].decision_function(FEATURES), atol=1e-5)
    assert logits[0].argmax(axis=1).tolist() == models.models[0].predict(FEATURES).tolist()


def test_a_model_that_decides_by_pairs_of_classes_gives_its_labels():
    learner = EstimatorLearner.from_object(SVC(decision_function_shape="ovo"))
    one_hot = trained(learner).logits(RECORDS.features)
    assert set(np.unique(one_hot)) == {0, 1}


def test_a_saturated_model_tells_records_apart_all_the_same():
    far = records_of_arrays(np.array([[-1.0], [1], [-2], [2]] * 3), np.array([0, 1] * 6))
    learner = EstimatorLearner.from_object(LogisticRegression(C=1e6))
    [logits] = learner.train(far, [np.arange(12)], [0]).logits(np.array([[900.0], [1000.0]]))
    assert softmax(logits)[:, 1].tolist() == [1, 1]
    margins = Observations(logits, np.array([1, 1])).margin
    assert margins[1] > margins[0] > 100


def test_a_class_that_a_model_never_saw_is_impossible():
    rows = np.flatnonzero(LABELS != 1)
    [logits] = trained(described("GaussianNB"), [rows], [0]).logits(RECORDS.features)
    assert np.isneginf(logits[:, 1]).all()
    assert np.isfinite(logits[:, [0, 2]]).all()
    assert np.isfinite(Observations(logits, RECORDS.labels).margin).all()


def test_models_do_not_depend_on_workers_or_on_one_another():
    forest = Estimator(name="RandomForestClassifier", parameters={"n_estimators": 3})
    one, many = (EstimatorLearner.of(forest, workers) for workers in (1, 4))
    together = trained(many, ROWS, (1, 2)).logits(RECORDS.features)
    apart = trained(one, ROWS[1:], (2,)).logits(RECORDS.features)
    assert np.array_equal(together[1], apart[0])
    other = trained(one, ROWS[1:], (3,)).logits(RECORDS.features)
    assert not np.array_equal(other[0], apart[0])


def test_steps_of_a_pipeline_are_seeded_too():
    learner = EstimatorLearner.from_object(
        make_pipeline(StandardScaler(), LogisticRegression(solver="saga", max_iter=3))
    )
    first, second = trained(learner, [ROWS[0]] * 2, (5, 5)).logits(RECORDS.features)
    assert np.array_equal(first, second)


def test_the_estimator_given_is_left_as_it_was():
    given = GaussianNB()
    trained(EstimatorLearner.from_object(given))
    assert not hasattr(given, "classes_")


def test_names_tell_parameters_apart():
    names = [
        EstimatorLearner.from_object(GaussianNB(var_smoothing=v)).name for v in (1e-9, 1e-9, 1)
    ]
    assert names[0] == names[1] != names[2]
    assert described("GaussianNB").name != described("BernoulliNB").name


class Own(GaussianNB):
    pass


@pytest.mark.parametrize(
    "model",
    [Own(), make_pipeline(Own()), make_pipeline(FunctionTransformer(softmax), GaussianNB())],
    ids=["class", "step", "function"],
)
def test_code_of_ones_own_is_never_taken_for_what_it_was(model):
    names = {EstimatorLearner.from_object(model).name for _ in range(2)}
    assert len(names) == 2


def test_warnings_of_the_library_become_sentences():
    models = trained(described("MLPClassifier", hidden_layer_sizes=(2,), max_iter=1))
    [said] = models.warnings
    assert said.startswith("Training warned: ")


def test_unknown_parameters_are_told_all_at_once():
    with pytest.raises(AuditError) as error:
        described("RandomForestClassifier", n_estimatros=3, depth=2)
    assert [one.code for one in error.value.problems] == ["A009"] * 2
    assert "Did you mean 'n_estimators'?" in str(error.value)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("RandomForestClassifier", {"n_estimators": -1}), ("LogisticRegression", {"C": "much"})],
)
def test_parameters_out_of_range(name, parameters):
    with pytest.raises(AuditError, match="A009"):
        trained(described(name, **parameters))


def test_more_neighbours_than_records():
    models = trained(described("KNeighborsClassifier", n_neighbors=31))
    with pytest.raises(AuditError, match="A009"):
        models.logits(RECORDS.features)


@pytest.mark.parametrize("given", [object(), "forest", 3])
def test_what_is_no_classifier(given):
    with pytest.raises(AuditError, match="A009"):
        EstimatorLearner.from_object(given)


class Constant(ClassifierMixin, BaseEstimator):
    """A classifier of a user's own."""

    def fit(self, features, labels):
        self.classes_ = np.unique(labels)
        self.rows_ = len(features)
        return self

    def predict(self, features):
        return np.zeros(len(features), int)


def test_an_estimator_of_one_s_own():
    learner = EstimatorLearner.from_object(Constant())
    assert learner.gives == LABEL_ANSWERS
    assert trained(learner).logits(RECORDS.features)[:, :, 0].all()


@pytest.mark.parametrize("name", ["model.skops", "model.joblib"])
def test_a_model_is_saved_and_read_back(tmp_path, name):
    models = trained(described("GaussianNB"))
    again = models.save(tmp_path / name, 1)
    assert again.models[0].theta_.tolist() == models.models[1].theta_.tolist()
    assert (again.logits(RECORDS.features) == models.logits(RECORDS.features)[1:]).all()


def test_progress_counts_models():
    told = []
    described("GaussianNB").train(RECORDS, ROWS, (1, 2), lambda *step: told.append(step))
    assert told == [("models", 1, 2), ("models", 2, 2)]


def test_few_cells_are_fitted_by_one_thread_after_the_other():
    learner = EstimatorLearner.of(Estimator(name="GaussianNB"), workers=4)
    few = records_of_arrays(np.eye(20, 3), np.arange(20) % 2)
    many = records_of_arrays(np.zeros((40_000, 2)), np.arange(40_000) % 2)
    assert learner._thread_count(few, [np.arange(20)]) == 1
    assert learner._thread_count(many, [np.arange(40_000)]) == 4
