"""What an attacker sees: what models say of records, as figures that do not saturate.

What evidence offers and what an attack needs are terms: `labels`, `confidences`, `scores`,
shadow models and whatever else attacks come to need. Any text is one: a new domain adds its own.

A softmax in float32 says 1 of every record that a network is quite sure of, and so makes ties
where the attacks look for differences. Every figure here comes from the logits, in float64, and
those that shrink to nothing come as their logarithms too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Terms = frozenset[str]

LABELS, CONFIDENCES, SCORES = "labels", "confidences", "scores"
SHADOWS, ONLINE_SHADOWS = "shadow models", "online shadow models"
SHADOW_MEMBERS = "members of shadow models"
VIEWS, REFERENCES = "views", "reference records"
FEWEST_SHADOWS = 2
LABEL_ANSWERS = frozenset({LABELS})
"""What a classifier gives that answers with a label alone."""
CONFIDENCE_ANSWERS = frozenset({LABELS, CONFIDENCES, SCORES})
"""What a classifier gives that answers with the probabilities of all classes."""

_CELLS = 1 << 20


class ModelSignal(Protocol):
    """What one model shows of n records, in whatever form.

    `gives` names that form; `signal` (n,), in float64, is the higher the rather the model was
    trained on the record.
    """

    @property
    def gives(self) -> Terms:
        """The terms of what is shown: `scores` where the signal ranks the records."""
        ...

    @property
    def signal(self) -> Floats:
        """One figure of each record, (n,)."""
        ...


@dataclass(frozen=True, eq=False)
class ScoredRecords:
    """A score of each of n records by one model, (n,): of what `kind`, another term, says.

    It asks for neither classes nor logits: the likelihood of a sample, the error of a
    reconstruction, the distance to the nearest of what a model made.
    """

    scores: Floats
    kind: str

    @property
    def gives(self) -> Terms:
        """Whether there are scores, and of which kind."""
        return frozenset({SCORES, self.kind})

    @property
    def signal(self) -> Floats:
        """The scores."""
        return self.scores


@dataclass(frozen=True, eq=False)
class Views:
    """What one classifier says of n records disturbed V times, each as strongly as it says.

    `logits` are (V, n, C), `strengths` (V,), the weakest first.
    """

    logits: NDArray[np.float32]
    strengths: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Observations:
    """What one classifier says of n records.

    `logits` (n, C) are the logarithms of the probabilities up to a constant of each record, 1
    and 0 where the model gives labels alone; `labels` (n,) the true classes. All figures are
    (n,), computed once, in float64 but for `is_right` and `predicted`.
    """

    logits: NDArray[np.float32]
    labels: NDArray[np.int64]
    gives: Terms = CONFIDENCE_ANSWERS
    views: Views | None = None

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.logits.shape[1])

    @property
    def signal(self) -> Floats:
        """The margin."""
        return self.margin

    @cached_property
    def margin(self) -> Floats:
        """The logit of the true class's probability, log(p / (1 - p)).

        Where p is exactly 0 or 1, as forests have it, the margin is set a factor of two beyond
        the widest of the others, as if the share were half of the least one seen.
        """
        return _finite(self._blockwise(_margin))

    @property
    def log_odds(self) -> Floats:
        """The logits of all probabilities, log(p / (1 - p)), (n, C), as finite as the margin."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return _finite(_log_odds(self.logits.astype(np.float64)))

    @cached_property
    def loss(self) -> Floats:
        """The cross-entropy, -log p of the true class."""
        return np.logaddexp(0, -self.margin)

    @property
    def confidence(self) -> Floats:
        """The probability of the true class."""
        return np.exp(-self.loss)

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """The class with the highest logit, the first of several."""
        top: NDArray[np.int64] = self.logits.argmax(axis=1)
        return top

    @cached_property
    def is_right(self) -> Bools:
        """Whether the class predicted is the true one."""
        right: Bools = self.predicted == self.labels
        return right

    @cached_property
    def certainty(self) -> Floats:
        """The logit of the highest probability, whichever class has it."""
        return _finite(self._blockwise(lambda logits, _: _margin(logits, logits.argmax(axis=1))))

    @cached_property
    def log_entropy(self) -> Floats:
        """The logarithm of the entropy in nats; of an entropy of 0 as far beyond as the margin."""
        return _finite(self._blockwise(_log_entropy))

    @property
    def entropy(self) -> Floats:
        """The entropy of the probabilities, in nats."""
        return np.exp(self.log_entropy)

    @cached_property
    def log_modified_entropy(self) -> Floats:
        """The logarithm of the modified entropy, bounded likewise."""
        return _finite(self._blockwise(_log_modified_entropy))

    @property
    def modified_entropy(self) -> Floats:
        """The entropy that knows the true class (Song and Mittal, USENIX Security 2021, eq. 8).

        -(1 - p_y) log p_y - sum over j != y of p_j log(1 - p_j): 0 where the model is right and
        sure, large where it is sure and wrong.
        """
        return np.exp(self.log_modified_entropy)

    def _blockwise(self, figure: Callable[[Floats, NDArray[np.int64]], Floats]) -> Floats:
        """Compute a figure some records at a time: float64 copies of all would be large."""
        records, classes = self.logits.shape
        step = max(_CELLS // classes, 1)
        figures = np.empty(records)
        with np.errstate(divide="ignore", invalid="ignore"):
            for start in range(0, records, step):
                rows = slice(start, start + step)
                block = self.logits[rows].astype(np.float64)
                figures[rows] = figure(block, self.labels[rows])
        return figures


SeenT = TypeVar("SeenT", bound=ModelSignal, default=Observations)


@dataclass(frozen=True, eq=False)
class OtherShadows:
    """What the other shadows say of one shadow's own n records.

    `signals` (others, n) are their signals, `is_member` (others, n) which of them was trained
    on which of the records.
    """

    signals: Floats
    is_member: Bools


@dataclass(frozen=True, eq=False)
class Shadow(Generic[SeenT]):
    """A model that the attacker trained, on records that they know.

    `own` are its training rows and then its test rows, `is_member` (n,) tells which is which;
    `audited` the records in question, none of which it was trained on, or those of them that
    `trained_on` (2m,) says. Of a reference model, which was trained elsewhere, that alone is known:
    it has no own. With `other_shadows` an attack that compares models can be tried on this one as
    if it were the target.
    """

    own: SeenT
    is_member: Bools
    audited: SeenT
    other_shadows: OtherShadows | None = None
    trained_on: Bools | None = None


@dataclass(frozen=True, eq=False)
class References:
    """Records that the attacker knows to be no members, (r,), and those in question.

    `observations` is what the target says of the former, `features` (r, d) and `audited` (2m, d)
    what both are.
    """

    observations: Observations
    features: NDArray[Any]
    audited: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Evidence(Generic[SeenT]):
    """All that an attacker holds; which of the audited records are members is not in it.

    `target` is what the target says of the 2m audited records; `online` what shadows say that
    were trained on half of these, with the half, (2m,), of each. `seed` is for draws; `names`
    are those of the classes, where there are some; `references` other records that the target was
    asked about.
    """

    target: SeenT
    shadows: tuple[Shadow[SeenT], ...]
    online: tuple[tuple[SeenT, Bools], ...]
    seed: int
    names: tuple[str, ...] = ()
    references: References | None = None

    @property
    def gives(self) -> Terms:
        """What the target shows, and what else there is enough of."""
        enough = {name for name, few in self.counts.items() if few >= FEWEST_SHADOWS}
        has_members = any(len(one.is_member) for one in self.shadows)
        return self.target.gives | enough | ({SHADOW_MEMBERS} if has_members else set())

    @property
    def counts(self) -> Mapping[str, int]:
        """How many shadow models of each kind there are, and how many reference records."""
        reference_records = len(self.references.features) if self.references else 0
        return {
            SHADOWS: len(self.shadows),
            ONLINE_SHADOWS: len(self.online),
            REFERENCES: reference_records,
        }


def _finite(logarithms: Floats) -> Floats:
    """Put what is infinite a factor of two beyond the widest that is not, on either side."""
    widest = np.abs(logarithms[np.isfinite(logarithms)]).max(initial=0) + np.log(2)
    return np.nan_to_num(logarithms, nan=np.nan, neginf=-widest, posinf=widest)


def _margin(logits: Floats, labels: NDArray[np.int64]) -> Floats:
    """Return z_y - log sum over j != y of exp z_j."""
    chosen = labels[:, None]
    true_logits = np.take_along_axis(logits, chosen, axis=1)[:, 0]
    other_logits = logits.copy()
    np.put_along_axis(other_logits, chosen, -np.inf, axis=1)
    return true_logits - _log_sum(other_logits)


def _log_sum(exponents: Floats) -> Floats:
    """Return the logarithm of each row's sum of exponentials; -inf where all are 0."""
    top = exponents.max(axis=1)
    shift = np.where(np.isfinite(top), top, 0)
    summed: Floats = np.log(np.exp(exponents - shift[:, None]).sum(axis=1)) + shift
    return summed


def _relative_to_top(logits: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return logits less the top one, the log of what the rest sum to, and where the top is."""
    top = logits.argmax(axis=1)
    below = logits - np.take_along_axis(logits, top[:, None], axis=1)
    rest = below.copy()
    np.put_along_axis(rest, top[:, None], -np.inf, axis=1)
    return below, _log_sum(rest), top


def _log_odds(logits: Floats) -> Floats:
    below, log_rest, top = _relative_to_top(logits)
    log_p = below - np.logaddexp(0, log_rest)[:, None]
    odds: Floats = log_p - np.log1p(-np.exp(log_p))
    odds[np.arange(len(top)), top] = -log_rest
    return odds


def _log_entropy(logits: Floats, _: NDArray[np.int64]) -> Floats:
    """With d = z - max z and Z = sum exp d, the entropy is log Z + sum exp(d) (-d) / Z."""
    below, log_rest, _top = _relative_to_top(logits)
    log_z = np.logaddexp(0, log_rest)
    terms = np.where(np.isneginf(below), -np.inf, below + np.log(-below))
    return np.logaddexp(_log_softplus(log_rest), _log_sum(terms) - log_z)


def _log_modified_entropy(logits: Floats, labels: NDArray[np.int64]) -> Floats:
    below, log_rest, top = _relative_to_top(logits)
    log_p = below - np.logaddexp(0, log_rest)[:, None]
    # -log(1 - p) is p itself where p is small; for the top class 1 - p is what the rest has.
    p = np.exp(log_p)
    terms = log_p + np.where(log_p < _SMALL, log_p, np.log(-np.log1p(-np.minimum(p, 0.75))))
    rows = np.arange(len(top))
    terms[rows, top] = log_p[rows, top] + _log_softplus(-log_rest)
    terms[np.isneginf(log_p)] = -np.inf
    terms[rows, labels] = -np.inf
    margin = _margin(logits, labels)
    first = -np.logaddexp(0, margin) + _log_softplus(-margin)
    return np.logaddexp(first, _log_sum(terms))


_SMALL = -36.0


def _log_softplus(exponents: Floats) -> Floats:
    """Return log log(1 + exp x), which is x itself where exp x is small."""
    return np.where(exponents < _SMALL, exponents, np.log(np.logaddexp(0, exponents)))
