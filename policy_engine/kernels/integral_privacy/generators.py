"""Models that many samples of a table lead to, found by training on many of them.

What is found is a lower bound: further samples may lead to the same model.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.integral_privacy.alternatives import Alternatives

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class GeneratedModel:
    """A model and what was found of its generators, the sets of rows whose training led to it.

    `generators` is how many of them contain no other one: equal samples are one generator, and one
    that only adds rows to another does not count. `common` is how many rows are in all of them, of
    which whoever knows the model knows that it was trained on them. `accuracy` is the lowest that
    was measured of it.
    """

    model: Hashable
    accuracy: float
    generators: int
    common: int

    def is_integrally_private(self, k: int) -> bool:
        """Return whether it has at least k generators, and no row is in all of them."""
        return self.generators >= k and self.common == 0


def generated_models(
    models: Sequence[Hashable], samples: Sequence[Ints], accuracies: Sequence[float]
) -> tuple[GeneratedModel, ...]:
    """Return the distinct models, those of most generators first.

    `models` are in a canonical form, the one that would be published; `samples` holds the numbers
    of the rows that each was trained on, where a row that was drawn twice is one. An accuracy is
    comparable with others where it was measured on the same rows, best on none of the samples.
    """
    places: dict[Hashable, list[int]] = defaultdict(list)
    for at, model in enumerate(models):
        places[model].append(at)
    generated = [
        _generated(
            model, [samples[at] for at in chosen], float(min(accuracies[at] for at in chosen))
        )
        for model, chosen in places.items()
    ]
    return tuple(sorted(generated, key=lambda one: (-one.generators, *_preference(one))))


def _generated(model: Hashable, samples: Sequence[Ints], accuracy: float) -> GeneratedModel:
    rows, place = np.unique(np.concatenate(list(samples)), return_inverse=True)
    sets = np.zeros((len(samples), len(rows)), dtype=bool)
    sets[np.repeat(np.arange(len(samples)), [len(one) for one in samples]), place] = True
    generators = Alternatives.of(sets).minimal()
    return GeneratedModel(model, accuracy, len(generators), int(generators.common().sum()))


def _preference(one: GeneratedModel) -> tuple[float, int, str]:
    # The model's text decides last, so that the order of the samples never does.
    return -one.accuracy, -one.generators, repr(one.model)


def most_accurate(models: Sequence[GeneratedModel], k: int) -> GeneratedModel | NotApplicable:
    """Return the most accurate model with k-anonymous integral privacy.

    Of equals, the one with more generators. `NotApplicable` if no model has it.
    """
    private = [one for one in models if one.is_integrally_private(k)]
    if private:
        return min(private, key=_preference)
    most = max((one.generators for one in models if not one.common), default=0)
    return NotApplicable(
        reason=f"no model has {k} generators without a row in common: the most found are {most}"
    )
