"""Which columns of a table a first policy releases, and as what."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from policy_engine.data.taxonomy.known import KnownTaxonomy, known_codes, known_taxonomy
from policy_engine.data.taxonomy.suggestion import suggest
from policy_engine.engines.column_evidence import ColumnEvidence, gather_evidence
from policy_engine.engines.column_roles import ColumnRole, propose_role
from policy_engine.engines.person_units import UnitCandidate, are_rows_repeated, person_unit
from policy_engine.engines.tables import infer_types

Part = Literal["identifier", "quasi-identifier", "sensitive", "left out"]
"""What a column is in a first policy; what is left out is not released."""


@dataclass(frozen=True)
class ProposedColumn:
    """A column, what it is to be, and why.

    `figures` say what was counted. `generalization` is how a quasi-identifier is generalised, empty
    for ranges and sets; `taxonomy` is the text of one. `tells_persons` says that several rows may
    be those of one person. `warning` is what to look at, if anything.
    """

    name: str
    part: Part
    reason: str
    figures: str
    generalization: str = ""
    taxonomy: str = field(default="", repr=False)
    tells_persons: bool = False
    warning: str = ""

    def as_part(self, part: Part, reason: str) -> "ProposedColumn":
        """Return the column as something else."""
        return replace(self, part=part, reason=reason)


MOST_QUASI_IDENTIFIERS = 10
"""With more columns, classes of a few rows lose nearly everything (Aggarwal, VLDB 2005)."""
MOST_SENSITIVE = 2
_MOST_SENSITIVE_VALUES = 100
"""A column kept exact with more values than this singles out persons by itself."""
_MOST_SETS = 50
"""So many texts can be read as a set; more need groups."""
_MOST_DRAFTED = 2_000
_MOST_COUNTED = 30_000
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_MOST_UNIQUE = 0.01
_SAID = "You said so."
_LEAST_SEPARATION = 0.2
_HEAVY_TAIL = 10
_PARTS: dict[ColumnRole, Part] = {
    ColumnRole.IDENTIFIER: "identifier",
    ColumnRole.QUASI_IDENTIFIER: "quasi-identifier",
    ColumnRole.SENSITIVE: "sensitive",
    ColumnRole.OTHER: "left out",
}


def propose_columns(
    table: pa.Table, parts: Mapping[str, Part] | None = None
) -> tuple[ProposedColumn, ...]:
    """Return what each column of a table is proposed to be in a first policy, in their order.

    `parts` are what a person says that some of them are, by name: that is not weighed again.
    """
    rows, chosen_parts = infer_types(table), parts or {}
    evidence = [gather_evidence(name, rows.column(name)) for name in rows.column_names]
    proposed = [_proposed(one) for one in evidence]
    proposed = _with_few_sensitive(proposed, evidence)
    proposed = _with_few_unique(rows, proposed)
    proposed = _with_few_quasi_identifiers(proposed, evidence)
    proposed = [
        one
        if chosen_parts.get(one.name, one.part) == one.part
        else one.as_part(chosen_parts[one.name], _SAID)
        for one in proposed
    ]
    proposed = _with_unit(rows, proposed, evidence)
    return tuple(
        _generalised(one, seen, rows.column(one.name))
        for one, seen in zip(proposed, evidence, strict=True)
    )


def repeats_persons(table: pa.Table, columns: Sequence[ProposedColumn]) -> bool:
    """Tell whether persons look as if they had several rows, and no column tells them apart."""
    names = [one.name for one in columns if one.part == "quasi-identifier"]
    if any(one.tells_persons for one in columns):
        return False
    rows = infer_types(table.select(names))
    evidence = {name: gather_evidence(name, rows.column(name)) for name in names}
    return are_rows_repeated(rows, evidence, names)


def _with_unit(
    rows: pa.Table, columns: Sequence[ProposedColumn], evidence: Sequence[ColumnEvidence]
) -> list[ProposedColumn]:
    """Mark the column that tells persons apart, if any: it is dropped, as an identifier."""
    by_name = {one.name: one for one in evidence}
    roles = {one.name: propose_role(one) for one in evidence}
    candidates = [
        UnitCandidate(by_name[one.name], roles[one.name].telling)
        for one in columns
        if not name_problem(one.name)
        if one.part == "identifier" or (one.part == "left out" and roles[one.name].is_doubtful)
        if by_name[one.name].kind in ("text", "integer")
    ]
    names = [one.name for one in columns if one.part == "quasi-identifier"]
    unit = person_unit(rows, candidates, names)
    return [_as_unit(one) if one.name == unit else one for one in columns]


def _as_unit(column: ProposedColumn) -> ProposedColumn:
    chosen = replace(column, part="identifier", tells_persons=True)
    if column.part == "identifier":
        return chosen
    return replace(chosen, reason="Rows with the same value have the same quasi-identifiers.")


def name_problem(name: str) -> str:
    """Return why a policy cannot name a column; empty where it can."""
    if not name.strip():
        return "It has no name, so a policy cannot name it: give it one if it is needed."
    if _SCHEME.match(name):
        return "Its name reads as an IRI, so a policy cannot name it: rename it if it is needed."
    if not unicodedata.is_normalized("NFC", name):
        return "Letters of its name are in parts (not NFC): rename it if it is needed."
    return ""


def _proposed(evidence: ColumnEvidence) -> ProposedColumn:
    proposed = propose_role(evidence)
    figures = _figures(evidence)
    if problem := name_problem(evidence.name):
        return ProposedColumn(evidence.name, "left out", problem, figures)
    if evidence.is_constant:
        reason = "All rows have the same value, which says nothing."
        return ProposedColumn(evidence.name, "left out", reason, figures)
    if evidence.kind == "other":
        reason = "Its values are lists or bytes, which are not generalised."
        return ProposedColumn(evidence.name, "left out", reason, figures)
    part = _PARTS[proposed.role]
    return ProposedColumn(evidence.name, part, proposed.reason, figures)


def _figures(evidence: ColumnEvidence) -> str:
    missing = f", {evidence.missing:,} missing" if evidence.missing else ""
    separated = f"tells {evidence.separation:.0%} of pairs apart"
    return f"{evidence.kind}, {evidence.distinct:,} values{missing}, {separated}"


def _with_few_sensitive(
    columns: Sequence[ProposedColumn], evidence: Sequence[ColumnEvidence]
) -> list[ProposedColumn]:
    """Keep those sensitive columns exact that have few values, and leave out the others."""
    distinct = {one.name: one.distinct for one in evidence}
    few = [
        one.name
        for one in columns
        if one.part == "sensitive" and 2 <= distinct[one.name] <= _MOST_SENSITIVE_VALUES
    ]
    kept = sorted(few, key=lambda name: -_rank(name))[:MOST_SENSITIVE]
    reason = "It would be kept exact, and others of its kind are already; add it if it is needed."
    many = "It would be kept exact, and its {:,} values tell rows apart."
    return [
        one
        if one.part != "sensitive" or one.name in kept
        else one.as_part("left out", reason if one.name in few else many.format(distinct[one.name]))
        for one in columns
    ]


def _with_few_unique(rows: pa.Table, columns: Sequence[ProposedColumn]) -> list[ProposedColumn]:
    """Leave out the sensitive columns of lower rank, until few rows are unique on what is kept."""
    ranked = sorted((one.name for one in columns if one.part == "sensitive"), key=_rank)
    sample = spread_rows(rows, _MOST_COUNTED)
    left_out: set[str] = set()
    while (kept := ranked[len(left_out) :]) and (
        unique_rows(sample, kept) > _MOST_UNIQUE * sample.num_rows
    ):
        left_out.add(kept[0])
    reason = "Kept exact, it would make rows unique."
    return [one.as_part("left out", reason) if one.name in left_out else one for one in columns]


def unique_rows(table: pa.Table, names: Sequence[str]) -> int:
    """Return how many rows of a table have values of some columns that no other row has."""
    if not names:
        return 0
    columns = [
        column.cast(column.type.value_type) if types.is_dictionary(column.type) else column
        for column in map(table.column, names)
    ]
    keys = [str(place) for place in range(len(columns))]
    counts = pa.table(columns, names=keys).group_by(keys).aggregate([([], "count_all")])
    return int(compute.sum(compute.equal(counts["count_all"], 1)).as_py() or 0)


def _rank(name: str) -> int:
    """Return how likely a sensitive column is what a table is about, by its name."""
    words = ("class", "label", "outcome", "target", "status", "diag", "claim", "readmitted")
    return next((len(words) - place for place, one in enumerate(words) if one in name.lower()), 0)


def _with_few_quasi_identifiers(
    columns: Sequence[ProposedColumn], evidence: Sequence[ColumnEvidence]
) -> list[ProposedColumn]:
    """Fill up the quasi-identifiers with columns of few values, and leave out those beyond ten."""
    by_name = {one.name: one for one in evidence}
    named = [one.name for one in columns if one.part == "quasi-identifier"]
    named = sorted(named, key=lambda name: by_name[name].distinct)[:MOST_QUASI_IDENTIFIERS]
    others = [one.name for one in columns if _may_be_added(one, by_name[one.name])]
    others = sorted(others, key=lambda name: by_name[name].distinct)
    chosen = {*named, *others[: MOST_QUASI_IDENTIFIERS - len(named)]}
    return [*(_as_chosen(one, chosen) for one in columns)]


def _may_be_added(column: ProposedColumn, evidence: ColumnEvidence) -> bool:
    """Tell whether a column that nothing is known of is worth generalising."""
    is_open = column.part == "left out" and evidence.kind not in ("other", "empty")
    is_short = evidence.kind != "text" or evidence.distinct <= _MOST_SETS
    return (
        is_open
        and is_short
        and not evidence.is_constant
        and not name_problem(column.name)
        and (role := propose_role(evidence)).role is ColumnRole.OTHER
        and not role.is_doubtful
        and evidence.separation >= _LEAST_SEPARATION
    )


def _as_chosen(column: ProposedColumn, chosen: set[str]) -> ProposedColumn:
    if column.name in chosen and column.part == "left out":
        reason = "Kept exact it might tell who somebody is, so it is generalised."
        return column.as_part("quasi-identifier", reason)
    if column.part == "quasi-identifier" and column.name not in chosen:
        reason = f"{MOST_QUASI_IDENTIFIERS} others with fewer values are generalised already."
        return column.as_part("left out", reason)
    return column


# -- how quasi-identifiers are generalised ---------------------------------------------------------


def _generalised(
    column: ProposedColumn, evidence: ColumnEvidence, values: pa.ChunkedArray
) -> ProposedColumn:
    if column.part != "quasi-identifier":
        return column
    if evidence.kind in ("date", "date and time"):
        return replace(column, generalization="calendar")
    if evidence.kind in ("integer", "text") and evidence.distinct <= _MOST_DRAFTED:
        texts = compute.cast(values, pa.string()).unique().to_pylist()
        if (codes := known_codes(filter(None, texts), column.name)) is not None:
            return _with_taxonomy(column, codes)
    if evidence.kind == "text" and _are_codes(evidence):
        return replace(column, generalization="prefix")
    if evidence.kind in ("integer", "number") or _are_numbers(evidence.examples):
        return replace(column, warning=_tail_warning(values))
    return _with_groups(column, evidence, values)


def _are_numbers(examples: Sequence[str]) -> bool:
    """Tell whether texts are numbers, such as decimals of more digits than floats have."""
    try:
        return bool(examples) and all(np.isfinite(float(text)) for text in examples)
    except ValueError:
        return False


def _are_codes(evidence: ColumnEvidence) -> bool:
    """Tell whether texts are codes of one length with digits in them, which have prefixes."""
    lengths = {len(text) for text in evidence.examples}
    has_digits = all(any(map(str.isdigit, text)) for text in evidence.examples)
    is_long = len(lengths) == 1 and min(lengths) >= 3
    return is_long and has_digits and evidence.distinct > _MOST_SETS


def _tail_warning(values: pa.ChunkedArray) -> str:
    """Return what to do where a few large numbers make every interval wide."""
    if not (types.is_integer(values.type) or types.is_floating(values.type)):
        return ""
    numbers = compute.drop_null(values).to_numpy().astype(float)
    low, middle, high = np.quantile(numbers, (0.05, 0.5, 0.95)) if len(numbers) else (0, 0, 0)
    spread = high - low
    if not spread or numbers.max(initial=0) - middle <= _HEAVY_TAIL * spread:
        return ""
    return (
        f"Its largest value is {(numbers.max() - middle) / spread:,.0f} times as far out as nearly "
        "all others, so intervals may be wide: let a few rows be left out (pe:maxSuppression), "
        "or give it a weight."
    )


def _with_groups(
    column: ProposedColumn, evidence: ColumnEvidence, values: pa.ChunkedArray
) -> ProposedColumn:
    """Return a column of texts: as sets where they are few, else by a taxonomy, or left out."""
    if evidence.distinct > _MOST_DRAFTED:
        reason = f"It has {evidence.distinct:,} texts, for which no groups are known."
        return column.as_part("left out", reason)
    counts = {one["values"]: one["counts"] for one in values.value_counts().to_pylist()}
    counts = {value: count for value, count in counts.items() if value}
    taxonomy = known_taxonomy(counts, column.name)
    if taxonomy is not None:
        return _with_taxonomy(column, taxonomy)
    if evidence.distinct <= _MOST_SETS:
        return column
    draft = suggest(counts, column.name, "frequency").to_csv()
    warning = "Its taxonomy is a draft by how often texts occur: look at it."
    return replace(column, generalization="taxonomy", taxonomy=draft, warning=warning)


def _with_taxonomy(column: ProposedColumn, taxonomy: KnownTaxonomy) -> ProposedColumn:
    reason = f"{column.reason} Its taxonomy is of {taxonomy.title}."
    return replace(column, generalization="taxonomy", taxonomy=taxonomy.text, reason=reason)


def spread_rows(table: pa.Table, most: int) -> pa.Table:
    """Return at most so many rows of a table, spread evenly over it."""
    step = -(-table.num_rows // most)
    return table.take(np.arange(0, table.num_rows, step)) if step > 1 else table
