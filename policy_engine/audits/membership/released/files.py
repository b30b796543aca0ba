"""Released models in files: skops for scikit-learn, `.keras` for networks, joblib where asked."""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.training.runtime import ignore_deprecations, need_keras
from policy_engine.errors import AuditError, DataError, OutputError, join_names

TREE = "sklearn.tree._tree.Tree"
PREDICTOR = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
TRUSTED = (TREE, PREDICTOR)
"""What skops asks about: two kinds of arrays that scikit-learn walks without looking where they
lead. No code is run by loading them; `check_trees` looks."""
PICKLE = ".joblib"
WARNING = "model.joblib.WARNING.txt"
_WARNING = """\
model.joblib is a pickle. WHOEVER LOADS IT RUNS WHATEVER CODE IT HOLDS.

Load it only if you got it from somebody whom you would let run programs on your machine, and if it
is the file that was certified: policy-engine checks its digest. A model without such a file
(model.skops) is made by leaving out --allow-pickle.
"""
_DATE = (1980, 1, 1, 0, 0, 0)


def need_skops() -> None:
    """Raise DataError (C011) where skops is not installed."""
    if find_spec("skops") is None:
        hint = "Install 'policy-engine[audits]'."
        raise DataError.of("C011", "The package skops is not installed.", hint)


def write_estimator(model: Any, path: Path) -> None:
    """Write an estimator as a skops file, or as joblib where the name of the file says so.

    A skops file is the same, byte by byte, for the same model. Raises AuditError (A017) where it
    would hold what cannot be read without trusting it, OutputError (O002).
    """
    if path.suffix == PICKLE:
        _write_pickle(model, path)
        return
    import skops.io  # noqa: PLC0415 (slow to import, an extra)

    packed = skops.io.dumps(model)
    _check_trusted(packed)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    write_file(path, zip_files(_renumber(files)))


def read_estimator(path: Path) -> Any:
    """Return the estimator in a file that `write_estimator` made.

    Raises AuditError (A017) where a skops file holds what is not to be trusted, or trees that
    lead out of themselves.
    """
    if path.suffix == PICKLE:
        import joblib  # noqa: PLC0415 (an extra)

        return joblib.load(path)
    import skops.io  # noqa: PLC0415 (slow to import, an extra)

    packed = path.read_bytes()
    _check_trusted(packed)
    model = skops.io.loads(packed, trusted=list(TRUSTED))
    check_trees(model)
    return model


def check_trees(model: Any) -> None:
    """Raise AuditError (A017) where a tree has a child or a feature that it does not have."""
    for left_children, right_children, features, is_leaf in links_of(model):
        inner = ~is_leaf
        own = np.arange(len(left_children))[inner]
        children = np.stack([left_children[inner], right_children[inner]])
        is_sound = (children > own).all() and (children < len(left_children)).all()
        is_known = (features[inner] >= 0).all() and (features[inner] < model.n_features_in_).all()
        if not (is_sound and is_known and len(left_children)):
            raise AuditError.of("A017", "The model's file holds a malformed tree.")


def links_of(model: Any) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield of every tree the left and right children, the features, and which are leaves."""
    for tree in trees_of(model):
        yield (
            tree.children_left,
            tree.children_right,
            tree.feature.astype(np.int64),
            tree.children_left < 0,
        )
    for row in getattr(model, "_predictors", ()):
        for one in row:
            nodes = one.nodes
            links = (nodes[name].astype(np.int64) for name in ("left", "right", "feature_idx"))
            yield (*links, nodes["is_leaf"].astype(bool))


def nodes_of(model: Any) -> Iterator[NDArray[Any]]:
    """Yield the nodes of every tree of an estimator, with all their fields."""
    for tree in trees_of(model):
        yield tree.__getstate__()["nodes"]
    for row in getattr(model, "_predictors", ()):
        yield from (one.nodes for one in row)


def words_of_kind(model: Any) -> frozenset[str]:
    """Return the words in the file of an estimator, or in the description of a Keras model."""
    if not hasattr(model, "get_params"):
        return frozenset(re.findall(r"\w+", json.dumps(model.get_config(), default=str)))
    import skops.io  # noqa: PLC0415 (slow to import, an extra)

    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as archive:
        return frozenset(re.findall(r"\w+", archive.read("schema.json").decode()))


def trees_of(model: Any) -> list[Any]:
    """Return the trees of an estimator, in order; none where it has no such trees."""
    if hasattr(model, "tree_"):
        return [model.tree_]
    estimators = getattr(model, "estimators_", ())
    return [
        one.tree_ for one in np.ravel(np.array(estimators, dtype=object)) if hasattr(one, "tree_")
    ]


def write_keras(model: Any, path: Path) -> None:
    """Write a Keras model as a `.keras` file: its layers and weights, no date and no optimizer.

    It is the same, byte by byte, for the same model. Raises OutputError (O002).
    """
    try:
        with ignore_deprecations():
            model.save(path)
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except OSError as error:
        message = f"The model cannot be written: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(path)) from None
    metadata = json.loads(files["metadata.json"])
    metadata.pop("date_saved", None)
    files["metadata.json"] = json.dumps(metadata, sort_keys=True).encode()
    config = json.loads(files["config.json"])
    _replace_values(config, "shared_object_id", {}, count())
    files["config.json"] = json.dumps(config).encode()
    write_file(path, zip_files(files))


def read_weights(path: Path) -> tuple[NDArray[Any], ...]:
    """Return the weights in a `.keras` file, in the order in which Keras has them."""
    with ignore_deprecations():
        model = need_keras().models.load_model(path, compile=False, safe_mode=True)
        return tuple(one.numpy() for one in model.weights)


def zip_files(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files by name that says nothing of when and where it was made."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = 3, 0o600 << 16
            archive.writestr(entry, files[name])
    return packed.getvalue()


def write_file(path: Path, data: bytes) -> None:
    """Write a file of a released model. Raises OutputError (O002)."""
    try:
        path.write_bytes(data)
    except OSError as error:
        message = f"The model cannot be written: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(path)) from None


def _write_pickle(model: Any, path: Path) -> None:
    import joblib  # noqa: PLC0415 (an extra)

    packed = io.BytesIO()
    joblib.dump(model, packed, compress=3)
    write_file(path.with_name(WARNING), _WARNING.encode())
    write_file(path, packed.getvalue())


def _check_trusted(packed: bytes) -> None:
    import skops.io  # noqa: PLC0415 (slow to import, an extra)

    strange = set(skops.io.get_untrusted_types(data=packed)) - set(TRUSTED)
    if strange:
        message = (
            f"The file of the model would hold {join_names(sorted(strange))}, which may run code."
        )
        raise AuditError.of("A017", message, "Take another model.")


def _renumber(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a skops archive with numbers for the addresses that objects had."""
    schema = json.loads(files["schema.json"])
    _replace_values(schema, "__id__", {}, count())
    names: dict[str, str] = {}
    _replace_values(schema, "file", names, (f"{number}.npy" for number in count()))
    arrays = {names[name]: data for name, data in files.items() if name in names}
    return {**arrays, "schema.json": json.dumps(schema, indent=1).encode()}


def _replace_values(part: Any, key: str, names: dict[Any, Any], fresh: Iterator[Any]) -> None:
    """Replace each value of a key by a fresh name, the same wherever that value occurs."""
    if isinstance(part, dict):
        if part.get(key) is not None:
            if part[key] not in names:
                names[part[key]] = next(fresh)
            part[key] = names[part[key]]
        part = list(part.values())
    for one in part if isinstance(part, list) else ():
        _replace_values(one, key, names, fresh)
