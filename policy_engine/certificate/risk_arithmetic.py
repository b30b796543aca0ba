"""Figures of risk in a certificate that no release of so many records can have."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.kernels.estimates import Estimate
from policy_engine.methods.disclosure import (
    Figure,
    InferenceMeasurement,
    RiskMeasure,
    RiskMeasurement,
)

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.plan.plan import Plan

_ROUNDING = 1.1e-9
"""By how much figures that are told to nine decimals may differ from what they are, and a bit."""


def impossible_figures(certificate: "Certificate") -> Iterator[str]:
    """Yield which figures of risk, and of what is learned, no release has, a sentence each."""
    for one in certificate.disclosures:
        if len({*one.known}) < len(one.known):
            yield f"It names a column twice that {one.name} knows."
    learned = [one for one in certificate.disclosures if isinstance(one, InferenceMeasurement)]
    for one in learned:
        is_kept = one.column in _kept_columns(certificate.plan)
        if is_kept and not _is_part(one.baseline, one.records, least=1):
            share = f"{one.baseline:g} of {one.records} records"
            yield f"No value of {one.column!r} is that of {share}."
        if isinstance(one.reached, Estimate) and one.reached.value < one.baseline - one.last_digit:
            guessed = f"{one.reached.value:g} of {one.column!r}"
            yield f"Nobody guesses {guessed} who could guess {one.baseline:g} by one value for all."
    if any(isinstance(one, RiskMeasurement) for one in certificate.disclosures):
        yield from _impossible_risks(certificate)


def _kept_columns(plan: "Plan") -> set[str]:
    """Return the columns that are released as they are: the commonest value is that of a number of
    persons then."""
    columns = plan.require_anonymize().columns
    masked = plan.mask.names if plan.mask else ()
    return {*columns.insensitive, *columns.sensitive_names} - {*masked}


def _impossible_risks(certificate: "Certificate") -> Iterator[str]:
    is_apart = not certificate.plan.require_anonymize().recoding.has_overlapping_classes
    figures: dict[tuple[frozenset[str], str], dict[RiskMeasure, float]] = {}
    for one in certificate.disclosures:
        if not isinstance(one, RiskMeasurement) or not isinstance(one.reached, Figure):
            continue
        if not _is_possible(one, one.reached.value, is_apart=is_apart):
            yield f"{one.name} cannot be {one.reached.value:g} of {one.records} records."
            continue
        classes = frozenset(one.known), one.population
        figures.setdefault(classes, {})[one.bound.measure] = one.reached.value
    for (_, population), risks in figures.items():
        is_alone = is_apart and not population
        is_of_classes = not is_alone or _have_classes(risks, certificate.rows_out)
        if not is_of_classes or _contradict(risks, is_apart=is_apart):
            yield "Its figures of the risk of the same classes contradict each other."


def _is_possible(one: RiskMeasurement, value: float, *, is_apart: bool) -> bool:
    """Tell whether the classes of so many records can have a risk."""
    measure, is_alone = one.bound.measure, not one.population
    if measure == "uniques":
        return _is_part(value, one.records, least=0)
    if measure == "meanRisk" and is_alone and is_apart:
        return _is_part(value, one.records, least=1)  # the number of classes
    if measure == "meanRisk" and is_alone:
        return value >= 1 / one.records - _ROUNDING
    if measure != "largestRisk":
        return True
    if value < _ROUNDING:
        return not is_alone
    size = round(1 / value)
    return abs(1 / size - value) <= _ROUNDING and not (is_alone and size > one.records)


def _is_part(value: float, records: int, least: int) -> bool:
    count = round(value * records)
    return math.isclose(count / records, value, abs_tol=_ROUNDING) and count >= least


def _contradict(risks: dict[RiskMeasure, float], *, is_apart: bool) -> bool:
    """Tell whether figures of the same classes cannot all be true."""
    uniques, mean = risks.get("uniques", 0.0), risks.get("meanRisk", 0.0)
    largest = risks.get("largestRisk", 1.0)
    if mean > largest + _ROUNDING:
        return True
    is_told = "meanRisk" in risks
    return is_apart and uniques > 0 and (largest < 1 or (is_told and uniques > mean + _ROUNDING))


def _have_classes(risks: dict[RiskMeasure, float], records: int) -> bool:
    """Tell whether so many records can form classes with these figures, as they are rounded."""
    uniques = _counts(risks.get("uniques"), records, least=0)
    classes = _counts(risks.get("meanRisk"), records, least=1)
    smallest = _smallest(risks.get("largestRisk"), records)
    figures = uniques, classes, smallest
    return all(figures) and (_have_uniques(records, *figures) or _have_groups(records, *figures))


def _have_uniques(records: int, uniques: range, classes: range, smallest: range) -> bool:
    """Tell whether there can be classes of which some have a single record."""
    fewest, most = max(uniques.start, 1), min(uniques[-1], records - 2)
    if 1 not in smallest:
        return False
    if records in uniques and records in classes:
        return True
    # Of u uniques, the others form 1 to (records - u) / 2 classes.
    return fewest <= most and classes.start <= (records + most) // 2 and fewest + 1 <= classes[-1]


def _have_groups(records: int, uniques: range, classes: range, smallest: range) -> bool:
    """Tell whether there can be classes of two records or more, or a single one."""
    if 0 not in uniques or smallest[-1] < 2:
        return False
    if records in smallest and 1 in classes:
        return True
    size, number = max(smallest.start, 2), max(classes.start, 2)
    return size in smallest and number in classes and size * number <= records


def _counts(share: float | None, records: int, least: int) -> range:
    """Return how many of the records a share that is told can be, all if none is told."""
    if share is None:
        return range(least, records + 1)
    low, high = ((share + change) * records for change in (-_ROUNDING, _ROUNDING))
    return range(max(math.ceil(low), least), min(math.floor(high), records) + 1)


def _smallest(risk: float | None, records: int) -> range:
    """Return how many records the smallest class can have, given the largest risk."""
    if risk is None:
        return range(1, records + 1)
    high = math.floor(1 / (risk - _ROUNDING)) if risk > _ROUNDING else records
    return range(max(math.ceil(1 / (risk + _ROUNDING)), 1), min(high, records) + 1)
