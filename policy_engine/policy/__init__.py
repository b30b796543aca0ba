"""What the owner wrote, checked; every problem with its place in the text."""

from policy_engine.policy.collecting.files import (
    PolicyText,
    Reading,
    ReadingOptions,
    Source,
    VocabularySource,
    load_policies,
    load_policy,
    read_file,
)
from policy_engine.policy.collecting.force import InForce
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import (
    Action,
    Asset,
    Condition,
    Constraint,
    LogicalConstraint,
    Party,
    Policy,
    Rule,
    Value,
)
from policy_engine.policy.reading.reader import (
    read_drafts,
    read_hierarchy,
    read_policies,
    read_policy,
)
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.vocabulary import Vocabulary

__all__ = [
    "DEFAULT_LIMITS",
    "Action",
    "Asset",
    "Condition",
    "Constraint",
    "Hierarchy",
    "InForce",
    "Limits",
    "LogicalConstraint",
    "Party",
    "Policy",
    "PolicyText",
    "Reading",
    "ReadingOptions",
    "Rule",
    "Source",
    "Value",
    "Vocabulary",
    "VocabularySource",
    "load_policies",
    "load_policy",
    "read_drafts",
    "read_file",
    "read_hierarchy",
    "read_policies",
    "read_policy",
]
