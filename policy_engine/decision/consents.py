"""By which rules of owners something may be made of their data, under which bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from policy_engine.decision.clauses import Clause
from policy_engine.errors import NOWHERE, PlanError
from policy_engine.plan.anonymization import Consent, Transformation
from policy_engine.plan.consenting import Shortfall, bounds_of, shortfalls
from policy_engine.plan.lineage import Consented
from policy_engine.plan.reading_anonymization import (
    consents,
    transformations,
)
from policy_engine.policy import Condition, Rule
from policy_engine.policy.model import COUNTS, conjuncts


@dataclass(frozen=True)
class MissingConsent:
    """A rule that makes something of what is not its issuer's, and why it may not.

    `shortfalls` tells in what that falls short of what an owner asks, in the `source` of that name.
    """

    rule: Rule
    why: str
    shortfalls: tuple[Shortfall, ...] = ()
    consent_rule: str = ""
    source: str = ""


class TransformationCache:
    """What policies ask to be made, and what they let others make, each read off its policy once.

    Raises PlanError where a policy does not say that so that it can be planned.
    """

    def __init__(self) -> None:
        self._made: dict[str, Sequence[Transformation]] = {}
        self._let: dict[str, Sequence[Consent]] = {}

    def transformation(self, making: Clause) -> Transformation | None:
        """Return what a rule asks to be made, None where it is not a permission to anonymise."""
        uid = making.policy.uid
        if uid not in self._made:
            self._made[uid] = transformations(making.policy)
        return next((one for one in self._made[uid] if one.rule is making.written_rule), None)

    def consents(self, consent: Clause) -> list[Consent]:
        """Return the ways of anonymising that a rule lets others take."""
        uid = consent.policy.uid
        if uid not in self._let:
            self._let[uid] = consents(consent.policy)
        return [one for one in self._let[uid] if one.rule is consent.written_rule]


def consent_shortfalls(
    consent: Clause, making: Clause, assets: Sequence[str], derived: TransformationCache
) -> tuple[Shortfall, ...]:
    """Return in what a thing that a rule makes of some assets falls short of what a consent asks.

    What cannot be planned falls short of everything. A consent that says several ways of
    anonymising asks for all of them, in whatever order they are written.
    """
    try:
        ways, transformation = derived.consents(consent), derived.transformation(making)
    except PlanError:
        transformation = None
    if transformation is None:
        message = f"{making.name} does not say how it anonymises, or {consent.name} what it asks."
        return (Shortfall(message, NOWHERE, NOWHERE),)
    compared = (shortfalls(way, transformation, one) for one in assets for way in ways)
    return tuple(short for shortfalls_of_one in compared for short in shortfalls_of_one)


def rule_inputs(making: Clause) -> tuple[str, ...]:
    """Return what a rule makes something of."""
    return tuple(sorted({target.iri for target in making.written_rule.targets}))


def given_consent(asset: str, clause: Clause, derived: TransformationCache) -> Consented:
    """Return the rule by which an owner lets an asset be anonymised, with what it asks for."""
    ways = derived.consents(clause)
    bounds = dict.fromkeys(bound for one in ways for bound in bounds_of(one))
    in_order = tuple(sorted(bounds)) if len(ways) > 1 else tuple(bounds)
    return Consented(asset=asset, policy=clause.policy.uid, rule=clause.label, bounds=in_order)


def without_counts(clause: Clause) -> Clause:
    """Return a rule without the bounds on how often it is exercised, of what was done by it.

    These held when it was done. Kept is what may hold without them: a count joined with others by
    `or`, or that some of the parties have alone.
    """
    constraints = tuple(one for one in conjuncts(clause.rule.constraints) if not _is_count(one))
    return replace(clause, rule=replace(clause.rule, constraints=constraints))


def _is_count(condition: Condition) -> bool:
    return all(leaf.left_operand in COUNTS for leaf in condition.constraints())
