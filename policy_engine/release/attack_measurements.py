"""What a plan's audits measured for its bounds, and whether there are enough records."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.gate import ModelFigures
from policy_engine.audits.membership.figures import Figures, TprAtFpr
from policy_engine.audits.membership.learners.scikit import make_estimator
from policy_engine.audits.membership.measuring import figures
from policy_engine.audits.membership.result import AttackResult, AuditSide, MembershipAudit
from policy_engine.audits.membership.settings import BASELINE
from policy_engine.engines.contents import row_marks
from policy_engine.engines.overlaps import sketches
from policy_engine.engines.readings import record_marks
from policy_engine.engines.tables import table_digest
from policy_engine.engines.versions import version_of
from policy_engine.errors import AuditError, Problem
from policy_engine.kernels.estimates import Estimate, NotApplicable, clopper_pearson
from policy_engine.methods.audits.classifier import Estimator
from policy_engine.methods.audits.membership_inference import AttackBound, AttackMeasurement
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import AuditStep
from policy_engine.plan.training import Modelling
from policy_engine.release.attempts import AttemptedRelease, attempt_upper_end

_DECIMALS = 3
_MOST = 500_000
_STEP = 1.2
_DECIDING = ("policy-engine", "numpy", "scipy", "scikit-learn", "tensorflow", "tensorflow-cpu")
"""The packages whose version decides the model trained from a seed."""


def measurements(
    steps: Sequence[AuditStep], report: MembershipAudit | None
) -> Iterator[AttackMeasurement]:
    """Yield the measurement of every bound, for every attack that was run.

    The figures are rounded, their intervals outwards: exact figures would tell somebody who has the
    model and knows all records but one whether that one was trained on.
    """
    for step in steps:
        for name in step.method.attacks_run:
            for bound in step.method.bounds:
                assert report is not None  # noqa: S101 (there are steps)
                yield _measurement(report.attack(name), bound)


def _measurement(result: AttackResult, bound: AttackBound) -> AttackMeasurement:
    figure = _bound_figure(result.figures, bound)
    if isinstance(figure, Estimate):
        figure = figure.rounded(_decimals(bound))
    return AttackMeasurement(
        attack=result.attack, bound=bound, reached=figure, unfit=_unfit(result, bound)
    )


def _decimals(bound: AttackBound) -> int:
    """Return three decimals, and for rates at few false positives one more than these have."""
    if bound.fpr is None:
        return _DECIMALS
    return max(_DECIMALS, 1 - math.floor(math.log10(bound.fpr)))


def _unfit(result: AttackResult, bound: AttackBound) -> str:
    """Return why an attack is not evidence that a bound holds, empty if it is."""
    if result.degenerate:
        return result.degenerate
    if bound.measure == "tprAtFpr" and _tpr_at(result.figures, bound).randomised:
        return "so many records share its highest score that the choice among them is random"
    return ""


def _tpr_at(figures_of_attack: Figures, bound: AttackBound) -> TprAtFpr:
    return next(one for one in figures_of_attack.tpr_at_fpr if one.fpr == bound.fpr)


def _bound_figure(figures_of_attack: Figures, bound: AttackBound) -> Estimate | NotApplicable:
    """Return the figure that a bound limits."""
    if bound.measure == "tprAtFpr":
        return _tpr_at(figures_of_attack, bound).tpr
    if bound.measure == "auc":
        return _either_way(figures_of_attack.auc)
    return {"precision": figures_of_attack.precision, "recall": figures_of_attack.recall}[
        bound.measure
    ]


def _either_way(auc: Estimate) -> Estimate:
    """Return the area under the curve of the scores or their reverse, whichever may be larger.

    If members rank below others, reversing the scores tells them apart as well.
    """
    if auc.high >= 1 - auc.low:
        return auc
    return Estimate(value=1 - auc.value, low=1 - auc.high, high=1 - auc.low)


def model_figures(report: MembershipAudit) -> ModelFigures:
    """Return the accuracy of an audit's model, and of the label-only baseline, in percent."""
    right = {
        "on_members": clopper_pearson(*_correct_count(report.target_train)),
        "on_others": clopper_pearson(*_correct_count(report.target_test)),
        "baseline": report.attack(BASELINE).figures.accuracy,
    }
    return ModelFigures(**{name: figure.rounded(2) for name, figure in right.items()})


def _correct_count(side: AuditSide) -> tuple[int, int]:
    return round(side.accuracy * side.records), side.records


# -- whether a bound can be shown -----------------------------------------------------------------


def check_showable(steps: Sequence[AuditStep], members: int, share: float, number: int) -> None:
    """Raise AuditError (A021) for bounds that so few members and others cannot show to hold.

    Not even if attacks do no better than guessing: the interval of a guess would break them.
    `number` is that of the attempt, which decides the confidence; `share` is the share of members
    among the records.
    """
    bounds = dict.fromkeys(bound for step in steps for bound in step.method.bounds)
    problems = [
        _too_few(bound, members, share, number)
        for bound in bounds
        if not _can_show(bound, members, number)
    ]
    if problems:
        raise AuditError(*problems)


def _can_show(bound: AttackBound, members: int, number: int) -> bool:
    figure = _bound_figure(_guess_figures(members, bound.fpr), bound)
    assert isinstance(figure, Estimate)  # noqa: S101 (a guess calls half of all)
    ends = {
        "high": attempt_upper_end(figure.rounded(_decimals(bound)), number),
        "low": 0.0,
        "value": 0.0,
    }
    return AttackMeasurement(attack="", bound=bound, reached=Estimate(**ends)).holds


def _guess_figures(members: int, fpr: float | None) -> Figures:
    """Return the figures of scores in which members and others alternate."""
    is_member = np.arange(2 * members) % 2 == 1
    scores = -np.arange(2 * members, dtype=np.float64)
    return figures(scores, scores > -members, is_member, (fpr,) if fpr else (), ())


def _too_few(bound: AttackBound, members: int, share: float, number: int) -> Problem:
    sufficient = members
    while sufficient < _MOST and not _can_show(bound, sufficient, number):
        sufficient = int(sufficient * _STEP) + 1
    message = f"{bound} cannot be shown with {members:,} members and as many others"
    message += f" at attempt {number}" if number > 1 else ""
    message += ": attacks that only guess could not be told from attacks that reach more."
    records = _round(sufficient / share)
    enough = f"About {_round(sufficient):,} of each are enough, {records:,} records in all"
    if sufficient >= _MOST:
        enough = f"Not even {_MOST:,} of each are enough: relax the bound"
    else:
        enough += "; or relax the bound"
    return Problem("A021", message, f"{enough}.")


def _round(number: float) -> int:
    """Return a number with two digits, rounded up."""
    unit: int = 10 ** max(int(math.log10(number)) - 1, 0)
    return math.ceil(number / unit) * unit


# -- attempts -------------------------------------------------------------------------------------


def attempted_model(plan: Plan, table: pa.Table, seed: int, *, repeats: bool) -> AttemptedRelease:
    """Return everything that decides the figures of a plan's audits: training, data, seed.

    Bounds, attacks and the number of shadow models are not part of the training: changing them
    means looking at the same again. Neither are names of assets, the order of features, the share,
    or settings that change nothing: they must not restart the count of attempts. Nor must a column
    more or less, or another digit: so records are also compared by sketches. Columns that are not
    learnt from are not part of the data, and records are compared by meaning, however they are
    written.
    """
    public = plan.public()
    modellings = [step.modelling for step in public.audits]
    steps = [
        step.model_dump_json() for step in (public.anonymize, public.train) if step is not None
    ]
    facts = [*steps, *(one.model_dump_json() for one in (*modellings, *plan.cells_learnt))]
    versions = [f"{name} {version_of(name)}" for name in _DECIDING]
    labels = sorted({one.label for one in modellings})
    training_columns = table.select(
        sorted({*labels, *(name for one in modellings for name in one.features)})
    )
    return AttemptedRelease(
        way="\n".join(
            [
                _describe_sanitisation(public),
                *sorted({_describe_training(one) for one in modellings}),
            ]
        ),
        data="\n".join(
            [
                *labels,
                _digest(
                    training_columns, record_marks(training_columns, training_columns.column_names)
                ),
            ]
        ),
        exactly="\n".join([*facts, table_digest(table), *versions]),
        seed=seed,
        audits=tuple(step.method for step in plan.audits),
        repeats=repeats,
        records=sketches(training_columns, labels),
        former="\n".join([*labels, _text_digest(table.select(_named_columns(public, modellings)))]),
    )


def _named_columns(plan: Plan, modellings: Sequence[Modelling]) -> list[str]:
    """Return the columns that a plan names, in order: older ledgers identified data by these."""
    names = {name for one in modellings for name in (one.label, *one.features)}
    if plan.anonymize is not None:
        columns = plan.anonymize.columns
        names |= {*columns.quasi_names, *columns.sensitive_names}
    return sorted(names)


def _describe_sanitisation(plan: Plan) -> str:
    """Return how a table is anonymised, empty if it is not."""
    if plan.anonymize is None:
        return ""
    names = {"step", "taxonomies", "inputs", "output", "asset", "target", "source"}
    return _canonical(plan.anonymize.model_dump(mode="json", exclude=names))


def _describe_training(modelling: Modelling) -> str:
    """Return how a model is trained, the same for two ways that train alike."""
    architecture = modelling.architecture
    described = architecture.model_dump(mode="json")
    if isinstance(architecture, Estimator):
        described.pop("kind")
        described["parameters"] = _effective(architecture)
    return _canonical([described, sorted(set(modelling.features)), modelling.label])


def _effective(architecture: Estimator) -> dict[str, object]:
    """Return all parameters of a classifier that affect what it learns, set explicitly or not."""
    parameters = make_estimator(architecture).get_params()
    return {
        name: _plain_value(value) for name, value in parameters.items() if name not in _NO_MATTER
    }


_NO_MATTER = ("random_state", "n_jobs", "verbose")
"""The parameters of classifiers without effect: each is trained from its own seed."""


def _plain_value(value: object) -> object:
    """Return a parameter value, with integers as floats."""
    if isinstance(value, list | tuple):
        return [_plain_value(one) for one in value]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _digest(table: pa.Table, rows: NDArray[np.uint64]) -> str:
    """Return a digest of a table's records by their marks, independent of order."""
    names = "\n".join(table.column_names)
    return hashlib.sha256(names.encode() + np.sort(rows).tobytes()).hexdigest()


def _text_digest(table: pa.Table) -> str:
    """Return the digest that older ledgers used for a table: that of its cells' texts."""
    columns = (column.combine_chunks() for column in table.columns)
    return _digest(table, row_marks(columns, table.num_rows))
