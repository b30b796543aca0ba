"""Who may read what, for which purpose, and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator

from policy_engine import terms
from policy_engine.catalog import column_iri, column_name
from policy_engine.certificate import Certificate
from policy_engine.errors import PlanError, RequestError, listed
from policy_engine.plan import Anonymize, Plan, make_plan
from policy_engine.policy import Action, Hierarchy, Policy, Rule
from policy_engine.policy.clashes import overlap
from policy_engine.transformation import ANONYMIZE

READ = f"{terms.ODRL}read"
Effect = Literal["permit", "deny"]
_SAYS = {"party": "belongs to", "asset": "is part of", "action": "is included in"}


class Request(BaseModel):
    """Somebody asks to do something with assets, together, for a purpose (or for none said)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    assignee: str
    action: str
    targets: tuple[str, ...]
    purpose: str = ""

    @field_validator("assignee", "action", "purpose")
    @classmethod
    def _one_spelling(cls, iri: str) -> str:
        return terms.canonical(iri)

    @field_validator("targets")
    @classmethod
    def _some(cls, targets: tuple[str, ...]) -> tuple[str, ...]:
        if not targets:
            raise ValueError("a request names at least one target")
        return tuple(map(terms.canonical, targets))


class Decision(BaseModel):
    """The answer to a request: permit or deny, by which rule, and how that was derived.

    `reason` is one sentence; `derivation` the steps to it, in order; `policy_digests` name
    the policies that were looked at. Nothing is owed: this version evaluates no duties.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    effect: Effect
    request: Request
    reason: str
    policy: str = ""
    rule: str = ""
    derivation: tuple[str, ...] = ()
    policy_digests: tuple[str, ...] = ()

    @property
    def permitted(self) -> bool:
        """Whether the answer is yes."""
        return self.effect == "permit"


def decide(
    policies: Sequence[Policy],
    certificates: Sequence[Certificate],
    request: Request,
    hierarchy: Hierarchy | None = None,
) -> Decision:
    """Decide a request; what no rule permits is denied.

    Assets that are read together must be granted together by one rule. A prohibition that
    the request overlaps denies it, unless its policy's conflict strategy is `perm` and a rule
    of that policy permits it. The output of an anonymisation can be read by the assignees of
    its rule, for the rule's purposes, by those with a rule of their own, and by whoever may
    read all of the inputs for the purpose; but only with a certificate valid for its policy.
    `hierarchy` adds to what the policies themselves say of who belongs to what; what one
    policy says there widens its own permissions only, and everybody's prohibitions.

    Whoever gives the policies and certificates vouches for them: they are not signed. Raises
    RequestError (D002) for two policies of one uid.
    """
    uids = [policy.uid for policy in policies]
    if len(set(uids)) < len(uids):
        message = f"Two policies have one uid. Given: {listed(uids)}."
        raise RequestError.of("D002", message, "Leave out the one that no longer holds.")
    return _Case(policies, certificates, request, hierarchy).decide()


class _Case:
    """One request, the policies it is held against, and the outputs that it touches."""

    def __init__(
        self,
        policies: Sequence[Policy],
        certificates: Sequence[Certificate],
        request: Request,
        hierarchy: Hierarchy | None,
        above: frozenset[str] = frozenset(),
    ) -> None:
        self.above = above
        self.policies = policies
        self.certificates = certificates
        self.request = request
        self.given = hierarchy
        self.hierarchy = (hierarchy or Hierarchy()).joined(p.hierarchy for p in policies)

    def decide(self, *, through_inputs: bool = True) -> Decision:
        permits = [(policy, rule) for policy in self.policies for rule in self._permits(policy)]
        for policy in self.policies:
            for rule in policy.prohibitions:
                wins = policy.conflict == "perm" and any(policy is other for other, _ in permits)
                if not wins and overlap(_as_rule(self.request), rule, self.hierarchy):
                    return self._deny(f"{rule.label()} prohibits it.", policy, rule)
        outputs = self._outputs()
        for output in outputs:
            if output.certificate is None:
                reason = (
                    f"{output.asset} has no certificate that is valid for "
                    f"{output.policy.uid}; without one nobody may read it."
                )
                return self._deny(reason, output.policy)
            unknown = [target for target in self.request.targets if not output.has(target)]
            if unknown:
                return self._deny(f"{output.asset} has no such column: {_names(unknown)}.")
        for policy, rule in permits:
            return self._permit(policy, rule, outputs)
        through = self._through_inputs(outputs) if through_inputs else None
        return through or self._nothing_permits()

    # -- what speaks for it -------------------------------------------------------------------

    def _known_to(self, policy: Policy) -> Hierarchy:
        """Return what counts for a policy's permissions: its own word and the caller's."""
        return (self.given or Hierarchy()).joined([policy.hierarchy])

    def _is_void(self, policy: Policy) -> bool:
        """Tell whether rules clash, by all that is known here, that may not (ODRL IM, 2.10)."""
        return policy.conflict == "invalid" and any(
            overlap(permission, prohibition, self.hierarchy)
            for permission in policy.permissions
            for prohibition in policy.prohibitions
        )

    def _permits(self, policy: Policy) -> Iterator[Rule]:
        """Yield the rules of a policy that permit the whole request, one rule at a time."""
        for rule in self._grants(policy) if not self._is_void(policy) else ():
            if not list(self._missing(rule, policy)):
                yield rule

    def _grants(self, policy: Policy) -> Iterator[Rule]:
        """Yield the permissions, and for each anonymisation one to read its output."""
        for rule in policy.permissions:
            yield rule
            if rule.output and any(action.iri == ANONYMIZE for action in rule.actions):
                yield replace(rule, targets=(rule.output,), actions=(Action(iri=READ),), output="")

    def _missing(self, rule: Rule, policy: Policy) -> Iterator[str]:
        """Yield what keeps a permission from covering the request."""
        request, path = self.request, self._known_to(policy).path
        if rule.assignees and not any(path("party", request.assignee, a) for a in rule.assignees):
            yield f"it is for {_names(rule.assignees)}, not {request.assignee}"
        actions = [action.iri for action in rule.actions if not action.refinements]
        if not any(path("action", request.action, action) for action in actions):
            permitted = _names([action.iri for action in rule.actions])
            yield f"it permits {permitted}, not {terms.compact(request.action)}"
        for target in request.targets:
            if not any(path("asset", target, wide) for wide in rule.targets):
                yield f"it does not cover {target}"
        if rule.purposes and not (
            request.purpose and any(path("purpose", request.purpose, p) for p in rule.purposes)
        ):
            asked = terms.compact(request.purpose) or "none that is said"
            yield f"it is for the purpose {_names(rule.purposes)}, not {asked}"

    def _through_inputs(self, outputs: "list[_Output]") -> Decision | None:
        """Permit reading an output to whoever may read all of its inputs for the purpose."""
        if len(outputs) != 1 or self.request.action != READ or outputs[0].asset in self.above:
            return None
        [output] = outputs
        if output.plan is None or not all(map(output.covers, self.request.targets)):
            return None
        dataset, dropped = output.plan.read.asset, output.plan.anonymize.columns.dropped
        columns = tuple(dict.fromkeys((*dropped, *output.plan.read.columns)))
        above = self.above | {output.asset}
        for targets in ((dataset,), tuple(column_iri(dataset, name) for name in columns)):
            inputs = self.request.model_copy(update={"targets": targets})
            case = _Case(self.policies, self.certificates, inputs, self.given, above)
            # Only the dataset may in turn be an output; its columns are asked for as they are.
            decision = case.decide(through_inputs=targets == (dataset,))
            if decision.permitted:
                step = f"who may read all of {dataset} may read {output.asset}"
                lines = (*decision.derivation, step, *output.certified())
                reason = f"{decision.rule} permits reading the inputs, and so the output."
                return decision.model_copy(
                    update={"request": self.request, "reason": reason, "derivation": lines}
                )
        return None

    def _outputs(self) -> "list[_Output]":
        """Return the outputs of transformations that the request touches."""
        return [
            _Output.of(policy, rule.output, self.certificates)
            for policy in self.policies
            for rule in policy.permissions
            if rule.output
            and any(
                self.hierarchy.overlaps("asset", target, rule.output)
                for target in self.request.targets
            )
        ]

    # -- answers ------------------------------------------------------------------------------

    def _permit(self, policy: Policy, rule: Rule, outputs: "list[_Output]") -> Decision:
        actions = _names([action.iri for action in rule.actions])
        return Decision(
            effect="permit",
            request=self.request,
            reason=f"{rule.label()} permits it.",
            policy=policy.uid,
            rule=rule.label(),
            derivation=(
                f"{rule.label()} permits {actions} on {_names(rule.targets)}",
                *self._paths(rule, policy),
                *(line for output in outputs for line in output.certified()),
            ),
            policy_digests=self._digests(),
        )

    def _paths(self, rule: Rule, policy: Policy) -> Iterator[str]:
        """Yield how the request's parts are included in the rule's, where they differ."""
        path, request = self._known_to(policy).path, self.request
        parts = [
            ("party", (request.assignee,), rule.assignees),
            ("action", (request.action,), tuple(action.iri for action in rule.actions)),
            ("asset", request.targets, rule.targets),
            ("purpose", (request.purpose,), rule.purposes),
        ]
        for part, asked, given in parts:
            for narrow in asked:
                ways = [way for wide in given if (way := path(part, narrow, wide))]  # type: ignore[arg-type]
                ways.sort(key=len)
                if ways and len(ways[0]) > 1:
                    says = f" {_SAYS.get(part, 'is a kind of')} "
                    yield says.join(map(terms.compact, ways[0]))

    def _nothing_permits(self) -> Decision:
        void = [f"{p.uid} is void: its rules clash" for p in self.policies if self._is_void(p)]
        misses = (*void, *self._near_misses())
        nearest = f" The nearest, {misses[0]}." if misses else ""
        denied = self._deny(f"No rule permits it, and what no rule permits is denied.{nearest}")
        return denied.model_copy(update={"derivation": misses})

    def _deny(
        self, reason: str, policy: Policy | None = None, rule: Rule | None = None
    ) -> Decision:
        return Decision(
            effect="deny",
            request=self.request,
            reason=reason,
            policy=policy.uid if policy else "",
            rule=rule.label() if rule else "",
            policy_digests=self._digests(),
        )

    def _near_misses(self) -> Iterator[str]:
        """Yield the rules that come nearest, and what each lacks."""
        found = []
        for policy in self.policies:
            for rule in self._grants(policy):
                missing = list(self._missing(rule, policy))
                if missing:
                    found.append((len(missing), f"{rule.label()}: {', and '.join(missing)}"))
        found.sort(key=lambda pair: pair[0])
        yield from dict.fromkeys(line for _, line in found[:3])

    def _digests(self) -> tuple[str, ...]:
        return tuple(policy.digest for policy in self.policies)


@dataclass(frozen=True)
class _Output:
    """An output that a policy speaks of, and the certificate that is valid for it, if any."""

    policy: Policy
    asset: str
    plan: Plan | None
    certificate: Certificate | None

    @classmethod
    def of(cls, policy: Policy, asset: str, certificates: Sequence[Certificate]) -> "_Output":
        try:
            plan = make_plan(policy)
        except PlanError:
            return cls(policy, asset, None, None)
        valid = (one for one in certificates if _is_valid(one, plan))
        return cls(policy, asset, plan, next(valid, None))

    def covers(self, target: str) -> bool:
        """Tell whether a target is the output, or could be a column of it by its name."""
        return target == self.asset or column_name(self.asset, target) is not None

    def has(self, target: str) -> bool:
        """Tell whether a target, where it is a column of the output by its name, exists."""
        name = column_name(self.asset, target)
        if name is None or self.plan is None or name in self.plan.publish.columns:
            return True
        made = self.certificate.plan.publish if self.certificate else None
        is_end = any(name in (f"{one}_low", f"{one}_high") for one in self.plan.publish.columns)
        return made is not None and made.cells == "bounds" and is_end

    def certified(self) -> Iterator[str]:
        """Yield what the certificate says, in a line."""
        if self.certificate is not None:
            measured = ", ".join(
                f"{m.bound} {m.achieved:.6g} ({m.sense} {m.asked:g})"
                + (f" of {m.column}" if m.column else "")
                for m in self.certificate.measurements
            )
            yield f"certified: {measured}; output sha-256 {self.certificate.output_digest}"


def _is_valid(certificate: Certificate, plan: Plan) -> bool:
    """Tell whether a certificate proves all that today's plan of the policy asks for."""
    made, bounds = certificate.plan, plan.anonymize.bounds()
    return (
        made.policy_digest == plan.policy_digest
        and made.publish.asset == plan.publish.asset
        and set(made.publish.columns) == set(plan.publish.columns)
        and _asked(made) == _asked(plan)
        and {(m.bound, m.column, m.asked, m.sense) for m in certificate.measurements} == set(bounds)
        and certificate.holds
    )


def _asked(plan: Plan) -> Anonymize:
    """Return what is asked for; which taxonomies were at hand is the data's business."""
    return plan.anonymize.model_copy(update={"taxonomies": {}})


def read_request(assignee: str, action: str, targets: Sequence[str], purpose: str = "") -> Request:
    """Return a request from IRIs, or from the short names of the bundled contexts.

    Raises RequestError (D001) where a name stands for no IRI.
    """
    parts = {"assignee": [assignee], "action": [action], "target": targets, "purpose": [purpose]}
    iris = {part: tuple(map(terms.in_full, names)) for part, names in parts.items()}
    for part, names in iris.items():
        for name in names:
            if ":" not in name and not (part == "purpose" and not name):
                message = f"The {part} {name!r} is no IRI and no term of the bundled contexts."
                raise RequestError.of("D001", message)
    return Request(
        assignee=iris["assignee"][0],
        action=iris["action"][0],
        targets=iris["target"],
        purpose=iris["purpose"][0],
    )


def _as_rule(request: Request) -> Rule:
    """Return the request as a rule that covers just it, to be held against prohibitions."""
    return Rule(
        kind="permission",
        assignees=(request.assignee,),
        targets=request.targets,
        actions=(Action(iri=request.action),),
        purposes=(request.purpose,) if request.purpose else (),
    )


def _names(iris: Sequence[str]) -> str:
    return " or ".join(map(terms.compact, iris))
