"""The roles that people have, and what each lets them do: the one table of it."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Role(StrEnum):
    """What somebody is in an organisation; one person may be several."""

    OWNER = "owner"
    STEWARD = "steward"
    CONSUMER = "consumer"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


class Verb(StrEnum):
    """What may be done by the API, the pages and runs. Each route is of one verb."""

    SEE_ONESELF = "see oneself"
    READ_POLICIES = "read policies"
    WRITE_POLICIES = "write policies"
    PUBLISH_POLICIES = "publish policies"
    WITHDRAW_POLICIES = "withdraw policies"
    READ_DATASETS = "read datasets"
    WRITE_DATASETS = "write datasets"
    READ_MODELS = "read models"
    WRITE_MODELS = "write models"
    NAME_STEWARDS = "name stewards"
    PLAN = "plan"
    READ_RUNS = "read runs"
    START_RUNS = "start runs"
    READ_RELEASES = "read releases"
    WITHDRAW_RELEASES = "withdraw releases"
    READ_ACCESS = "read requests for access"
    ASK_FOR_ACCESS = "ask for access"
    GRANT_ACCESS = "grant access"
    QUERY = "query"
    DECIDE = "decide"
    READ_DECISIONS = "read decisions"
    EXPORT_DECISIONS = "export decisions"
    READ_BUDGETS = "read budgets"
    SUBMIT_OUTPUTS = "submit outputs for review"
    READ_REVIEWS = "read reviews"
    READ_EVIDENCE = "read the evidence of outputs"
    DECIDE_REVIEWS = "decide about outputs"
    READ_PEOPLE = "read people"
    MANAGE_PEOPLE = "manage people"
    READ_METRICS = "read metrics"


class Whose(StrEnum):
    """Of whom a role lets one do something."""

    OWN = "own"
    SERVED = "served"
    """Of the owners that one is a steward of."""
    ALL = "all"


_OWN, _SERVED, _ALL = Whose.OWN, Whose.SERVED, Whose.ALL
ALLOWED: Mapping[Verb, Mapping[Role, Whose]] = MappingProxyType(
    {
        Verb.SEE_ONESELF: dict.fromkeys(Role, _ALL),
        Verb.READ_POLICIES: {Role.OWNER: _OWN, Role.STEWARD: _SERVED, Role.AUDITOR: _ALL},
        Verb.WRITE_POLICIES: {Role.OWNER: _OWN},
        Verb.PUBLISH_POLICIES: {Role.OWNER: _OWN},
        Verb.WITHDRAW_POLICIES: {Role.OWNER: _OWN, Role.ADMINISTRATOR: _ALL},
        Verb.READ_DATASETS: {Role.OWNER: _OWN, Role.STEWARD: _SERVED, Role.AUDITOR: _ALL},
        Verb.WRITE_DATASETS: {Role.OWNER: _OWN, Role.STEWARD: _SERVED},
        Verb.READ_MODELS: {Role.OWNER: _OWN, Role.STEWARD: _SERVED, Role.AUDITOR: _ALL},
        Verb.WRITE_MODELS: {Role.OWNER: _OWN, Role.STEWARD: _SERVED},
        Verb.NAME_STEWARDS: {Role.OWNER: _OWN},
        Verb.PLAN: {Role.OWNER: _OWN, Role.STEWARD: _SERVED},
        Verb.READ_RUNS: {Role.OWNER: _OWN, Role.STEWARD: _SERVED, Role.AUDITOR: _ALL},
        Verb.START_RUNS: {Role.STEWARD: _SERVED},
        Verb.READ_RELEASES: dict.fromkeys(
            (Role.OWNER, Role.STEWARD, Role.CONSUMER, Role.AUDITOR), _ALL
        ),
        Verb.WITHDRAW_RELEASES: {Role.OWNER: _OWN},
        Verb.READ_ACCESS: {Role.CONSUMER: _OWN, Role.OWNER: _OWN, Role.AUDITOR: _ALL},
        Verb.ASK_FOR_ACCESS: {Role.CONSUMER: _OWN},
        Verb.GRANT_ACCESS: {Role.OWNER: _OWN},
        Verb.QUERY: {Role.CONSUMER: _OWN},
        Verb.DECIDE: {Role.CONSUMER: _OWN, Role.OWNER: _OWN, Role.STEWARD: _SERVED},
        Verb.READ_DECISIONS: {Role.CONSUMER: _OWN, Role.OWNER: _OWN, Role.AUDITOR: _ALL},
        Verb.EXPORT_DECISIONS: {Role.AUDITOR: _ALL},
        Verb.READ_BUDGETS: {Role.OWNER: _OWN, Role.AUDITOR: _ALL},
        Verb.SUBMIT_OUTPUTS: {Role.CONSUMER: _OWN, Role.OWNER: _OWN, Role.STEWARD: _OWN},
        Verb.READ_REVIEWS: {
            Role.CONSUMER: _OWN,
            Role.OWNER: _OWN,
            Role.STEWARD: _SERVED,
            Role.AUDITOR: _ALL,
        },
        Verb.READ_EVIDENCE: {Role.OWNER: _OWN, Role.STEWARD: _SERVED, Role.AUDITOR: _ALL},
        Verb.DECIDE_REVIEWS: {Role.OWNER: _OWN, Role.STEWARD: _SERVED},
        Verb.READ_PEOPLE: {Role.ADMINISTRATOR: _ALL, Role.AUDITOR: _ALL},
        Verb.MANAGE_PEOPLE: {Role.ADMINISTRATOR: _ALL},
        Verb.READ_METRICS: {Role.ADMINISTRATOR: _ALL, Role.AUDITOR: _ALL},
    }
)
"""Who may do what, and of whom. What is not here is denied. Whether data may be read is never
decided by roles, but by policies."""
