"""The model that a policy has trained, and the audits that it asks for, checked without data."""

from policy_engine.plan.training.files import FEWEST, FileBounds, FilesMeasured
from policy_engine.plan.training.model import Audit, Modelling, Training
from policy_engine.plan.training.parameters import of_audit
from policy_engine.plan.training.reading import (
    Product,
    asks_for_data,
    certified_duties,
    check_plannable,
    chosen,
    one_of,
    products,
    trainings,
)
from policy_engine.plan.training.refining import AUDIT, MEMBERSHIP
from policy_engine.policy.model import TRAIN

__all__ = [
    "AUDIT",
    "FEWEST",
    "MEMBERSHIP",
    "TRAIN",
    "Audit",
    "FileBounds",
    "FilesMeasured",
    "Modelling",
    "Product",
    "Training",
    "asks_for_data",
    "certified_duties",
    "check_plannable",
    "chosen",
    "of_audit",
    "one_of",
    "products",
    "trainings",
]
