"""Some of many persons, who stand for all."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ChosenPersons:
    """The numbers of some `persons`, (n,), of `every` person, numbered from 0."""

    persons: Ints
    every: int

    def stand_for_all(self, chances: Floats, is_among: NDArray[np.bool_] | None = None) -> Floats:
        """Return a probability for every person, (every,), from those of the chosen ones, (n,).

        The others have the mean of these, and two standard errors more. It is 0 for whoever is not
        among the persons of interest, `is_among` (every,); of them is the mean.
        """
        among = np.ones(self.every, dtype=bool) if is_among is None else is_among
        probabilities, own = np.zeros(self.every), chances[among[self.persons]]
        if len(own):
            error = own.std() / np.sqrt(len(own))
            probabilities[:] = min(own.mean() + 2 * error, 1.0)
            probabilities[self.persons] = chances
        probabilities[~among] = 0.0
        return probabilities


def order_persons(known_values: Floats) -> Ints:
    """Return the order of persons by what is known of them, (persons, columns).

    Every so many-th in it stands for all of them; which ones, no order of rows decides.
    """
    order: Ints = np.lexsort(known_values.T)
    return order


def choose_persons(order: Ints, most: int) -> ChosenPersons:
    """Return about so many persons at most, at equal steps of their order."""
    return ChosenPersons(order[:: max(len(order) // max(most, 1), 1)], len(order))
