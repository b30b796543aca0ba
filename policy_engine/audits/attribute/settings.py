"""How an audit of a secret is run: by which attacks, on how many models, from which seed."""

from collections.abc import Sequence
from dataclasses import dataclass

from policy_engine.audits.attribute.attacks import SECRET_ATTACKS, SecretAttack
from policy_engine.audits.attribute.secret import BINS
from policy_engine.errors import AuditError, Problem, did_you_mean, join_names


@dataclass(frozen=True)
class SecretSettings:
    """The settings of an audit, which with the data and the model determine its result.

    Without `attacks`, all are made that the model's answers allow. A column of numbers is divided
    into `bins`. With several `targets`, as many models are trained and attacked, each on parts of
    its own. Raises AuditError for attacks that are not known or named twice (A012), and for no
    target (A007).
    """

    attacks: tuple[str, ...] = ()
    bins: int = BINS
    targets: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        names = [one.notation for one in SECRET_ATTACKS]
        problems = [
            Problem(
                "A012",
                f"The attack {one!r} is not known. Known are {join_names(names)}.",
                did_you_mean(one, names),
            )
            for one in self.attacks
            if one not in names
        ]
        if len(set(self.attacks)) < len(self.attacks):
            problems.append(Problem("A012", "An attack is named twice."))
        if self.targets < 1:
            problems.append(
                Problem("A007", f"At least one model is attacked. Given: {self.targets}.")
            )
        if problems:
            raise AuditError(*problems)

    @property
    def requested(self) -> Sequence[SecretAttack]:
        """The attacks that are asked for, all where none is named."""
        return [one for one in SECRET_ATTACKS if not self.attacks or one.notation in self.attacks]
