"""The outputs that policies name, and the certificates that are valid for them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.shortcomings import MAKE_HINT, MAKING_UNKNOWN, proven, shortcomings
from policy_engine.data.column_names import column_iri, column_name
from policy_engine.errors import PlanError
from policy_engine.methods.buckets import ADDED
from policy_engine.plan.audit_duties import certified_duties
from policy_engine.plan.making import plan_of
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import products
from policy_engine.plan.steps import AuditStep, DisclosureStep, SecretAuditStep, SyntheticAuditStep
from policy_engine.policy import Policy, Rule
from policy_engine.policy.attestable import attestable


@dataclass(frozen=True)
class Output:
    """An output that a policy names, and the certificate that is valid for it, if any.

    `valid` are all valid certificates, one per release; `refusal` says why a certificate that was
    made for it is not valid. `attested` are attestations of an output that no engine can certify.
    `invalid_reason` says why none is left, if all were made from something that is no longer valid.
    """

    policy: Policy
    asset: str
    plan: Plan | None
    certificate: Certificate | None
    refusal: str = ""
    valid: tuple[Certificate, ...] = ()
    attested: tuple[Attestation, ...] = ()
    invalid_reason: str = ""

    @classmethod
    def of(
        cls,
        policy: Policy,
        asset: str,
        certificates: Sequence[Certificate],
        attestations: Sequence[Attestation] = (),
        plan: Plan | None = None,
        attestation_refusal: Callable[[Policy, Attestation], str] = lambda _policy, _word: "",
    ) -> "Output":
        """Return an output with the first certificate that proves what its policy asks for today.

        That is its `plan`, None if no certificate can exist, as for a rule that anonymises nothing.
        `attestation_refusal` returns why an attestation does not count, empty if it does.
        """
        if plan is None:
            attestations_for = [
                one for one in attestations if _is_attestation_for(one, policy, asset)
            ]
            refusals = {id(one): attestation_refusal(policy, one) for one in attestations_for}
            accepted = tuple(one for one in attestations_for if not refusals[id(one)])
            refusal = "" if accepted else next(iter(refusals.values()), "")
            return cls(policy, asset, None, None, refusal, attested=accepted)
        valid = tuple(one for one in certificates if _is_valid(one, plan))
        refusal = "" if valid else next(_refusals(certificates, plan), "")
        return cls(policy, asset, plan, next(iter(valid), None), refusal, valid)

    @property
    def uncertified(self) -> str:
        """Why nobody may read the output for lack of a valid proof; empty if it has one."""
        if self.certificate is not None or self.attested:
            return ""
        if self.invalid_reason:
            return self.invalid_reason
        message = f"{self.asset} has no certificate that is valid for {self.policy.uid}; "
        message += "without one nobody may read it."
        return f"{message} {self.refusal}" if self.refusal else message

    def covers(self, target: str) -> bool:
        """Return whether a target is the output, or could be a column of it by its name."""
        return target == self.asset or column_name(self.asset, target) is not None

    def fulfilled_duties(self) -> Iterator[Rule]:
        """Yield the duties to audit the output that its certificate shows to be fulfilled."""
        if self.certificate is not None:
            yield from certified_duties(self.policy, self.asset)

    def may_have(self, target: str) -> bool:
        """Return whether a target, if it is a column of the output by its name, exists."""
        name = column_name(self.asset, target)
        if name is not None and self.plan is not None and self.plan.releases_model:
            return False  # a model has no columns
        if name is None or self.plan is None or name in self.plan.publish.columns:
            return True
        if name in ADDED and self.plan.anonymize and self.plan.anonymize.is_in_buckets:
            return True
        publication = self.certificate.plan.publish if self.certificate else None
        is_end = any(name in (f"{one}_low", f"{one}_high") for one in self.plan.publish.columns)
        return publication is not None and publication.cells == "bounds" and is_end

    def inputs(self) -> Iterator[tuple[str, ...]]:
        """Yield what must be readable together for the output to be readable.

        These are all datasets it is made of, or all the columns of them that are named.
        """
        if self.plan is not None:
            yield self.plan.assets
            yield tuple(dict.fromkeys(_plan_columns(self.plan)))

    def proof_lines(self) -> Iterator[str]:
        """Yield one line on what the certificate or attestation shows."""
        yield from (one.summary() for one in self.attested[:1])
        if self.certificate is not None:
            digest = self.certificate.output_digest
            figures = proven(self.certificate) or _drawn(self.certificate)
            yield f"certified: {figures}; output sha-256 {digest}"


def _drawn(certificate: Certificate) -> str:
    """Return what an output is of which no bound was asked."""
    sample = certificate.sample
    size = f" of {sample.sampled:,} {sample.units}" if sample and sample.sampled else ""
    rows = f", a sample{size}" if sample else ""
    return f"no bounds asked for{rows}"


def _plan_columns(plan: Plan) -> Iterator[str]:
    """Yield the columns of its inputs that a plan names."""
    if plan.join is not None:
        yield from (iri for one in plan.join.inputs for iri in one.named)
        return
    dropped = plan.anonymize.columns.dropped if plan.anonymize else ()
    yield from (column_iri(plan.read.asset, name) for name in (*dropped, *plan.read.columns))


def output_plans(policy: Policy) -> dict[str, Plan]:
    """Return the plans by which a policy's outputs are made, if they can be certified."""
    plans = {}
    with suppress(PlanError):
        for product in products(policy):
            with suppress(PlanError):
                plans[product.asset] = plan_of(policy, product)
    return plans


def _is_attestation_for(one: Attestation, policy: Policy, asset: str) -> bool:
    is_same = (one.policy, one.policy_digest, one.asset) == (policy.uid, policy.digest, asset)
    return is_same and asset in attestable(policy)


def _refusals(certificates: Sequence[Certificate], plan: Plan) -> Iterator[str]:
    """Yield why the certificates made for a plan's output are not valid."""
    ordered = sorted(certificates, key=lambda one: one.plan.policy_digest != plan.policy_digest)
    for one in ordered:
        certified = one.plan
        if certified.publish.asset != plan.publish.asset:
            continue
        if certified.policy_digest != plan.policy_digest:
            if certified.policy == plan.policy:
                yield "Its certificate is for an earlier version of the policy."
            continue
        yield from (problem.message for problem in shortcomings(one))
        if not one.tells_making:
            yield f"{MAKING_UNKNOWN} {MAKE_HINT}"
        if _comparable_plan(certified) != _comparable_plan(plan):
            yield "Its certificate is for a different plan from the policy's."


def is_certified(certificate: Certificate, policy: Policy) -> bool:
    """Return whether a certificate proves everything that a policy asks for of an output of it."""
    plan = output_plans(policy).get(certificate.plan.publish.asset)
    return plan is not None and _is_valid(certificate, plan)


def _is_valid(certificate: Certificate, plan: Plan) -> bool:
    """Return whether a certificate proves everything that the policy's current plan asks for.

    Measurements alone are not enough: an output does not show what it was made from, or how.
    """
    return (
        _comparable_plan(certificate.plan) == _comparable_plan(plan)
        and {(m.bound, m.column, m.asked, m.sense) for m in certificate.measurements}
        == set(plan.bounds())
        and certificate.holds
        and certificate.tells_making
    )


def _comparable_plan(plan: Plan) -> Plan:
    """Return the part of a plan that depends on the policy's meaning, not on engine or data.

    The position of a rule without uid in the text does not matter, nor does the order of its
    parties, purposes and duties.
    """
    attacking = ("audit", "disclosure", "generative")
    steps = [step.policy_part() for step in plan.public().steps if step.phase not in attacking]
    audits = sorted(plan.audits, key=AuditStep.model_dump_json)
    some: tuple[DisclosureStep | SyntheticAuditStep | SecretAuditStep, ...]
    some = (*plan.disclosures, *plan.synthetic_audits, *plan.secret_audits)
    disclosures = sorted((s.policy_part() for s in some), key=_json)
    sorted_lists = {name: tuple(sorted(getattr(plan, name))) for name in ("assignees", "purposes")}
    rule = plan.rule if _is_uid(plan.rule) else ""
    changes = {"engine": "local", "rule": rule, **sorted_lists}
    changes |= {"steps": (*steps, *audits, *disclosures)}
    changes |= {"by_consent": ()}  # whether these are valid is checked when the output is read
    return plan.model_copy(update=changes)


def _json(step: DisclosureStep | SyntheticAuditStep | SecretAuditStep) -> str:
    return step.model_dump_json()


def _is_uid(label: str) -> bool:
    """Return whether the label of a rule is its uid, not its position in a text."""
    return " " not in label and "#/" not in label
