"""What was made from what, directly and indirectly, and what of it is no longer valid."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.sources import as_upstream
from policy_engine.decision.decider import Decider
from policy_engine.decision.history import History
from policy_engine.decision.model import World
from policy_engine.plan.inputs import Read
from policy_engine.plan.lineage import Upstream
from policy_engine.policy import Policy


@dataclass(frozen=True)
class DerivationSource:
    """What something was made from; for a release, with its sha-256 at the time."""

    asset: str
    digest: str = ""


@dataclass(frozen=True)
class Derivation:
    """An asset was made from others (`prov:wasDerivedFrom`).

    `digest` is the sha-256 of the output. `end_reason` says why nobody may read it any more, empty
    if it is valid.
    """

    asset: str
    digest: str
    sources: tuple[DerivationSource, ...]
    end_reason: str = ""


def derivations(
    decider: Decider, world: World | None = None, history: History | None = None
) -> tuple[Derivation, ...]:
    """Return what a decider's certificates and attestations say was made from what.

    Each release appears once, back to inputs without a certificate; assets that were not released
    are left out.
    """
    by_output: dict[tuple[str, str], Derivation] = {}
    for one in (
        *_certified_derivations(decider, world, history),
        *_attested_derivations(decider, world, history),
    ):
        earlier = by_output.get((one.asset, one.digest))
        if earlier is None or len(earlier.sources) < len(one.sources):
            by_output[one.asset, one.digest] = one
    return tuple(by_output.values())


def _certified_derivations(
    decider: Decider, world: World | None, history: History | None
) -> Iterator[Derivation]:
    certificates = [one for one in decider.certificates if one.output_digest]
    for one in certificates:
        yield _derivation(
            decider.release_end_reason(as_upstream(one), world, history),
            as_upstream(one),
            _release_inputs(one),
        )
    for upstream in _with_ancestors(up for one in certificates for up in one.upstream):
        yield _derivation(decider.release_end_reason(upstream, world, history), upstream, ())


def _derivation(ended: str, one: Upstream, inputs: Iterable[str]) -> Derivation:
    sources = [DerivationSource(up.asset, up.output_digest) for up in one.upstream]
    named = {source.asset for source in sources}
    sources += [DerivationSource(asset) for asset in inputs if asset not in named]
    return Derivation(one.asset, one.output_digest, tuple(sources), ended)


def _release_inputs(certificate: Certificate) -> Iterator[str]:
    """Yield the inputs of a release."""
    yield from (step.asset for step in certificate.plan.steps if isinstance(step, Read))


def _with_ancestors(upstream: Iterable[Upstream]) -> Iterator[Upstream]:
    """Yield releases and all the releases they were made from."""
    for one in upstream:
        yield one
        yield from _with_ancestors(one.upstream)


def _attested_derivations(
    decider: Decider, world: World | None, history: History | None
) -> Iterator[Derivation]:
    for one in decider.attestations:
        policy = next(
            (candidate for candidate in decider.policies if candidate.uid == one.policy), None
        )
        rules = [rule for rule in policy.permissions if rule.output == one.asset] if policy else []
        sources = dict.fromkeys(
            DerivationSource(target.iri) for rule in rules for target in rule.targets
        )
        ended = _attestation_end(decider, world, history, policy, one)
        yield Derivation(one.asset, one.output_digest, tuple(sources), ended)


def _attestation_end(
    decider: Decider,
    world: World | None,
    history: History | None,
    policy: Policy | None,
    one: Attestation,
) -> str:
    if policy is None:
        return f"{one.asset}, whose policy {one.policy} is not among those in force."
    output = decider.valid_output(policy, one.asset, world, one.output_digest, history)
    if output.invalid_reason or one in output.attested:
        return output.invalid_reason
    return f"{one.asset}, whose attestation is not valid for {one.policy} as it is now."
