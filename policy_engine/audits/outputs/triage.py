"""The order in which a checker looks at a queue, learnt from what checkers decided before.

It says what to look at first and why, never what may be released: it takes no verdict and gives
none, and nothing that releases an output imports it. What it learns by is either a checker's past
decisions or, where there are too few, also records drawn from the fourteen rules (J. Domingo-Ferrer
and A. Blanco-Justicia, "Using machine learning to assist output checking", 2021).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.guiding.teachers import one_thread
from policy_engine.audits.membership.learners.scikit import need_sklearn
from policy_engine.audits.outputs.drawn_records import DecidedRecords, draw_records
from policy_engine.audits.outputs.familiarity import Familiarity
from policy_engine.audits.outputs.output_records import (
    RecordArrays,
    RuleRecord,
    decide_records,
    joined_records,
    record_arrays,
)
from policy_engine.audits.outputs.triage_reasons import LearntAbout, reasons_for
from policy_engine.errors import AuditError
from policy_engine.methods.output_checks.fourteen_rules import FOURTEEN_RULES

Floats = NDArray[np.float64]

ENOUGH, ENOUGH_OF_EACH = 200, 20
"""So many decisions, and so many of each kind, are learnt from alone."""

_DRAWN = 5_600
_FOLDS = 3


@dataclass(frozen=True)
class PastDecision:
    """An output that a checker has decided about."""

    record: RuleRecord
    is_accepted: bool


@dataclass(frozen=True)
class TriageSettings:
    """What an order weighs.

    To pass an unsafe output costs `unsafe_weight` times what it costs to withhold a safe one. Of
    outputs like those accepted before, `novelty_share` are expected to be named as unlike them.
    """

    unsafe_weight: float = 10.0
    novelty_share: float = 0.02
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the weight and the share. Raises AuditError (A025)."""
        if not 0 < self.unsafe_weight < float("inf"):
            message = f"An unsafe output cannot weigh {self.unsafe_weight!r}."
            raise AuditError.of("A025", message, "Give a number above 0.")
        if not 0 < self.novelty_share < 1:
            message = (
                f"The share of outputs named as unlike others cannot be {self.novelty_share!r}."
            )
            raise AuditError.of("A025", message, "Give a number between 0 and 1.")


@dataclass(frozen=True)
class QueuePlace:
    """Where one output stands in the queue, and why: advice to who looks at it, no verdict.

    `index` is its place in the records that were handed in; `doubt` what it would cost to decide
    about it without a look, where to withhold a safe output costs 1; `rejected_share` how many
    outputs like it are expected to be rejected; `familiar_share` the share of accepted outputs
    that are as unlike the others. `reasons` quote its figures: they are for the checker alone.
    """

    index: int
    doubt: float
    rejected_share: float
    familiar_share: float
    is_novel: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Triage:
    """What was learnt from past decisions, and `source`: from which, in words."""

    model: Any
    of_accepted: Familiarity
    of_decided: Familiarity
    settings: TriageSettings
    source: str

    def order(self, records: Sequence[RuleRecord]) -> tuple[QueuePlace, ...]:
        """Return the places of all records, those first that a look is worth most at.

        A look is worth the expected cost of the better of the two decisions. Where an output is
        unlike all that was ever decided, no expectation is believed, and it is worth the most
        that it can be. Ties are in the order of what is less familiar, then of the records.
        """
        arrays = record_arrays(records)
        if not len(arrays):
            return ()
        with one_thread():
            rejected = self.model.predict_proba(model_features(arrays))[:, 1]
            familiar, decided = self.of_accepted.shares(arrays), self.of_decided.shares(arrays)
        weight, least = self.settings.unsafe_weight, self.settings.novelty_share
        expected = np.minimum(weight * rejected, 1 - rejected)
        doubts = np.where(decided <= least, weight / (weight + 1), expected)
        queue = np.lexsort((familiar, -doubts))
        material = [
            LearntAbout(*row)
            for row in zip(
                rejected.tolist(),
                (familiar <= least).tolist(),
                (decided <= least).tolist(),
                decide_records(arrays).tolist(),
                strict=True,
            )
        ]
        return tuple(
            QueuePlace(
                index=int(index),
                doubt=float(doubts[index]),
                rejected_share=material[index].rejected_share,
                familiar_share=float(familiar[index]),
                is_novel=material[index].is_novel,
                reasons=reasons_for(records[index], material[index]),
            )
            for index in queue
        )


def learn_triage(
    decisions: Sequence[PastDecision] = (), settings: TriageSettings | None = None
) -> Triage:
    """Return what past decisions teach about the order of a queue.

    Fewer than `ENOUGH` decisions, or than `ENOUGH_OF_EACH` of either kind, are joined with
    records drawn from the fourteen rules. Raises DataError (C011) without scikit-learn.
    """
    need_sklearn()
    settings = settings or TriageSettings()
    random = np.random.default_rng(settings.seed)
    material, source = _material(decisions, random)
    with one_thread():
        model = _fitted(material, settings.seed)
        accepted = material.records.take(np.flatnonzero(material.is_released))
        of_accepted = Familiarity.of(accepted, random)
        of_decided = Familiarity.of(material.records, random)
    return Triage(model, of_accepted, of_decided, settings, source)


def _material(
    decisions: Sequence[PastDecision], random: np.random.Generator
) -> tuple[DecidedRecords, str]:
    """Return what is learnt from, and that in words."""
    past = DecidedRecords(
        record_arrays([one.record for one in decisions]),
        np.array([one.is_accepted for one in decisions], np.bool_),
    )
    accepted = int(past.is_released.sum())
    rejected = len(decisions) - accepted
    counted = f"{len(decisions):,} decisions of checkers ({rejected:,} of them rejections)"
    if len(decisions) >= ENOUGH and min(accepted, rejected) >= ENOUGH_OF_EACH:
        return past, counted
    drawn = draw_records(_DRAWN, random)
    records = joined_records([past.records, drawn.records])
    together = DecidedRecords(records, np.concatenate([past.is_released, drawn.is_released]))
    needed = f"{ENOUGH} decisions, {ENOUGH_OF_EACH} of each kind, would be enough by themselves"
    drawn_words = f"{len(drawn.records):,} outputs drawn from the fourteen rules"
    return together, f"{counted} and {drawn_words}: {needed}"


def _fitted(material: DecidedRecords, seed: int) -> Any:
    """Return a boosted model of rejections, its probabilities calibrated on rows held out."""
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 (slow to import)
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415

    boosted = HistGradientBoostingClassifier(
        early_stopping=False, min_samples_leaf=5, random_state=seed
    )
    model = CalibratedClassifierCV(boosted, method="sigmoid", cv=_FOLDS)
    return model.fit(model_features(material.records), ~material.is_released)


def model_features(records: RecordArrays) -> Floats:
    """Return the features of n outputs, (n, d): attributes, -1 if missing, secrecy, the type."""
    types = np.zeros((len(records), len(FOURTEEN_RULES) + 1))
    types[np.arange(len(records)), records.rules] = 1.0  # -1 is the column behind them all
    # The library fails where a column has no value at all in a part that it learns from.
    values = np.nan_to_num(records.values, nan=-1.0)
    return np.column_stack([values, records.is_confidential, types])
