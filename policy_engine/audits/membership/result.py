"""What a membership-inference audit found, frozen and as JSON."""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from policy_engine import terms
from policy_engine.audits.membership.conduct import Conduct, Timings
from policy_engine.audits.membership.over_targets import OverTargets
from policy_engine.audits.membership.structure import Structure
from policy_engine.kernels.estimates import CONFIDENCE, Estimate, NotApplicable
from policy_engine.methods.audits.classifier import Architecture
from policy_engine.plan.lineage import MadeBy

Share = Annotated[float, Field(ge=0, le=1)]
SliceKind = Literal["class", "correctness", "confidence", "column"]
MembersAre = Literal["drawn", "drawn-first", "told"]
"""By lot with nothing but the training depending on it, by lot before columns became features
by what the members hold, or not by lot."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class By(NamedTuple):
    """A measure of attacks, by which one is the strongest; `fpr` is that of `tprAtFpr`."""

    measure: Literal["accuracy", "precision", "recall", "auc", "tprAtFpr"] = "accuracy"
    fpr: float | None = None

    def __str__(self) -> str:
        return self.measure if self.fpr is None else f"{self.measure} {self.fpr:g}"


BY_ACCURACY = By()


class TprAtFpr(_Frozen):
    """How many members an attack finds where it wrongly accuses a share `fpr` of the others.

    `tpr` is interpolated between the thresholds on the records at hand (Carlini et al., IEEE S&P
    2022, section IV, whose thresholds are not randomised): of the records of one score some are
    called by a coin, so that who guesses finds a share `fpr`. Both ends of its interval are of a
    false-positive rate `fpr` in truth, not among the few others at hand; see `rate_at`.
    `randomised` says that no threshold has that rate, for too many others share one score: a
    coin does it, and what it finds says nothing of what a finer score would.
    """

    fpr: Share
    tpr: Estimate
    randomised: bool = False


class AtPrior(_Frozen):
    """How likely a record called a member is one, where a share `prior` of all records are."""

    prior: Share
    precision: Estimate | NotApplicable


class Figures(_Frozen):
    """What an attack reaches on some members and non-members.

    `precision`, `recall` and `accuracy` are at the attack's own threshold, `advantage` is its
    true-positive minus its false-positive rate there (Yeom et al., CSF 2018), `accuracy` the
    mean of both rates' hits, as in a balanced world; `auc` and `tpr_at_fpr` are over all
    thresholds.
    """

    members: int
    non_members: int
    precision: Estimate | NotApplicable
    recall: Estimate
    accuracy: Estimate
    advantage: Estimate
    auc: Estimate
    tpr_at_fpr: tuple[TprAtFpr, ...]
    at_priors: tuple[AtPrior, ...]

    def reached(self, by: By) -> Estimate | NotApplicable:
        """Return the figure of a measure. Raises KeyError for a rate that was not counted."""
        if by.measure != "tprAtFpr":
            found: Estimate | NotApplicable = getattr(self, by.measure)
            return found
        return {one.fpr: one.tpr for one in self.tpr_at_fpr}[by.fpr or 0.0]


class Slice(_Frozen):
    """The figures of a part of the records: a class, the wrongly classified, those of a value."""

    kind: SliceKind
    name: str
    figures: Figures


class Roc(_Frozen):
    """The receiver operating characteristic, thinned to a few hundred points, both rates rising."""

    fpr: tuple[float, ...]
    tpr: tuple[float, ...]


class Histogram(_Frozen):
    """How many members and non-members have a score in each bin; `edges` are one more."""

    edges: tuple[float, ...]
    members: tuple[int, ...]
    non_members: tuple[int, ...]


class Compared(_Frozen):
    """How much more an attack reaches than the baseline on the same records, less where below 0.

    `p` is how likely a difference as large is where there is none. With so many records one of
    `smallest` would be told from none in four draws of five; for the one that was found `needed`
    members and as many others would do it.
    """

    difference: Estimate
    p: Share
    smallest: Share
    needed: int | NotApplicable

    def outcome(self, among: int = 1) -> Literal["more", "untold", "less"]:
        """Return what is shown, with 95% confidence, by one comparison `among` so many."""
        if self.p * among > 1 - CONFIDENCE:
            return "untold"
        return "more" if self.difference.value > 0 else "less"


class Gain(_Frozen):
    """An attack against the label-only baseline: its AUC (DeLong), its calls (McNemar)."""

    auc: Compared
    accuracy: Compared


class AttackResult(_Frozen):
    """What one attack reaches: overall, per class, per slice, and where it is worst.

    `needs` are the terms of what it has to be shown, `shadow_models` how many others it was given.
    `mean_precision` and `mean_recall` are the means over the classes (MOSAICrOWN D5.2, section
    4.3.1), those without a record called a member left out. `gain` is what it reaches beyond
    the label-only baseline; where the model gives no labels there is none. `degenerate`
    says why the score tells next to no records apart, and is empty where it does, or is shown to
    tell members within a class: what such an attack does not find proves nothing. An attack that
    does not rank has two scores by its nature, and is told so at each false-positive rate alone.
    `notes` are sentences on how the attack went: which attack models were chosen, and which have
    learnt nothing.
    """

    attack: str
    needs: tuple[str, ...]
    shadow_models: int
    figures: Figures
    mean_precision: float | NotApplicable
    mean_recall: float | NotApplicable
    classes: tuple[Slice, ...]
    slices: tuple[Slice, ...]
    worst: Slice | NotApplicable
    gain: Gain | NotApplicable
    degenerate: str = ""
    roc: Roc
    histogram: Histogram
    notes: tuple[str, ...] = ()

    @property
    def ranks(self) -> bool:
        """Whether the attack ranks the records (so the vocabulary) or says yes or no of each."""
        return self.attack in terms.attacks() and terms.attacks()[self.attack].tells("ranks")


class SingleAndSet(_Frozen):
    """The two games of MOSAICrOWN D5.2, sections 4.2.2 and 4.2.3, over one attack's scores.

    `records` members and as many non-members are drawn `repetitions` times for each of so many
    `models`; `single` is the mean share of members among the half with the highest scores, `set`
    how often the half holds more of the members' set than of the other, a tie counting half. The
    intervals are over other records and, with several models, over other models.
    """

    attack: str
    records: int
    repetitions: int
    models: int
    single: Estimate
    set: Estimate


class EpsilonUpper(_Frozen):
    """What the accountant proves: epsilon at delta, by RDP, by PLD, and as in 2019.

    `value` is the smaller of the first two; `classic` converts RDP as Mironov (CSF 2017) does.
    They are of data sets that differ by one record more or less; `substitution` is the epsilon,
    at `substitution_delta`, of data sets in which one record is exchanged for another.
    """

    delta: float
    noise_multiplier: float
    sampling_rate: float
    steps: int
    rdp: float
    pld: float
    classic: float
    value: float
    substitution: float
    substitution_delta: float


class EpsilonLower(_Frozen):
    """What the attack proves: with 95% confidence, epsilon is no less than `value` at `delta`.

    It is the epsilon of one record exchanged for another. Of `pairs` of a member and another of
    its class, `guesses` were guessed and `correct` of these guesses were right; no attack,
    however good, could have shown more than `ceiling` on so many. It holds where members were
    drawn by lot: of the training where they are `drawn`, of the training and what was read off
    the members before it where they are `drawn-first`. Where they were `told` it is what it would
    be, had they been drawn.
    """

    attack: str
    delta: float
    members: MembersAre
    pairs: int
    guesses: int
    correct: int
    value: float
    ceiling: float


class Side(_Frozen):
    """One side of the data: how many records, and how many of them the target gets right."""

    records: int
    accuracy: float


class EncodedColumn(_Frozen):
    """How a column became features: `kind` says which way, `width` how many features it is."""

    name: str
    kind: Literal["bits", "number", "levels", "one-hot", "kept"]
    width: int
    says: str


class FittedTarget(_Frozen):
    """A model that was fitted already: which file, of which kind, of which library.

    `digest` is the sha-256 of the file, empty where the model is an object in memory; `gives`
    what it tells of a record, `views` in how many views it was asked about each; `references`
    are the digests of the models that it was compared with.
    """

    kind: str
    library: str
    model: str
    file: str
    digest: str
    versions: Mapping[str, str]
    gives: tuple[str, ...] = ()
    views: int = 1
    references: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What it is, in a few words."""
        where = f"the file {self.file!r}" if self.file else "memory"
        return f"a fitted model as it is, {self.model} of {self.library}, from {where}"


class MembershipAudit(_Frozen):
    """A whole audit: of what, with what, and all that was found.

    `target_train` and `target_test` are the target's members and non-members. `splits_digest`
    is the sha-256 of the rows that every model was trained on; data, architecture, settings and
    seed decide every figure. `baseline` is the label-only attack's notation, where the
    model gives labels; `strongest` is the attack that reaches most by the measure
    `strongest_by`. `warnings` are sentences. `fitted` says what was attacked where the model was
    there already, `structure` what its answers show without an attack. `over_targets` is there
    where several models were attacked, `timings` where it was told how long it took. `made_by` is
    the party who made it, with the rules by which it was permitted to train on the records, or the
    owner; None where that is not known.
    """

    data: str
    data_digest: str
    records: int
    classes: tuple[str, ...]
    features: int
    encoding: tuple[EncodedColumn, ...]
    architecture: Architecture | str
    shadow_models: int
    seed: int
    splits_digest: str
    target_train: Side
    target_test: Side
    attacks: tuple[AttackResult, ...]
    games: tuple[SingleAndSet, ...]
    baseline: str | NotApplicable
    strongest: str
    strongest_by: str = "accuracy"
    epsilon_upper: EpsilonUpper | NotApplicable
    epsilon_lower: EpsilonLower | NotApplicable
    verdict: tuple[str, ...]
    warnings: tuple[str, ...]
    versions: Mapping[str, str]
    fitted: FittedTarget | NotApplicable = NotApplicable(reason="the audit trained the model")
    conduct: Conduct | NotApplicable = NotApplicable(reason="it was not told")
    over_targets: OverTargets | NotApplicable = NotApplicable(reason="one model was attacked")
    timings: Timings | NotApplicable = NotApplicable(reason="it was not told")
    structure: Structure | NotApplicable = NotApplicable(reason="it was not looked at")
    made_by: MadeBy = None

    def attack(self, notation: str) -> AttackResult:
        """Return the result of an attack. Raises KeyError where it was not run."""
        for result in self.attacks:
            if result.attack == notation:
                return result
        raise KeyError(notation)
