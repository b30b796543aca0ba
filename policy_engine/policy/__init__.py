"""What the owner wrote, checked; every problem with its place in the text."""

from policy_engine.policy.files import Source, load_policy, read_file
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import Action, Policy, Refinement, Rule, Value
from policy_engine.policy.reader import read_hierarchy, read_policy

__all__ = [
    "Action",
    "Hierarchy",
    "Policy",
    "Refinement",
    "Rule",
    "Source",
    "Value",
    "load_policy",
    "read_file",
    "read_hierarchy",
    "read_policy",
]
