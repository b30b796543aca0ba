"""A frame to a release: values counted, rows coded, first cuts made, classes formed in tasks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.cares import Care, can_merge, cares
from policy_engine.engines.encoding import Encoded, ancestry
from policy_engine.engines.engine import Progress
from policy_engine.engines.generalizations import Generalizer, generalizer
from policy_engine.engines.identifiers import release_key
from policy_engine.engines.preparation import Overview, check_feasible, kept_beside
from policy_engine.engines.spark.cell_ends import with_ends
from policy_engine.engines.spark.classes import Classing
from policy_engine.engines.spark.coding import PERSON, Coding, persons_by_code
from policy_engine.engines.spark.measuring import measure
from policy_engine.engines.spark.nodes import Parts, asking, first_cuts
from policy_engine.engines.spark.quantiles import PARTS, Quantiles, quantiles_of
from policy_engine.engines.spark.values import Lookup, distinct_values, quoted, written_kinds
from policy_engine.errors import DataError
from policy_engine.kernels import briefs
from policy_engine.kernels.axis import Axis, pack_axes
from policy_engine.kernels.bounds import Ancestry, ClassConstraint
from policy_engine.kernels.briefs import BriefSide
from policy_engine.kernels.coarse import coarsen, neighbour_parts
from policy_engine.kernels.diversity import ValueHistogram
from policy_engine.kernels.layout import People, prepare
from policy_engine.plan.steps import Anonymize, Publish

Ints = NDArray[np.int64]

WORTH_SHARING = 50_000
"""Nodes of fewer rows are not cut from afar for the sake of more tasks alone."""

_RANGES = (None, "range")


@dataclass(frozen=True)
class ClassWork:
    """What a frame is worked on with.

    `rows_per_task` and `most_values` bound what a task and the driver hold; `hold` keeps a
    frame on the cluster while it is needed. `is_csv` tells that the texts of the frame are
    cells of a file that has no types; `released` columns without a role stay as they are.
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
    """A release that is made when it is used; a column `PERSON` tells whose rows they are.

    First cuts stand at quantiles of the columns that are `approximated`.
    """

    frame: DataFrame
    rows: int
    tasks: int
    approximated: tuple[str, ...] = ()


def anonymize(
    frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
) -> AnonymizedFrame:
    """Return the release of a frame; errors as of the local engine's `anonymize`."""
    table = _Coded.of(frame, step, work)
    work.progress("counting", table.rows, table.rows)
    overview = table.overview()
    check_feasible(overview, step)
    for care in cares(step):
        made = _made(table, output, overview, care)
        if not can_merge(step, output.cells, care) or _keeps_bounds(made, step, output, work):
            break
    return made


def _keeps_bounds(made: AnonymizedFrame, step: Anonymize, output: Publish, work: ClassWork) -> bool:
    """Tell whether the classes as they are published, those of equal cells as one, hold."""
    frame = made.frame
    if output.cells == "bounds":
        frame = with_ends(frame, step.columns.quasi_names)
    found = measure(frame, step, work.taxonomies, work.most_values, made.tasks)
    return all(one.holds for one in found.measurements)


def _made(table: "_Coded", output: Publish, overview: Overview, care: Care) -> AnonymizedFrame:
    """Return the release whose classes are formed with some care."""
    step, work = table.step, table.work
    cutting, constraint = care.cutting(step), table.constraint(overview.ancestries)
    constraint = replace(constraint, size=care.least(step.k, table.rows))
    limit = min(work.rows_per_task, max(WORTH_SHARING, table.rows // (4 * table.tasks)))
    axes, overall = table.axes(), tuple(one.overall for one in overview.histograms.values())
    people, parts = table.nobody(overall), table.parts(axes)
    told = [coarsen(axis, parts[dim]) if dim in parts else axis for dim, axis in enumerate(axes)]
    nodes = first_cuts(
        asking(table.frame, table.coding.codes, parts),
        prepare(told, people, constraint, cutting),
        table.whole(parts),
        limit,
        lambda settled: work.progress("cutting", settled, table.rows),
        parts,
    )
    tasks = min(table.tasks, len(nodes.rows))
    classing = Classing(
        coding=table.coding,
        quasi={n: one for n, one in table.quasi.items() if not isinstance(one, Quantiles)},
        axes=axes,
        overall=overall,
        constraint=constraint,
        cutting=cutting,
        columns=output.columns,
        redact=step.columns.redact,
    )
    coarse_ones = {step.columns.quasi_names[dim] for dim in parts} | set(table.coding.wide)
    approximated = tuple(sorted(coarse_ones)) if len(nodes.rows) > 1 else ()
    return AnonymizedFrame(
        classing.classed(table.frame, nodes, tasks), table.rows, tasks, approximated
    )


@dataclass(frozen=True)
class _Coded:
    """A frame with its rows in codes, and what the driver knows of its columns.

    `sensitive` holds the columns that a bound is about; nothing need be known of others.
    `tasks` is in how many parts the rows are worked on.
    """

    step: Anonymize
    work: ClassWork
    rows: int
    quasi: Mapping[str, Generalizer | Quantiles]
    sensitive: Mapping[str, Encoded]
    coding: Coding
    frame: DataFrame
    tasks: int

    @classmethod
    def of(cls, frame: DataFrame, step: Anonymize, work: ClassWork) -> "_Coded":
        """Count the values of a frame and code its rows.

        Raises DataError where there are none (R001), too many values for the driver (R011), or
        values that do not support what is asked of their column.
        """
        columns = step.columns
        bounded = [one.name for one in columns.sensitive if step.about(one.name)]
        work.progress("counting", 0, 0)
        ranges = [one.name for one in columns.quasi_identifier if one.generalization in _RANGES]
        names = [*columns.quasi_names, *bounded]
        found, rows, partitions, wide = distinct_values(frame, names, work.most_values, ranges)
        if not rows:
            raise DataError.of("R001", "The table has no rows.")
        quasi: dict[str, Generalizer | Quantiles] = {}
        for asked in columns.quasi_identifier:
            if asked.name in wide:
                quasi[asked.name] = quantiles_of(frame, asked.name, is_csv=work.is_csv)
                continue
            encoded = found[asked.name].encoded_as(asked, numbers=work.is_csv)
            taxonomy = work.taxonomies.get(asked.taxonomy)
            quasi[asked.name] = generalizer(asked.name, encoded, asked, taxonomy)
        sensitive = {name: found[name].encoded(name) for name in bounded}
        lookups = {
            name: one if isinstance(one, Quantiles) else Lookup.of(found[name], one.column.codes)
            for name, one in quasi.items()
        }
        codes = {name: Lookup.of(found[name], one.values()) for name, one in sensitive.items()}
        coding = _coding(frame, step, work, lookups, codes)
        tasks = max(partitions, -(-rows // work.rows_per_task))
        # Few partitions that are far too large are parted first.
        moved = tasks if columns.privacy_unit or tasks > 2 * partitions else 0
        coded = work.hold(coding.coded(frame, moved))
        return cls(step, work, rows, quasi, sensitive, coding, coded, tasks)

    def overview(self) -> Overview:
        """Return what the table holds as a whole."""
        persons = None
        if self.coding.person:
            persons = self.frame.select(PERSON).distinct().count()
        histograms = {
            name: self._histogram(name, f"sensitive{place}")
            for place, name in enumerate(self.sensitive)
        }
        ancestries = {
            one.name: ancestry(
                one.name, self.sensitive[one.name], self.work.taxonomies[one.taxonomy]
            )
            for one in self.step.columns.sensitive
            if one.taxonomy and one.name in self.sensitive
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
        """Return what every class has to keep, for the sensitive columns that are coded."""
        asked = self.step.constraint(ancestries)
        named = zip(self.step.columns.sensitive, asked.diversity, strict=True)
        kept = tuple(one for column, one in named if column.name in self.sensitive)
        return ClassConstraint(asked.size, kept)

    def axes(self) -> list[Axis]:
        """Return the quasi-identifiers as partitioners see them, without rows."""
        none, wildcard = np.zeros(0, np.int32), self.step.recoding.missing == "wildcard"
        return [
            one.axis(wildcard=wildcard, weight=asked.weight)
            if isinstance(one, Quantiles)
            else Axis(none, one.shape(), one.column.has_missing, wildcard, asked.weight)
            for one, asked in zip(
                self.quasi.values(), self.step.columns.quasi_identifier, strict=True
            )
        ]

    def nobody(self, overall: tuple[Ints, ...]) -> People:
        """Return the people of no rows of the table."""
        none = np.zeros(0, np.int32)
        persons = none if self.coding.person else None
        return People(tuple(none for _ in self.sensitive), persons, overall)

    def parts(self, axes: list[Axis]) -> Parts:
        """Return the parts of the codes of columns that have too many to be told apart."""
        if briefs.can_summarise(pack_axes(axes)):
            return {}
        found: dict[int, NDArray[np.int32]] = {}
        for dim, one in enumerate(self.quasi.values()):
            if not isinstance(one, Quantiles):
                counts = one.column.counts()
                part = neighbour_parts(axes[dim], counts, PARTS)
                found |= {dim: part} if part[-1] < len(counts) - 1 else {}
        return found

    def whole(self, parts: Parts) -> BriefSide:
        """Return the node that holds all rows."""
        widths = [
            one.parts if isinstance(one, Quantiles) else len(one.column.labels)
            for one in self.quasi.values()
        ]
        for dim, part in parts.items():
            widths[dim] = int(part[-1]) + 1
        extents = np.array([[0, width - 1] for width in widths], dtype=np.int64)
        return BriefSide(self.rows, extents)


def _coding(
    frame: DataFrame,
    step: Anonymize,
    work: ClassWork,
    quasi: Mapping[str, Lookup | Quantiles],
    sensitive: Mapping[str, Lookup],
) -> Coding:
    columns, kind = step.columns, None
    if columns.privacy_unit:
        kind = written_kinds(frame.select(quoted(columns.privacy_unit)), numbers=work.is_csv)
    return Coding(
        quasi=quasi,
        sensitive=sensitive,
        kept=(
            *columns.sensitive_names,
            *kept_beside(step, work.released),
            *columns.pseudonymize,
        ),
        pseudonyms=columns.pseudonymize,
        key=release_key(work.key, work.salt, columns.pseudonym_scope)
        if columns.pseudonymize
        else b"",
        person=columns.privacy_unit,
        person_kind=next(iter(kind.values())) if kind else None,
    )
