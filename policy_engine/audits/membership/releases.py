"""Features of a model of a release: fitted on cells, or on what many original records share.

The encoding of a released model is part of the release, so every value in it applies to several of
the records that the model learns from. The cells of a table that is released itself are public.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from policy_engine.audits.membership.encoding import Encoding, Leaves
from policy_engine.audits.membership.records import FittedFeatures
from policy_engine.audits.membership.splits import summarise_problems
from policy_engine.data import cells
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.field_marks import untyped_field
from policy_engine.engines.reading_back import cell_column, index_texts
from policy_engine.errors import AuditError, DataError, Problem
from policy_engine.plan.lineage import Generalised


@dataclass(frozen=True)
class CoveredValues:
    """The original values that the cells of an anonymised table cover, by label.

    Generalised by the plan, or by an earlier release. `leaves` are those of taxonomies, by column
    and label; `prefixes` the character that masks the ends of texts, by column.
    """

    leaves: Leaves
    prefixes: Mapping[str, str]


def fit_on_release(table: pa.Table, label: str, covered: CoveredValues) -> FittedFeatures:
    """Return how an anonymised table, and original records, become features.

    The cells of a range are encoded by its two ends in turn, those of a set or a label of a
    taxonomy by each of their values in turn. Raises AuditError where labels (A002) or features
    (A003) are not usable.
    """
    other = next(name for name in table.column_names if name != label)
    plain = FittedFeatures.of(table.select([other, label]), label)
    fitted = [
        Encoding.fit(_spread_values(name, table, covered.leaves.get(name, {})))
        for name in _features(table, label)
    ]
    warnings = dict.fromkeys(one for each in fitted for one in each.warnings)
    encoding = Encoding(tuple(rule for each in fitted for rule in each.rules), tuple(warnings))
    return FittedFeatures(encoding, label, plain.classes, plain.warnings)


def mask_like_release(table: pa.Table, release: pa.Table, covered: CoveredValues) -> pa.Table:
    """Return original records as an attacker would give them to a model of a release.

    Texts whose ends are masked in the release are masked in the same way; all others are unchanged.
    """
    for name, mask in covered.prefixes.items():
        if name in table.column_names:
            texts = {text for text in index_texts(name, release.column(name))[1] if text}
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, _mask_texts(name, table, texts, mask))
    return table


def fit_for_release(table: pa.Table, label: str, fewest: int) -> FittedFeatures:
    """Return how the original records that a released model learns from become features.

    Every value and class in the encoding applies to at least `fewest` of these records. Raises
    AuditError where labels (A002), features (A003) or classes (A001) are not usable.
    """
    _check_classes(table, label, fewest)
    return FittedFeatures.of(table, label, fewest)


def spread_cells(
    table: pa.Table, generalised: Iterable[Generalised], covered: CoveredValues
) -> pa.Table:
    """Return a table with each cell replaced by its values, in turn.

    Only in columns that an earlier release `generalised`, whose original values are not available.
    """
    for one in generalised:
        place = table.schema.get_field_index(one.name)
        spread = _spread_values(one.name, table, covered.leaves.get(one.name, {}))
        table = table.set_column(place, spread.schema.field(0), spread.column(0))
    return table


def check_nodes(table: pa.Table, generalised: Iterable[Generalised], leaves: Leaves) -> None:
    """Raise DataError (R007) where cells are not nodes of the taxonomy that generalised them."""
    problems = [
        problem
        for one in generalised
        if one.taxonomy and one.unlisted == "refuse"
        for problem in _unknown_cells(one, table, leaves.get(one.name, {}))
    ]
    if problems:
        raise DataError(*problems)


def _unknown_cells(
    column: Generalised, table: pa.Table, leaves: Mapping[str, tuple[str, ...]]
) -> Iterator[Problem]:
    values = {cells.ALL, None, *leaves, *(value for under in leaves.values() for value in under)}
    _, texts = index_texts(column.name, table.column(column.name))
    lacking = {value for text in texts for value in _values(text, {})} - values
    if lacking:
        message = f"{len(lacking):,} cells of {column.name!r} are not nodes of the taxonomy "
        message += f"{column.taxonomy!r}, by which an earlier release generalised them."
        yield Problem("R007", message, "Give the taxonomy that the release was made with.")


def describe_features(fitted: FittedFeatures) -> dict[str, Any]:
    """Return how columns become features, in their order, as JSON has it."""
    columns = []
    for rule in fitted.encoding.rules:
        summary = rule.summary()
        entry = {"name": summary.name, "kind": summary.kind, "width": summary.width}
        columns.append(entry | rule.parameters())
    return {"label": fitted.label, "classes": fitted.classes, "columns": columns}


def leaves_of(taxonomies: Mapping[str, Taxonomy], taxonomy_of_column: Mapping[str, str]) -> Leaves:
    """Return the original values under every label, by column.

    `taxonomy_of_column` gives the name of each column's taxonomy.
    """
    return {
        column: _leaves_by_label(taxonomies[name])
        for column, name in taxonomy_of_column.items()
        if name in taxonomies
    }


def _leaves_by_label(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    leaves: dict[str, list[str]] = defaultdict(list)
    for leaf, text in zip(taxonomy.leaves, taxonomy.leaf_labels, strict=True):
        node = leaf
        while node >= 0:
            leaves[taxonomy.labels[node]].append(text)
            node = int(taxonomy.parents[node])
    return {label: tuple(values) for label, values in leaves.items() if values != [label]}


def _check_classes(table: pa.Table, label: str, fewest: int) -> None:
    rows, texts = index_texts(label, table.column(label))
    counts = np.bincount(rows, minlength=len(texts)).tolist()
    problems = [
        Problem(
            "A001",
            f"The class {text!r} has only {count:,} of the records that the model learns from, but "
            f"everything that a released model reveals must apply to {fewest:,} or more.",
            "Leave the class out, join it with another, or give more records.",
        )
        for text, count in zip(texts, counts, strict=True)
        if text and 0 < count < fewest
    ]
    if problems:
        raise AuditError(*summarise_problems(problems, len(texts)))


def _features(table: pa.Table, label: str) -> list[str]:
    """Return the columns of a release by the names that they had, ranges in two columns as one."""
    columns = table.column_names
    names = []
    for name in columns:
        stem = name.removesuffix("_low").removesuffix("_high")
        names.append(stem if {f"{stem}_low", f"{stem}_high"} <= set(columns) else name)
    return [name for name in dict.fromkeys(names) if name != label]


def _spread_values(name: str, table: pa.Table, leaves: Mapping[str, tuple[str, ...]]) -> pa.Table:
    """Return a column with each cell replaced by one of its values, in turn."""
    rows, texts = index_texts(name, cell_column(table, name))
    values = _expand_all([tuple(_values(text, leaves)) for text in texts])
    turns = [0] * len(texts)
    spread: list[str | None] = []
    for row in rows.tolist():
        of_cell = values[row]
        spread.append(of_cell[turns[row] % len(of_cell)])
        turns[row] += 1
    field = untyped_field(name, pa.string())
    return pa.table([pa.array(spread, pa.string())], schema=pa.schema([field]))


def _expand_all(values: list[tuple[str | None, ...]]) -> list[tuple[str | None, ...]]:
    """Return the values of each cell; `*` has the values of all other cells."""
    distinct = tuple(dict.fromkeys(one for each in values for one in each if one != cells.ALL))
    return [distinct if each == (cells.ALL,) and distinct else each for each in values]


def _values(text: str | None, leaves: Mapping[str, tuple[str, ...]]) -> Iterator[str | None]:
    if not text:
        yield None
        return
    try:
        cell = cells.read_cell(text)
    except ValueError:
        cell = cells.Cell((text,))
    for value in cell.values:
        yield from leaves.get(value, (value,))
    if cell.may_be_missing:
        yield None


def _mask_texts(name: str, table: pa.Table, masked_texts: Iterable[str], mask: str) -> pa.Array:
    """Return the cells of a column's values: of each the longest masked text that it begins."""
    by_length = sorted(masked_texts, key=lambda text: len(text.rstrip(mask)), reverse=True)
    rows, texts = index_texts(name, table.column(name))
    masked = [
        next((one for one in by_length if text and text.startswith(one.rstrip(mask))), text)
        for text in texts
    ]
    return pa.array([masked[row] for row in rows.tolist()], pa.string())
