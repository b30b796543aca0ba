"""Estimators of scikit-learn as targets and shadows, each trained by itself, several at once."""

import json
import os
import uuid
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.installed import is_installed, versions_of_parts
from policy_engine.audits.membership.learners.integral_trees import fit_integral
from policy_engine.audits.membership.learners.learner import NOT_PRIVATE
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS, LABEL_ANSWERS, Terms
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.released.estimators import strip_estimator
from policy_engine.audits.membership.released.files import read_estimator, write_estimator
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError, DataError, Problem, did_you_mean
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Estimator

_MODULES = {
    "RandomForestClassifier": "ensemble",
    "ExtraTreesClassifier": "ensemble",
    "GradientBoostingClassifier": "ensemble",
    "HistGradientBoostingClassifier": "ensemble",
    "DecisionTreeClassifier": "tree",
    "LogisticRegression": "linear_model",
    "KNeighborsClassifier": "neighbors",
    "GaussianNB": "naive_bayes",
    "BernoulliNB": "naive_bayes",
    "MLPClassifier": "neural_network",
    "LinearSVC": "svm",
}
"""Where scikit-learn has the classifiers that a description may name."""

_TRIED = 64
_FEW_CELLS = 1 << 16
_NODE = 100
"""About the bytes of a node of a tree, its classes' shares left out."""


@dataclass(frozen=True)
class EstimatorLearner:
    """Trains clones of a classifier with scikit-learn's interface, with a seed each.

    Without `predict_proba` its confidences are what it decides by (`decision_function`): whoever
    has its file can ask for that. With neither it gives labels alone. `workers` is how many are
    trained at once, in threads; the models do not depend on it. With `fewest` the models are
    stripped and rounded as those that are released, with `generators` they are trees that so many
    samples lead to.
    """

    estimator: Any
    name: str
    workers: int = 1
    fewest: int = 0
    generators: int | None = None

    @classmethod
    def of(cls, architecture: Estimator, workers: int = 0, fewest: int = 0) -> "EstimatorLearner":
        """Return the learner of a description. Raises AuditError (A009) on unknown parameters."""
        need_sklearn()
        from sklearn import __version__  # noqa: PLC0415 (slow to import, an extra)

        described = architecture.model_dump(mode="json")
        described |= {"fewest": fewest} if fewest else {}
        name = json.dumps({**described, "scikit-learn": __version__}, sort_keys=True)
        return cls(
            make_estimator(architecture),
            name,
            workers or _processors(),
            fewest,
            architecture.generators,
        )

    @classmethod
    def from_object(cls, estimator: Any, workers: int = 0) -> "EstimatorLearner":
        """Return the learner of an estimator, which is cloned and so never changed itself.

        What code of the user's own trains is never taken for another: its name is of this call
        alone. Raises AuditError (A009) for what has neither `fit` nor `predict`, or cannot be
        cloned.
        """
        need_sklearn()
        import joblib  # noqa: PLC0415 (an extra)
        from sklearn import __version__  # noqa: PLC0415
        from sklearn.base import clone  # noqa: PLC0415

        kind = type(estimator)
        if not all(callable(getattr(estimator, name, None)) for name in ("fit", "predict")):
            message = f"A {kind.__name__} is not a classifier. It needs 'fit' and 'predict'."
            raise AuditError.of("A009", message)
        try:
            fresh = clone(estimator)
        except (TypeError, RuntimeError) as error:
            raise AuditError.of(
                "A009", f"The model cannot be cloned: {_first_line(error)}"
            ) from None
        digest = joblib.hash(fresh)
        name = f"{kind.__module__}.{kind.__qualname__} {digest} scikit-learn {__version__}"
        name = f"{name} {versions_of_parts(fresh)}".strip()
        if not is_installed(fresh):  # the same name may be of other code next time
            name += f" {uuid.uuid4().hex}"
        return cls(fresh, name, workers or _processors())

    @property
    def gives(self) -> Terms:
        """What its models say of a record."""
        able = any(hasattr(self.estimator, one) for one in ("predict_proba", "decision_function"))
        return CONFIDENCE_ANSWERS if able else LABEL_ANSWERS

    def train(
        self,
        records: Records,
        rows: Sequence[NDArray[np.int64]],
        seeds: Sequence[int],
        progress: Progress = silent,
    ) -> "TrainedEstimators":
        """Return a model for each lot of rows. Raises AuditError (A009) where one cannot be
        fitted, as with a parameter out of its range."""
        from joblib import Parallel, delayed  # noqa: PLC0415 (an extra)

        run = Parallel(self._thread_count(records, rows), prefer="threads", return_as="generator")
        models = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tasks = (
                delayed(self._fit_one)(records, lot_rows, seed)
                for lot_rows, seed in zip(rows, seeds, strict=True)
            )
            for done, model in enumerate(run(tasks), start=1):
                models.append(model)
                progress("models", done, len(rows))
        noted = dict.fromkeys(f"Training warned: {_first_line(one.message)}" for one in caught)
        return TrainedEstimators(tuple(models), len(records.classes), self.gives, tuple(noted))

    def _fit_one(self, records: Records, rows: NDArray[np.int64], seed: int) -> Any:
        if self.generators:
            inputs = records.features[rows].astype(np.float32), records.labels[rows]
            own = (self.generators, self.fewest)
            model = _call_model(fit_integral, self.estimator, *inputs, *own)
        else:
            model = _fit(self.estimator, records, rows, seed)
        if not self.fewest:
            return model
        return strip_estimator(model, records.features[rows], records.labels[rows], self.fewest)

    def _thread_count(self, records: Records, rows: Sequence[NDArray[np.int64]]) -> int:
        """Return how many models are fitted at once.

        With few cells a fit is mostly Python, which one thread does at a time: a second one would
        cost a fifth more processor time, and save none on the clock.
        """
        cells = max(map(len, rows), default=0) * records.features.shape[1]
        return self.workers if cells > _FEW_CELLS else 1

    def memory(self, records: Records, rows: int, models: int) -> int:
        """Return an estimate of the most bytes that training takes."""
        copies = 3 * 4 * rows * records.features.shape[1] * min(models, self.workers)
        settings = self.estimator.get_params() if hasattr(self.estimator, "get_params") else {}
        is_tree = "max_leaf_nodes" in settings
        trees = _count(settings, "n_estimators", "max_iter") if is_tree else 1
        leaves = settings.get("max_leaf_nodes") or rows
        nodes = 2 * min(rows, leaves) * trees if is_tree else records.features.shape[1]
        return int(copies + models * nodes * (_NODE + 8 * len(records.classes)))


@dataclass(frozen=True, eq=False)
class TrainedEstimators:
    """Fitted classifiers. `warnings` are what scikit-learn said while it fitted them."""

    models: tuple[Any, ...]
    classes: int
    gives: Terms
    warnings: tuple[str, ...] = field(default=())

    @property
    def epsilon(self) -> NotApplicable:
        """None: their training is not differentially private."""
        return NOT_PRIVATE

    def logits(self, features: NDArray[Any]) -> NDArray[np.float32]:
        """Return the logarithms of the probabilities, (models, n, classes); of labels, 1 and 0.

        They are the model's own logits where it has them. A probability of 0 is -inf, as is
        that of a class of which a model saw no record.
        """
        logits = np.full((len(self.models), len(features), self.classes), -np.inf, np.float32)
        inputs = features.astype(np.float32)
        for number, model in enumerate(self.models):
            log_confidences = (
                None if self.gives == LABEL_ANSWERS else _log_confidences(model, inputs)
            )
            if log_confidences is None:
                logits[number] = np.eye(self.classes, dtype=np.float32)[
                    _call_model(model.predict, inputs)
                ]
            else:
                logits[number][:, model.classes_] = log_confidences
        return logits

    def save(self, path: Path, model: int = 0) -> "TrainedEstimators":
        """Write one model, as a skops file unless its name ends as joblib's, and read it back.

        Raises AuditError (A017) where no such file holds it safely, OutputError (O002).
        """
        write_estimator(self.models[model], path)
        return replace(self, models=(read_estimator(path),))


def need_sklearn() -> None:
    """Raise DataError (C011) where scikit-learn is not installed, which brings SciPy along."""
    if find_spec("sklearn") is None:
        hint = "Install 'policy-engine[audits]'."
        raise DataError.of("C011", "The package scikit-learn is not installed.", hint)


def make_estimator(architecture: Estimator) -> Any:
    """Return an unfitted classifier. Raises AuditError (A009) on unknown parameters."""
    kind = getattr(import_module(f"sklearn.{_MODULES[architecture.name]}"), architecture.name)
    defaults = kind().get_params()
    unknown = [name for name in architecture.parameters if name not in defaults]
    if unknown:
        raise AuditError(
            *[_unknown_parameter(architecture.name, name, defaults) for name in unknown]
        )
    return kind(**architecture.parameters)


def _unknown_parameter(kind: str, name: str, defaults: dict[str, Any]) -> Problem:
    return Problem("A009", f"{kind} has no parameter {name!r}.", did_you_mean(name, defaults))


def _fit(estimator: Any, records: Records, rows: NDArray[np.int64], seed: int) -> Any:
    """Return a clone of an estimator, fitted in one thread with a seed of its own."""
    from sklearn.base import clone  # noqa: PLC0415 (slow to import, an extra)

    model = clone(estimator)
    settings = model.get_params()
    state = seed % (1 << 32)  # the most that scikit-learn takes
    own = {name: state for name in settings if name.split("__")[-1] == "random_state"}
    # Where it is not set it is left alone: some estimators warn of it being set at all.
    own |= {name: 1 for name, now in settings.items() if name.endswith("n_jobs") and now}
    model.set_params(**own)
    return _call_model(model.fit, records.features[rows].astype(np.float32), records.labels[rows])


def _call_model(method: Any, *arguments: Any) -> Any:
    """Run a block that gives arrays to a model, and explain why the model refuses them."""
    try:
        return method(*arguments)
    except (ValueError, TypeError, AttributeError) as error:
        raise AuditError.of("A009", f"The model refuses the data: {_first_line(error)}") from None


def _log_confidences(model: Any, features: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return logarithms of probabilities, or what a model decides by where it has none.

    None where that is not a figure for each class: some have one for each pair of them.
    """
    if hasattr(model, "predict_proba"):
        return _log_probabilities(model, features)
    sample = features[:_TRIED]
    decisions = _decisions(model, sample)
    if (
        decisions is None
        or (model.classes_[decisions.argmax(axis=1)] != _call_model(model.predict, sample)).any()
    ):
        return None
    return _decisions(model, features)


def _log_probabilities(model: Any, features: NDArray[Any]) -> NDArray[np.float64]:
    """Return logarithms of probabilities, as a model's own logits where they are that."""
    probabilities: NDArray[np.float64] = _call_model(model.predict_proba, features)
    logits = _decisions(model, features[:_TRIED])
    if logits is not None and np.allclose(_softmax(logits), probabilities[:_TRIED], atol=1e-5):
        all_logits = _decisions(model, features)
        if all_logits is not None:
            return all_logits
    with np.errstate(divide="ignore"):
        logarithms: NDArray[np.float64] = np.log(probabilities.astype(np.float64))
    return logarithms


def _decisions(model: Any, features: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return what a model decides by, (n, classes it knows), where it tells."""
    if not hasattr(model, "decision_function"):
        return None
    decided = np.asarray(_call_model(model.decision_function, features), dtype=np.float64)
    if decided.ndim == 1:
        decided = np.stack([np.zeros(len(decided)), decided], axis=1)
    return decided if decided.shape == (len(features), len(model.classes_)) else None


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    raised: NDArray[np.float64] = np.exp(logits - logits.max(axis=1, keepdims=True))
    raised /= raised.sum(axis=1, keepdims=True)
    return raised


def _count(settings: dict[str, Any], *names: str) -> int:
    counts = [settings[name] for name in names if isinstance(settings.get(name), int)]
    return max(counts, default=1)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _first_line(error: object) -> str:
    """Return the first sentence of what a library says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
