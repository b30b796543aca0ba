"""Whether all that an output was made from still stands, and whose prohibitions reach it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.data.column_names import column_iri, column_name
from policy_engine.decision.index import RuleOutput
from policy_engine.decision.outputs import Output
from policy_engine.decision.views import View
from policy_engine.decision.void_outputs import VoidOutput
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.policy import Policy
from policy_engine.policy.attestable import attestable
from policy_engine.policy.validation.conflicts import iri_prefixes

OutputLookup = Callable[[Policy, str, str], Output]
"""The output that a policy speaks of, with what of a digest vouches for it."""
MakerLookup = Callable[[str], Sequence[RuleOutput]]
"""The outputs that an asset is, belongs to or holds."""
VoidLookup = Callable[[str], Iterable[VoidOutput]]
"""The outputs of policies that are not in force with which an asset has to do."""
EndReason = Callable[[Sequence[RuleOutput]], str]
"""Why what rules of one policy made is not to be made any more, empty where it is."""
_Key = tuple[str, str, int]
"""A release: the uid of its policy, its asset, and what vouches for it, by identity."""


@dataclass(frozen=True, slots=True)
class _Need:
    """What a release needs of something that it was made from.

    One of the releases `releases` has to stand, unless `reason` says already that none does. `path`
    leads from the release to what it needs.
    """

    path: str
    reason: str = ""
    releases: tuple[_Key, ...] = ()

    def failure(self, invalid: Mapping[_Key, str]) -> str:
        """Return why it is not met, by the releases that are known to have fallen."""
        if self.reason:
            return f"{self.path}, {self.reason}"
        is_met = any(one not in invalid for one in self.releases)
        return "" if is_met else f"{self.path}, and {invalid[self.releases[0]]}"


class Lineage:
    """What outputs were made from, under the policies and certificates that are given.

    A release stands as long as all that it was made from does: each release before it needs its
    policy, in force, and a certificate of the very output that is valid for it. What a person
    attests is as good, where no engine can certify; an attestation names no release that the
    output was made from, so one of each that its policy takes has to stand. Each release is
    judged by what it was made from itself. `void` tells what of policies that are not in force
    an asset has to do with.
    """

    def __init__(
        self,
        view: View,
        find_output: OutputLookup,
        find_makers: MakerLookup,
        find_end: EndReason,
        find_void: VoidLookup,
    ) -> None:
        self._view = view
        self._find_output = find_output
        self._find_makers = find_makers
        self._find_end = find_end
        self._find_void = find_void
        self._releases: dict[_Key, tuple[Output, Certificate | Attestation]] = {}

    def keep_valid(self, output: Output) -> Output:
        """Return an output with those certificates and attestations alone whose release stands.

        Where none does, it says why; the reason names the way, from the output to what is wrong.
        """
        keys = self._releases_of(output)
        invalid = self._invalid_releases(keys)
        if not any(key in invalid for key in keys):
            return output
        proofs = [self._releases[key][1] for key in keys if key not in invalid]
        valid = tuple(one for one in proofs if isinstance(one, Certificate))
        attestations = tuple(one for one in proofs if isinstance(one, Attestation))
        reason = "" if proofs else _sentence(invalid[keys[0]])
        first = next(iter(valid), None)
        return replace(
            output, certificate=first, valid=valid, attested=attestations, invalid_reason=reason
        )

    def end_reason(self, one: Upstream) -> str:
        """Return why a release lets nobody read what is made from it, empty where it stands."""
        need = self._named_need(one.asset, one)
        invalid = self._invalid_releases(need.releases)
        if need.reason or not need.failure(invalid):
            return _sentence(need.failure(invalid))
        return _sentence(invalid[need.releases[0]])

    def _releases_of(self, output: Output) -> tuple[_Key, ...]:
        """Return the releases of an output that something vouches for."""
        proofs: tuple[Certificate | Attestation, ...] = (*output.valid, *output.attested)
        keys = tuple((output.policy.uid, output.asset, id(proof)) for proof in proofs)
        for key, proof in zip(keys, proofs, strict=True):
            self._releases.setdefault(key, (output, proof))
        return keys

    def _invalid_releases(self, roots: Sequence[_Key]) -> dict[_Key, str]:
        """Return which of some releases, and of those before them, do not stand, each with why.

        What needs itself, by what is said of parts, falls with something else alone: the
        greatest fixed point of what the releases need.
        """
        needs: dict[_Key, list[_Need]] = {}
        queue = [*roots]
        for key in queue:
            if key not in needs:
                needs[key] = [*self._needs(*self._releases[key])]
                queue += (one for need in needs[key] for one in need.releases)
        invalid: dict[_Key, str] = {}
        while True:
            new = {
                key: reason
                for key, some in needs.items()
                if key not in invalid
                if (reason := next(filter(None, (one.failure(invalid) for one in some)), ""))
            }
            if not new:
                return invalid
            invalid |= new

    def _needs(self, output: Output, proof: Certificate | Attestation) -> Iterator[_Need]:
        upstream = proof.upstream if isinstance(proof, Certificate) else ()
        prefix = f"{output.asset} was made from"
        yield from (self._named_need(f"{prefix} {one.asset}", one) for one in upstream)
        named = {output.asset, *(one.asset for one in upstream)}
        is_certified = isinstance(proof, Certificate)
        for asset in self._input_assets(output):
            for void in self._find_void(asset):
                if void.asset not in named:
                    reason = f"whose policy {void.policy} is not in force"
                    yield _Need(f"{prefix} {void.asset}", reason)
            for one in self._find_makers(asset):
                if one.asset not in named:
                    is_named = is_certified and one.asset in (asset, *iri_prefixes(asset))
                    yield self._unnamed_need(f"{prefix} {one.asset}", one, is_named=is_named)

    def _input_assets(self, output: Output) -> Iterable[str]:
        """Return what the policy of an output makes it of."""
        if output.plan is not None:
            return output.plan.assets
        makers = self._makers(output.policy.uid, output.asset)
        return sorted({target for made in makers for target in made.clause.targets})

    def _named_need(self, path: str, one: Upstream) -> _Need:
        """Return what is needed of a release that is known by its digests."""
        if one.policy in self._view.void:
            return _Need(path, f"whose policy {one.policy} is void")
        makers = self._makers(one.policy, one.asset)
        if not makers:
            return _Need(path, f"whose policy {one.policy} is not among those in force")
        return self._need(path, makers, one.output_digest)

    def _unnamed_need(self, path: str, output: RuleOutput, *, is_named: bool) -> _Need:
        """Return what is needed of an input that is not named as the release that it is.

        Certificates name their inputs (`is_named`); attestations do not, and nor is named what
        an input holds.
        """
        if is_named and output.asset not in attestable(output.policy):
            return _Need(path, "a certified release, without its certificate")
        if is_named:
            return _Need(path, "which was attested, without its attestation")
        return self._need(path, self._makers(output.policy.uid, output.asset))

    def _need(self, path: str, makers: Sequence[RuleOutput], digest: str = "") -> _Need:
        policy, asset = makers[0].policy, makers[0].asset
        output = self._find_output(policy, asset, digest)
        releases = self._releases_of(output)
        if not releases:
            remark = f" {output.refusal}" if output.refusal else ""
            return _Need(
                path, f"of which no certificate is given that is valid for {policy.uid}.{remark}"
            )
        end = self._find_end(makers)
        if end:
            return _Need(path, f"which is not to be made any more: {end}")
        return _Need(path, "", releases)

    def _makers(self, uid: str, asset: str) -> list[RuleOutput]:
        return [one for one in self._view.index.makers.get(asset, ()) if one.policy.uid == uid]


def _sentence(reason: str) -> str:
    return f"{reason.removesuffix('.')}." if reason else ""


def output_inputs(
    output: Output, output_rule: RuleOutput, targets: Sequence[str]
) -> tuple[str, ...]:
    """Return what the targets were made from: the columns of the input that are in them.

    All that went into the output, where a target is the output, or holds it, or where it is a
    model; what was left out, as identifiers are, is in no output.
    """
    if output.plan is None:
        return tuple(sorted(output_rule.clause.targets))
    return target_columns(output.plan, output_rule.asset, targets)


def target_columns(plan: Plan, asset: str, targets: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of the inputs of a plan that are in targets, which are of its output."""
    names = [column_name(asset, target) for target in targets]
    released = set(plan.publish.columns)
    wanted_columns = [
        name and (name if name in released else _ranged_column(name)) for name in names
    ]
    if plan.train is None and all(name in released for name in wanted_columns):
        columns = tuple(name for name in wanted_columns if name)
    else:
        columns = plan.publish.columns
    # What rows are put together by is read for each of them.
    keys = (column_iri(one.asset, one.on) for one in (plan.join.inputs if plan.join else ()))
    return tuple(dict.fromkeys((*map(plan.iri_of, columns), *keys)))


def _ranged_column(name: str) -> str:
    """Return the column whose ranges stand in two columns, given one of the two."""
    return name.removesuffix("_low").removesuffix("_high")
