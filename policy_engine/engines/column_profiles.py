"""What the columns of a table look like without their values, and what they become generalised."""

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines import field_marks
from policy_engine.engines.column_roles import ColumnRole
from policy_engine.engines.generalizations import encode_quasi_identifier, generalizer
from policy_engine.engines.tables import infer_types
from policy_engine.errors import DataError
from policy_engine.methods.columns import QuasiIdentifier

MOST_LABELS = 50
"""So many groups of a level are told with their labels, the largest first."""
_SMALL = 20
"""With fewer rows, values that are all different say little of a column."""
_UNIQUE = 0.95
_WORDS = {
    "identifier": "name firstname lastname surname forename email mail phone telephone mobile fax "
    "ssn iban passport license licence uuid guid address street account login username url ip "
    "patient mrn nhs",
    "quasi-identifier": "age birth birthday birthdate dob born sex gender zip zipcode postcode "
    "postal plz city town village county region state country district race ethnicity nationality "
    "citizenship marital married education school degree occupation profession job language "
    "admission discharge household latitude longitude",
    "sensitive": "diagnosis diagnoses disease icd illness condition symptom drug medication "
    "treatment therapy hiv salary income wage wages debt credit loan religion politics party vote "
    "sexuality offence crime result grade score",
}
_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


_ROLE_WORDS = {ColumnRole(role): frozenset(words.split()) for role, words in _WORDS.items()}


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
    kind, rows = _kind(column.type), len(column)
    try:
        distinct = compute.count_distinct(column).as_py()
    except pa.ArrowNotImplementedError:  # lists, images
        distinct = rows - column.null_count
    role, reason = _role(name, kind, distinct, rows - column.null_count)
    return ColumnProfile(name, kind, _band(distinct), _share(column.null_count, rows), role, reason)


def _kind(kind: pa.DataType) -> str:
    value = kind.value_type if types.is_dictionary(kind) else kind
    names = (
        (types.is_boolean, "truth value"),
        (types.is_integer, "integer"),
        (types.is_floating, "number"),
        (types.is_decimal, "number"),
        (types.is_date, "date"),
        (types.is_timestamp, "date and time"),
        (types.is_string, "text"),
        (types.is_large_string, "text"),
        (types.is_null, "empty"),
    )
    return next((name for fits, name in names if fits(value)), "other")


def _role(name: str, kind: str, distinct: int, rows: int) -> tuple[ColumnRole, str]:
    tokens = {one.lower() for one in _TOKEN.findall(name)}
    tokens |= {name.lower(), "".join(_TOKEN.findall(name)).lower()}
    is_unique = rows >= _SMALL and distinct >= _UNIQUE * rows
    if is_unique and kind in ("text", "integer"):
        return ColumnRole.IDENTIFIER, "Nearly every row has a value of its own."
    for role, words in _ROLE_WORDS.items():
        common = sorted(tokens & words)
        if common:
            return role, _REASONS[role].format(common[0])
    if tokens & {"id", "no", "nr", "number", "key"} and distinct > rows / 2:
        return ColumnRole.IDENTIFIER, "Its name is that of a number of somebody."
    if kind in ("date", "date and time"):
        return ColumnRole.QUASI_IDENTIFIER, "When something happened is often known of a person."
    return ColumnRole.OTHER, "Neither its name nor its values say that it tells who somebody is."


_REASONS = {
    ColumnRole.IDENTIFIER: "Its name has {!r}, which names a person.",
    ColumnRole.QUASI_IDENTIFIER: "Its name has {!r}, which others may know of a person.",
    ColumnRole.SENSITIVE: "Its name has {!r}, which nobody should learn about a person.",
}


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
