"""Outputs read together with their inputs or with other outputs of these; rules that name both."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from policy_engine.decision.closures import Closures
from policy_engine.decision.views import View
from policy_engine.policy import Rule
from policy_engine.policy.joining import named_jointly


@dataclass(frozen=True, slots=True)
class Mix:
    """An output read together with something that it was made from, directly or indirectly.

    Or two outputs that are both made from `shared`. Whoever sees both can link each output row to a
    person's row; and a class of one and a class of the other may have only a single row in common.
    """

    output: str
    source: str
    shared: str = ""

    def __str__(self) -> str:
        """Return the mix in words."""
        if self.shared:
            return f"{self.output} and {self.source} are both made from {self.shared}"
        return f"{self.output} is made from {self.source}"


def mixes(targets: Sequence[str], outputs: Collection[str], view: View) -> list[Mix]:
    """Return the outputs that targets read together with their inputs or other outputs of these.

    Whatever lies inside an output belongs to the output, even if it also lies inside its input, if
    those say so who make it: nobody else's word moves a part of the input into the output. A single
    target reads both if it contains both.
    """
    if not outputs:
        return []
    closures, found_mixes = view.closures, []
    sources = {output: tuple(_sources(output, view)) for output in outputs}
    for output, made_from in sources.items():
        makers = view.makers_closures(output)
        within = {one for one in targets if output in closures.reach("asset", one)}
        inside = {one for one in within if all(output in own.reach("asset", one) for own in makers)}
        outside = [one for one in targets if one not in inside]
        above = closures.up("asset", output)
        for source in made_from if outside else ():
            overlapping = {one for one in outside if closures.overlaps("asset", one, source)}
            wide = (one in above and source not in closures.reach("asset", one) for one in outside)
            if (overlapping and any(wide)) or any(within - {one} for one in overlapping):
                found_mixes.append(Mix(output, source))
    pairs_found = {frozenset((one.output, one.source)) for one in found_mixes}
    pairs = _outputs_sharing_source(targets, sources, closures) if len(sources) > 1 else ()
    return [*found_mixes, *(one for one in pairs if {one.output, one.source} not in pairs_found)]


def _outputs_sharing_source(
    targets: Sequence[str], sources: Mapping[str, Sequence[str]], closures: Closures
) -> Iterator[Mix]:
    """Yield pairs of outputs that are made from the same source.

    If several share it, each is paired with the first: a rule that names all pairs names all of
    them.
    """
    exact: dict[str, str] = {}
    wider: dict[str, str] = {}
    for output in sources:
        if not _is_read(output, targets, sources[output], closures):
            continue
        shared: dict[str, str] = {}
        for source in sources[output]:
            above = closures.reach("asset", source)
            sharing = (wider.get(source), *(exact.get(name) for name in (source, *above)))
            shared |= {one: source for one in sharing if one and one != output}
            exact.setdefault(source, output)
            for name in above:
                wider.setdefault(name, output)
        yield from (Mix(one, output, source) for one, source in shared.items())


def _is_read(output: str, targets: Sequence[str], made_from: Sequence[str], own: Closures) -> bool:
    """Return whether a target is inside an output, or contains it without being its input."""
    above = own.up("asset", output)
    reach = (own.reach("asset", one) for one in targets)
    return any(
        output in wide or (one in above and not any(name in wide for name in made_from))
        for one, wide in zip(targets, reach, strict=True)
    )


def names_both(rule: Rule, mix: Mix, targets: Sequence[str], closures: Closures) -> bool:
    """Return whether a permission names both sides of a mix in `pe:jointly`.

    An asset that contains an output or its source names neither, and each target must lie inside a
    named asset. `closures` are those of the rule's own policy.
    """
    named_assets = [iri for iri, _ in named_jointly(rule)]
    above = {one: closures.up("asset", one) for one in (*named_assets, *targets)}
    has_output = any(mix.output in above[one] for one in named_assets)
    has_source = any(
        mix.source in above[one] and mix.output not in above[one] for one in named_assets
    )
    is_within = all(any(one in above[target] for one in named_assets) for target in targets)
    return has_output and has_source and is_within


def _sources(output: str, view: View) -> Iterator[str]:
    """Yield what an output is made from, directly and indirectly, each once."""
    inputs = view.index.inputs
    visited, queue = {output}, [output]
    for asset in queue:
        for source in inputs.get(asset, ()):
            if source not in visited:
                visited.add(source)
                yield source
                queue += [one for one in view.outputs(source) if one not in queue]
