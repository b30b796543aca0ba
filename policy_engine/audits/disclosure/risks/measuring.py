"""All figures of a release's risk besides attacks on single persons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.risks.attributes import (
    MaskedNumbers,
    homogeneous,
    interval_disclosure,
)
from policy_engine.audits.disclosure.risks.classes import KnownClasses, population_counts
from policy_engine.audits.disclosure.risks.file_level import CountedPopulation, Share, file_risks
from policy_engine.audits.disclosure.risks.inference import inferred
from policy_engine.audits.disclosure.risks.result import FileRisks, NoRisk, Risk
from policy_engine.audits.disclosure.risks.suppressed import (
    codes_like,
    has_suppressed,
    is_suppressed,
    suppressing_marks,
    with_marks_widened,
    with_missing_widened,
)
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import DataError, Problem, format_count
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.masking import CellMasking

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

THRESHOLD = 0.2
"""A risk that a class of fewer than five exceeds."""


@dataclass(frozen=True)
class RiskInputs:
    """What risks are measured by, besides the two files.

    `sensitive` are the columns that nobody should learn; `population` are the known columns with
    the population before and the release after. `weights` (records,) are how many persons a record
    of the release stands for, and `share` is that of the population that was sampled, each None
    where it is not known. With `suppresses`, missing cells may be any value. `records` and
    `persons` are how many each row of the release and of the population stands for, if not one.
    """

    threshold: float = THRESHOLD
    sensitive: tuple[KnownColumn, ...] = ()
    population: tuple[KnownColumn, ...] = ()
    weights: Floats | None = None
    share: float | None = None
    suppresses: bool = False
    records: Ints | None = None
    persons: Ints | None = None


def measure_risks(
    files: TwoFiles, inputs: RiskInputs | None = None, progress: Progress = silent
) -> FileRisks:
    """Return every figure that a release allows, and why others are missing.

    Raises DataError (A024) where the population does not contain the release.
    """
    settings = inputs or RiskInputs()
    progress("counting classes", 0, 2)
    chosen, reasons = class_columns(files)
    chosen, settings = with_suppressed(files, chosen, settings)
    classes = known_classes(chosen, settings) if chosen else None
    risks = _risks_of(classes, reasons, settings, files.released)
    progress("learning values", 1, 2)
    figures = list(_attributes(files, classes, chosen, settings))
    return risks + FileRisks(
        risks=tuple(one for one in figures if isinstance(one, Risk)),
        not_run=tuple(one for one in figures if isinstance(one, NoRisk)),
    )


def class_risks(files: TwoFiles, inputs: RiskInputs) -> FileRisks:
    """Return what the classes of a release tell, alone and in the population.

    Raises DataError (A024) where the population does not contain the release.
    """
    chosen, reasons = class_columns(files)
    chosen, inputs = with_suppressed(files, chosen, inputs)
    classes = known_classes(chosen, inputs) if chosen else None
    return _risks_of(classes, reasons, inputs, files.released)


def _risks_of(
    classes: KnownClasses | None,
    reasons: Sequence[dict[str, str]],
    inputs: RiskInputs,
    released: int,
) -> FileRisks:
    risks = FileRisks(not_run=tuple(NoRisk(measure="classes", **one) for one in reasons))
    if classes is None:
        _check_large_enough(inputs, released)
        without = (NoRisk(measure=name, reason=_NO_CLASSES) for name in _OF_CLASSES)
        return risks + FileRisks(not_run=tuple(without))
    population = [one for one in inputs.population if one.name in classes.known]
    counted = counted_population(classes, population, inputs.persons)
    return risks + file_risks(classes, inputs.threshold, counted, _share(classes, inputs))


_NO_CLASSES = "no known column makes classes"
_OF_CLASSES = (
    "prosecutor",
    "sample-uniques",
    "special-uniques",
    "suda-dis",
    "marketer",
    "journalist",
    "k-map",
    "presence",
    "counted-uniques",
    "individual",
    "log-linear",
    "population-uniques",
)
"""The measures that no release without classes has."""


def _check_large_enough(inputs: RiskInputs, released: int) -> None:
    """Raise DataError (A024) where the population has fewer persons than there are records."""
    if not inputs.population:
        return
    rows, counts = len(inputs.population[0].before), inputs.persons
    persons = rows if counts is None else int(counts.sum())
    records = released if inputs.records is None else int(inputs.records.sum())
    if persons < records:
        message = "The population does not contain the release: it has "
        message += f"{format_count(persons, 'person')}, and the release "
        message += f"{format_count(records, 'record')}."
        raise DataError.of("A024", message, _CONTAINING)


_CONTAINING = "Give a population of which the release is a part."


def class_columns(files: TwoFiles) -> tuple[tuple[KnownColumn, ...], list[dict[str, str]]]:
    """Return the columns whose cells hold what is true of their persons, and why others do not.

    The value of a perturbed column does not tell its cell: classes by such cells mean nothing.
    Without a certificate, a column is perturbed if it has values of the original that are
    neither the persons' own nor always the same for one value; where nobody knows whose row is
    whose, it may be if it has numbers that the original lacks. Marks such as -9 in a column that is
    otherwise as it was are suppressed cells.
    """
    chosen, reasons = [], []
    for column in files.columns:
        reason = _perturbed(column, files)
        marks = suppressing_marks(column, files.own) if reason == _UNKNOWN_METHOD else _NO_MARKS
        if len(marks):
            chosen.append(with_marks_widened(column, marks))
        elif reason:
            reasons.append({"column": column.name, "reason": reason})
        else:
            chosen.append(column)
    return tuple(chosen), reasons


def _perturbed(column: KnownColumn, files: TwoFiles) -> str:
    """Return why nobody knows the cells of a column, an empty text where they are known."""
    if files.is_published:
        how = column.masking.masking if column.masking else ""
        is_perturbed = bool(column.masking and column.masking.is_perturbation)
        return f"{_NO_CELL} ({how}): {_SEE}" if is_perturbed else ""
    if (files.own >= 0).any():
        is_perturbed = _looks_perturbed(column, files.own)
        return _UNKNOWN_METHOD if is_perturbed else ""
    return _NOT_TRUE if column.is_number and _has_other_values(column) else ""


_NO_MARKS = np.zeros(0, dtype=np.int64)
_NO_CELL, _SEE = "knowing a value does not tell the published cell", "see the linkage figures"
_UNKNOWN_METHOD = f"{_NO_CELL} (an unknown method): {_SEE}"
_NOT_TRUE = (
    "it has values that the original lacks, and with no row matched nobody knows whose they are"
)


def _has_other_values(column: KnownColumn) -> bool:
    """Tell whether a release has single values that nobody in the original has."""
    released = np.unique(column.released_codes())
    single = released[released >= int(column.has_missing)]
    return not np.isin(single, column.before[column.present]).all()


def _looks_perturbed(column: KnownColumn, own: Ints) -> bool:
    paired = own >= 0
    before = column.before[paired].astype(np.int64)
    after = column.released_codes()[own[paired]]
    wide = after < 0
    ranges = column.after.cell_of[own[paired]].astype(np.int64)[wide]
    if not column.covers(ranges, before[wide]).all():
        return True
    is_visible = after >= int(column.has_missing)  # a missing cell is suppressed, not perturbed
    before, after = before[is_visible], after[is_visible]
    if not column.is_number and not np.isin(after, column.before).all():
        return False  # labels that no value has are cells of other values
    pairs = np.unique(np.column_stack([before, after]), axis=0)
    if (pairs[:, 0] == pairs[:, 1]).all():
        return False
    values, cells = len(np.unique(before)), len(np.unique(after))
    return not (len(pairs) == values and cells < values)


def with_suppressed(
    files: TwoFiles, columns: Sequence[KnownColumn], inputs: RiskInputs
) -> tuple[tuple[KnownColumn, ...], RiskInputs]:
    """Return columns and inputs in which suppressed cells of a release may be any value.

    Without a certificate, these are the missing cells of a column that has none in the original,
    and cells that stand for every value beside others that do not.
    """
    if files.is_published:
        return tuple(columns), inputs
    wide = {column.name for column in columns if is_suppressed(column)}
    widened = tuple(with_missing_widened(one) if one.name in wide else one for one in columns)
    by_name = {one.name: one for one in files.columns}
    population = tuple(
        _widened_as(by_name.get(one.name, one), one, files.own, is_wide=one.name in wide)
        for one in inputs.population
    )
    suppresses = inputs.suppresses or has_suppressed(widened)
    return widened, replace(inputs, population=population, suppresses=suppresses)


def _widened_as(
    column: KnownColumn, population: KnownColumn, own: Ints, *, is_wide: bool
) -> KnownColumn:
    """Return the same column beside a population, with the same cells suppressed."""
    if is_wide:
        population = with_missing_widened(population)
    if not (own >= 0).any() or not _looks_perturbed(column, own):
        return population
    marks = codes_like(population, column, suppressing_marks(column, own))
    return with_marks_widened(population, marks)


def known_classes(columns: Sequence[KnownColumn], inputs: RiskInputs) -> KnownClasses:
    """Return the classes of a release by some columns, at least one."""
    if not inputs.suppresses:
        return KnownClasses.of(columns, counts=inputs.records)
    wide = [np.flatnonzero(column.after.widths == column.after.size) for column in columns]
    missing = [int(one[0]) if len(one) else -1 for one in wide]
    return KnownClasses.of(columns, missing, inputs.records)


def counted_population(
    classes: KnownClasses, population: Sequence[KnownColumn], persons: Ints | None
) -> CountedPopulation | NotApplicable:
    """Return how many persons could be of each class, and why that is not known where it is not.

    Raises DataError (A024) where the population does not contain the release.
    """
    if not population:
        return NotApplicable(reason="no population is given")
    for column in population:
        if not column.is_readable:
            reason = f"{column.name!r} has labels that neither table has as values"
            return NotApplicable(reason=f"{reason}, and no taxonomy is given")
        masking = column.masking
        is_hidden = isinstance(masking, CellMasking) and masking.public_rule is None
        if is_hidden and column.is_exact:
            reason = f"which cell of {column.name!r} others would have depends on the original"
            return NotApplicable(reason=reason)
    counts = population_counts(classes, population, persons)
    if isinstance(counts, NotApplicable):
        return counts
    _check_contains(classes, counts, population)
    everybody = len(population[0].before) if persons is None else int(persons.sum())
    return CountedPopulation(everybody, counts)


def _check_contains(classes: KnownClasses, counts: Ints, population: Sequence[KnownColumn]) -> None:
    """Raise DataError (A024) with cells that the population has fewer persons of than records."""
    short = np.flatnonzero(counts < classes.sizes)
    if not len(short):
        return
    records = int((classes.sizes - counts)[short].sum())
    message = f"The population does not contain the release: {format_count(records, 'record')} "
    message += f"of {classes.records:,} have nobody there with the same values"
    absent = {column.name: _absent(column) for column in population}
    if not any(absent.values()):
        first = int(np.flatnonzero(classes.class_of == short[0])[0])
        cells = (f"{one.name} {_words(one, int(one.after.cell_of[first]))}" for one in population)
        message += f", such as {', '.join(cells)}"
    problems = [Problem("A024", f"{message}.", _CONTAINING)]
    for name, values in absent.items():
        if values:
            message = f"Nobody in the population has a value of {name!r} that was released: "
            problems.append(Problem("A024", f"{message}{', '.join(values)}."))
    raise DataError(*problems)


_SHOWN = 3


def _absent(column: KnownColumn) -> list[str]:
    """Return some released cells that nobody in the population has a value of."""
    has = np.bincount(column.before, minlength=column.after.size) > 0
    used = np.unique(column.after.cell_of)
    lacking = used[column.after.totals(has)[used] == 0]
    return [_words(column, int(cell)) for cell in lacking[:_SHOWN]]


def _words(column: KnownColumn, cell: int) -> str:
    spread, start = column.after, int(column.after.starts[cell])
    end = int(spread.starts[cell + 1]) - 1
    low, high = column.labels[spread.low[start]], column.labels[spread.high[end] - 1]
    return f"{low!s:.40}" if low == high else f"{low!s:.40} to {high!s:.40}"


def _share(classes: KnownClasses, inputs: RiskInputs) -> Share | NotApplicable:
    if inputs.weights is not None:
        return Share.of_weights(classes, inputs.weights)
    if inputs.share is not None:
        return Share.of_sample(classes, inputs.share)
    return NotApplicable(
        reason="neither the share of the population that was released is known, nor are weights"
    )


def _attributes(
    files: TwoFiles,
    classes: KnownClasses | None,
    chosen: Sequence[KnownColumn],
    inputs: RiskInputs,
) -> Iterator[Risk | NoRisk]:
    if not inputs.sensitive:
        for name in ("homogeneity", "attribute-inference"):
            reason = "no column is named as sensitive (--sensitive)"
            yield NoRisk(measure=name, reason=reason)
    for sensitive in inputs.sensitive:
        others = [column for column in chosen if column.name != sensitive.name]
        if others and classes is not None:
            same = len(others) == len(chosen)
            yield from homogeneous(classes if same else known_classes(others, inputs), sensitive)
        else:
            yield NoRisk(measure="homogeneity", column=sensitive.name, reason=_NO_CLASSES)
        known_columns = tuple(
            one for one in files.columns if one.name != sensitive.name and one.is_readable
        )
        if not sensitive.is_readable:
            reason = "its cells are labels that the original lacks, and no taxonomy is given"
            yield NoRisk(measure="attribute-inference", column=sensitive.name, reason=reason)
        elif known_columns:
            yield inferred(replace(files, columns=known_columns), sensitive)
    yield from interval_disclosure(MaskedNumbers.of(files.columns, files.own))
