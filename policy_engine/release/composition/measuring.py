"""Measure a release together with earlier ones of the same persons, on classes read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.encoding import ancestry
from policy_engine.engines.identified import ReleasedPersons, Respelt, Words
from policy_engine.errors import format_count
from policy_engine.kernels import diversity
from policy_engine.kernels.bounds import Ancestry
from policy_engine.kernels.intersections import (
    Intersections,
    PersonClasses,
    are_among,
    distinct_words,
    intersections,
)
from policy_engine.methods import Measurement
from policy_engine.plan.steps import Anonymize
from policy_engine.release.composition.figures import ComparedReleases, DistinctWithin


@dataclass(frozen=True, eq=False)
class MeasuredRelease:
    """A release whose output was read back: who is in which class, and all persons of its input."""

    released: ReleasedPersons
    everybody: Words
    step: Anonymize
    taxonomies: Mapping[str, Taxonomy]

    @property
    def persons(self) -> PersonClasses:
        """The classes of all persons."""
        return self.released.person_classes(self.everybody)

    def compare(
        self, earlier: Sequence[PersonClasses], release: str = "", entry: int = 0
    ) -> ComparedReleases:
        """Return what it tells together with earlier releases.

        Raises TooManyPairsError where persons are in too many classes.
        """
        met = intersections([self.persons, *earlier])
        others = distinct_words(np.concatenate([one.released for one in earlier]))
        own = self.persons.released
        candidates = met.candidates
        values, broken = self._values(met)
        left = int((~are_among(others, own)).sum())
        has_bounds = any(self.step.models_about(name) for name in self.released.values)
        return ComparedReleases(
            release=release,
            entry=entry,
            persons=len(met.persons),
            joined=int((~are_among(own, others)).sum()),
            left=left,
            unchecked=left if has_bounds else 0,
            least=int(candidates.min(initial=0)) if not len(candidates) else int(candidates.min()),
            below=int((candidates < self.step.k).sum()),
            values=values,
            broken=broken,
        )

    def _values(
        self, met: Intersections
    ) -> tuple[tuple[DistinctWithin, ...], tuple[Measurement, ...]]:
        """Return how few values intersections have, and the bounds that do not hold of them."""
        released = self.released
        rows, cell = met.cells_of_rows(released.persons, released.classes)
        numbers, cell = np.unique(cell, return_inverse=True)
        persons = released.numbered() if self.step.columns.privacy_unit else None
        values, broken = [], []
        for name, column in released.values.items():
            codes, own = column.values(), None if persons is None else persons[rows]
            whole = diversity.histogram(
                released.classes, int(released.classes.max(initial=-1)) + 1, codes, persons
            )
            met_values = diversity.histogram(cell, len(numbers), codes[rows], own)
            met_values = replace(met_values, overall=whole.overall)
            least = int(diversity.distinct(met_values).min(initial=2**31))
            values.append(DistinctWithin(column=name, least=least if len(numbers) else 0))
            for model, setting in self.step.models_about(name):
                figures = model.figures(met_values, setting, self._ancestry(name, setting.taxonomy))
                measured = Measurement.of(model.bound(setting), figures)
                broken += [] if measured.holds else [_finite(measured)]
        return tuple(values), tuple(broken)

    def _ancestry(self, name: str, taxonomy: str) -> Ancestry | None:
        if not taxonomy:
            return None
        return ancestry(name, self.released.values[name], self.taxonomies[taxonomy])


def _finite(measured: Measurement) -> Measurement:
    """Return a measurement that JSON can hold."""
    if np.isfinite(measured.achieved):
        return measured
    return measured.model_copy(update={"achieved": 1e300})


def persons_written_anew(
    own: Words, respelt: Respelt, earlier: PersonClasses, earlier_respelt: Respelt, unit: str
) -> str:
    """Return why persons of two releases who are not known again may be the same, empty where they
    are not.

    Words tell only whether texts are equal: of persons who may be written another way, a second
    word tells what all ways have in common. One that somebody has who left and somebody who joined
    may be one person, who would count as two, and hide that few did either.
    """
    own, before = distinct_words(own), distinct_words(earlier.persons)
    joined = _common_words(own[~are_among(own, before)], respelt)
    left = _common_words(before[~are_among(before, own)], earlier_respelt)
    alike = int(are_among(joined, left).sum())
    if not alike:
        return ""
    words = f"{format_count(alike, 'person')} who left and joined {'is' if alike == 1 else 'are'} "
    return f"{words}the same but for case, blanks or punctuation, as far as {unit!r} tells"


def _common_words(persons: Words, respelt: Respelt) -> Words:
    """Return what all ways to write some persons have in common, each once."""
    keys, plain = respelt
    if not len(keys):
        return persons
    order = np.argsort(keys)
    keys, plain = keys[order], plain[order]
    place = np.minimum(np.searchsorted(keys, persons), len(keys) - 1)
    return distinct_words(np.where(keys[place] == persons, plain[place], persons))


def unknown_persons(own: Words, earlier: PersonClasses, unit: str) -> str:
    """Return why persons of two releases cannot be known again, empty where they can.

    By a unit of privacy they can, unless nobody is in both: then it is likely that it is written
    another way. Rows are known again by their content: one that was
    changed looks like one that was removed beside one that was added, so that one input has to have
    all rows of the other.
    """
    own, before = distinct_words(own), distinct_words(earlier.persons)
    same = int(are_among(own, before).sum())
    if unit:
        is_unlike = not same and len(own) and len(before)
        return f"no person is in both, as far as {unit!r} tells" if is_unlike else ""
    if same == min(len(own), len(before)):
        return ""
    return (
        "rows were changed, or some were removed and others added, and no column tells persons "
        "apart (name one as the unit of privacy)"
    )
