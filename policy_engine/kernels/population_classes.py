"""The classes of a sample and of its population, by the combinations of their key variables.

Tables are (rows, columns) of codes, of the same columns in the same order and with the same
meaning: cells of the population are generalised as those of the sample are. -1 stands for a missing
value, which is a value of its own.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.grouping import classes_of

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PopulationClasses:
    """Every combination of key variables that the sample or the population has.

    `class_of` (records,) is the class of each record of the sample. `frequencies` (classes,) are
    how many records each has, and `population` (classes,) how many persons; either may be 0.
    """

    class_of: Ints
    frequencies: Ints
    population: Ints

    @classmethod
    def of(cls, sample: Ints, population: Ints, persons: Ints | None = None) -> "PopulationClasses":
        """Return the classes of two tables of codes.

        `persons` (rows,) is how many persons each row of the population stands for; without it,
        each is one person.
        """
        columns = zip(sample.T, population.T, strict=True)
        both = [np.concatenate(pair).astype(np.int32) + np.int32(1) for pair in columns]
        classes, count = classes_of(both)
        class_of, others = np.split(classes, [len(sample)])
        of_population = np.bincount(others, minlength=count)
        if persons is not None:
            of_population = np.zeros(count, dtype=np.int64)
            np.add.at(of_population, others, persons)
        return cls(class_of, np.bincount(class_of, minlength=count), of_population)

    def sampled(self) -> "tuple[Ints, Ints] | NotApplicable":
        """Return the frequencies in the sample and in the population of the sample's classes.

        `NotApplicable` if the population has fewer persons of a class than the sample has records:
        then it does not contain the sample, and no risk can be told from it.
        """
        missing = int(np.maximum(self.frequencies - self.population, 0).sum())
        if missing:
            return NotApplicable(
                reason=f"the population does not contain the sample: {missing:,} of its "
                f"{len(self.class_of):,} records have nobody there with the same values"
            )
        is_sampled = self.frequencies > 0
        return self.frequencies[is_sampled], self.population[is_sampled]

    def published(self) -> tuple[Ints, Ints]:
        """Return the frequencies in the sample and in the population of the population's classes.

        Of these, `presence` tells who is in the sample.
        """
        is_populated = self.population > 0
        return self.frequencies[is_populated], self.population[is_populated]
