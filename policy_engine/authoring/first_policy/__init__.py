"""A first policy for a table, proposed from what its columns look like."""

from policy_engine.authoring.first_policy.model import (
    FirstPolicy,
    PolicyNames,
)
from policy_engine.authoring.first_policy.writing import first_policy, slug

__all__ = [
    "FirstPolicy",
    "PolicyNames",
    "first_policy",
    "slug",
]
