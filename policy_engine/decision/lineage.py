"""Whether all that an output was made from still stands, and whose prohibitions reach it."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from policy_engine.attestation import attestable
from policy_engine.catalog import column_iri, column_name
from policy_engine.decision.index import Made
from policy_engine.decision.outputs import Output
from policy_engine.decision.views import View
from policy_engine.lineage import Upstream
from policy_engine.plan import Plan
from policy_engine.policy import Policy
from policy_engine.policy.clashes import starts

OutputOf = Callable[[Policy, str, str], Output]
"""The output that a policy speaks of, with a certificate of a digest that is valid for it."""
Over = Callable[[Made], str]
"""Why what a rule made is not to be made any more, empty where it is."""


class Lineage:
    """What outputs were made from, under the policies and certificates that are given.

    A release stands as long as all that it was made from does: each release before it needs its
    policy, in force, and a certificate of the very output that is valid for it.
    """

    def __init__(self, view: View, output: OutputOf, over: Over) -> None:
        self._view = view
        self._output = output
        self._over = over

    def fails(self, output: Output) -> str:
        """Return why what an output was made from lets nobody read it, empty where it stands.

        The reason names the way, from the output to what is wrong.
        """
        found = self._fails(output, frozenset())
        return f"{found.removesuffix('.')}." if found else ""

    def ended(self, one: Upstream) -> str:
        """Return why a release lets nobody read what is made from it, empty where it stands."""
        why = self._ended(one, frozenset()).removesuffix(".")
        if not why:
            return ""
        return f"{why.removeprefix('and ') if why.startswith('and ') else f'{one.asset}, {why}'}."

    def _fails(self, output: Output, seen: frozenset[str]) -> str:
        certificate, plan = output.certificate, output.plan
        if certificate is None or plan is None or output.asset in seen:
            return ""
        told = {one.asset: one for one in certificate.upstream}
        made = f"{output.asset} was made from"
        for source in chain(*map(self._makers_of, plan.assets)):
            if source.asset != output.asset and source.asset not in told:
                why = self._unknown(source)
                if why:
                    return f"{made} {source.asset}, {why}"
        for one in told.values():
            why = self._ended(one, seen | {output.asset})
            if why:
                return f"{made} {one.asset}, {why}"
        return ""

    def _ended(self, one: Upstream, seen: frozenset[str]) -> str:
        if one.policy in self._view.void:
            return f"whose policy {one.policy} is void"
        makers = self._view.index.makers.get(one.asset, ())
        made = next((maker for maker in makers if maker.policy.uid == one.policy), None)
        if made is None:
            return f"whose policy {one.policy} is not among those in force"
        output = self._output(made.policy, one.asset, one.output_digest)
        if output.certificate is None:
            about = f" {output.refusal}" if output.refusal else ""
            return f"of which no certificate is given that is valid for {one.policy}.{about}"
        over = self._over(made)
        if over:
            return f"which is not to be made any more: {over}"
        further = self._fails(output, seen)
        return f"and {further}" if further else ""

    def _unknown(self, source: Made) -> str:
        """Return what is wrong with an input that a certificate does not name."""
        if source.asset not in attestable(source.policy):
            return "a certified release, without its certificate"
        output = self._output(source.policy, source.asset, "")
        return "" if output.attested else "which nobody attests"

    def _makers_of(self, asset: str) -> Iterator[Made]:
        """Yield who makes the outputs that an input is, or is a part of by its IRI."""
        for name in (asset, *starts(asset)):
            makers = self._view.index.makers.get(name, ())
            yield from (one for one in makers if one.policy.uid not in self._view.void)


def inputs_of(output: Output, made: Made, targets: Sequence[str]) -> tuple[str, ...]:
    """Return what the targets were made from: the columns of the input that are in them.

    All that went into the output, where a target is the output, or holds it, or where it is a
    model; what was left out, as identifiers are, is in no output.
    """
    if output.plan is None:
        return tuple(sorted(made.clause.targets))
    return columns_of(output.plan, made.asset, targets)


def columns_of(plan: Plan, asset: str, targets: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of the inputs of a plan that are in targets, which are of its output."""
    names = [column_name(asset, target) for target in targets]
    known = set(plan.publish.columns)
    asked = [name and (name if name in known else _whole(name)) for name in names]
    if plan.train is None and all(name in known for name in asked):
        columns = tuple(name for name in asked if name)
    else:
        columns = plan.publish.columns
    # What rows are put together by is read for each of them.
    keys = (column_iri(one.asset, one.on) for one in (plan.join.inputs if plan.join else ()))
    return tuple(dict.fromkeys((*map(plan.iri_of, columns), *keys)))


def _whole(name: str) -> str:
    """Return the column whose ranges stand in two columns, given one of the two."""
    return name.removesuffix("_low").removesuffix("_high")
