"""Decisions on a request, with all their parts."""

from collections.abc import Iterator, Sequence
from functools import partial
from heapq import nsmallest
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

from policy_engine.decision.clauses import Clause
from policy_engine.decision.deciding import prohibiting
from policy_engine.decision.explaining import (
    PolicyLine,
    derivation,
    near_miss_lines,
    no_permission_reason,
)
from policy_engine.decision.history import MadeFrom
from policy_engine.decision.inclusion import count_uncovered
from policy_engine.decision.matching import RuleMatch, match_permission, outstanding_duties
from policy_engine.decision.model import (
    Counted,
    Decision,
    Effect,
    NearMiss,
    OutstandingDuty,
    Signed,
    WithdrawnOutput,
)
from policy_engine.decision.outputs import Output
from policy_engine.decision.ownership import OwnerConsent
from policy_engine.decision.valid_models import construct
from policy_engine.policy.model import Strategy
from policy_engine.terms import dataset_of
from policy_engine.trust.proofs import Proof

if TYPE_CHECKING:
    from policy_engine.decision.deciding.case import Case

_NEAR = 16
_MOST_NEAR_MISSES = 3
_MOST_INEFFECTIVE = 16


def permit(case: "Case", permits: Sequence[RuleMatch], outputs: Sequence[Output]) -> Decision:
    """Return the decision based on some permissions; the first one is named."""
    match, clauses = permits[0], [one.clause for one in permits]
    certified = tuple(line for output in outputs for line in output.proof_lines())
    clause = match.clause
    return _decision(
        case,
        effect="permit",
        reason=f"{clause.name} permits it.",
        policy=clause.policy.uid,
        rule=clause.label,
        derivation=(*derivation(match), *_consent_lines(case, clause), *certified),
        strategy="perm"
        if any(map(partial(prohibiting.yields_to_permissions, case), case.prohibited))
        else "",
        duties=tuple(
            dict.fromkeys(chain(*map(partial(_obligations, case), _obliging_rules(case, clauses))))
        ),
        counted=(*counted_rules(case, *clauses), *_counted_consents(case, clause)),
        made_from=prohibiting.target_origins(case),
    )


def _counted_consents(case: "Case", clause: Clause) -> Iterator[Counted]:
    """Yield the owners' rules that are exercised when something is made with their consent."""
    consents = _making_consents(case, clause) if case.facts.making else ()
    exercised = {
        (consent.clause.number, asset): consent.clause
        for asset, _, consent in consents
        if consent.clause
    }
    for (_, asset), one in exercised.items():
        yield Counted.model_construct(policy=one.policy.uid, rule=one.label, targets=(asset,))


def counted_rules(case: "Case", *permitting: Clause) -> tuple[Counted, ...]:
    """Return the rules that a permit based on some permissions is an execution of."""
    exercised = [(clause, "") for clause in (*permitting, *case.counting)]
    use_consents = (
        [(party, consent) for one in permitting for party, _, consent in _use_consents(case, one)]
        if case.ownership
        else []
    )
    # One consent is exercised once, for any number of assets.
    by_consent = {
        (clause.number, party): (clause, party)
        for party, consent in use_consents
        for clause in consent.exercised_rules
    }
    return tuple(
        construct(
            Counted,
            policy=clause.policy.uid,
            rule=clause.label,
            targets=case.request.targets,
            party=party,
        )
        for clause, party in (*exercised, *by_consent.values())
    )


def _use_consents(case: "Case", clause: Clause) -> Iterator[tuple[str, str, OwnerConsent]]:
    if case.ownership:
        own_closures = case.view.own_closures(clause)
        yield from case.ownership.use_consents(clause, case.request.targets, own_closures)


def _consent_lines(case: "Case", clause: Clause) -> Iterator[str]:
    for party, asset, consent in _use_consents(case, clause):
        yield _consent_line(consent, f"{consent.rule} lets {party} grant the use of {asset}")
    for asset, party, consent in _making_consents(case, clause):
        yield _consent_line(consent, f"{consent.rule} lets {party} anonymize {asset}")


def _consent_line(consent: OwnerConsent, text: str) -> PolicyLine:
    return PolicyLine.of(consent.clause.policy.uid if consent.clause else "", text)


def _making_consents(case: "Case", clause: Clause) -> Iterator[tuple[str, str, OwnerConsent]]:
    if case.ownership:
        yield from case.ownership.making_consents(clause, was_done=not case.facts.making)


def _obliging_rules(case: "Case", permitting: Sequence[Clause]) -> Iterator[Clause]:
    """Yield a rule of each policy that a permit relies on, including those that give consent."""
    consents = [consent for one in permitting for _, _, consent in _use_consents(case, one)]
    if case.facts.making:
        consents += [consent for one in permitting for *_, consent in _making_consents(case, one)]
    own_policies = {one.policy.uid for one in permitting}
    by_policy = {one.clause.policy.uid: one.clause for one in consents if one.clause}
    yield from (*permitting, *(one for uid, one in by_policy.items() if uid not in own_policies))


def _obligations(case: "Case", clause: Clause) -> Iterator[OutstandingDuty]:
    """Yield the obligations of the assignee, by the permitting policy, that are not fulfilled."""
    expanded, overlaps = case.expand_for(clause), case.view.closures.overlaps
    case.facts.own_closures = expanded.closures
    for duty in clause.policy.obligations:
        is_obliged = not duty.assignees or any(p.iri in expanded.party for p in duty.assignees)
        is_about_targets = not duty.targets or any(
            overlaps("asset", target, other.iri)
            for target in case.request.targets
            for other in duty.targets
        )
        if is_obliged and is_about_targets:
            obliged = [p.iri for p in duty.assignees if p.iri in expanded.party]
            yield from outstanding_duties(duty, clause, case.facts, obliged)


def deny_unpermitted(case: "Case") -> Decision:
    """Return the denial of a request that nothing permits, with the nearest permissions."""
    nearest = _nearest(case)
    for match in nearest:
        case.ineffective.pop(match.clause.number, None)
    ended = case.decider.index.ended
    is_void = case.view.void
    void = {
        policy.uid: ended.get(policy.uid, "its rules conflict")
        for policy in (case.decider.policies if is_void else ())
        if policy.uid in is_void
    }
    lines = tuple(near_miss_lines(void, nearest))
    return _decision(
        case,
        effect="deny",
        reason=no_permission_reason(lines),
        derivation=lines,
        near_misses=tuple(
            construct(
                NearMiss,
                policy=match.clause.policy.uid,
                rule=match.clause.label,
                missing=match.missing,
            )
            for match in nearest
        ),
        duties=tuple(duty for match in case.refused for duty in match.outstanding),
        strategy="invalid" if void.keys() - ended.keys() else "",
    )


def _nearest(case: "Case") -> list[RuleMatch]:
    """Return the permissions that lack least: only conditions, or some parts of the request."""
    refused = {match.clause.number for match in case.refused}
    expand = case.expand_for
    ranked = [
        (count_uncovered(clause, expand(clause)), clause.number, clause)
        for clause in case.view.near_permissions(case.expanded, _NEAR)
        if clause.number not in refused
    ]
    seen_rules: set[int] = set()
    matches = []
    for _, _, clause in nsmallest(_NEAR, ranked):
        if len(seen_rules) < _MOST_NEAR_MISSES or id(clause.written_rule) in seen_rules:
            seen_rules.add(id(clause.written_rule))
            reason = _ineffective_reason(case, clause)
            matches.append(
                match_permission(clause, case.expand_for(clause), case.facts, objection=reason)
            )
    # A rule that makes something is considered once, with its output and its inputs.
    nearest: dict[int, RuleMatch] = {}
    for match in sorted([*case.refused[:_NEAR], *matches], key=partial(_distance, case)):
        nearest.setdefault(id(match.clause.written_rule), match)
    return [*nearest.values()][:_MOST_NEAR_MISSES]


def _distance(case: "Case", match: RuleMatch) -> tuple[int, int]:
    """Return how much a permission lacks, and how many of the targets it does not cover."""
    clause, targets = match.clause, case.expand_for(match.clause).targets
    uncovered = sum(map(clause.targets.isdisjoint, targets)) if clause.targets else 0
    return len(match.missing), uncovered


def _ineffective_reason(case: "Case", clause: Clause) -> str:
    """Return why a permission does not count for what it covers; empty if it covers nothing."""
    expanded = case.expand_for(clause)
    if clause.written_rule.output and clause.purposes and not expanded.request.purpose:
        return ""  # whether an owner consents to making it depends on the purpose
    covers_all = not any(map(clause.targets.isdisjoint, expanded.targets))
    return case.ineffective_reason(clause) if covers_all or not clause.targets else ""


def deny(
    case: "Case",
    reason: str,
    match: RuleMatch | None = None,
    *,
    policy: str = "",
    strategy: Literal["", "prohibit"] = "",
) -> Decision:
    """Return a denial for a reason: because of a matched rule, or of a policy."""
    return _decision(
        case,
        effect="deny",
        reason=reason,
        policy=match.clause.policy.uid if match else policy,
        rule=match.clause.label if match else "",
        derivation=tuple(derivation(match)) if match else (),
        strategy=strategy,
    )


def ineffective_rules(case: "Case") -> Iterator[str]:
    """Yield the rules that cover the request but do not count, with the reason."""
    yield from islice(case.ineffective.values(), _MOST_INEFFECTIVE)
    if len(case.ineffective) > _MOST_INEFFECTIVE:
        more = len(case.ineffective) - _MOST_INEFFECTIVE
        yield PolicyLine.of("", f"{more:,} more rules do not count")


def _decision(
    case: "Case",
    *,
    effect: Effect,
    reason: str,
    policy: str = "",
    rule: str = "",
    derivation: Sequence[str] = (),
    near_misses: tuple[NearMiss, ...] = (),
    duties: tuple[OutstandingDuty, ...] = (),
    strategy: Strategy | Literal[""] = "",
    counted: tuple[Counted, ...] = (),
    made_from: tuple[MadeFrom, ...] = (),
) -> Decision:
    return construct(
        Decision,
        effect=effect,
        request=case.request,
        reason=reason,
        policy=policy,
        rule=rule,
        derivation=(*derivation, *(ineffective_rules(case) if case.ineffective else ())),
        matches=(*case.matches,),
        near_misses=near_misses,
        duties=duties,
        strategy=strategy,
        time=case.time,
        time_by="caller" if case.world.time else "clock",
        policy_digests=case.decider.digests,
        counted=counted,
        notes=(*case.decider.notes, *_unwatched(case), *_believed(case)),
        made_from=made_from,
        signatures="trusted" if case.decider.is_trusting else "unsigned",
        **_signed(case, policy),
        withdrawn=() if case.decider.vouched is None else _withdrawn(case),
    )


def _unwatched(case: "Case") -> Iterator[str]:
    """Yield a note of each output that was hashed some time ago, and not looked at again."""
    sightings = (one for output in case.outputs for one in case.decider.sightings(output))
    yield from dict.fromkeys(filter(None, (one.note() for one in sightings)))


def _believed(case: "Case") -> tuple[str, ...]:
    """Return a note of what was given that nobody signs, under a trust file."""
    statements = case.decider.believed(case.world)
    if not statements:
        return ()
    note = f"Believed as given, for nobody signs it: {', '.join(statements)}."
    return (note,)


def _signed(case: "Case", policy: str) -> dict[str, Any]:
    """Return the trust file that a decision is made by, and the signatures that it rests on."""
    vouched, targets = case.decider.vouched, case.request.targets
    if vouched is None or vouched.trust is None:
        return {"trust": "", "signed_by": ()}
    uids = dict.fromkeys((*(one.policy for one in case.matches), *([policy] if policy else ())))
    policies = ((uid, vouched.policy_signatures.get(uid)) for uid in uids)
    assets = dict.fromkeys(one for target in targets for one in (target, dataset_of(target)))
    proofs = ((one, proof) for one in assets for proof in vouched.proof_signatures.get(one, ()))
    signed = [_signature("policy", uid, one) for uid, one in policies if one is not None]
    signed += [_signature("proof", asset, one) for asset, one in proofs]
    return {"trust": vouched.trust.digest, "signed_by": tuple(signed)}


def _signature(kind: Literal["policy", "proof"], of: str, proof: Proof) -> Signed:
    return Signed(kind=kind, of=of, key=proof.key.did, created=proof.created, signature=proof.value)


def _withdrawn(case: "Case") -> tuple[WithdrawnOutput, ...]:
    """Return the releases of what is asked for that were withdrawn."""
    vouched, targets = case.decider.vouched, case.request.targets
    if vouched is None or not vouched.withdrawn:
        return ()
    assets = dict.fromkeys(one for target in targets for one in (target, dataset_of(target)))
    times = {asset: vouched.withdrawn_since(asset) for asset in assets}
    return tuple(
        WithdrawnOutput(asset=asset, since=since) for asset, since in times.items() if since
    )
