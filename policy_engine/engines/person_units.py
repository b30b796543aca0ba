"""Which column of a table tells persons apart who have several rows, and whether one is missed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from policy_engine.engines.column_evidence import ColumnEvidence
from policy_engine.engines.column_roles import Telling

_UNIQUE = 0.95
_CHANGED = 0.2
"""Values have the same quasi-identifier in all their rows where there are at most so many pairs of
both beyond one for a value, as a share of the values and of the rows beyond: a few may be wrong."""
_MOST_PERSONS = 0.5
"""Where persons have several rows, these share all quasi-identifiers: at most so many differ."""
_ROOM = 2
"""With so many times as many combinations as rows, four in five rows differ by chance."""


@dataclass(frozen=True)
class UnitCandidate:
    """A column that may tell persons apart, and how well its name and its values say that."""

    evidence: ColumnEvidence
    telling: Telling

    @property
    def is_repeated(self) -> bool:
        """Whether several rows have the same value, and not all of them."""
        return self.evidence.distinct > 1 and self.evidence.distinction < _UNIQUE


def person_unit(
    table: pa.Table, candidates: Sequence[UnitCandidate], quasi_identifiers: Sequence[str]
) -> str | None:
    """Return the column that tells persons apart who have several rows, None where none does.

    Of those whose names or values say so best it is the one with the most distinct values. A
    column that only may be one is one where its values have the same quasi-identifiers in all of
    their rows, as persons do.
    """
    fitting = [
        one
        for one in candidates
        if one.is_repeated
        and (one.telling >= Telling.LIKELY or _is_steady(table, one.evidence, quasi_identifiers))
    ]
    best = max(fitting, key=lambda one: (one.telling, one.evidence.distinct), default=None)
    return best.evidence.name if best else None


def are_rows_repeated(
    table: pa.Table, evidence: Mapping[str, ColumnEvidence], quasi_identifiers: Sequence[str]
) -> bool:
    """Tell whether rows share all quasi-identifiers far more often than by chance.

    By chance, two rows share all with the product of the probabilities to share each.
    """
    names = [name for name in quasi_identifiers if evidence[name].kind != "other"]
    if not names or not table.num_rows:
        return False
    share = 1.0
    for name in names:
        share *= 1 - evidence[name].separation
    is_wide = share * _ROOM * table.num_rows <= 1
    return bool(is_wide and _distinct_rows(table, names) <= _MOST_PERSONS * table.num_rows)


def _is_steady(table: pa.Table, evidence: ColumnEvidence, names: Sequence[str]) -> bool:
    """Tell whether at least half of some columns, and two, are the same for equal values."""
    most = _CHANGED * min(evidence.distinct, evidence.present - evidence.distinct)
    steady = [
        _distinct_rows(table, [evidence.name, name]) - evidence.distinct <= most
        for name in names
        if name != evidence.name
    ]
    return sum(steady) >= max(2, len(steady) / 2)


def _distinct_rows(table: pa.Table, names: list[str]) -> int:
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in map(table.column, names)
    ]
    keys = [str(place) for place in range(len(columns))]
    return int(pa.table(columns, names=keys).group_by(keys).aggregate([]).num_rows)
