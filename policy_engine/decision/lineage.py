"""Whether all that an output was made from still stands, and whose prohibitions reach it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.data.catalog import column_iri, column_name
from policy_engine.decision.ended import VoidOutput
from policy_engine.decision.index import RuleOutput
from policy_engine.decision.outputs import Output
from policy_engine.decision.views import View
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.policy import Policy
from policy_engine.policy.attestable import attestable
from policy_engine.policy.validation.clashes import starts

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

    One of the releases `by` has to stand, unless `why` says already that none does. `way` leads
    from the release to what it needs.
    """

    way: str
    why: str = ""
    by: tuple[_Key, ...] = ()

    def fails(self, fallen: Mapping[_Key, str]) -> str:
        """Return why it is not met, by the releases that are known to have fallen."""
        if self.why:
            return f"{self.way}, {self.why}"
        is_met = any(one not in fallen for one in self.by)
        return "" if is_met else f"{self.way}, and {fallen[self.by[0]]}"


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
        self, view: View, output: OutputLookup, made: MakerLookup, over: EndReason, void: VoidLookup
    ) -> None:
        self._view = view
        self._output = output
        self._made = made
        self._over = over
        self._void = void
        self._releases: dict[_Key, tuple[Output, Certificate | Attestation]] = {}

    def standing(self, output: Output) -> Output:
        """Return an output with those certificates and attestations alone whose release stands.

        Where none does, it says why; the reason names the way, from the output to what is wrong.
        """
        keys = self._of(output)
        fallen = self._fallen(keys)
        if not any(key in fallen for key in keys):
            return output
        held = [self._releases[key][1] for key in keys if key not in fallen]
        valid = tuple(one for one in held if isinstance(one, Certificate))
        words = tuple(one for one in held if isinstance(one, Attestation))
        why = "" if held else _sentence(fallen[keys[0]])
        first = next(iter(valid), None)
        return replace(output, certificate=first, valid=valid, attested=words, fallen=why)

    def ended(self, one: Upstream) -> str:
        """Return why a release lets nobody read what is made from it, empty where it stands."""
        need = self._told(one.asset, one)
        fallen = self._fallen(need.by)
        if need.why or not need.fails(fallen):
            return _sentence(need.fails(fallen))
        return _sentence(fallen[need.by[0]])

    def _of(self, output: Output) -> tuple[_Key, ...]:
        """Return the releases of an output that something vouches for."""
        words: tuple[Certificate | Attestation, ...] = (*output.valid, *output.attested)
        keys = tuple((output.policy.uid, output.asset, id(word)) for word in words)
        for key, word in zip(keys, words, strict=True):
            self._releases.setdefault(key, (output, word))
        return keys

    def _fallen(self, roots: Sequence[_Key]) -> dict[_Key, str]:
        """Return which of some releases, and of those before them, do not stand, each with why.

        What needs itself, by what is said of parts, falls with something else alone: the
        greatest fixed point of what the releases need.
        """
        needs: dict[_Key, list[_Need]] = {}
        queue = [*roots]
        for key in queue:
            if key not in needs:
                needs[key] = [*self._needs(*self._releases[key])]
                queue += (one for need in needs[key] for one in need.by)
        fallen: dict[_Key, str] = {}
        while True:
            new = {
                key: why
                for key, some in needs.items()
                if key not in fallen
                if (why := next(filter(None, (one.fails(fallen) for one in some)), ""))
            }
            if not new:
                return fallen
            fallen |= new

    def _needs(self, output: Output, word: Certificate | Attestation) -> Iterator[_Need]:
        told = word.upstream if isinstance(word, Certificate) else ()
        made = f"{output.asset} was made from"
        yield from (self._told(f"{made} {one.asset}", one) for one in told)
        known = {output.asset, *(one.asset for one in told)}
        is_certified = isinstance(word, Certificate)
        for asset in self._read(output):
            for void in self._void(asset):
                if void.asset not in known:
                    why = f"whose policy {void.policy} is not in force"
                    yield _Need(f"{made} {void.asset}", why)
            for one in self._made(asset):
                if one.asset not in known:
                    is_it = is_certified and one.asset in (asset, *starts(asset))
                    yield self._untold(f"{made} {one.asset}", one, is_named=is_it)

    def _read(self, output: Output) -> Iterable[str]:
        """Return what the policy of an output makes it of."""
        if output.plan is not None:
            return output.plan.assets
        makers = self._makers(output.policy.uid, output.asset)
        return sorted({target for made in makers for target in made.clause.targets})

    def _told(self, way: str, one: Upstream) -> _Need:
        """Return what is needed of a release that is known by its digests."""
        if one.policy in self._view.void:
            return _Need(way, f"whose policy {one.policy} is void")
        makers = self._makers(one.policy, one.asset)
        if not makers:
            return _Need(way, f"whose policy {one.policy} is not among those in force")
        return self._needed(way, makers, one.output_digest)

    def _untold(self, way: str, made: RuleOutput, *, is_named: bool) -> _Need:
        """Return what is needed of an input that is not named as the release that it is.

        Certificates name their inputs (`is_named`); attestations do not, and nor is named what
        an input holds.
        """
        if is_named and made.asset not in attestable(made.policy):
            return _Need(way, "a certified release, without its certificate")
        if is_named:
            return _Need(way, "which was attested, without its attestation")
        return self._needed(way, self._makers(made.policy.uid, made.asset))

    def _needed(self, way: str, makers: Sequence[RuleOutput], digest: str = "") -> _Need:
        policy, asset = makers[0].policy, makers[0].asset
        output = self._output(policy, asset, digest)
        found = self._of(output)
        if not found:
            about = f" {output.refusal}" if output.refusal else ""
            return _Need(
                way, f"of which no certificate is given that is valid for {policy.uid}.{about}"
            )
        over = self._over(makers)
        if over:
            return _Need(way, f"which is not to be made any more: {over}")
        return _Need(way, "", found)

    def _makers(self, uid: str, asset: str) -> list[RuleOutput]:
        return [one for one in self._view.index.makers.get(asset, ()) if one.policy.uid == uid]


def _sentence(why: str) -> str:
    return f"{why.removesuffix('.')}." if why else ""


def output_inputs(output: Output, made: RuleOutput, targets: Sequence[str]) -> tuple[str, ...]:
    """Return what the targets were made from: the columns of the input that are in them.

    All that went into the output, where a target is the output, or holds it, or where it is a
    model; what was left out, as identifiers are, is in no output.
    """
    if output.plan is None:
        return tuple(sorted(made.clause.targets))
    return target_columns(output.plan, made.asset, targets)


def target_columns(plan: Plan, asset: str, targets: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of the inputs of a plan that are in targets, which are of its output."""
    names = [column_name(asset, target) for target in targets]
    known = set(plan.publish.columns)
    asked = [name and (name if name in known else _ranged_column(name)) for name in names]
    if plan.train is None and all(name in known for name in asked):
        columns = tuple(name for name in asked if name)
    else:
        columns = plan.publish.columns
    # What rows are put together by is read for each of them.
    keys = (column_iri(one.asset, one.on) for one in (plan.join.inputs if plan.join else ()))
    return tuple(dict.fromkeys((*map(plan.iri_of, columns), *keys)))


def _ranged_column(name: str) -> str:
    """Return the column whose ranges stand in two columns, given one of the two."""
    return name.removesuffix("_low").removesuffix("_high")
