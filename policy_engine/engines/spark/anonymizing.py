"""Anonymise a frame: count values, code rows, make the first cuts, form classes in tasks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.care_levels import CareLevel, can_merge, care_levels
from policy_engine.engines.class_evidence import ClassEvidence
from policy_engine.engines.encoding import ColumnCodes, ancestry, encode
from policy_engine.engines.engine import Progress
from policy_engine.engines.generalizations import Generalizer, generalizer
from policy_engine.engines.generalizations.representatives import Means
from policy_engine.engines.identifiers import REDACTED, release_key
from policy_engine.engines.microaggregating import (
    ClassBounds,
    NearFormation,
    doubts_of_means,
    spreads,
)
from policy_engine.engines.number_lists import is_array_of_numbers
from policy_engine.engines.preparation import Overview, check_feasible, unbounded_columns
from policy_engine.engines.spark.cell_ends import with_end_columns
from policy_engine.engines.spark.classes import SEEN, ClassFormation, read_seen
from policy_engine.engines.spark.coding import PERSON, Coding, persons_by_code
from policy_engine.engines.spark.measuring import measure
from policy_engine.engines.spark.near_parts import first_parts
from policy_engine.engines.spark.nodes import Parts, RowNodes, first_cuts, make_ask
from policy_engine.engines.spark.quantiles import PARTS, Quantiles, compute_quantiles
from policy_engine.engines.spark.suppressing import HASH, nulled_rows, with_row_hashes
from policy_engine.engines.spark.values import (
    Lookup,
    arrow_schema,
    distinct_values,
    quote_name,
    text_types,
)
from policy_engine.errors import DataError
from policy_engine.kernels import briefs
from policy_engine.kernels.axis import Axis, pack_axes
from policy_engine.kernels.bounds import Ancestry, ClassConstraint
from policy_engine.kernels.briefs import BriefSide
from policy_engine.kernels.coarse import coarsen, neighbour_parts
from policy_engine.kernels.diversity import ValueHistogram
from policy_engine.kernels.layout import SensitiveRows, prepare
from policy_engine.plan.steps import Anonymize, Publish

Ints = NDArray[np.int64]

WORTH_SHARING = 50_000
"""Nodes of fewer rows are not cut by the driver merely to have more tasks."""

_RANGES = (None, "range")


@dataclass(frozen=True)
class ClassWork:
    """The settings for anonymising a frame.

    `rows_per_task` and `most_values` bound what a task and the driver hold; `hold` caches a frame
    on the cluster. `is_csv` means that the texts of the frame are cells of a file without types;
    columns that are `released` without a role stay unchanged.
    """

    rows_per_task: int
    most_values: int
    hold: Callable[[DataFrame], DataFrame]
    progress: Progress
    taxonomies: Mapping[str, Taxonomy]
    key: bytes | None = field(repr=False)
    salt: str = field(repr=False)
    is_csv: bool
    released: tuple[str, ...]


@dataclass(frozen=True)
class AnonymizedFrame:
    """A release that is computed when it is used; a column `PERSON` identifies persons, if counted.

    The first cuts of the `approximated` columns are at quantiles. `suppressed_cells` were nulled,
    by column, where single ones are. The cells of `numeric` columns are numbers, as texts, those of
    `typed` columns values of the input; `formed` is what is known of classes by microaggregation,
    `doubts` are warnings.
    """

    frame: DataFrame
    rows: int
    tasks: int
    approximated: tuple[str, ...] = ()
    suppressed_cells: Mapping[str, int] = field(default_factory=dict)
    numeric: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    formed: ClassEvidence | None = None
    doubts: tuple[str, ...] = ()


def anonymize(
    frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
) -> AnonymizedFrame:
    """Return the release of a frame. Raises the errors of the local engine's `anonymize`."""
    if not step.models:
        return _one_class(frame, step, output, work)
    if step.recoding.algorithm == "local-suppression":
        return _suppress_cells(frame, step, output, work)
    if step.recoding.algorithm == "microaggregation":
        return _microaggregate(frame, step, output, work)
    table = _CodedFrame.of(frame, step, work)
    work.progress("counting", table.rows, table.rows)
    overview = table.overview()
    check_feasible(overview, step)
    for care in care_levels(step):
        release = _form_release(table, output, overview, care)
        if not can_merge(step, output.cells, care) or _keeps_bounds(release, step, output, work):
            break
    return release


def _one_class(
    frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
) -> AnonymizedFrame:
    """Return all rows as one class, in tasks and in an order that what is released decides.

    Raises DataError where there are no rows (R001), or the values of a column have no order (C009).
    """
    work.progress("counting", 0, 0)
    coding = _make_coding(frame, step, work, {}, {})
    for kind in arrow_schema(frame.select([quote_name(name) for name in coding.kept])):
        is_array = is_array_of_numbers(kind.type) and kind.name not in coding.pseudonyms
        if not is_array:
            encode(kind.name, pa.chunked_array([], kind.type), numbers=False)
    coded_frame = work.hold(coding.code_rows(frame, 0))
    places = coded_frame.select(F.spark_partition_id().alias("place"))
    [(rows, partitions)] = places.agg(F.count("*"), F.count_distinct("place")).collect()
    if not rows:
        raise DataError.of("R001", "The table has no rows.")
    work.progress("counting", rows, rows)
    columns = [
        (
            F.lit(REDACTED)
            if name in step.columns.redact
            else F.col(f"kept{coding.kept.index(name)}")
        ).alias(name)
        for name in output.columns
    ]
    tasks = max(partitions, -(-rows // work.rows_per_task))
    return AnonymizedFrame(_in_order(coded_frame.select(columns), tasks), rows, tasks)


def _in_order(released: DataFrame, tasks: int) -> DataFrame:
    """Return rows in tasks and in an order that their content alone decides."""
    order = [F.col(quote_name(name)) for name in released.columns]
    # Equal rows meet in one task, so neither a row's task nor its place tells where it came from.
    return released.repartition(tasks, *order).sortWithinPartitions(*order)


def _suppress_cells(
    frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
) -> AnonymizedFrame:
    """Return the release with few cells nulled. Raises the errors of `nulled_rows`."""
    table = _CodedFrame.with_hashes(frame, step, output, work)
    work.progress("counting", table.rows, table.rows)
    check_feasible(table.overview(), step)
    work.progress("suppressing cells", 0, table.rows)
    # Every column has its codes: only ranges may have too many values for them.
    quasi = {name: one.column for name, one in table.quasi.items() if isinstance(one, Generalizer)}
    nulled = nulled_rows(table.frame, quasi, step, work.most_values)
    released = nulled.output_frame(table.frame, frame, table.coding.kept, output, step)
    return AnonymizedFrame(
        _in_order(released, table.tasks),
        table.rows,
        table.tasks,
        suppressed_cells=nulled.suppressed_cells,
        typed=tuple(quasi),
    )


def _keeps_bounds(
    release: AnonymizedFrame, step: Anonymize, output: Publish, work: ClassWork
) -> bool:
    """Tell whether the published classes, with equal cells merged, satisfy every bound."""
    frame = release.frame
    if output.cells == "bounds":
        frame = with_end_columns(frame, step.columns.quasi_names)
    measured = measure(frame, step, work.taxonomies, work.most_values, release.tasks)
    return all(measurement.holds for measurement in measured.measurements)


def _microaggregate(
    frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
) -> AnonymizedFrame:
    """Return the release with classes of near rows."""
    table = _CodedFrame.with_hashes(frame, step, output, work)
    work.progress("counting", table.rows, table.rows)
    overview = table.overview()
    check_feasible(overview, step)
    # Every column has its codes: only ranges may have too many values for them.
    quasi = {name: one for name, one in table.quasi.items() if isinstance(one, Generalizer)}
    overall = {name: one.overall for name, one in overview.histograms.items()}
    bounds = ClassBounds(step, overview.ancestries, overall)
    near = NearFormation.of(bounds, quasi, table.rows)
    ask = make_ask(table.frame, table.coding.codes, {})
    parts = first_parts(
        ask, near, table.limit, lambda settled: work.progress("cutting", settled, table.rows)
    )
    numeric = tuple(name for name, one in quasi.items() if isinstance(one, Means))
    formation = replace(table.formation(output, overview, CareLevel.AS_PLANNED), near=near)
    tasks = min(table.tasks, len(parts.rows))
    release = AnonymizedFrame(
        formation.output_frame(table.frame, parts, tasks), table.rows, tasks, numeric=numeric
    )
    if not (step.is_kept_by_union or _keeps_bounds(release, step, output, work)):
        # Only all classes together tell which of them have equal cells.
        whole = replace(formation, is_whole=True)
        one_part = RowNodes(rows={0: table.rows})
        release = replace(release, frame=whole.output_frame(table.frame, one_part, 1), tasks=1)
    return _with_evidence(release, formation, work)


def _with_evidence(
    release: AnonymizedFrame, formation: ClassFormation, work: ClassWork
) -> AnonymizedFrame:
    """Return a release with what tasks have seen of its classes, and told in columns of it."""
    frame, quasi = work.hold(release.frame), formation.quasi
    told = frame.where(F.col(SEEN).isNotNull()).select(SEEN)
    mark, replaced = read_seen([row[0] for row in told.collect()], [*quasi])
    dominated, classes = _dominated(frame, formation)
    return replace(
        release,
        frame=frame.drop(*formation.peaks, SEEN),
        formed=ClassEvidence(mark, replaced, spreads(quasi), dominated),
        doubts=tuple(doubts_of_means(dominated, classes)),
    )


def _dominated(frame: DataFrame, formation: ClassFormation) -> tuple[dict[str, int], int]:
    """Return in how many classes one value is greater than all others together, by column of
    means, and how many classes there are."""
    peaks = list(formation.peaks)
    if not peaks:
        return {}, 0
    # Classes of several tasks whose cells are equal are one.
    cells = [quote_name(name) for name in formation.columns if name in formation.quasi]
    parts = [F.max(most).alias(most) for most in peaks[::2]]
    parts += [F.sum(total).alias(total) for total in peaks[1::2]]
    told = frame.where(F.coalesce(*map(F.col, peaks)).isNotNull())
    classes = told.groupBy(*cells).agg(*parts)
    counts = [
        F.when(F.count(most) > 0, F.count_if(2 * F.col(most) > F.col(total)))
        for most, total in zip(peaks[::2], peaks[1::2], strict=True)
    ]
    found = classes.agg(F.count("*"), *counts).collect()[0]
    names = dict.fromkeys(formation.peaks.values())
    known = zip(names, found[1:], strict=True)
    return {name: count for name, count in known if count is not None}, found[0]


def _form_release(
    table: "_CodedFrame", output: Publish, overview: Overview, care: CareLevel
) -> AnonymizedFrame:
    """Return the release with classes formed at a level of care."""
    step, work = table.step, table.work
    cutting, constraint = care.cutting(step), table.constraint(overview.ancestries)
    constraint = replace(constraint, size=care.least(step.k, table.rows))
    axes, overall = table.axes(), tuple(h.overall for h in overview.histograms.values())
    people, parts = table.no_rows(overall), table.parts(axes)
    axes_from_afar = [
        coarsen(axis, parts[dim]) if dim in parts else axis for dim, axis in enumerate(axes)
    ]
    nodes = first_cuts(
        make_ask(table.frame, table.coding.codes, parts),
        prepare(axes_from_afar, people, constraint, cutting),
        table.root(parts),
        table.limit,
        lambda settled: work.progress("cutting", settled, table.rows),
        parts,
    )
    tasks = min(table.tasks, len(nodes.rows))
    formation = table.formation(output, overview, care)
    coarse_columns = {step.columns.quasi_names[dim] for dim in parts} | set(table.coding.wide)
    approximated = tuple(sorted(coarse_columns)) if len(nodes.rows) > 1 else ()
    return AnonymizedFrame(
        formation.output_frame(table.frame, nodes, tasks), table.rows, tasks, approximated
    )


@dataclass(frozen=True)
class _CodedFrame:
    """A frame with its rows coded, and what the driver knows about its columns.

    `sensitive` holds the columns with a bound. The rows are processed in `tasks` parts.
    """

    step: Anonymize
    work: ClassWork
    rows: int
    quasi: Mapping[str, Generalizer | Quantiles]
    sensitive: Mapping[str, ColumnCodes]
    coding: Coding
    frame: DataFrame
    tasks: int

    @classmethod
    def of(cls, frame: DataFrame, step: Anonymize, work: ClassWork) -> "_CodedFrame":
        """Count the values of a frame and code its rows.

        Raises DataError where there are no rows (R001), too many values for the driver (R011), or
        values that do not support the role of their column.
        """
        columns = step.columns
        bounded_columns = [column.name for column in columns.sensitive if step.about(column.name)]
        work.progress("counting", 0, 0)
        ranges = [
            column.name for column in columns.quasi_identifier if column.generalization in _RANGES
        ]
        names = [*columns.quasi_names, *bounded_columns]
        values, rows, partitions, wide = distinct_values(frame, names, work.most_values, ranges)
        if not rows:
            raise DataError.of("R001", "The table has no rows.")
        quasi: dict[str, Generalizer | Quantiles] = {}
        for column in columns.quasi_identifier:
            name = column.name
            if name in wide:
                quasi[name] = compute_quantiles(frame, name, is_csv=work.is_csv)
                continue
            codes = values[name].encode_quasi(column, numbers=work.is_csv)
            taxonomy = work.taxonomies.get(column.taxonomy)
            quasi[name] = generalizer(name, codes, column, taxonomy)
        sensitive = {name: values[name].encode_sensitive(name) for name in bounded_columns}
        lookups = {
            name: way if isinstance(way, Quantiles) else Lookup.of(values[name], way.column.codes)
            for name, way in quasi.items()
        }
        sensitive_lookups = {
            name: Lookup.of(values[name], codes.values()) for name, codes in sensitive.items()
        }
        coding = _make_coding(frame, step, work, lookups, sensitive_lookups)
        tasks = max(partitions, -(-rows // work.rows_per_task))
        # A few partitions that are far too large are split first.
        new_partitions = tasks if columns.privacy_unit or tasks > 2 * partitions else 0
        coded_frame = work.hold(coding.code_rows(frame, new_partitions))
        return cls(step, work, rows, quasi, sensitive, coding, coded_frame, tasks)

    @classmethod
    def with_hashes(
        cls, frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
    ) -> "_CodedFrame":
        """Return the same, with random bits of every row as one more column that is kept."""
        hashed = with_row_hashes(frame, output.columns, work.key, step.recoding.algorithm)
        return cls.of(hashed, step, replace(work, released=(*work.released, HASH)))

    def overview(self) -> Overview:
        """Return the figures of the table as a single class."""
        persons = None
        if self.coding.person:
            persons = self.frame.select(PERSON).distinct().count()
        histograms = {
            name: self._histogram(name, f"sensitive{place}")
            for place, name in enumerate(self.sensitive)
        }
        ancestries = {
            column.name: ancestry(
                column.name, self.sensitive[column.name], self.work.taxonomies[column.taxonomy]
            )
            for column in self.step.columns.sensitive
            if column.taxonomy and column.name in self.sensitive
        }
        return Overview(self.rows, persons, histograms, ancestries)

    def _histogram(self, name: str, code: str) -> ValueHistogram:
        column = self.sensitive[name]
        codes = int(column.values().max(initial=-1)) + 1
        counts = column.counts()
        overall = counts[len(counts) - codes :]
        members = int(overall.sum())
        if self.coding.person:
            overall = persons_by_code(self.frame, code, codes)
            members = self.frame.where(f"{code} >= 0").select(PERSON).distinct().count()
        values = np.flatnonzero(overall)
        return ValueHistogram(
            starts=np.array([0, len(values)], dtype=np.int64),
            values=values.astype(np.int32),
            counts=overall[values],
            members=np.array([members], dtype=np.int64),
            overall=overall,
        )

    def constraint(self, ancestries: Mapping[str, Ancestry]) -> ClassConstraint:
        """Return the bounds of every class, for the sensitive columns that are coded."""
        planned = self.step.constraint(ancestries)
        pairs = zip(self.step.columns.sensitive, planned.diversity, strict=True)
        bounds = tuple(bound for column, bound in pairs if column.name in self.sensitive)
        return ClassConstraint(planned.size, bounds)

    @property
    def limit(self) -> int:
        """How many rows a node has at most that is not cut by the driver."""
        return min(self.work.rows_per_task, max(WORTH_SHARING, self.rows // (4 * self.tasks)))

    def formation(self, output: Publish, overview: Overview, care: CareLevel) -> ClassFormation:
        """Return how the rows of a node become classes, at a level of care."""
        constraint = self.constraint(overview.ancestries)
        return ClassFormation(
            coding=self.coding,
            quasi={
                name: column
                for name, column in self.quasi.items()
                if not isinstance(column, Quantiles)
            },
            axes=self.axes(),
            overall=tuple(h.overall for h in overview.histograms.values()),
            constraint=replace(constraint, size=care.least(self.step.k, self.rows)),
            cutting=care.cutting(self.step),
            columns=output.columns,
            redact=self.step.columns.redact,
        )

    def axes(self) -> list[Axis]:
        """Return the quasi-identifiers as axes for the partitioners, without rows."""
        no_codes, wildcard = np.zeros(0, np.int32), self.step.recoding.missing == "wildcard"
        return [
            generalizer.axis(wildcard=wildcard, weight=quasi_identifier.weight)
            if isinstance(generalizer, Quantiles)
            else Axis(
                no_codes,
                generalizer.shape(),
                generalizer.column.has_missing,
                wildcard,
                quasi_identifier.weight,
            )
            for generalizer, quasi_identifier in zip(
                self.quasi.values(), self.step.columns.quasi_identifier, strict=True
            )
        ]

    def no_rows(self, overall: tuple[Ints, ...]) -> SensitiveRows:
        """Return the sensitive columns and persons of the table, without rows."""
        no_codes = np.zeros(0, np.int32)
        persons = no_codes if self.coding.person else None
        return SensitiveRows(tuple(no_codes for _ in self.sensitive), persons, overall)

    def parts(self, axes: list[Axis]) -> Parts:
        """Return the parts of the codes of columns that have too many codes to tell apart."""
        if briefs.can_summarise(pack_axes(axes)):
            return {}
        parts: dict[int, NDArray[np.int32]] = {}
        for dim, quasi in enumerate(self.quasi.values()):
            if not isinstance(quasi, Quantiles):
                counts = quasi.column.counts()
                part = neighbour_parts(axes[dim], counts, PARTS)
                parts |= {dim: part} if part[-1] < len(counts) - 1 else {}
        return parts

    def root(self, parts: Parts) -> BriefSide:
        """Return the node that holds all rows."""
        widths = [
            generalizer.parts
            if isinstance(generalizer, Quantiles)
            else len(generalizer.column.labels)
            for generalizer in self.quasi.values()
        ]
        for dim, part in parts.items():
            widths[dim] = int(part[-1]) + 1
        extents = np.array([[0, width - 1] for width in widths], dtype=np.int64)
        return BriefSide(self.rows, extents)


def _make_coding(
    frame: DataFrame,
    step: Anonymize,
    work: ClassWork,
    quasi: Mapping[str, Lookup | Quantiles],
    sensitive: Mapping[str, Lookup],
) -> Coding:
    columns, kind = step.columns, None
    if columns.privacy_unit:
        kind = text_types(frame.select(quote_name(columns.privacy_unit)), numbers=work.is_csv)
    return Coding(
        quasi=quasi,
        sensitive=sensitive,
        kept=(
            *columns.sensitive_names,
            *unbounded_columns(step, work.released),
            *columns.pseudonymize,
        ),
        pseudonyms=columns.pseudonymize,
        key=release_key(work.key, work.salt, columns.pseudonym_scope)
        if columns.pseudonymize
        else b"",
        person=columns.privacy_unit,
        person_kind=next(iter(kind.values())) if kind else None,
    )
