"""What a policy bounds of a model's columns, measured on the model that is released."""

from collections.abc import Iterator, Sequence

import numpy as np

from policy_engine.audits.attribute.asking import AskedModel, SecretMaterial
from policy_engine.audits.attribute.attacking import (
    SecretSides,
    attack_model,
    check_attackable,
    drawn_sides,
)
from policy_engine.audits.attribute.attacks import SECRET_ATTACKS
from policy_engine.audits.attribute.measuring import apart, paired_difference
from policy_engine.audits.attribute.result import SecretAttackResult
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.model_secrets import ModelSecrets, SecretKey, SecretMeasurement


def measure_secrets(
    methods: Sequence[ModelSecrets],
    materials: dict[str, SecretMaterial],
    sides: SecretSides,
    model: AskedModel,
    seed: int,
    progress: Progress = silent,
) -> Iterator[SecretMeasurement]:
    """Yield what every attack reaches on each secret column of a model's members.

    `materials` are the tables by the name of the secret. Errors as `attack_model`.
    """
    attacked = {
        name: attack_model(material, sides, model, SECRET_ATTACKS, seed, progress)
        for name, material in materials.items()
    }
    for method in methods:
        for key in method.keys:
            of_column = attacked[key.column]
            results = {one.attack: one for one in of_column.attacks}
            reasons = {one.attack: one.reason for one in of_column.not_run}
            reached: Estimate | NotApplicable = (
                _reached(results[key.attack], key)
                if key.attack in results
                else NotApplicable(reason=reasons[key.attack])
            )
            yield SecretMeasurement.of(key, reached)


def _reached(result: SecretAttackResult, key: SecretKey) -> Estimate:
    if key.about == "all values":
        return result.members.advantage
    return max((one.advantage for one in result.values), key=lambda one: one.high)


def check_secrets_showable(
    methods: Sequence[ModelSecrets],
    materials: dict[str, SecretMaterial],
    sides: SecretSides,
    seed: int,
) -> None:
    """Raise AuditError, before anything is trained, where too few records could show a bound (A021)
    or be attacked (A035).

    A bound that not even an attack that guesses as the imputation does would keep, for its interval
    is too wide, cannot be shown.
    """
    drawn = drawn_sides(sides, seed)
    for material in materials.values():
        check_attackable(material, sides, seed)
    for method in methods:
        for column in method.learned:
            secret = materials[column].secret
            counts = np.bincount(secret.codes[drawn.members], minlength=len(secret.values))
            records = int(counts.sum())
            ends = [_none(int(one), records - int(one)) for one in counts]
            least = max([paired_difference(np.zeros(records, dtype=np.int64)).high, *ends])
            if not method.bound.allows(least):
                message = f"{method.bound} of {column!r} cannot be shown with {records:,} members: "
                message += "where attacks gain nothing at all, the interval of an advantage ends at"
                hint = "Give more records, join rare values with others, or relax the bound."
                raise AuditError.of("A021", f"{message} {least:.3f}.", hint)


def _none(having: int, others: int) -> float:
    """Return the end of the advantage on a value of so many members, where nothing is gained."""
    own, other = (paired_difference(np.zeros(one, dtype=np.int64)) for one in (having, others))
    return apart(own, other, 2.0).high
