"""The strata of a sample: how many rows of each an output has, and how many its input."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from policy_engine.engines.samples import SampleFigures
from policy_engine.kernels.binomial import is_plausible
from policy_engine.kernels.sampling import nearest_sizes, size_bounds
from policy_engine.plan.steps import Sample

Stratum = tuple[int, int]
"""128 bits, the same for the same values of an input and of an output."""
SampledRows = Mapping[tuple[Stratum, float | None], int]
"""The rows of an output by their stratum and their weight, None for what is not a number."""


@dataclass(frozen=True)
class InputStrata:
    """The strata of an input of so many `rows`: the `units` of each, rows or persons."""

    rows: int
    units: Mapping[Stratum, int] = field(repr=False)

    @property
    def total(self) -> int:
        """The units of all strata."""
        return sum(self.units.values())

    def sizes(self, step: Sample) -> Mapping[Stratum, range]:
        """Return how many units each stratum can give to an exact sample."""
        counts = np.array([*self.units.values()], dtype=np.int64)
        if step.size is None:
            least = most = nearest_sizes(counts, step.share or 0)
        else:
            least, most = size_bounds(counts, min(step.size, self.total))
        ranges = zip(self.units, least.tolist(), most.tolist(), strict=True)
        return {one: range(low, high + 1) for one, low, high in ranges}

    def exact_size(self, step: Sample) -> int | None:
        """Return how many units are sampled, None for a Bernoulli sample."""
        if step.size is not None or not step.is_exact:
            return step.size
        return sum(one.start for one in self.sizes(step).values())

    def false_figures(self, sample: SampleFigures, step: Sample) -> Iterator[str]:
        """Yield what a certificate says of a sample and the input contradicts."""
        if sample.strata not in (None, len(self.units)):
            yield f"Its sample has {sample.strata:,} strata, but the data have {len(self.units):,}."
        if sample.sampled is None or sample.share is None:
            return
        share, size = sample.sampled / self.total, self.exact_size(step)
        if sample.share != share:
            are = f"{sample.sampled:,} of the {self.total:,} {step.units} of the data are {share:g}"
            yield f"The share of its sample is {sample.share:g}, but {are}."
        if size not in (None, sample.sampled):
            yield f"Its sample has {sample.sampled:,} {step.units}, but must have {size:,}."


@dataclass(frozen=True)
class SampledOutput:
    """The rows `found` in an output by stratum and weight, which a `step` may have sampled.

    Up to this share of them may be `suppressed`. `strata` are those of the input, None where it is
    not at hand; if they `are_shown`, the values of the output tell them apart.
    """

    step: Sample
    found: SampledRows = field(repr=False)
    suppressed: float
    strata: InputStrata | None = None
    are_shown: bool = True

    def row_problems(self) -> Iterator[str]:
        """Yield that an output does not have as many rows as are sampled."""
        step, rows, strata = self.step, sum(self.found.values()), self.strata
        if strata and rows > strata.rows:
            yield f"The output has {rows:,} rows, the input {strata.rows:,}."
        elif not step.unit:
            sampled = strata.exact_size(step) if strata else step.size
            if sampled is not None:
                yield from self._exact_problems(rows, sampled)
            elif strata and step.share and not self._can_be_drawn(rows, strata.rows, step.share):
                message = f"The output has {rows:,} of {strata.rows:,} rows, which cannot be a "
                yield f"{message}sample with the share {step.share:g}."

    def false_figures(self, sample: SampleFigures) -> Iterator[str]:
        """Yield what a certificate says of a sample, and its input or its output contradicts."""
        if self.strata:
            yield from self.strata.false_figures(sample, self.step)
        elif self.are_shown and not self.suppressed:
            strata = len(self._weights_by_stratum)
            if sample.strata not in (None, strata):
                yield f"Its sample has {sample.strata:,} strata, but the output has {strata:,}."
            rows = sum((weight or 0) * rows for (_, weight), rows in self.found.items())
            sampled = sample.rows or 0
            if self._is_complete and rows and sample.share != (share := sampled / round(rows)):
                yield f"The share of its sample is {sample.share:g}, but by its weights {share:g}."

    def wrong_weights(self) -> int:
        """Return how many rows cannot have the weight of their stratum."""
        if not self.step.weight_column or not self.are_shown:
            return 0
        wrong = 0
        for stratum, by_weight in self._weights_by_stratum.items():
            rows = sum(by_weight.values())
            right = [
                count
                for weight, count in by_weight.items()
                if weight is not None and self._has_weight(stratum, rows, weight)
            ]
            wrong += rows - max(right, default=0)
        return wrong

    def _exact_problems(self, rows: int, sampled: int) -> Iterator[str]:
        allowed = int(self.suppressed * sampled)
        if not sampled - allowed <= rows <= sampled:
            message = f"The output has {rows:,} rows, but the policy samples {sampled:,}, of which "
            yield f"{message}{allowed:,} may be suppressed."
        elif wrong := self._wrong_strata():
            yield f"{wrong:,} strata of the output have other numbers of rows than are sampled."

    def _can_be_drawn(self, rows: int, rows_in: int, share: float) -> bool:
        may_be_few = bool(self.suppressed) and rows < share * rows_in
        return may_be_few or is_plausible(rows, rows_in, share)

    @cached_property
    def _weights_by_stratum(self) -> Mapping[Stratum, Mapping[float | None, int]]:
        grouped: dict[Stratum, Counter[float | None]] = {}
        for (stratum, weight), rows in self.found.items():
            grouped.setdefault(stratum, Counter())[weight] += rows
        return grouped

    @cached_property
    def _sizes(self) -> Mapping[Stratum, range]:
        """The number of units that each stratum gives, as far as the input tells."""
        return self.strata.sizes(self.step) if self.strata and self.step.is_exact else {}

    @property
    def _is_complete(self) -> bool:
        """Whether every sampled unit is one row of the output."""
        return not self.suppressed and not self.step.unit

    def _wrong_strata(self) -> int:
        """Return how many strata have other numbers of rows than are sampled."""
        if not (self._sizes and self.are_shown and self._is_complete):
            return 0
        rows = {one: sum(by_weight.values()) for one, by_weight in self._weights_by_stratum.items()}
        sizes = self._sizes
        return sum(rows.get(one, 0) not in sizes.get(one, ()) for one in {*sizes, *rows})

    def _has_weight(self, stratum: Stratum, rows: int, weight: float) -> bool:
        """Return whether so many rows of a stratum can have a weight."""
        if not 1 <= weight < float("inf"):
            return False
        if self.strata is None:
            return not self._is_complete or _is_whole(weight * rows)
        units = self.strata.units.get(stratum, 0)
        if self._is_complete:
            return weight == units / rows
        if stratum in self._sizes:
            return any(weight == units / size for size in self._sizes[stratum] if size)
        size = round(units / weight)
        return size > 0 and weight == units / size


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) <= 1e-9 * number
