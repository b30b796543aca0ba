"""The tables that risks are measured on: of members, of as many others, and of synthetic rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.spaces.encoded_rows import without_outliers
from policy_engine.kernels.estimates import NotApplicable

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AttackedRows:
    """Rows (rows, columns) of `members`, of the `holdout`, as many or all, and `synthetic` ones.

    The labels are the last of the columns if all three have some. All rows are in random order, so
    that no order of a file decides which of equally near ones is taken. The `widths` (columns,)
    are the ranges of the numbers of public records without outliers, and 0 for categories.
    """

    columns: tuple[AuditedColumn, ...]
    members: Floats
    holdout: Floats
    synthetic: Floats
    widths: Floats
    secrets: tuple[int, ...]


def draw_tables(
    material: Material,
    random: np.random.Generator,
    most: int | None = None,
    *,
    is_whole: bool = False,
) -> AttackedRows | NotApplicable:
    """Return tables with `most` members at most, drawn at random as so many of the holdout are; or
    all of both where it `is_whole`.

    They are not applicable without rows of a table, or where a file is empty.
    """
    if not material.is_table:
        return NotApplicable(reason="The records are not rows of a table.")
    if material.synthetic is None or not len(material.synthetic):
        return NotApplicable(reason="There are no synthetic records.")
    sides = material.members, material.holdout
    if not all(map(len, sides)):
        return NotApplicable(reason="There are no members, or no records of the holdout.")
    files = (*sides, material.synthetic)
    has_labels = all(one.labels is not None for one in files)
    size = min(*map(len, sides), *(() if most is None else (most,)))
    sizes = [len(one) if is_whole else size for one in sides]
    labels = (
        (AuditedColumn("label", is_number=False, texts=material.classes),) if has_labels else ()
    )
    members, holdout, synthetic = (_rows(one, has_labels=has_labels) for one in files)
    return AttackedRows(
        columns=(*material.columns, *labels),
        members=random.permutation(members)[: sizes[0]],
        holdout=random.permutation(holdout)[: sizes[1]],
        synthetic=random.permutation(synthetic),
        widths=_widths(material, labels),
        secrets=material.secrets,
    )


def _rows(records: RecordSet, *, has_labels: bool) -> Floats:
    if not has_labels or records.labels is None:
        return records.values.astype(np.float64)
    return np.column_stack([records.values, records.labels]).astype(np.float64)


def _widths(material: Material, labels: tuple[AuditedColumn, ...]) -> Floats:
    values = material.public.values.astype(np.float64)
    widths = [
        _range(values[:, place]) if column.is_number else 0.0
        for place, column in enumerate(material.columns)
    ]
    return np.array(widths + [0.0] * len(labels))


def _range(values: Floats) -> float:
    numbers = values[~np.isnan(values)]
    return float(np.ptp(without_outliers(numbers))) if len(numbers) else 0.0
