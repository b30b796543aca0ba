"""What a membership-inference audit found, frozen and as JSON."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from policy_engine import terms
from policy_engine.audits.membership.conduct import Conduct, Timings
from policy_engine.audits.membership.figures import (
    Figures,
    Histogram,
    Roc,
    Share,
)
from policy_engine.audits.membership.over_targets import OverTargets
from policy_engine.audits.membership.structure import Structure
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper
from policy_engine.kernels.estimates import CONFIDENCE, Estimate, NotApplicable
from policy_engine.methods.audits.classifier import Architecture
from policy_engine.plan.lineage import MadeBy

SliceKind = Literal["class", "correctness", "confidence", "column"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Slice(_Frozen):
    """The figures of a part of the records: a class, the wrongly classified, those of a value."""

    kind: SliceKind
    name: str
    figures: Figures


class Compared(_Frozen):
    """How much more an attack reaches than the baseline on the same records, less where below 0.

    `p` is the probability of a difference as large where there is none. With so many records, a
    difference of `smallest` would be shown in four draws of five; showing the observed one would
    take `needed` members and as many non-members.
    """

    difference: Estimate
    p: Share
    smallest: Share
    needed: int | NotApplicable

    def outcome(self, among: int = 1) -> Literal["more", "untold", "less"]:
        """Return what one comparison `among` several shows, with 95% confidence."""
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
        return self.attack in terms.attacks() and terms.attacks()[self.attack].flag("ranks")


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


class AuditSide(_Frozen):
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

    `digest` is the sha-256 of the file, empty where the model is an object in memory; `gives` are
    the kinds of its answers, `views` the number of views of each record; `references` are the
    digests of the models that it was compared with.
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
        place = f"the file {self.file!r}" if self.file else "memory"
        return f"a fitted model as it is, {self.model} of {self.library}, from {place}"


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
    target_train: AuditSide
    target_test: AuditSide
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
    conduct: Conduct | NotApplicable = NotApplicable(reason="it was not recorded")
    over_targets: OverTargets | NotApplicable = NotApplicable(reason="one model was attacked")
    timings: Timings | NotApplicable = NotApplicable(reason="it was not recorded")
    structure: Structure | NotApplicable = NotApplicable(reason="it was not examined")
    made_by: MadeBy = None

    def attack(self, notation: str) -> AttackResult:
        """Return the result of an attack. Raises KeyError where it was not run."""
        for result in self.attacks:
            if result.attack == notation:
                return result
        raise KeyError(notation)
