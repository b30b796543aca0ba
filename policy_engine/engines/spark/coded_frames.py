"""Rows as integer codes on the cluster, and what the driver knows of their columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.care_levels import CareLevel
from policy_engine.engines.encoding import ColumnCodes, ancestry
from policy_engine.engines.engine import Progress
from policy_engine.engines.generalizations import Generalizer, generalizer
from policy_engine.engines.identified import joint_trees
from policy_engine.engines.identifiers import release_key
from policy_engine.engines.permuting import permuting_secret
from policy_engine.engines.preparation import (
    Overview,
    label_by_which_rows_stand,
    shown_sensitive,
    unbounded_columns,
)
from policy_engine.engines.spark.classes import ClassFormation
from policy_engine.engines.spark.coding import PERSON, Coding, persons_by_code
from policy_engine.engines.spark.masking import ROW_KEYS, with_row_keys
from policy_engine.engines.spark.nodes import Parts
from policy_engine.engines.spark.permuted_rows import RowPermutation
from policy_engine.engines.spark.quantiles import PARTS, Quantiles, compute_quantiles
from policy_engine.engines.spark.suppressing import HASH, with_row_hashes
from policy_engine.engines.spark.targets import TargetLookup
from policy_engine.engines.spark.values import Lookup, distinct_values, quote_name, text_types
from policy_engine.errors import DataError
from policy_engine.kernels import briefs
from policy_engine.kernels.axis import Axis, pack_axes
from policy_engine.kernels.bounds import Ancestry, ClassConstraint
from policy_engine.kernels.briefs import BriefSide
from policy_engine.kernels.coarse import neighbour_parts
from policy_engine.kernels.diversity import ValueHistogram
from policy_engine.kernels.layout import SensitiveRows
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
    columns that are `released` without a role stay unchanged. Classes may be cut by `targets`.
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
    targets: TargetLookup | None = None


@dataclass(frozen=True)
class CodedFrame:
    """A frame with its rows coded, and what the driver knows about its columns.

    `sensitive` holds the columns with a bound, and `label` the label where rows that stand for
    classes are chosen by it. The rows are processed in `tasks` parts. With a `permutation`, values
    are permuted within classes.
    """

    step: Anonymize
    work: ClassWork
    rows: int
    quasi: Mapping[str, Generalizer | Quantiles]
    sensitive: Mapping[str, ColumnCodes]
    coding: Coding
    frame: DataFrame
    tasks: int
    label: ColumnCodes | None = None
    permutation: RowPermutation | None = None

    @classmethod
    def of(cls, frame: DataFrame, step: Anonymize, work: ClassWork) -> "CodedFrame":
        """Count the values of a frame and code its rows.

        Raises DataError where there are no rows (R001), too many values for the driver (R011), or
        values that do not support the role of their column.
        """
        columns = step.columns
        bounded_columns = [
            column.name for column in columns.sensitive if step.models_about(column.name)
        ]
        work.progress("counting", 0, 0)
        ranges = [
            column.name for column in columns.quasi_identifier if column.generalization in _RANGES
        ]
        label = label_by_which_rows_stand(step)
        names = [*dict.fromkeys([*columns.quasi_names, *bounded_columns, *label])]
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
        labels = {name: values[name].encode_kept(name, numbers=work.is_csv) for name in label}
        label_lookups = [(name, Lookup.of(values[name], one.codes)) for name, one in labels.items()]
        coding = make_coding(frame, step, work, lookups, sensitive_lookups)
        coding = replace(coding, targets=work.targets, label=next(iter(label_lookups), None))
        tasks = max(partitions, -(-rows // work.rows_per_task))
        # A few partitions that are far too large are split first.
        new_partitions = tasks if columns.privacy_unit or tasks > 2 * partitions else 0
        coded_frame = work.hold(coding.code_rows(frame, new_partitions))
        label_codes = next(iter(labels.values()), None)
        return cls(step, work, rows, quasi, sensitive, coding, coded_frame, tasks, label_codes)

    @classmethod
    def to_permute(
        cls, frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
    ) -> "CodedFrame":
        """Return the same, with what a permutation needs: the values of quasi-identifiers, and what
        tells rows apart."""
        secret = permuting_secret(work.key)
        keyed = with_row_keys(frame, output.columns, secret)
        table = cls.of(keyed, step, replace(work, released=(*work.released, *ROW_KEYS)))
        return replace(table, permutation=RowPermutation.of(step, secret))

    @classmethod
    def with_hashes(
        cls, frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
    ) -> "CodedFrame":
        """Return the same, with random bits of every row as one more column that is kept."""
        hashed = with_row_hashes(frame, output.columns, work.key, step.recoding.algorithm)
        return cls.of(hashed, step, replace(work, released=(*work.released, HASH)))

    @property
    def values(self) -> list[str]:
        """The columns of coded rows that tell rows with different quasi-identifiers apart."""
        wide = {name: f"wide{place}" for place, name in enumerate(self.coding.wide)}
        return [wide.get(name, f"quasi{place}") for place, name in enumerate(self.coding.quasi)]

    def unlike_persons(self) -> int:
        """Return how many persons have rows with different quasi-identifiers."""
        tuples = self.frame.select(PERSON, *self.values).distinct()
        return tuples.groupBy(PERSON).count().where("count > 1").count()

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
        ancestries |= joint_trees(self.step, self.sensitive)
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
            constraint=constraint._replace(size=care.least(self.step.k, self.rows)),
            cutting=care.cutting(self.step),
            columns=output.columns,
            redact=self.step.columns.redact,
            permutation=self.permutation,
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


def make_coding(
    frame: DataFrame,
    step: Anonymize,
    work: ClassWork,
    quasi: Mapping[str, Lookup | Quantiles],
    sensitive: Mapping[str, Lookup],
) -> Coding:
    """Return how the rows of a frame are coded, and what is kept of them beside their codes."""
    columns, kind = step.columns, None
    if columns.privacy_unit:
        kind = text_types(frame.select(quote_name(columns.privacy_unit)), numbers=work.is_csv)
    return Coding(
        quasi=quasi,
        sensitive=sensitive,
        kept=(
            *shown_sensitive(step),
            *unbounded_columns(step, work.released),
            *(columns.quasi_names if step.is_permuted else ()),
            *columns.pseudonymize,
        ),
        pseudonyms=columns.pseudonymize,
        key=release_key(work.key, work.salt, columns.pseudonym_scope)
        if columns.pseudonymize
        else b"",
        person=columns.privacy_unit,
        person_kind=next(iter(kind.values())) if kind else None,
    )
