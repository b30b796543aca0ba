"""Audits from file to folder: read the records, train and attack, write all that was found."""

import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.architecture import Estimator, Network, read_architecture
from policy_engine.audits.membership.auditing import audit, audit_predictions, splits_of
from policy_engine.audits.membership.caveats import MEMBERS_TOLD
from policy_engine.audits.membership.fitted.target import FittedModel
from policy_engine.audits.membership.learners import Learner, learner_of
from policy_engine.audits.membership.predictions import read_predictions
from policy_engine.audits.membership.records import (
    Records,
    read_npz,
    read_records,
    records_of_arrays,
    source_table,
)
from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.audits.membership.settings import Settings, attacks_of_model
from policy_engine.audits.membership.shadows import (
    FURTHER,
    ONLINE,
    SHADOW,
    TARGET,
    seed_of,
)
from policy_engine.audits.membership.splits import Splits
from policy_engine.charts import need_matplotlib
from policy_engine.engines.engine import Progress, silent
from policy_engine.engines.reading_back import texts_of
from policy_engine.errors import AuditError, OutputError, did_you_mean, listed
from policy_engine.policy.files import read_file
from policy_engine.report import write_audit_report
from policy_engine.writing import write_whole

if TYPE_CHECKING:
    from policy_engine.audits.privacy.tradeoff import Grid, Tradeoff

Model = Any
"""A description, the file that holds one, a classifier, a learner; None for the usual network."""
_Sides = tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]
_MEMBER = {"1": True, "true": True, "in": True, "yes": True, "member": True, "train": True}
_OTHER = {"0": False, "false": False, "out": False, "no": False, "non-member": False, "test": False}


def audit_membership(
    data: Any,
    label: str = "",
    model: Model = None,
    *,
    settings: Settings | None = None,
    members: str = "",
    fitted: Any = None,
    out: Path | None = None,
    report: Path | None = None,
    progress: Progress = silent,
) -> MembershipAudit:
    """Train a model on a part of some records, and measure how well attackers tell which part.

    `data` is a file (CSV, CSV.gz, Parquet, npz), a frame, or a pair of arrays, features and
    labels; `label` is the column of the classes, the last one if not given. `model` is a
    description or a file with one, a classifier of scikit-learn's kind, or any other Learner, such
    as a KerasLearner; without it a network of one small layer is trained. `members` names a
    column, or an array of an npz file, that says of each record whether the target is to be
    trained on it (1) or not (0).

    With `fitted` nothing is trained: that model is attacked as it is, with the records that
    `members` says it was trained on and the others, as it takes them. It is a file, an object
    with predict_proba or predict, a function from features to answers, or a `FittedModel`, which
    says how it is opened and asked. `model` is then the recipe by which its shadow models are
    trained on halves of these records, if there is one.

    Into the folder `out` go `splits.npz` (the rows and the seed of every model), `audit.html`
    and, last, `audit.json` with all figures; its `cache` keeps what models said, so that an
    interrupted audit goes on. Raises AuditError and DataError for what is wrong with the input,
    before anything is trained, and OutputError where nothing can be written.
    """
    settings = settings or Settings()
    _check_output(out, report)
    if fitted is not None:
        found = _audit_fitted(data, label, model, members, fitted, settings, progress)
        source = fitted.model if isinstance(fitted, FittedModel) else fitted
        _write(found, out, report, {}, _inputs(data, source))
        return found
    learner, architecture = _learner(model)
    records, inside = _records(data, label, members)
    sides = (None, None) if inside is None else _sides(inside)
    found = audit(
        records,
        learner,
        settings,
        architecture=architecture,
        members=sides[0],
        non_members=sides[1],
        cache=out / "cache" if out else None,
        progress=progress,
    )
    if inside is not None:
        found = found.model_copy(update={"warnings": (*found.warnings, MEMBERS_TOLD)})
    splits = _splits(records, learner, settings, sides) if out else {}
    _write(found, out, report, splits, _inputs(data, model))
    return found


def _audit_fitted(
    data: Any,
    label: str,
    model: Model,
    members: str,
    fitted: Any,
    settings: Settings,
    progress: Progress,
) -> MembershipAudit:
    """Attack a model that is fitted already."""
    from policy_engine.audits.membership.fitted.auditing import (  # noqa: PLC0415 (as above)
        audit_fitted,
    )
    from policy_engine.audits.membership.fitted.questions import read_questions  # noqa: PLC0415

    if settings.local_epsilon is not None:
        message = "A fitted model is attacked as it is: no records are perturbed for it."
        raise AuditError.of("A014", message, "Leave the local epsilon out.")
    known = fitted if isinstance(fitted, FittedModel) else FittedModel(fitted)
    questions = read_questions(data, label, members, known.features)
    recipe = None if model is None else _recipe(model)
    return audit_fitted(questions, known, settings, recipe, progress).report


def _recipe(model: Model) -> Any:
    """Return what trains shadows of a fitted model: a learner, or a classifier to be cloned."""
    if not isinstance(model, Learner) and hasattr(model, "fit"):
        return model
    return _learner(model)[0]


def audit_predictions_file(
    predictions: Any,
    *,
    settings: Settings | None = None,
    out: Path | None = None,
    report: Path | None = None,
    progress: Progress = silent,
) -> MembershipAudit:
    """Attack a model of which nothing is known but what it said: probabilities, labels, members.

    `read_predictions` says what the file or frame holds. `out` and `report` are as for
    `audit_membership`, without splits, for nothing is trained. Raises AuditError and DataError
    for what is wrong with the predictions, OutputError where nothing can be written.
    """
    _check_output(out, report)
    found = audit_predictions(read_predictions(predictions), settings or Settings(), progress)
    _write(found, out, report, {}, _inputs(predictions, None))
    return found


def audit_tradeoff(
    data: Any,
    label: str = "",
    model: Model = None,
    *,
    settings: Settings | None = None,
    grid: "Grid | None" = None,
    out: Path | None = None,
    progress: Progress = silent,
) -> "Tradeoff":
    """Audit a network with no privacy and at every privacy of a grid, on the same splits.

    `data`, `label` and `model` are as for `audit_membership`. Into the folder `out` go
    `tradeoff.svg`, `tradeoff.png` and, last, `tradeoff.json`; its `cache` keeps what models
    said. Raises AuditError (A009) for a model that is no network, and as `audit_membership`.
    """
    from policy_engine.audits.privacy.tradeoff import Grid, tradeoff  # noqa: PLC0415 (see above)

    _check_output(out, None)
    network = _architecture(model)
    if not isinstance(network, Network):
        message = f"A trade-off is over the training of networks. Given: {network.name}."
        raise AuditError.of("A009", message, "Describe a network, or leave the model out.")
    records, _ = _records(data, label, "")
    grid = grid or Grid()
    _check_noise(grid)
    _check_perturbing(records, grid)
    found = tradeoff(
        records,
        network,
        settings or Settings(),
        grid,
        cache=out / "cache" if out else None,
        progress=progress,
    )
    if out:
        _write_tradeoff(found, out, _inputs(data, model))
    return found


def _check_noise(grid: "Grid") -> None:
    """Raise AuditError (A006) for multipliers that are none, before the training."""
    wrong = [one for one in grid.noise_multipliers if not 0 <= one < math.inf]
    if wrong:
        message = f"Noise multipliers are 0 or above. Given: {', '.join(map(str, wrong))}."
        raise AuditError.of("A006", message)


def _check_perturbing(records: Records, grid: "Grid") -> None:
    """Raise AuditError (A006) for columns that bear no randomized response, before the training."""
    from policy_engine.audits.privacy.randomized_response import perturb  # noqa: PLC0415 (as above)

    for epsilon in grid.local_epsilons[:1]:
        perturb(records.features, records.encoding, epsilon, np.random.default_rng(0))


def _learner(model: Model) -> tuple[Learner, Network | Estimator | str]:
    """Return what trains a model, and what the model is."""
    if isinstance(model, Learner):
        return model, model.name
    if hasattr(model, "fit") or hasattr(model, "predict"):
        from policy_engine.audits.membership.learners.scikit import (  # noqa: PLC0415 (an extra)
            EstimatorLearner,
        )

        return EstimatorLearner.of_object(model), " ".join(repr(model).split())
    architecture = _architecture(model)
    return learner_of(architecture), architecture


def _architecture(model: Model) -> Network | Estimator:
    if model is None:
        return Network()
    if isinstance(model, Network | Estimator):
        return model
    return read_architecture(read_file(Path(model)), str(model))


# -- who is in ------------------------------------------------------------------------------------


def _records(data: Any, label: str, members: str) -> tuple[Records, NDArray[np.bool_] | None]:
    """Return the records, and which of them are members where a column says so.

    That column is no feature: it would tell a model what an attacker is to find out.
    """
    if isinstance(data, tuple):
        return records_of_arrays(*data), None
    if not members:
        return read_records(data, label), None
    is_file = isinstance(data, str | Path)
    if is_file and str(data).lower().endswith(".npz"):
        return read_records(data, label), _truth(members, _array(Path(data), members))
    table = source_table(data)
    if members not in table.column_names:
        raise _no_members(members, table.column_names)
    rows, texts = texts_of(members, table.column(members))
    inside = _truth(members, [texts[row] or "" for row in rows.tolist()])
    rest = table.drop_columns([members])
    if not label and members == table.column_names[-1]:
        label = rest.column_names[-1]
    return read_records(rest, label, Path(data).name if is_file else ""), inside


def _array(path: Path, members: str) -> list[str]:
    arrays = read_npz(path)
    if members not in arrays:
        raise _no_members(members, arrays)
    return list(map(str, arrays[members].ravel().tolist()))


def _no_members(members: str, names: Any) -> Exception:
    message = f"There is no {members!r} that says who is a member. There are {listed(names)}."
    return AuditError.of("A011", message, did_you_mean(members, names))


def _truth(name: str, texts: Sequence[str]) -> NDArray[np.bool_]:
    known = {**_MEMBER, **_OTHER}
    read = [known.get(text.strip().lower().removesuffix(".0")) for text in texts]
    unknown = sorted({text for text, one in zip(texts, read, strict=True) if one is None})
    if unknown:
        message = f"{name!r} is to be 1 or 0, true or false, in or out."
        raise AuditError.of("A011", f"{message} Given: {len(unknown):,} other values.")
    return np.array(read, dtype=bool)


def _sides(inside: NDArray[np.bool_]) -> _Sides:
    return np.flatnonzero(inside), np.flatnonzero(~inside)


# -- what is written ------------------------------------------------------------------------------


def _check_output(out: Path | None, report: Path | None) -> None:
    """Make the folder, before hours of training, and see to it that pictures can be drawn."""
    if out is None and report is None:
        return
    need_matplotlib()
    if out is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder cannot be made: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(out)) from None


def _inputs(*given: Any) -> list[Path]:
    return [Path(one) for one in given if isinstance(one, str | Path)]


def _write(
    found: MembershipAudit,
    out: Path | None,
    report: Path | None,
    splits: Mapping[str, NDArray[Any]],
    inputs: list[Path],
) -> None:
    """Write all of an audit; the figures last, so that a folder that has them has all."""
    if report is not None:
        write_audit_report(found, report, *inputs)
    if out is None:
        return
    _begin(out / "audit.json", out / "splits.npz")
    if splits:
        packed = io.BytesIO()
        arrays: dict[str, Any] = {**splits}
        np.savez_compressed(packed, **arrays)
        write_whole(out / "splits.npz", packed.getvalue(), *inputs)
    write_audit_report(found, out / "audit.html", *inputs)
    write_whole(out / "audit.json", _as_json(found), *inputs)


def write_audit(found: MembershipAudit, folder: Path) -> None:
    """Write all that an audit found into a folder: the page and, last, `audit.json`.

    Raises OutputError where the folder cannot be written, DataError (C011) without matplotlib.
    """
    _check_output(folder, None)
    _write(found, folder, None, {}, [])


def _write_tradeoff(found: "Tradeoff", out: Path, inputs: list[Path]) -> None:
    from policy_engine.charts.tradeoff import tradeoff_chart  # noqa: PLC0415 (used here alone)

    _begin(out / "tradeoff.json")
    for kind in ("svg", "png"):
        write_whole(out / f"tradeoff.{kind}", tradeoff_chart(found, kind), *inputs)
    write_whole(out / "tradeoff.json", _as_json(found), *inputs)


def _begin(*files: Path) -> None:
    """Take away what an earlier audit left, which does not go with what is written now."""
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            message = f"The file cannot be replaced: {error.strerror or error}."
            raise OutputError.of("O002", message, source=str(file)) from None


def _as_json(found: Any) -> str:
    return json.dumps(found.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def _splits(
    records: Records,
    learner: Learner,
    settings: Settings,
    sides: _Sides,
) -> dict[str, NDArray[Any]]:
    """Return the rows of the table that each model was trained on and asked about, and its seed."""
    attacks = attacks_of_model(settings, learner.gives)
    splits = splits_of(records, attacks, settings, *sides)
    return {**_rows_of(splits), **_seeds_of(splits, settings.seed)}


def _rows_of(splits: Splits) -> dict[str, NDArray[Any]]:
    return {
        "target_train": splits.target_train,
        "target_test": splits.target_test,
        "shadow_train": np.array(splits.shadow_train, dtype=np.int64),
        "shadow_test": np.array(splits.shadow_test, dtype=np.int64),
        "online_train": np.array(splits.online_train, dtype=np.int64),
        "further_train": np.array(splits.further_train, dtype=np.int64),
    }


def _seeds_of(splits: Splits, seed: int) -> dict[str, NDArray[Any]]:
    roles = {
        "shadow_seeds": (SHADOW, splits.shadow_train),
        "online_seeds": (ONLINE, splits.online_train),
        "further_seeds": (FURTHER, splits.further_train),
    }
    return {
        "target_seed": _whole_numbers([seed_of(seed, TARGET)])[0],
        **{
            name: _whole_numbers([seed_of(seed, role, n) for n in range(len(rows))])
            for name, (role, rows) in roles.items()
        },
    }


def _whole_numbers(numbers: list[int]) -> NDArray[Any]:
    """Return numbers as integers, as texts where one is beyond 64 bits."""
    if max(numbers, default=0) < 1 << 63:
        return np.array(numbers, dtype=np.int64)
    return np.array(list(map(str, numbers)))
