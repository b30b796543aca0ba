"""What an audit of a generator found, frozen and as JSON."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from policy_engine.audits.generative.risks.result import SyntheticRisk
from policy_engine.audits.membership.figures import Histogram, Roc, Share, TprAtFpr
from policy_engine.audits.membership.over_targets import TargetSpread
from policy_engine.audits.membership.result import SingleAndSet
from policy_engine.audits.privacy.epsilon import EpsilonLower
from policy_engine.kernels.estimates import Estimate, NotApplicable


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class AuditedFile(_Frozen):
    """One side of an audit: the name of its file, the sha-256 of its records, and their number.

    `persons` is how many persons have these records, where a column tells them apart.
    """

    name: str
    digest: str
    records: int
    persons: int | NotApplicable


class SetEvidence(_Frozen):
    """The answer to who suspects that one of two sets was used: MOSAICrOWN D5.2, section 4.4.

    Of the `records` of each set, drawn once before any score was seen, so many of the set of the
    members are among the half with the highest scores. `p` is the probability of as many or more
    where the sets are alike (hypergeometric), equal scores in a random order.
    """

    records: int
    found: int
    p: Share


class RateOverModels(_Frozen):
    """How many members are found where a share `fpr` of the others are accused, over models."""

    fpr: Share
    tpr: TargetSpread


class AttackOverModels(_Frozen):
    """What one attack reaches on several models of one generator: `models`, on which it was made.

    `single` and `set` are the accuracies of both games of D5.2. Intervals are by Student's t over
    models. They are no narrower than the records of all models make them, and where the models were
    fitted on the same records, both are added: what is by chance in who was a member is then in
    every model. `shown_on` says on how many models the attack by itself is shown to tell members
    from others, and `inverted_on` on how many it is the other way round, corrected for the number
    of models.
    """

    models: int
    auc: TargetSpread
    single: TargetSpread
    set: TargetSpread
    tpr_at_fpr: tuple[RateOverModels, ...]
    shown_on: int
    inverted_on: int


_NO_LABEL = NotApplicable(reason="no label is given")
_ONE_MODEL = NotApplicable(reason="it was made on one model")


class GenerativeAttack(_Frozen):
    """What one attack reaches on the audited records, or persons where a column tells them apart.

    `space` is where distances are taken, and `needs` is what the attacker must have. `games` are
    single and set inference of D5.2; the `auc` and the rates are over all thresholds, those of
    `tpr_turned_round` for who takes the lowest scores for those of members. `notes` are sentences
    on how the attack went. With several models these figures are those `over_models`, and the rest
    is of the first model: the pair of sets was chosen before any of them.
    """

    attack: str
    needs: tuple[str, ...]
    space: str = ""
    auc: Estimate
    tpr_at_fpr: tuple[TprAtFpr, ...]
    tpr_turned_round: tuple[TprAtFpr, ...]
    games: SingleAndSet
    set_evidence: SetEvidence
    roc: Roc
    histogram: Histogram
    notes: tuple[str, ...] = ()
    over_models: AttackOverModels | NotApplicable = _ONE_MODEL


class OmittedAttack(_Frozen):
    """An attack that was not made, and why."""

    attack: str
    reason: str


class Copies(_Frozen):
    """How many records are in the synthetic ones exactly, and how many more of the members; where
    more of them are under other labels than theirs, those of `any_class`."""

    members: Estimate
    holdout: Estimate
    excess: Estimate
    any_class: bool = False


class ClosestDistances(_Frozen):
    """The distances of members and of the holdout to the closest synthetic record.

    A distance is the mean over the columns, each from 0 to 1. `closer` is how often a member is
    closer than a record of the holdout, ties as half.
    """

    members_median: float
    holdout_median: float
    members_low: float
    holdout_low: float
    closer: Share


class GrowthPoint(_Frozen):
    """What the nearest-sample attack reaches by so many samples."""

    samples: int
    single: float
    auc: float


class PromisedEpsilon(_Frozen):
    """The epsilon that is said to hold of a generator, for a person more or less."""

    epsilon: float
    delta: float = 0.0


class ClassArea(_Frozen):
    """What an attack reaches within one class: of how many members and others, on all models, with
    the interval of one class among so many."""

    name: str
    members: int
    holdout: int
    auc: Estimate


class FiguresByClass(_Frozen):
    """What the strongest attack reaches within each class.

    `untold` are the classes with too few records. The `worst` is the one whose members are told
    best, empty where no interval is above the figure of all records. `is_worst_shown` says that its
    members are shown to be told from others, as so many figures were looked at.
    """

    attack: str
    classes: tuple[ClassArea, ...]
    untold: tuple[str, ...]
    worst: str
    is_worst_shown: bool

    def figures(self, name: str) -> ClassArea:
        """Return the figures of a class. Raises KeyError where it is not told."""
        for one in self.classes:
            if one.name == name:
                return one
        raise KeyError(name)


class AttackedModel(_Frozen):
    """One of several models: what it was fitted on and not, what was released of it, and how many
    of its samples were compared."""

    members: AuditedFile
    holdout: AuditedFile
    synthetic: AuditedFile | NotApplicable
    model: str
    samples: int


class GenerativeAudit(_Frozen):
    """A whole audit: of what, with what, and all that was found.

    The `unit` is the column that tells persons apart, empty where every record counts by itself:
    figures are then of persons, whose score is the greatest of their records', and risks of one
    record of each.

    `shift` is the area under the ROC curve of a classifier that was to tell members from the
    holdout by themselves: where it is not .5, attacks may measure that. `epsilon_lower` is what the
    attacks prove of epsilon, beside what is `promised`. `growth` is how the attack
    by samples gains with their number, and `is_saturated` whether the last tripling gained half a
    point or less. The verdict is a few sentences; warnings are others.

    With several `models`, attacks and growth are over all of them; `copies` and each of the `risks`
    are of the model that has most, with intervals for one among so many; all else is of the first.
    """

    members: AuditedFile
    holdout: AuditedFile
    synthetic: AuditedFile | NotApplicable
    reference: AuditedFile | NotApplicable
    model: str
    columns: tuple[str, ...]
    unit: str
    samples: int
    seed: int
    attacks: tuple[GenerativeAttack, ...]
    not_run: tuple[OmittedAttack, ...]
    copies: Copies | NotApplicable
    distances: ClosestDistances | NotApplicable
    risks: tuple[SyntheticRisk, ...]
    shift: Estimate
    epsilon_lower: EpsilonLower | NotApplicable
    promised: PromisedEpsilon | NotApplicable
    growth: tuple[GrowthPoint, ...]
    is_saturated: bool | NotApplicable
    strongest: str
    discloses: bool
    verdict: str
    warnings: tuple[str, ...]
    versions: Mapping[str, str]
    models: tuple[AttackedModel, ...] = ()
    by_class: FiguresByClass | NotApplicable = _NO_LABEL

    def attack(self, name: str) -> GenerativeAttack:
        """Return the result of an attack. Raises KeyError where it was not run."""
        for one in self.attacks:
            if one.attack == name:
                return one
        raise KeyError(name)
