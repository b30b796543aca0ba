"""What an audit of a secret found, frozen and as JSON."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from policy_engine.audits.membership.over_targets import TargetSpread
from policy_engine.audits.membership.result import FittedTarget
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.classifier import Architecture
from policy_engine.plan.lineage import MadeBy


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SecretReach(_Frozen):
    """How often secrets of some records are guessed: by an attack, and without the model.

    The `advantage` is the share guessed by the attack less that by the imputation, of the same
    records.
    """

    records: int
    accuracy: Estimate
    imputed: Estimate
    advantage: Estimate


class SecretValueReach(_Frozen):
    """How well one value is told from the others, by an attack and without the model.

    `precision` and `recall` are of members, as are `imputed_precision` and `imputed_recall`. The
    `advantage` is how much more often the value is said of records that have it, less how much more
    often of others, than by the imputation: always saying it gains nothing. `excess` is the
    advantage on members less that on others.
    """

    value: str
    records: int
    precision: Estimate | NotApplicable
    recall: Estimate
    imputed_precision: Estimate | NotApplicable
    imputed_recall: Estimate
    advantage: Estimate
    others_advantage: Estimate
    excess: Estimate


class SecretAttackResult(_Frozen):
    """What one attack reaches on members and on others, and by how much more on members.

    `best` is the imputation that it is compared with: for each half of the records, the one that
    guesses most of the members in the other half, of those that know no more than the attack.
    `imputation` is who guesses in the same way without the model, and `added` how much more often
    members are guessed than by that one.
    """

    attack: str
    best: str
    imputation: str
    members: SecretReach
    others: SecretReach
    excess: Estimate
    added: Estimate
    values: tuple[SecretValueReach, ...]


class ImputationResult(_Frozen):
    """How often secrets are guessed by somebody who never saw the model."""

    imputation: str
    members: Estimate
    others: Estimate


class SecretOverTargets(_Frozen):
    """What one attack reaches over several models, each trained on parts of its own."""

    attack: str
    advantage: TargetSpread
    others_advantage: TargetSpread
    excess: TargetSpread


class SecretShare(_Frozen):
    """A value of the secret and its share of the records."""

    value: str
    share: float


class OmittedSecretAttack(_Frozen):
    """An attack that was not made, and why."""

    attack: str
    reason: str


class AttributeAudit(_Frozen):
    """A whole audit: of what, with what, and all that was found.

    `says` tells how the secret is read. Whoever attacks knows the secrets of `known_records`
    members; an imputation learns from the same, or from `imputed_from` records of all kinds.
    `train` and `test` are how often the model is right about members and others. `shows_advantage`
    says whether the strongest attack is shown to gain over the best imputation on members,
    `shows_excess` whether any is shown to gain more on members than on others. The verdict is a few
    sentences; warnings are others.
    """

    data: str
    data_digest: str
    records: int
    label: str
    classes: tuple[str, ...]
    secret: str
    says: str
    values: tuple[SecretShare, ...]
    architecture: Architecture | str
    fitted: FittedTarget | NotApplicable
    train: Estimate
    test: Estimate
    known_records: int
    imputed_from: int
    imputations: tuple[ImputationResult, ...]
    attacks: tuple[SecretAttackResult, ...]
    not_run: tuple[OmittedSecretAttack, ...]
    strongest: str
    shows_advantage: bool
    shows_excess: bool
    over_targets: tuple[SecretOverTargets, ...] | NotApplicable
    seed: int
    splits_digest: str
    made_by: MadeBy = None
    verdict: str
    warnings: tuple[str, ...]
    versions: Mapping[str, str]

    def attack(self, name: str) -> SecretAttackResult:
        """Return the result of an attack. Raises KeyError where it was not made."""
        for one in self.attacks:
            if one.attack == name:
                return one
        raise KeyError(name)
