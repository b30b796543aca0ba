"""What the columns of a table look like without their values, and what they become generalised."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines import field_marks
from policy_engine.engines.column_evidence import gather_evidence
from policy_engine.engines.column_roles import ColumnRole, propose_role
from policy_engine.engines.generalizations import encode_quasi_identifier, generalizer
from policy_engine.engines.tables import infer_types
from policy_engine.errors import DataError
from policy_engine.methods.columns import QuasiIdentifier

MOST_LABELS = 50
"""So many groups of a level are told with their labels, the largest first."""


@dataclass(frozen=True)
class ColumnProfile:
    """A column without its values: how many it has to the power of ten, and how often none.

    `role` is a first guess by its name and its values, for a person to confirm; `reason` says in a
    sentence where it comes from.
    """

    name: str
    kind: str
    distinct: str
    missing: str
    role: ColumnRole
    reason: str


@dataclass(frozen=True)
class LevelGroup:
    """The rows that a level writes alike."""

    label: str
    rows: int


@dataclass(frozen=True)
class GeneralisedLevel:
    """What a column becomes at a height: how many groups there are, and how large.

    `groups` are the largest, each with its label, which is made of values.
    """

    height: int
    group_count: int
    smallest: int
    median: float
    largest: int
    groups: tuple[LevelGroup, ...]


def profile_columns(table: pa.Table) -> tuple[ColumnProfile, ...]:
    """Return what the columns of a table look like, without any of their values."""
    rows = infer_types(table)
    return tuple(_profile(name, rows.column(name)) for name in rows.column_names)


def generalised_levels(
    table: pa.Table, column: QuasiIdentifier, taxonomy: Taxonomy | None = None
) -> tuple[GeneralisedLevel, ...]:
    """Return the levels that a column can be generalised to, as it is first; none without rows.

    Raises DataError where the generalisation does not apply to its values (R006, R007, T011).
    """
    if column.generalization == "taxonomy" and taxonomy is None:
        message = f"The column {column.name!r} is generalised by a taxonomy, and none is given."
        raise DataError.of("T011", message, "Give the text of one.")
    if not table.num_rows:
        return ()
    is_untyped = field_marks.is_untyped(table.schema.field(column.name))
    codes = encode_quasi_identifier(column, table.column(column.name), numbers=is_untyped)
    chosen = generalizer(column.name, codes, column, taxonomy)
    ladder, levels = chosen.ladder(), []
    for height, level in enumerate(ladder.levels):
        counts = np.bincount(level[ladder.codes])
        labels = chosen.labels_at(height)
        order = np.argsort(-counts, kind="stable")[:MOST_LABELS].tolist()
        groups = (LevelGroup(labels[one] or "", int(counts[one])) for one in order)
        sizes = int(counts.min()), float(np.median(counts)), int(counts.max())
        levels.append(GeneralisedLevel(height, len(counts), *sizes, tuple(groups)))
    return tuple(levels)


def _profile(name: str, column: pa.ChunkedArray) -> ColumnProfile:
    evidence = gather_evidence(name, column)
    proposed = propose_role(evidence)
    share = _share(evidence.missing, evidence.rows)
    band = _band(evidence.distinct)
    return ColumnProfile(name, evidence.kind, band, share, proposed.role, proposed.reason)


def _band(count: int) -> str:
    """Return a count to the power of ten."""
    if count < 2:
        return str(count)
    least = 10 ** (len(str(count)) - 1)
    return f"{max(least, 2)}-{10 * least - 1}"


def _share(part: int, whole: int) -> str:
    """Return a share in words, so that no count can be told from it."""
    if not part:
        return "none"
    if part == whole:
        return "all"
    return "few" if part < 0.05 * whole else "some" if part < 0.5 * whole else "most"
