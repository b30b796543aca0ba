"""Whether everything an output was made from is valid, and whose prohibitions reach it."""

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
"""An output of a policy, with the proofs of a digest."""
MakerLookup = Callable[[str], Sequence[RuleOutput]]
"""The outputs that an asset is, belongs to or contains."""
VoidLookup = Callable[[str], Iterable[VoidOutput]]
"""The outputs of policies not in force that concern an asset."""
EndReason = Callable[[Sequence[RuleOutput]], str]
"""Why the output of one policy's rules may no longer be made, empty if it may."""
_Key = tuple[str, str, int]
"""A release: the uid of its policy, its asset, and its proof, by identity."""


@dataclass(frozen=True, slots=True)
class _Need:
    """What a release needs of something that it was made from.

    One of the `releases` must be valid, unless `reason` already says that none is. `path` leads
    from the release to what it needs.
    """

    path: str
    reason: str = ""
    releases: tuple[_Key, ...] = ()

    def failure(self, invalid: Mapping[_Key, str]) -> str:
        """Return why it is not met, given the releases known to be invalid."""
        if self.reason:
            return f"{self.path}, {self.reason}"
        is_met = any(one not in invalid for one in self.releases)
        return "" if is_met else f"{self.path}, and {invalid[self.releases[0]]}"


class Lineage:
    """What outputs were made from, under the given policies and certificates.

    A release is valid as long as everything it was made from is: each earlier release needs a
    policy in force, and a valid certificate of that exact output. An attestation is as good if no
    engine can certify the output; since it names no inputs, one release of each input of its policy
    must be valid. Each release is judged by what it was made from itself. `void` gives the outputs
    of policies not in force that concern an asset.
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
        """Return an output with only those certificates and attestations whose release is valid.

        If none is, it says why; the reason gives the path from the output to the problem.
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
        """Return why nobody may read what is made from a release, empty if the release is valid."""
        need = self._named_need(one.asset, one)
        invalid = self._invalid_releases(need.releases)
        if need.reason or not need.failure(invalid):
            return _sentence(need.failure(invalid))
        return _sentence(invalid[need.releases[0]])

    def _releases_of(self, output: Output) -> tuple[_Key, ...]:
        """Return the releases of an output that have a proof."""
        proofs: tuple[Certificate | Attestation, ...] = (*output.valid, *output.attested)
        keys = tuple((output.policy.uid, output.asset, id(proof)) for proof in proofs)
        for key, proof in zip(keys, proofs, strict=True):
            self._releases.setdefault(key, (output, proof))
        return keys

    def _invalid_releases(self, roots: Sequence[_Key]) -> dict[_Key, str]:
        """Return which of some releases, and of earlier ones, are not valid, each with the reason.

        Releases that need each other in a circle become invalid only because of something else: the
        result is the greatest fixed point of their needs.
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
        source_assets = {output.asset, *(one.asset for one in upstream)}
        is_certified = isinstance(proof, Certificate)
        for asset in self._input_assets(output):
            for void in self._find_void(asset):
                if void.asset not in source_assets:
                    reason = f"whose policy {void.policy} is not in force"
                    yield _Need(f"{prefix} {void.asset}", reason)
            for one in self._find_makers(asset):
                if one.asset not in source_assets:
                    is_named = is_certified and one.asset in (asset, *iri_prefixes(asset))
                    yield self._unnamed_need(f"{prefix} {one.asset}", one, is_named=is_named)

    def _input_assets(self, output: Output) -> Iterable[str]:
        """Return the assets from which the policy of an output makes it."""
        if output.plan is not None:
            return output.plan.assets
        output_rules = self._output_rules(output.policy.uid, output.asset)
        return sorted({target for one in output_rules for target in one.clause.targets})

    def _named_need(self, path: str, one: Upstream) -> _Need:
        """Return the need for a release that is known by its digests."""
        if one.policy in self._view.void:
            return _Need(path, f"whose policy {one.policy} is void")
        output_rules = self._output_rules(one.policy, one.asset)
        if not output_rules:
            return _Need(path, f"whose policy {one.policy} is not among those in force")
        return self._need(path, output_rules, one.output_digest)

    def _unnamed_need(self, path: str, output: RuleOutput, *, is_named: bool) -> _Need:
        """Return the need for an input that is not named as a particular release.

        Certificates name their inputs (`is_named`); attestations do not, and neither names what an
        input contains.
        """
        if is_named and output.asset not in attestable(output.policy):
            return _Need(path, "a certified release whose certificate was not given")
        if is_named:
            return _Need(path, "an attested output whose attestation was not given")
        return self._need(path, self._output_rules(output.policy.uid, output.asset))

    def _need(self, path: str, output_rules: Sequence[RuleOutput], digest: str = "") -> _Need:
        policy, asset = output_rules[0].policy, output_rules[0].asset
        output = self._find_output(policy, asset, digest)
        releases = self._releases_of(output)
        if not releases:
            remark = f" {output.refusal}" if output.refusal else ""
            return _Need(
                path, f"for which no certificate valid for {policy.uid} was given.{remark}"
            )
        end = self._find_end(output_rules)
        if end:
            return _Need(path, f"which may no longer be made: {end}")
        return _Need(path, "", releases)

    def _output_rules(self, uid: str, asset: str) -> list[RuleOutput]:
        return [
            one for one in self._view.index.output_rules.get(asset, ()) if one.policy.uid == uid
        ]


def _sentence(reason: str) -> str:
    return f"{reason.removesuffix('.')}." if reason else ""


def output_inputs(
    output: Output, output_rule: RuleOutput, targets: Sequence[str]
) -> tuple[str, ...]:
    """Return what the targets were made from: the columns of the input that are in them.

    That is everything that went into the output if a target is the output or contains it, or is a
    model; columns that were left out, like identifiers, are in no output.
    """
    if output.plan is None:
        return tuple(sorted(output_rule.clause.targets))
    return target_columns(output.plan, output_rule.asset, targets)


def target_columns(plan: Plan, asset: str, targets: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a plan's inputs that are in the targets of its output."""
    names = [column_name(asset, target) for target in targets]
    released = set(plan.publish.columns)
    wanted_columns = [
        name and (name if name in released else _ranged_column(name)) for name in names
    ]
    if plan.aggregate is not None:  # every figure is of the rows that the unit and groups tell
        return tuple(map(plan.iri_of, plan.aggregate.columns_used))
    if plan.generation is not None:  # a column is drawn given others, and shows them as well
        return tuple(map(plan.iri_of, plan.generation.columns))
    # A weight counts rows, which all columns are of.
    released -= set(plan.added)
    if plan.train is None and all(name in released for name in wanted_columns):
        columns = tuple(name for name in wanted_columns if name)
    else:
        columns = tuple(name for name in plan.publish.columns if name not in plan.added)
    # The columns that inputs are joined on are read for every column.
    keys = (column_iri(one.asset, one.on) for one in (plan.join.inputs if plan.join else ()))
    return tuple(dict.fromkeys((*map(plan.iri_of, columns), *keys)))


def _ranged_column(name: str) -> str:
    """Return the column whose ranges are in two columns, given one of the two."""
    return name.removesuffix("_low").removesuffix("_high")
