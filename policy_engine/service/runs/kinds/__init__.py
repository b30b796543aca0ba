"""The kinds of runs: what each is asked for, and the verb that it calls."""

from collections.abc import Mapping
from types import MappingProxyType

from policy_engine.service.runs.kinds.assessing import Assessing
from policy_engine.service.runs.kinds.attacking import (
    AttributeAttack,
    GeneratorAttack,
    MembershipAttack,
)
from policy_engine.service.runs.kinds.exploring import Exploring
from policy_engine.service.runs.kinds.sanitising import Sanitising
from policy_engine.service.runs.kinds.settings import RunSettings

KINDS: Mapping[str, type[RunSettings]] = MappingProxyType(
    {
        "sanitise": Sanitising,
        "assess": Assessing,
        "explore": Exploring,
        "audit-membership": MembershipAttack,
        "audit-attribute": AttributeAttack,
        "audit-generative": GeneratorAttack,
    }
)
"""Runs by the name of their kind."""
