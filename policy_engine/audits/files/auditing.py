"""Audit the files of a released model against the records that the model learnt from."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from policy_engine.audits.files.contents import Contents, read_contents
from policy_engine.audits.files.edges import Edges
from policy_engine.audits.files.figures import (
    count_exact_figures,
    exact_figures,
    holds_record_counts,
)
from policy_engine.audits.files.groups import leaf_sizes, value_sizes
from policy_engine.audits.files.rare import RareValues, find_rare_values
from policy_engine.audits.membership.learners import noise_model
from policy_engine.audits.membership.learners.integral_trees import count_generators
from policy_engine.audits.membership.learners.scikit import make_estimator
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.released.files import (
    PICKLE,
    WARNING,
    nodes_of,
    read_estimator,
    words_of_kind,
)
from policy_engine.methods.audits.classifier import Estimator, Network
from policy_engine.plan.training.files import FileBounds, FilesMeasured

_DESCRIPTIONS = ("architecture.json", "encoding.json")
_SEEDS = ("random_state", "_random_state", "_random_seed", "_rng", "_feature_subsample_rng")


@dataclass(frozen=True, eq=False)
class TrainingInputs:
    """What a model learnt from.

    `tables` are the records, first the original ones, then the sanitised ones, `records` the
    features that the model was trained on, and `original` those of the original records.
    """

    tables: tuple[pa.Table, ...]
    records: Records
    original: Records
    architecture: Network | Estimator


def audit_files(
    folder: Path, inputs: TrainingInputs, bounds: FileBounds, *, allow_pickle: bool = False
) -> FilesMeasured:
    """Return what the files of a model reveal about the records that it learnt from.

    That is values that few records have, edges that follow a few of them, the smallest group of
    records that the files have figures of, and what no model needs: counts, seeds, exact figures,
    unexpected files, and pickles unless they are allowed. Raises AuditError (A017) where a file
    cannot be inspected.
    """
    files = list(read_contents(folder))
    model = _read_model(folder, inputs.architecture)
    fewest = bounds.smallest_leaf
    width, classes = inputs.original.features.shape[1], len(inputs.original.classes)
    known_words = words_of_kind(noise_model(inputs.architecture, width, classes))
    edges = Edges.of(files, inputs.tables[0], fewest)
    rare_values = {(name, repr(value)) for name, value in edges.revealing}
    for table in inputs.tables:
        rare_values |= find_rare_values(
            files, RareValues.of(table, fewest), known_words, edges.safe
        )
    sizes = [*value_sizes(inputs.original), *leaf_sizes(model, inputs.records.features)]
    return FilesMeasured(
        asked=bounds,
        smallest_leaf=min(fewest, int(np.concatenate(sizes).min())),
        rare_values=len(rare_values),
        generators=_generators(model, inputs, bounds.generators),
        broken=tuple(_violations(folder, files, model, inputs, allow_pickle=allow_pickle)),
    )


def _generators(model: Any, inputs: TrainingInputs, most: int | None) -> int | None:
    """Return how many generators the model in the file has, up to those asked for."""
    if not most or not isinstance(inputs.architecture, Estimator):
        return None
    records = inputs.records
    estimator = make_estimator(inputs.architecture)
    features = records.features.astype(np.float32)
    return min(most, count_generators(model, estimator, features, records.labels, most))


def _read_model(folder: Path, architecture: Network | Estimator) -> Any:
    if isinstance(architecture, Network):
        return None
    pickle = folder / f"model{PICKLE}"
    return read_estimator(pickle if pickle.exists() else folder / "model.skops")


def _violations(
    folder: Path, files: list[Contents], model: Any, inputs: TrainingInputs, *, allow_pickle: bool
) -> Iterator[str]:
    yield from _unexpected_files(folder, inputs.architecture, allow_pickle=allow_pickle)
    if model is not None and any(_seeds(model)):
        yield "The model's files hold a seed, or a generator of random numbers."
    if any(_counts(model)) or holds_record_counts(files, inputs.records):
        yield "The model's files hold counts of records."
    # The weights of networks may match a figure by chance.
    if model is not None and type(model).__name__ != "MLPClassifier":
        exact = np.union1d(exact_figures(inputs.records), exact_figures(inputs.original))
        if count_exact_figures(files, exact):
            yield "The model's files hold exact figures of the records that it learnt from."


def _unexpected_files(
    folder: Path, architecture: Network | Estimator, *, allow_pickle: bool
) -> Iterator[str]:
    ending = ".keras" if isinstance(architecture, Network) else ".skops"
    allowed = {*_DESCRIPTIONS, f"model{ending}"}
    if allow_pickle and isinstance(architecture, Estimator):
        allowed = {*_DESCRIPTIONS, f"model{PICKLE}", WARNING}
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    if names != allowed:
        yield f"The model's folder holds {len(names ^ allowed)} files more or less than it should."


def _seeds(part: Any) -> Iterator[bool]:
    """Yield whether a part of an estimator holds a seed, for all of its parts."""
    if isinstance(part, list | tuple):
        for child in part:
            yield from _seeds(child)
    elif isinstance(part, np.ndarray) and part.dtype == object:
        yield from _seeds(part.ravel().tolist())
    elif hasattr(part, "__dict__") and type(part).__module__.startswith("sklearn"):
        attributes = vars(part)
        yield any(attributes.get(name) is not None for name in _SEEDS)
        for child in attributes.values():
            yield from _seeds(child)


def _counts(model: Any) -> Iterator[bool]:
    """Yield whether a tree of an estimator holds counts of records."""
    for nodes in nodes_of(model):
        names = set(nodes.dtype.names or ()) & _COUNTS
        yield any(bool(nodes[name].any()) for name in names)


_COUNTS = {"n_node_samples", "weighted_n_node_samples", "impurity", "count", "gain"}
