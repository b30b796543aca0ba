"""Members are near to samples: the Monte Carlo attacks, in one pass over the samples."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.kept_arrays import check_kept
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.record_marks import record_marks
from policy_engine.audits.generative.sampling import Sampler, marks
from policy_engine.audits.generative.spaces.space import RecordSpace
from policy_engine.errors import AuditError
from policy_engine.kernels.generative.ball_counts import BallCounts, pooled_quantiles
from policy_engine.kernels.generative.nearest_samples import NearestSamples

Floats = NDArray[np.float64]

NEAREST = "nearest-sample"
NEAREST_ANY_CLASS = "nearest-sample-any-class"
PERCENTILES = (0.01, 0.1, 1.0, 10.0)
MOST_ANY_CLASS = 10_000
"""So many samples of a model are compared across classes."""
BALLS: Mapping[str, tuple[int, bool]] = MappingProxyType(
    {
        f"{kind}{'' if percentile == 0.1 else f'-{percentile:g}%'}": (place, is_weighted)
        for place, percentile in enumerate(PERCENTILES)
        for kind, is_weighted in (("epsilon-ball", False), ("epsilon-ball-distance", True))
    }
)
"""The attacks by samples within a radius, by name: the place of its percentile, and whether nearer
samples count more. The percentile is .1 where the name has none, whatever would be best here."""
ATTACKS = (NEAREST, *BALLS)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The scores (n,) of the nearest-sample attack after so many samples."""

    samples: int
    scores: Floats


class MonteCarlo:
    """What samples say of the audited records so far, whatever their number.

    Records are compared with samples of their class where they have labels. The radii of balls are
    percentiles of the distances of all pairs, by the first batch, and then stay: pairs of a
    reference where there is one, and of the audited records, members or not, where there is none.
    Only balls by the `percentiles` are counted, the first of `PERCENTILES`: the wider they are, the
    more pairs lie in them. The references themselves are compared with the samples where that is
    asked for (`calibrated`). The first samples, at most `any_class`, are compared with the records
    of all classes, too: of ten classes, that takes ten times as long. MOSAICrOWN D5.2, section
    4.4.2.
    """

    def __init__(
        self,
        material: Material,
        space: RecordSpace,
        *,
        percentiles: Sequence[float] = PERCENTILES,
        with_references: bool = False,
        any_class: int = MOST_ANY_CLASS,
        radii: Floats | None = None,
    ) -> None:
        self.material, self.space = material, space
        self.samples = 0
        self.growth: list[Snapshot] = []
        self._percentiles = percentiles
        self._points = space.apply(material.audited.values)
        self._nearest = NearestSamples(self._points, material.audited.labels, ranks=space.ranks)
        self._marks = record_marks(material.audited) if material.is_table else None
        self._most_any = any_class if material.has_classes else 0
        self._any = NearestSamples(self._points, ranks=space.ranks) if self._most_any else None
        self._is_copied = np.zeros(len(material.audited), np.bool_)
        self._balls = None if radii is None else self._with_radii(radii)
        reference = material.fitting if with_references else None
        self._references = (
            NearestSamples(space.apply(reference.values), reference.labels, ranks=space.ranks)
            if reference
            else None
        )

    def _with_radii(self, radii: Floats) -> BallCounts:
        labels = self.material.audited.labels
        return BallCounts(self._points, labels, radii, ranks=self.space.ranks)

    @property
    def distances(self) -> Floats:
        """The distance of each record to the nearest sample of its class, (n,), or inf.

        Of rows of tables, 0 is that of equal ones alone, whatever is rounded in a space.
        """
        distances = np.sqrt(self._nearest.squares[:, 0])
        if self._marks is None:
            return distances
        return np.where(self._is_copied, 0.0, np.maximum(distances, _LEAST))

    @property
    def reference_distances(self) -> Floats | None:
        """The same of each reference for `fitting`; None where they are not compared."""
        return None if self._references is None else np.sqrt(self._references.squares[:, 0])

    @property
    def compares_any_class(self) -> bool:
        """Whether samples are compared with the records of all classes, too."""
        return self._any is not None

    @property
    def radii(self) -> Floats | None:
        """The radii of the balls, one for each percentile; None before any sample."""
        return None if self._balls is None else self._balls.radii

    def update(self, batch: RecordSet) -> None:
        """Compare samples with the records."""
        if self._marks is not None:
            self._is_copied |= np.isin(self._marks, record_marks(batch))
        self._update_points(self.space.apply(batch.values), batch)

    def updates(self, sampler: Sampler, samples: int) -> Iterator[Callable[[], None]]:
        """Yield what compares the next batch of so many samples, after those compared already.

        Where points are all that is needed of samples, these are made of each class as it is drawn,
        while it is in the cache.
        """
        seed, start = self.material.seed, self.samples
        if self._marks is not None:
            for batch in sampler.batches(samples, seed, start):
                yield partial(self.update, batch)
            return
        for batch in sampler.batches(samples, seed, start, self.space.apply):
            yield partial(self._update_points, batch.values, batch)

    def _update_points(self, points: NDArray[Any], batch: RecordSet) -> None:
        if self._percentiles and self._balls is None:
            self._balls = self._with_radii(self._quantiles(points, batch))
        self._nearest.update(points, batch.labels)
        if self._any is not None and self.samples < self._most_any:
            self._any.update(points, None)
        if self._references is not None:
            self._references.update(points, batch.labels)
        if self._balls is not None:
            self._balls.update(points, batch.labels)
        self.samples += len(batch)

    def _quantiles(self, points: NDArray[np.float32], batch: RecordSet) -> Floats:
        pool = self.material.reference or self.material.audited
        rows = np.linspace(0, len(pool) - 1, min(len(pool), _POOL)).astype(np.int64)
        pooled = self.space.apply(pool.values[rows])
        labels = None if pool.labels is None else pool.labels[rows]
        shares = np.array(self._percentiles) / 100
        arrays = pooled, labels, points, batch.labels
        radii = pooled_quantiles(*arrays, shares, ranks=self.space.ranks)
        return np.maximum(radii, _LEAST)

    def snapshot(self) -> None:
        """Keep the scores of now, to be shown against the number of samples."""
        self.growth.append(Snapshot(self.samples, self.scores()))

    def merge(self, other: "MonteCarlo") -> None:
        """Take in what other samples, of another seed, said of the same records.

        Raises ValueError where the records or the radii are not the same.
        """
        self._merge(other.arrays())

    def _merge(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        if self._balls is not None and "radii" in arrays:
            if not np.array_equal(self._balls.radii, arrays["radii"]):
                raise ValueError("the radii of the balls differ: start both with the same")
            self._balls.merge(arrays["rings"], arrays["logarithms"], arrays["compared"])
        self._nearest.merge(arrays["squares"])
        self._is_copied |= arrays["copied"]
        if self._references is not None:
            self._references.merge(arrays["reference_squares"])
        if self._any is not None:
            self._any.merge(arrays["any_class_squares"])
        self.samples += int(arrays["samples"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that is needed to go on later, or on another machine."""
        arrays: dict[str, NDArray[Any]] = {
            "samples": np.array(self.samples),
            "squares": self._nearest.squares,
            "copied": self._is_copied,
            "growth_samples": np.array([one.samples for one in self.growth], np.int64),
            "growth_scores": np.array([one.scores for one in self.growth]),
        }
        if self._references is not None:
            arrays["reference_squares"] = self._references.squares
        if self._any is not None:
            arrays["any_class_squares"] = self._any.squares
        if self._balls is not None:
            arrays["radii"], arrays["rings"] = self._balls.radii, self._balls.rings
            arrays["logarithms"] = self._balls.logarithms
            arrays["compared"] = self._balls.compared
        return arrays

    @classmethod
    def from_arrays(
        cls, material: Material, space: RecordSpace, arrays: Mapping[str, NDArray[Any]]
    ) -> "MonteCarlo":
        """Return the state that was saved, for the same records and space.

        Raises ValueError where they are not what `arrays` returns of so many records, KeyError
        where one is missing.
        """
        check_kept(arrays, material.audited, material.fitting, len(PERCENTILES))
        radii = arrays.get("radii")
        state = cls(
            material,
            space,
            percentiles=PERCENTILES[: 0 if radii is None else len(radii)],
            with_references="reference_squares" in arrays,
            any_class=MOST_ANY_CLASS if "any_class_squares" in arrays else 0,
            radii=radii,
        )
        state._merge(arrays)
        pairs = zip(arrays["growth_samples"].tolist(), arrays["growth_scores"], strict=True)
        state.growth = [Snapshot(samples, scores) for samples, scores in pairs]
        return state

    def scores(self, attack: str = NEAREST) -> Floats:
        """Return the scores of one of `ATTACKS`, (n,), the higher the rather a member.

        Nearest sample is the Monte Carlo attack with the median heuristic: whoever ranks records by
        it has the half that is nearer than the median first. A record without a sample of its class
        is as far away as the farthest. Raises KeyError for another attack, or balls not counted.
        """
        if attack == NEAREST:
            return _nearness(self.distances)
        if attack == NEAREST_ANY_CLASS and self._any is not None:
            return _nearness(np.sqrt(self._any.squares[:, 0]))
        if attack == NEAREST_ANY_CLASS:
            raise KeyError(attack)
        place, is_weighted = BALLS[attack]
        if self._balls is None or place >= len(self._balls.radii):
            raise KeyError(attack)
        return (self._balls.weights() if is_weighted else self._balls.shares())[:, place]


def _nearness(distances: Floats) -> Floats:
    is_finite = np.isfinite(distances)
    return -np.where(is_finite, distances, distances[is_finite].max(initial=0.0))


_POOL = 5_000
_LEAST = 1e-6


def compare_samples(
    state: MonteCarlo, sampler: Sampler, samples: int, seconds: float | None = None
) -> MonteCarlo:
    """Compare so many samples with the records, after those that the state already has.

    It keeps snapshots after 1,000 samples, 3,000, 10,000 and so on. After `seconds` it stops: the
    state has then fewer `samples`, and can go on later. Raises AuditError (A033) where the limit
    ends before all released samples were compared, or before the first snapshot of a model.
    """
    end = time.monotonic() + seconds if seconds is not None else np.inf
    stops = {*marks(samples)}
    # Where it stopped before is no snapshot of a run that did not.
    state.growth = [one for one in state.growth if one.samples in stops]
    for update in state.updates(sampler, samples):
        if time.monotonic() > end and (sampler.is_limited or not state.growth):
            message = f"{seconds:g} s ended after {state.samples:,} of {samples:,} samples."
            raise AuditError.of("A033", message, "Allow more time.")
        if time.monotonic() > end:
            break
        update()
        if state.samples in stops:
            state.snapshot()
    if not state.growth or state.growth[-1].samples != state.samples:
        state.snapshot()
    return state


class SampleCount(Protocol):
    """What was reached with a number of samples."""

    @property
    def samples(self) -> int:
        """How many."""
        ...


_Reached = TypeVar("_Reached", bound=SampleCount)


def last_tripling(growth: Sequence[_Reached]) -> tuple[_Reached, _Reached] | None:
    """Return the last snapshot of three times the samples of an earlier one, after that one.

    None where there were too few samples. Whether the attack still gains is to be said of these
    two: the steps between snapshots are not all triplings.
    """
    last = growth[-1] if growth else None
    earlier = [one for one in growth if last is not None and 3 * one.samples <= last.samples]
    return (earlier[-1], last) if earlier and last is not None else None
