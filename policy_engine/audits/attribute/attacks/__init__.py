"""The attacks on a secret column, one file each."""

from policy_engine.audits.attribute.attacks.attack import SecretAttack
from policy_engine.audits.attribute.attacks.black_box import (
    BlackBoxForest,
    BlackBoxNetwork,
    TriedForest,
)
from policy_engine.audits.attribute.attacks.confidence import ConfidenceAttack
from policy_engine.audits.attribute.attacks.fredrikson import FredriksonAttack
from policy_engine.audits.attribute.attacks.tried_labels import TriedLabelsAttack

SECRET_ATTACKS: tuple[SecretAttack, ...] = (
    BlackBoxForest(),
    BlackBoxNetwork(),
    FredriksonAttack(),
    ConfidenceAttack(),
    TriedLabelsAttack(),
    TriedForest(),
)
"""All of them, in the order in which they are told."""

__all__ = ["SECRET_ATTACKS", "SecretAttack"]
