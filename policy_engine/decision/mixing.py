"""Outputs that are read together with what they are made from, and the rules that name both."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from policy_engine.decision.closures import Closures
from policy_engine.decision.views import View
from policy_engine.policy import Rule
from policy_engine.policy.joining import named_jointly


@dataclass(frozen=True, slots=True)
class Mix:
    """An output, and something that it is made from, near or far, that are read together.

    Who sees both side by side tells whose row each row of the output is.
    """

    output: str
    source: str


def mixes(targets: Sequence[str], outputs: Iterable[str], view: View) -> list[Mix]:
    """Return the outputs, among some, that targets read together with what these are made from.

    What lies within an output is the output's, even where that lies within its input; a single
    target reads both where it is above both.
    """
    closures, found = view.closures, []
    for output in dict.fromkeys(outputs):
        own = [one for one in targets if output in closures.reach("asset", one)]
        others = [one for one in targets if one not in own]
        above = closures.up("asset", output)
        for source in _sources(output, view) if others else ():
            read = [one for one in others if closures.overlaps("asset", one, source)]
            wide = (one in above and source not in closures.reach("asset", one) for one in others)
            if read and (own or any(wide)):
                found.append(Mix(output, source))
    return found


def names(rule: Rule, mix: Mix, targets: Sequence[str], closures: Closures) -> bool:
    """Tell whether a permission names a mix: an asset on either side of it, in `pe:jointly`.

    What lies above an output or its source names neither, and each of the targets has to lie in
    what is named. `closures` are those of the rule's own policy.
    """
    listed = [iri for iri, _ in named_jointly(rule)]
    above = {one: closures.up("asset", one) for one in (*listed, *targets)}
    of_output = any(mix.output in above[one] for one in listed)
    of_source = any(mix.source in above[one] and mix.output not in above[one] for one in listed)
    is_within = all(any(one in above[target] for one in listed) for target in targets)
    return of_output and of_source and is_within


def _sources(output: str, view: View) -> Iterator[str]:
    """Yield what an output is made from, and what that is made from, each once."""
    inputs = view.index.inputs
    seen, queue = {output}, [output]
    for made in queue:
        for source in inputs.get(made, ()):
            if source not in seen:
                seen.add(source)
                yield source
                queue += [one for one in view.outputs(source) if one not in queue]
