"""What has to be known of columns before they are masked, and what their rows show afterwards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import is_text, value_type
from policy_engine.engines.masking.categories import check_matrices
from policy_engine.engines.masking.cell_columns import PlainColumn, TailColumn
from policy_engine.engines.masking.columns import SingleColumn
from policy_engine.engines.masking.evidence import (
    GroupEvidence,
    MaskingEvidence,
    Pairs,
    SingleEvidence,
    check_changed,
    see_pairs,
)
from policy_engine.engines.masking.image_columns import ImageColumn
from policy_engine.engines.masking.marks import add_marks, column_mark, mark_key
from policy_engine.engines.masking.parts import Faults, Look, Parts
from policy_engine.engines.masking.perturbing import KnownGroup, check_types
from policy_engine.engines.masking.recoding import LabelColumn, Recoder, Taxonomies
from policy_engine.engines.masking.surveys import (
    Group,
    Kinds,
    Survey,
    columns_of,
    facts_of,
    find_moments,
    floats_of,
    is_present,
    survey,
)
from policy_engine.kernels.moments import Moments, exponents
from policy_engine.methods.masking import CellMasking
from policy_engine.methods.tail_coding import TailCoding
from policy_engine.plan.steps import Mask

Singles = Mapping[str, SingleColumn[Any, Any]]
Looks = dict[str, Look[Any]]
Columns = dict[str, pa.ChunkedArray]


def masked_name(name: str) -> str:
    """Return the name of a masked column, while the original one is beside it.

    The blank tells it from columns for what tells rows apart: a masked column may be named `low`.
    """
    return f"\ufffd {name}"


def single_columns(
    step: Mask, taxonomies: Taxonomies, kinds: Kinds, key: bytes, faults: Faults
) -> dict[str, SingleColumn[Any, Any]]:
    """Return the columns of a step that are masked by themselves, by their names.

    Their values are marked under a key.
    """
    singles: dict[str, SingleColumn[Any, Any]] = {}
    for cells in step.cell_maskings:
        singles[cells.name] = _cells(cells, kinds.get(cells.name), key)
    for recoding in step.recodings:
        with faults.of(recoding.name):
            recoder = Recoder.of(recoding, taxonomies)
            singles[recoding.name] = LabelColumn(recoder, kinds.get(recoding.name))
    for images in step.image_maskings:
        singles[images.name] = ImageColumn(images, key)
    return singles


def _cells(masking: CellMasking, kind: pa.DataType | None, key: bytes) -> TailColumn | PlainColumn:
    if isinstance(masking, TailCoding):
        return TailColumn(masking, kind, key)
    return PlainColumn(masking, kind, key)


@dataclass(frozen=True)
class KnownColumns:
    """The columns of a step, with what is known of all of their values: `groups` of those that are
    masked at random or by what other rows hold, and `singles`. Values are marked under `key`."""

    groups: tuple[KnownGroup, ...]
    singles: Singles
    key: bytes

    @classmethod
    def of(cls, parts: Parts, step: Mask, taxonomies: Taxonomies) -> "KnownColumns":
        """Return what an input tells of the columns of a step.

        Raises DataError with all columns that do not hold what their masking takes.
        """
        faults, key = Faults(), mark_key()
        singles = single_columns(step, taxonomies, parts.kinds, key, faults)
        for group in step.groups:
            with faults.of(group[0].name):
                check_types(parts.schema, group, parts.kinds)
        groups = {one[0].name: one for one in step.groups if one[0].name not in faults}
        looks = {name: one.survey for name, one in singles.items() if one.survey}
        looks |= {name: _survey(group, parts.kinds) for name, group in groups.items()}
        seen = parts.look(looks, faults)
        for name in singles.keys() & seen.keys():
            with faults.of(name):
                kind = parts.kinds.get(name) or value_type(parts.schema.field(name).type)
                singles[name] = singles[name].informed(seen[name], kind)
        surveys = {name: seen[name] for name in groups if name in seen}
        columns = cls(tuple(_known_groups(parts, groups, surveys, faults)), singles, key)
        with faults.of(""):
            check_matrices(columns.categories)
        if faults:
            # What is wrong with the others is told with it.
            columns.try_singles(parts, faults)
        faults.check(step.names)
        return columns

    @property
    def categories(self) -> dict[str, int]:
        """How many categories the columns have that are drawn by a matrix."""
        drawn = (one for one in self.groups if one.facts.labels is not None)
        return {one.name: len(one.facts.labels) for one in drawn}

    def mask_singles(self, table: pa.Table) -> Columns:
        """Return the columns of a part of a table that are masked by themselves.

        Raises DataError with all that do not hold what their masking takes.
        """
        faults, columns = Faults(), {}
        for name, column in self.singles.items():
            with faults.of(name):
                columns[name] = column.mask(table)
        faults.check()
        return columns

    def try_singles(self, parts: Parts, faults: Faults) -> None:
        """Keep what is wrong with the columns of which nothing is known to be wrong."""

        def see(table: pa.Table, column: SingleColumn[Any, Any]) -> None:
            column.mask(table)

        parts.look(
            {
                name: Look((name,), partial(see, column=column), lambda _, __: None)
                for name, column in self.singles.items()
                if name not in faults
            },
            faults,
        )

    def evidence(self, parts: Parts, *, is_masked: bool) -> MaskingEvidence:
        """Return what the rows show before and after masking.

        The masked columns are beside the original ones if `is_masked`. Otherwise those that are
        masked by themselves are masked once more, and nothing is known of pairs of the others.
        Raises DataError with the columns that no row of was changed.
        """
        looks: Looks = {
            name: _comparison(column, is_masked=is_masked) for name, column in self.singles.items()
        }
        kinds = _value_kinds(parts)
        looks |= {one.name: marks_look(one.group, kinds, self.key) for one in self.groups}
        seen = parts.look(looks)
        pairs = self._pairs(parts) if is_masked else {}
        groups = (
            GroupEvidence(
                one.group,
                one.facts,
                seen[one.name],
                pairs.get(one.name),
                one.seen.forms,
                {name: kinds.get(name) or _type_of(parts, name) for name in columns_of(one.group)},
            )
            for one in self.groups
        )
        singles = {n: SingleEvidence(one, seen[n]) for n, one in self.singles.items()}
        return MaskingEvidence(tuple(groups), singles, key=self.key)

    def _pairs(self, parts: Parts) -> dict[str, Pairs]:
        """Return what the same rows show before and after masking, by the names of groups.

        Raises DataError (R013) with all columns that should have changed and did not.
        """
        pairs: dict[str, Pairs] = {}
        for whole in (False, True):
            groups = {one.name: one for one in self.groups if one.needs_all_rows == whole}
            limits = parts.look({n: _limits(one) for n, one in groups.items() if has_limits(one)})
            looks = {
                name: _comparison_of_group(one, _value_kinds(parts), self.key, limits.get(name))
                for name, one in groups.items()
            }
            pairs |= parts.look(looks, whole=whole)
        faults = Faults()
        for one in self.groups:
            with faults.of(one.name):
                check_changed(one.group, pairs[one.name])
        faults.check()
        return pairs


def _type_of(parts: Parts, name: str) -> pa.DataType:
    return value_type(parts.schema.field(name).type)


def _value_kinds(parts: Parts) -> Kinds:
    """Return the types that texts are inferred to be of, also those of a file with types, where
    they are texts of any form."""
    names = (field.name for field in parts.schema if is_text(value_type(field.type)))
    return {**{name: pa.string() for name in names}, **parts.kinds}


def _survey(group: Group, kinds: Kinds) -> Look[Survey]:
    see = partial(survey, group=group, kinds=kinds)
    return Look(columns_of(group), see, Survey.merge)


def moments_looks(surveys: Mapping[str, Survey], groups: Mapping[str, Group]) -> Looks:
    """Return the looks at the moments of the groups that have numbers, by their names."""
    return {
        name: Look(
            columns_of(groups[name]),
            partial(find_moments, group=groups[name], seen=seen),
            Moments.__add__,
        )
        for name, seen in surveys.items()
        if seen.exponents is not None
    }


def _known_groups(
    parts: Parts, groups: Mapping[str, Group], surveys: Mapping[str, Survey], faults: Faults
) -> Iterator[KnownGroup]:
    moments = parts.look(moments_looks(surveys, groups), faults)
    for name, seen in surveys.items():
        with faults.of(name):
            facts = facts_of(groups[name], seen, moments.get(name))
            yield KnownGroup(groups[name], seen, facts)


def _comparison(column: SingleColumn[Any, Any], *, is_masked: bool) -> Look[Any]:
    """Return what a column shows before and after masking; it is masked here unless `is_masked`."""
    names = (column.name, masked_name(column.name))

    def see(table: pa.Table) -> Any:
        after = table.column(names[1]) if is_masked else column.mask(table)
        return column.compare(table.column(names[0]), after)

    return Look(names if is_masked else names[:1], see, column.merge)


def has_limits(group: KnownGroup) -> bool:
    """Tell whether the moments of a group's numbers, before and after, are to be seen."""
    return group.group[0].relates_numbers and group.facts.rows > 0


def _limits(group: KnownGroup) -> Look[NDArray[np.int64]]:
    """Return the look at the exponents of a group's masked numbers."""
    names = tuple(masked_name(one.name) for one in group.group)
    forms = dict(zip(names, group.seen.forms.values(), strict=True))

    def see(table: pa.Table) -> NDArray[np.int64]:
        return exponents(floats_of(table, forms)[is_present(table, names)])

    return Look(names, see, np.maximum)


def _comparison_of_group(
    group: KnownGroup, kinds: Kinds, key: bytes, limits: NDArray[np.int64] | None
) -> Look[Pairs]:
    names = [one.name for one in group.group]
    masked_names = [masked_name(name) for name in names]
    used = columns_of(group.group)

    def see(table: pa.Table) -> Pairs:
        after = table.select(masked_names).rename_columns(names)
        return see_pairs(group, table.select(list(used)), after, kinds, key, limits)

    by = tuple(masked_names) if group.group[0].is_by_block else ()
    return Look((*used, *masked_names), see, Pairs.merge, by)


def marks_look(group: Group, kinds: Kinds, key: bytes) -> Look[tuple[int, ...]]:
    """Return the look at the marks of the columns of a group."""
    names = tuple(one.name for one in group)

    def see(table: pa.Table) -> tuple[int, ...]:
        return tuple(column_mark(table.column(name), kinds.get(name), key) for name in names)

    return Look(names, see, add_marks)
