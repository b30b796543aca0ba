"""The owners' rules that allow something to be made of their data, and the bounds they set."""

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
    """A rule that makes something of assets its issuer does not own, and why it may not.

    `shortfalls` say how it falls short of an owner's requirements, in the `source` of that name.
    """

    rule: Rule
    why: str
    shortfalls: tuple[Shortfall, ...] = ()
    consent_rule: str = ""
    source: str = ""


class TransformationCache:
    """The transformations that policies ask for and consent to, each read from its policy once.

    Raises PlanError if a policy does not describe one well enough to be planned.
    """

    def __init__(self) -> None:
        self._made: dict[str, Sequence[Transformation]] = {}
        self._let: dict[str, Sequence[Consent]] = {}

    def transformation(self, making: Clause) -> Transformation | None:
        """Return the transformation a rule asks for, None if it does not permit to anonymise."""
        uid = making.policy.uid
        if uid not in self._made:
            self._made[uid] = transformations(making.policy)
        return next((one for one in self._made[uid] if one.rule is making.written_rule), None)

    def consents(self, consent: Clause) -> list[Consent]:
        """Return the ways of anonymising that a rule allows others to use."""
        uid = consent.policy.uid
        if uid not in self._let:
            self._let[uid] = consents(consent.policy)
        return [one for one in self._let[uid] if one.rule is consent.written_rule]


def consent_shortfalls(
    consent: Clause, making: Clause, assets: Sequence[str], derived: TransformationCache
) -> tuple[Shortfall, ...]:
    """Return how what a rule makes of some assets falls short of what a consent requires.

    What cannot be planned falls short of everything. A consent with several ways of anonymising
    requires all of them, in any order.
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
    """Return the assets that a rule makes something of."""
    return tuple(sorted({target.iri for target in making.written_rule.targets}))


def given_consent(asset: str, clause: Clause, derived: TransformationCache) -> Consented:
    """Return the owner's rule that allows an asset to be anonymised, with its requirements."""
    ways = derived.consents(clause)
    bounds = dict.fromkeys(bound for one in ways for bound in bounds_of(one))
    in_order = tuple(sorted(bounds)) if len(ways) > 1 else tuple(bounds)
    return Consented(asset=asset, policy=clause.policy.uid, rule=clause.label, bounds=in_order)


def without_counts(clause: Clause) -> Clause:
    """Return a rule without the bounds on how often it is exercised, for what it already made.

    They held when it was made. Bounds are kept where something may hold without them: a count that
    is joined with other conditions by `or`, or that only some of the parties have.
    """
    constraints = tuple(one for one in conjuncts(clause.rule.constraints) if not _is_count(one))
    return replace(clause, rule=replace(clause.rule, constraints=constraints))


def _is_count(condition: Condition) -> bool:
    return all(leaf.left_operand in COUNTS for leaf in condition.constraints())
