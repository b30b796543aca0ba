"""What assets were made from, directly and indirectly, from every available source."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from policy_engine.certificate.certificate import Certificate
from policy_engine.decision.history import MadeFrom
from policy_engine.decision.lineage import OutputLookup, output_inputs, target_columns
from policy_engine.decision.outputs import output_plans
from policy_engine.decision.views import View
from policy_engine.plan.plan import Plan
from policy_engine.policy import Policy
from policy_engine.policy.model import OFFER

_NONE: Mapping[str, Sequence[MadeFrom]] = MappingProxyType({})


@dataclass(frozen=True)
class _PastOutput:
    """An output made under a policy not in force, or under another text of a policy in force.

    Without a plan, all of the `inputs` went into it.
    """

    asset: str
    by: frozenset[str]
    plan: Plan | None
    inputs: tuple[str, ...] = ()

    def sources(self, asset: str) -> tuple[str, ...]:
        return target_columns(self.plan, self.asset, (asset,)) if self.plan else self.inputs


class Origins:
    """What was made from what: by the policies in force, and according to other evidence.

    Withdrawing, replacing or voiding a policy does not undo that its output was read. So
    certificates are used as well, whatever became of their policies, and so are policies that are
    given but void, or have `ended`.
    """

    def __init__(
        self,
        view: View,
        output: OutputLookup,
        certificates: Sequence[Certificate],
        ended: Sequence[Policy] = (),
    ) -> None:
        self._view = view
        self._output = output
        self._certificates = certificates
        self._ended = ended
        self._past_memo: tuple[_PastOutput, ...] | None = None

    def trace(
        self,
        assets: Iterable[str],
        earlier: Mapping[str, Sequence[MadeFrom]] = _NONE,
        unless: Collection[str] | None = None,
        itself: Collection[str] = (),
    ) -> Iterator[MadeFrom]:
        """Yield the direct and indirect origins of assets.

        `earlier` gives further origins, by asset. Something made by all of the parties `unless` is
        not followed, nor, among current makers, something made only from the outputs `itself`.
        """
        queue = [*dict.fromkeys(assets)]
        visited = {*queue}
        for asset in queue:
            origins = (*self._asset_origins(asset, itself), *earlier.get(asset, ()))
            for one in _best_origins(origins):
                if unless is None or not all(party in one.by for party in unless):
                    yield one
                    sources = [source for source in one.sources if source not in visited]
                    visited.update(sources)
                    queue += sources

    def _asset_origins(self, asset: str, itself: Collection[str] = ()) -> Iterator[MadeFrom]:
        current = [*self._current_origins(asset)]
        is_itself = bool(itself) and itself == self.outputs(asset)
        current_sources = {source for one in current for source in one.sources} if is_itself else ()
        yield from () if is_itself else current
        for one in self._past():
            if self._view.closures.overlaps("asset", asset, one.asset):
                sources = one.sources(asset)
                if not is_itself or any(source not in current_sources for source in sources):
                    yield MadeFrom(asset, tuple(sorted(one.by)), sources)

    def _current_origins(self, asset: str) -> Iterator[MadeFrom]:
        """Yield the origins of an asset under the policies in force."""
        for output_rule in self._view.output_rules(asset):
            sources = output_inputs(
                self._output(output_rule.policy, output_rule.asset, ""), output_rule, (asset,)
            )
            yield MadeFrom(asset, tuple(sorted(output_rule.clause.assigners)), sources)

    def outputs(self, asset: str) -> frozenset[str]:
        """Return the outputs that an asset is, belongs to or contains, or may."""
        return frozenset(self._view.outputs(asset))

    def _past(self) -> tuple[_PastOutput, ...]:
        if self._past_memo is None:
            void = (one for one in self._view.index.policies if one.uid in self._view.void)
            past_outputs = (
                past for policy in (*void, *self._ended) for past in _past_outputs(policy)
            )
            self._past_memo = (
                *past_outputs,
                *filter(None, map(self._certified_past, self._certificates)),
            )
        return self._past_memo

    def _certified_past(self, one: Certificate) -> _PastOutput | None:
        """Return the output of a certificate, None if the policies in force say the same."""
        plan, asset = one.plan, one.plan.publish.asset
        output_rules = self._view.index.output_rules.get(asset, ())
        same_policy = [
            output_rule for output_rule in output_rules if output_rule.policy.uid == plan.policy
        ]
        if any(output_rule.policy.digest == plan.policy_digest for output_rule in same_policy):
            return None
        assigners = [output_rule.clause.assigners for output_rule in same_policy] or [
            self._owners(asset)
        ]
        return _PastOutput(asset, assigners[0], plan)

    def _owners(self, asset: str) -> frozenset[str]:
        """Return the stated owners of what a policy made, if nothing more is known about it."""
        standing = self._view.standing
        return frozenset(standing.of(asset).owners) if standing else frozenset()


def _best_origins(origins: Iterable[MadeFrom]) -> Iterator[MadeFrom]:
    """Yield the origins, each once, without unknown makers where a maker is known."""
    distinct = dict.fromkeys(origins)
    attributed = {source for one in distinct if one.by for source in one.sources}
    yield from (one for one in distinct if one.by or not attributed.issuperset(one.sources))


def _past_outputs(policy: Policy) -> Iterator[_PastOutput]:
    if policy.type == OFFER:
        return
    plans = output_plans(policy)
    for rule in policy.permissions:
        if rule.output:
            inputs = tuple(sorted(target.iri for target in rule.targets))
            yield _PastOutput(rule.output, rule.issued_by, plans.get(rule.output), inputs)
