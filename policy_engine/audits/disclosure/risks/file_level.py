"""The risk of a release from its classes: who could be found, were every link tried."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.risks.classes import KnownClasses
from policy_engine.audits.disclosure.risks.result import (
    FileRisks,
    Measure,
    NoRisk,
    Risk,
    RiskDistribution,
)
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.individual_risk import individual_risk, k_map, share_above
from policy_engine.kernels.log_linear_risk import selected_risk
from policy_engine.kernels.population_uniques import SampledClasses, population_uniques
from policy_engine.kernels.special_uniques import (
    intrusion_probability,
    special_uniques,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Figure: TypeAlias = Risk | NoRisk | RiskDistribution

MOST_LOOKS = 1 << 28
"""Records times sets of columns that are looked at for special uniques."""
MOST_MODELLED = 200_000
"""A log-linear model is fitted to so many records, at most."""
_MODELS = {"pitman": "Pitman's model", "zayatz": "Zayatz's model", "snb": "the SNB model"}


@dataclass(frozen=True)
class Share:
    """What is known of the population: so many `persons`, of which the release has a sample.

    `by_class` (classes,) is how many persons each class is estimated to have.
    """

    persons: int
    by_class: Floats
    told_by: str

    @classmethod
    def of_weights(cls, classes: KnownClasses, weights: Floats) -> "Share":
        """Return what weights tell: a record stands for so many persons."""
        by_class = np.maximum(classes.totals(weights), classes.frequencies)
        # Of overlapping classes, those of all would count records more than once.
        every = math.fsum(classes.sums(weights).tolist())
        persons = max(round(every), classes.records)
        return cls(persons, by_class, "by the weights")

    @classmethod
    def of_sample(cls, classes: KnownClasses, share: float) -> "Share":
        """Return what the share of the population tells that was sampled."""
        persons = max(round(classes.records / share), classes.records)
        return cls(persons, classes.frequencies / share, "by the share that was sampled")


@dataclass(frozen=True)
class CountedPopulation:
    """A population that was counted: of its `persons`, `by_class` (classes,) could be of each."""

    persons: int
    by_class: Ints


def file_risks(
    classes: KnownClasses,
    threshold: float,
    population: CountedPopulation | NotApplicable,
    share: Share | NotApplicable,
) -> FileRisks:
    """Return the risks of records by the classes of a release.

    `threshold` is a risk; the share of records above it is told. A figure that the data or the
    model does not allow is not given, with its reason.
    """
    figures = [
        *prosecutor_risks(classes, threshold),
        *_uniques(classes, share, population),
        *journalist_risks(classes, threshold, population),
        *_individual(classes, threshold, share),
        *_modelled(classes, share),
    ]
    return FileRisks.of(figures)


def prosecutor_risks(classes: KnownClasses, threshold: float) -> Iterator[Figure]:
    """Yield the risks of records to who knows who is in the release."""
    risks = 1 / classes.frequencies
    yield from _record_risks("prosecutor", classes, risks, threshold, 1 / classes.records)
    yield RiskDistribution.of("prosecutor", classes.sizes, risks)


_NAMES: dict[str, tuple[Measure, Measure, Measure]] = {
    "prosecutor": ("prosecutor-mean", "prosecutor-largest", "prosecutor-above"),
    "journalist": ("marketer", "journalist-largest", "journalist-above"),
    "individual": ("individual-mean", "individual-largest", "individual-above"),
}


def _record_risks(
    kind: str,
    classes: KnownClasses,
    risks: Floats,
    threshold: float,
    baseline: float,
    detail: str = "",
) -> Iterator[Risk]:
    """Yield the mean and the largest risk of a record, and the share of those above a threshold."""
    mean, largest, above = _NAMES[kind]
    weighted = math.fsum((risks * classes.sizes).tolist()) / classes.records
    yield Risk.of(mean, classes.known, weighted, baseline, detail=detail)
    yield Risk.of(largest, classes.known, float(risks.max()), detail=detail)
    share = share_above(classes.sizes, risks, threshold)
    yield Risk.of(above, classes.known, share, detail=f"above {threshold:g}")


def sample_uniques(classes: KnownClasses) -> Risk:
    """Return the share of the records that are alone in their class."""
    uniques = int(classes.sizes[classes.frequencies == 1].sum())
    detail = ""
    if classes.is_overlapping:  # the others may hide that most records are alone
        alone = int((classes.sizes == 1).sum()) / classes.records
        detail = "suppressed cells may be any value; no other record has the very cells of "
        detail += f"{alone:.1%}"
    return Risk.of("sample-uniques", classes.known, uniques / classes.records, detail=detail)


def _uniques(
    classes: KnownClasses,
    share: Share | NotApplicable,
    population: CountedPopulation | NotApplicable,
) -> Iterator[Figure]:
    uniques = int(classes.sizes[classes.frequencies == 1].sum())
    yield sample_uniques(classes)
    if not uniques:
        for name in ("special-uniques", "suda-dis"):
            yield NoRisk(measure=name, reason="no record is unique in the release")
        return
    yield _special(classes)
    persons = next(
        (one.persons for one in (population, share) if isinstance(one, CountedPopulation | Share)),
        0,
    )
    if not persons:
        yield NoRisk(measure="suda-dis", reason=_unknown(share))
        return
    pairs = int(classes.sizes[classes.frequencies == 2].sum())
    probability = intrusion_probability(uniques, pairs, classes.records / persons)
    if isinstance(probability, NotApplicable):
        yield NoRisk(measure="suda-dis", reason=probability.reason)
    else:
        yield Risk.of("suda-dis", classes.known, probability)


def _unknown(share: Share | NotApplicable) -> str:
    return share.reason if isinstance(share, NotApplicable) else "no population is known"


def _special(classes: KnownClasses) -> Figure:
    """Return the share of records that fewer columns than all are enough to make unique."""
    columns = len(classes.known)
    if columns < 2:
        return NoRisk(measure="special-uniques", reason="a single column is known")
    if classes.is_overlapping:
        return NoRisk(measure="special-uniques", reason="suppressed cells may be any value")
    largest = _largest_sets(columns, classes.records)
    if not largest:
        reason = f"{classes.records:,} records are too many for sets of {columns} columns"
        return NoRisk(measure="special-uniques", reason=reason)
    uniques = special_uniques(classes.records_of_cells(), largest)
    special = int(((uniques.smallest > 0) & (uniques.smallest < columns)).sum())
    most = int(np.argmax(uniques.contributions))
    sets = "all sets" if largest == columns else f"sets of up to {largest} columns"
    by = f", most of all by {classes.known[most]}" if special else ""
    return Risk.of("special-uniques", classes.known, special / classes.records, detail=sets + by)


def _largest_sets(columns: int, records: int) -> int:
    """Return how many columns sets may have that are looked at, all at most, 0 if not even one."""
    looks = 0
    for size in range(1, columns + 1):
        looks += math.comb(columns, size) * records
        if looks > MOST_LOOKS:
            return size - 1
    return columns


def journalist_risks(
    classes: KnownClasses, threshold: float, population: CountedPopulation | NotApplicable
) -> Iterator[Figure]:
    """Yield the risks of records to who knows the population, and what is certain of presence."""
    if isinstance(population, NotApplicable):
        for name in ("marketer", "journalist", "k-map", "presence"):
            yield NoRisk(measure=name, reason=population.reason)
        return
    risks = 1 / population.by_class
    yield from _record_risks("journalist", classes, risks, threshold, 1 / population.persons)
    yield RiskDistribution.of("journalist", classes.sizes, risks)
    yield Risk.of("k-map", classes.known, float(k_map(population.by_class)))
    is_single = (classes.frequencies == 1) & (population.by_class == 1)
    yield Risk.of("counted-uniques", classes.known, int(is_single.sum()) / classes.records)
    yield from _presence(classes, population)


def _presence(classes: KnownClasses, population: CountedPopulation) -> Iterator[Figure]:
    """Yield how certain it is at least and at most that a person of the population is released."""
    covered = int(population.by_class.sum())
    if covered > population.persons:
        yield NoRisk(measure="presence", reason="a person could be in several classes")
        return
    shares = classes.sizes / population.by_class
    least = float(shares.min()) if covered == population.persons else 0.0
    yield Risk.of("presence-least", classes.known, least)
    yield Risk.of("presence-largest", classes.known, float(shares.max()))


def _individual(
    classes: KnownClasses, threshold: float, share: Share | NotApplicable
) -> Iterator[Figure]:
    if isinstance(share, NotApplicable):
        yield NoRisk(measure="individual", reason=share.reason)
        return
    risks = individual_risk(classes.frequencies, share.by_class)
    baseline = 1 / share.persons
    yield from _record_risks("individual", classes, risks, threshold, baseline, share.told_by)
    yield RiskDistribution.of("individual", classes.sizes, risks)


def _modelled(classes: KnownClasses, share: Share | NotApplicable) -> Iterator[Figure]:
    """Yield what models say of population uniques, from the release alone and the population's
    size."""
    if isinstance(share, NotApplicable):
        for name in ("log-linear", "population-uniques"):
            yield NoRisk(measure=name, reason=share.reason)
        return
    if classes.is_overlapping:
        for name in ("log-linear", "population-uniques"):
            yield NoRisk(measure=name, reason="suppressed cells may be any value")
        return
    yield from _log_linear(classes, share)
    yield estimated_uniques(classes, share)


def estimated_uniques(classes: KnownClasses, share: Share) -> Risk | NoRisk:
    """Return the share of the persons of a population who are estimated to be unique there, or why
    there is no estimate; classes do not overlap."""
    model, estimate = population_uniques(SampledClasses.of(classes.sizes, share.persons))
    if isinstance(estimate, NotApplicable):
        return NoRisk(measure="population-uniques", reason=f"{_MODELS[model]}: {estimate.reason}")
    if not math.isfinite(estimate) or estimate <= 0 or estimate > share.persons:
        reason = f"{_MODELS[model]} gives no number of persons: there is no estimate"
        return NoRisk(measure="population-uniques", reason=reason)
    figure = estimate / share.persons
    return Risk.of("population-uniques", classes.known, figure, detail=f"by {_MODELS[model]}")


def _log_linear(classes: KnownClasses, share: Share) -> Iterator[Figure]:
    if classes.records > MOST_MODELLED:
        reason = f"{classes.records:,} records are more than the {MOST_MODELLED:,} it is fitted to"
        yield NoRisk(measure="log-linear", reason=reason)
        return
    codes = classes.records_of_cells()
    selection = selected_risk(codes, classes.records / share.persons)
    if isinstance(selection, NotApplicable):
        yield NoRisk(measure="log-linear", reason=selection.reason)
        return
    margins, risk = selection
    detail = _margins(margins, len(classes.known))
    links, uniques = (one / classes.records for one in (risk.right_links, risk.population_uniques))
    yield Risk.of("log-linear-links", classes.known, links, 1 / share.persons, detail=detail)
    yield Risk.of("log-linear-uniques", classes.known, uniques, detail=detail)


def _margins(margins: Sequence[tuple[int, ...]], columns: int) -> str:
    pairs = len(margins) - columns
    if not pairs:
        return "columns independent"
    return f"with {pairs} interaction{'s' if pairs > 1 else ''} of two columns"
