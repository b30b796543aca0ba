"""The report of an audit: its figures, the bounds on epsilon, and its verdict."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.conduct import (
    versions,
)
from policy_engine.audits.membership.observations import (
    Evidence,
)
from policy_engine.audits.membership.outcomes import AttackOutcomes
from policy_engine.audits.membership.result import (
    AuditSide,
    MembershipAudit,
)
from policy_engine.audits.membership.settings import (
    BASELINE,
)
from policy_engine.audits.membership.structure import structure_of, structure_sentences
from policy_engine.audits.membership.verdict import verdict
from policy_engine.audits.privacy.empirical import (
    FEWEST_PAIRS,
    default_delta,
    epsilon_lower,
    pairs_of,
)
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper, MembersAre
from policy_engine.kernels.estimates import NotApplicable


def audit_report(
    outcomes: AttackOutcomes,
    evidence: Evidence,
    is_member: NDArray[np.bool_],
    upper: EpsilonUpper | NotApplicable,
    drawn: MembersAre,
    **facts: Any,
) -> MembershipAudit:
    """Return the audit of what was found; `facts` are the fields known before."""
    right, measure = evidence.target.is_right, str(outcomes.strongest_by)
    lower = _lower(outcomes, evidence, is_member, upper, drawn)
    structure = structure_of(evidence.target, is_member, facts["architecture"], facts["features"])
    facts["warnings"] = (*facts["warnings"], *structure_sentences(structure))
    return MembershipAudit(
        **facts,
        structure=structure,
        target_train=_side(right[is_member]),
        target_test=_side(right[~is_member]),
        attacks=outcomes.results,
        baseline=BASELINE,
        strongest=outcomes.strongest,
        strongest_by=measure,
        epsilon_upper=upper,
        epsilon_lower=lower,
        verdict=verdict(
            outcomes.results,
            baseline=BASELINE,
            strongest=outcomes.strongest,
            measure=measure,
            epsilon_upper=upper,
            epsilon_lower=lower,
        ),
        versions=versions(),
    )


def _side(right: NDArray[np.bool_]) -> AuditSide:
    return AuditSide(records=len(right), accuracy=float(right.mean()))


def _lower(
    outcomes: AttackOutcomes,
    evidence: Evidence,
    is_member: NDArray[np.bool_],
    upper: EpsilonUpper | NotApplicable,
    drawn: MembersAre,
) -> EpsilonLower | NotApplicable:
    """Return what the best attack with confidences proves, at the accountant's delta."""
    ranking = [one.attack for one in outcomes.results if one.ranks and not one.degenerate]
    labels = evidence.target.labels
    if not ranking:
        return NotApplicable(reason="no attack ranks the records by confidence")
    if pairs_of(is_member, labels) < FEWEST_PAIRS:
        return NotApplicable(reason="there are too few members and non-members of the same class")
    delta = default_delta(int(is_member.sum()))
    if isinstance(upper, EpsilonUpper):
        delta = upper.substitution_delta
    scores = {name: outcomes.judgements[name].scores for name in ranking}
    return epsilon_lower(scores, is_member, labels, delta, members=drawn, seed=evidence.seed)
