"""How an audit was conducted: the request, the attacks that could not run, the models."""

import platform
from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from policy_engine.audits.membership.attacks.attack import Judgement
from policy_engine.audits.membership.observations import Evidence
from policy_engine.engines.versions import version_of

_PACKAGES = (
    *("policy-engine", "numpy", "scipy", "scikit-learn"),
    *("tensorflow", "tensorflow-cpu", "keras"),
)
_Kind = Literal["one", "of each class", "of each record", "of the other half"]
Finite = float | Literal["infinity", "-infinity"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Skipped(_Frozen):
    """An attack that was not run, and why."""

    attack: str
    reason: str


class Threshold(_Frozen):
    """Above which score an attack calls a record a member.

    `kind` says whether there is one, one for each class, one for each record (`low` and `high` are
    then the least and the greatest), or none that it learnt: then each half of the records has
    the one that is best on the other half.
    """

    attack: str
    kind: _Kind
    low: Finite | None = None
    high: Finite | None = None


class Conduct(_Frozen):
    """What was asked of an audit, and what it rests on.

    `requested` are the attacks named, none where all were asked for. `out_models` says of which
    kind the models are that were not trained on a record: `disjoint` from all that is judged,
    `shared` with the online attacks, where each record has those that were not trained on it.
    """

    requested: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    shadows: int
    out_models: Literal["none", "disjoint", "shared"]
    targets: int
    slices: tuple[str, ...]
    fprs: tuple[float, ...]
    local_epsilon: float | None
    attack_domain: Literal["original", "perturbed"]
    thresholds: tuple[Threshold, ...]


class ChunkTime(_Frozen):
    """Models that were trained together, and in how many seconds."""

    models: int
    seconds: float


class Timings(_Frozen):
    """Seconds on the clock and of the processors, whole and by chunk; other runs have others.

    `trained` models were trained in this run, the others were known from an earlier one.
    """

    seconds: float
    cpu_seconds: float
    trained: int
    chunks: tuple[ChunkTime, ...]


def out_models(evidence: Evidence) -> Literal["none", "disjoint", "shared"]:
    """Return the kind of the models that were not trained on a record."""
    if not evidence.shadows:
        return "none"
    return "disjoint" if evidence.shadows[0].trained_on is None else "shared"


def thresholds(judgements: Mapping[str, Judgement], evidence: Evidence) -> Iterator[Threshold]:
    """Yield the threshold of every attack."""
    for attack, judgement in judgements.items():
        threshold = judgement.threshold
        if threshold is None:
            yield Threshold(attack=attack, kind="of the other half")
        elif np.ndim(threshold) == 0:
            one = _json_number(float(threshold))
            yield Threshold(attack=attack, kind="one", low=one, high=one)
        else:
            values = np.asarray(threshold, np.float64)
            low, high = _json_number(float(values.min())), _json_number(float(values.max()))
            by_class = _is_one_per_class(values, evidence)
            kind: _Kind = "of each class" if by_class else "of each record"
            yield Threshold(attack=attack, kind=kind, low=low, high=high)


def _is_one_per_class(values: NDArray[np.float64], evidence: Evidence) -> bool:
    labels = evidence.target.labels
    return all(len(np.unique(values[labels == label])) == 1 for label in np.unique(labels))


def _json_number(number: float) -> Finite:
    if np.isinf(number):
        return "infinity" if number > 0 else "-infinity"
    return number


def versions() -> dict[str, str]:
    """Return the versions of what figures may depend on, of what is installed."""
    packages = {name: version_of(name) for name in _PACKAGES}
    installed = {name: one for name, one in packages.items() if one != "not installed"}
    return {"python": platform.python_version(), **installed}
