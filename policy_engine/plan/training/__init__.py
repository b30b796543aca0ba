"""The model that a policy has trained, and the audits that it asks for, checked without data."""

from policy_engine.plan.training.files import FEWEST, FileBounds, FilesMeasured
from policy_engine.plan.training.model import Audit, Modelling, Training
from policy_engine.plan.training.parameters import audit_parameters, training_parameters

__all__ = [
    "FEWEST",
    "Audit",
    "FileBounds",
    "FilesMeasured",
    "Modelling",
    "Training",
    "audit_parameters",
    "training_parameters",
]
