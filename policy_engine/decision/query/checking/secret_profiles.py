"""Of which rows one secret column decides whether a condition holds, and of which it says so.

Who asks may know all columns but one. Rows that are known to be alike then fare alike with each
value of that one: this is their profile. Where it is not constant, a count tells how many of the
rows have one of the values that the profile asks for, whatever the words of the condition are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.decision.query.checking.alike_rows import AlikeRows, leaves_of_rows
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.condition_leaves import (
    ConditionLeaves,
    LeafExpression,
    columns_of,
)
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.population_conditions import PopulationCondition
from policy_engine.decision.query.checking.possible_worlds import MOST_PAIRS, does_hold
from policy_engine.decision.query.grammar import to_sql
from policy_engine.kernels.distinct_numbers import distinct_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Masks = NDArray[np.bool_]

MOST_PROFILES = 20
"""How many profiles are told apart: of more, as where columns are compared, it is counted of whom
the condition itself holds."""
ROW = "u"
_KNOWN, _SECRET = "known rows", "secret values"


@dataclass(frozen=True, eq=False)
class DecidedRows:
    """Rows of which a secret `column` decides whether a condition holds.

    `members` are these rows, and `holders` are all rows that have one of the values that decide it,
    or one of the others: (rows,) each. Where both are persons, `values` are all rows that have one.
    """

    column: str
    members: "Masks"
    holders: "Masks"
    values: "Masks | None" = None


@dataclass(frozen=True, eq=False)
class DecidedOwners(DecidedRows):
    """Rows by which a secret column decides whether their owners count, and the rows of those who
    `counts` whatever it is: (rows,). It is told of the holders whether the owners have one or, if
    not `of_holders`, of the others: holders are named so that the first row is none."""

    counts: "Masks" = field(kw_only=True)
    of_holders: bool = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class SecretProfiles:
    """Rows by the leaves of some conditions, in the order of a query: column "u" is the number of
    each, and "q<i>" says whether it counts for condition i at all."""

    rows: AlikeRows
    conditions: tuple[LeafExpression, ...]
    leaf_columns: Mapping[str, str]
    _decided: "dict[str, list[tuple[str, Masks, Masks]]]" = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        source: exp.Select,
        row: exp.Expr,
        conditions: Sequence[PopulationCondition],
        tables: "Mapping[str, pa.Table]",
    ) -> "SecretProfiles":
        """Return the profiles of the rows of a query that selects nothing yet.

        `row` is the number of a row; those without one do not count. Raises NotCheckableError
        (K022) if the query fails.
        """
        leaves = ConditionLeaves()
        own = tuple(leaves.condition(one.whole) for one in conditions)
        present = {f"q{number}": one.presence for number, one in enumerate(conditions)}
        others = {name: exp.and_(*parts) for name, parts in present.items() if parts}
        rows = leaves_of_rows(source, leaves.by_name(), {ROW: row, **others}, tables)
        counted = rows.table.filter(rows.table[ROW].is_valid())
        columns = {name: next(iter(columns_of(one))) for name, one in leaves.by_name().items()}
        return cls(AlikeRows(counted, rows.can_fail), own, columns)

    @property
    def numbers(self) -> "Codes":
        """The number of each row: (rows,)."""
        numbers: Codes = self.rows.table[ROW].cast(pa.int64()).to_numpy()
        return numbers

    def decided(self, number: int) -> "Iterator[DecidedRows]":
        """Yield the rows of which each column decides whether a condition holds.

        Raises NotCheckableError (K046) for too many pairs of known rows and secret values.
        """
        condition, name = self.conditions[number], f"q{number}"
        is_present = np.ones(self.rows.table.num_rows, np.bool_)
        if name in self.rows.table.column_names:
            is_present = _flags(self.rows.table[name])
        # That of other figures may be the same, but for which values have to be present.
        text = condition.expression.sql("duckdb")
        if text not in self._decided:
            splits = [_Split(self, condition, column) for column in sorted(condition.columns)]
            self._decided[text] = [(one.column, *pair) for one in splits for pair in one.decided()]
        for column, members, holders in self._decided[text]:
            if (members & is_present).any():
                yield DecidedRows(column, members & is_present, holders)

    def decided_persons(self, number: int, units: "Codes") -> "Iterator[DecidedRows]":
        """Yield the persons of whom each column decides whether any row counts, and those who have
        such a row: masks of persons, by the `units` that rows are of, (rows,). Raises the same."""
        condition, name = self.conditions[number], f"q{number}"
        is_present = np.ones(self.rows.table.num_rows, np.bool_)
        if name in self.rows.table.column_names:
            is_present = _flags(self.rows.table[name])
        for column in sorted(condition.columns):
            for pair in _Split(self, condition, column).persons(units, is_present):
                yield DecidedRows(column, *pair)

    def decided_owners(self, number: int) -> "Iterator[DecidedOwners]":
        """Yield the rows by which each column decides whether their owners count. Raises the
        same."""
        condition, name = self.conditions[number], f"q{number}"
        is_present = np.ones(self.rows.table.num_rows, np.bool_)
        if name in self.rows.table.column_names:
            is_present = _flags(self.rows.table[name])
        for column in sorted(condition.columns):
            for one in _Split(self, condition, column).owners():
                yield replace(one, members=one.members & is_present, counts=one.counts & is_present)

    def decided_as(
        self, number: int, column: str, codes: "Codes", value: int
    ) -> "Iterator[DecidedRows]":
        """Yield the rows of which a column decides whether a condition holds and a key of it is a
        `value`, of the `codes` that the key has in each row: (rows,). Raises the same."""
        condition, name = self.conditions[number], f"q{number}"
        split = _Split(self, condition, column)
        for members, holders in split.decided_as(codes, value):
            is_in = members
            if name in self.rows.table.column_names:
                is_in = members & _flags(self.rows.table[name])
            if is_in.any():
                yield DecidedRows(column, is_in, holders)


@dataclass(frozen=True)
class _Split:
    """A condition of which all columns but one are known."""

    profiles: SecretProfiles
    condition: LeafExpression
    column: str

    def _names(self, *, secret: bool) -> list[str]:
        columns = self.profiles.leaf_columns
        own = tuple(n for n in self.condition.leaves if (columns[n] == self.column) == secret)
        return [*own, *self.profiles.rows.failing(own)]

    def decided(self) -> "Iterator[tuple[Masks, Masks]]":
        """Yield rows with a profile, and those of all rows whose secret is of it: (rows,) each."""
        table = self.profiles.rows.table
        known_rows, secrets = (
            _coded([table[name] for name in self._names(secret=one)], table.num_rows)
            for one in (False, True)
        )
        if not table.num_rows:
            return
        matrix = self._matrix(known_rows[1], secrets[1])
        # Whoever knows how many have other values knows how many have these.
        profiles: Masks = matrix ^ matrix[:, [secrets[0][self._first()]]]
        varies: Masks = np.asarray(profiles.any(axis=1), np.bool_)
        varying, places = np.unique(profiles[varies], axis=0, return_inverse=True)
        if len(varying) > MOST_PROFILES:
            yield varies[known_rows[0]], matrix[known_rows[0], secrets[0]]
            return
        own = np.full(len(varies), -1)
        own[varies] = places.reshape(-1)
        for place, profile in enumerate(varying):
            yield (own == place)[known_rows[0]], profile[secrets[0]]

    def persons(
        self, units: "Codes", is_present: "Masks"
    ) -> "Iterator[tuple[Masks, Masks, Masks]]":
        """Yield persons all of whose rows that may decide have one profile, all persons who have a
        row like those with a value that the profile asks for, (persons,) each, and all rows with
        one: (rows,).

        Who counts by a row that is known is none of them.
        """
        table, count = self.profiles.rows.table, int(units.max(initial=-1)) + 1
        if not table.num_rows:
            return
        known_rows, secrets = (
            _coded([table[name] for name in self._names(secret=one)], table.num_rows)
            for one in (False, True)
        )
        matrix = self._matrix(known_rows[1], secrets[1])
        is_known = np.asarray(matrix.all(axis=1), np.bool_)
        may_decide = np.asarray(matrix.any(axis=1) & ~is_known, np.bool_)
        profiles, places = np.unique(matrix[may_decide], axis=0, return_inverse=True)
        own = np.full(len(matrix), -1)
        own[may_decide] = places.reshape(-1)
        kinds = own[known_rows[0]]
        kinds[~is_present] = -1
        is_always = is_known[known_rows[0]] & is_present
        alike = self._alike_rows(units)
        for place, profile in enumerate(profiles[:MOST_PROFILES]):
            is_in = kinds == place
            members = _any_of(units, is_in, count)
            members &= ~_any_of(units, is_always | ((kinds >= 0) & ~is_in), count)
            values, kinds_in = profile[secrets[0]], distinct_numbers(alike[is_in & members[units]])
            yield members, _any_of(units, values & np.isin(alike, kinds_in), count), values

    def owners(self) -> "Iterator[DecidedOwners]":
        """Yield rows with a profile, those whose secret is of it, or of none of it, as `decided`
        has them, and the rows that count whatever the secret is."""
        table = self.profiles.rows.table
        if not table.num_rows:
            return
        known_rows, secrets = (
            _coded([table[name] for name in self._names(secret=one)], table.num_rows)
            for one in (False, True)
        )
        matrix = self._matrix(known_rows[1], secrets[1])
        counts = np.asarray(matrix.all(axis=1), np.bool_)
        varies = np.asarray(matrix.any(axis=1) & ~counts, np.bool_)
        always, first = counts[known_rows[0]], secrets[0][self._first()]
        varying = matrix ^ matrix[:, [first]]
        if len(np.unique(varying[varies], axis=0)) > MOST_PROFILES:
            members, holders = varies[known_rows[0]], matrix[known_rows[0], secrets[0]]
            is_first = bool(holders[self._first()])
            parts = self.column, members, holders ^ is_first
            yield DecidedOwners(*parts, counts=always, of_holders=not is_first)
            return
        profiles, places = np.unique(matrix[varies], axis=0, return_inverse=True)
        own = np.full(len(matrix), -1)
        own[varies] = places.reshape(-1)
        for place, profile in enumerate(profiles):
            is_first, members = bool(profile[first]), (own == place)[known_rows[0]]
            parts = self.column, members, (profile ^ is_first)[secrets[0]]
            yield DecidedOwners(*parts, counts=always, of_holders=not is_first)

    def _alike_rows(self, units: "Codes") -> "Codes":
        """Return a code for rows that are known to be alike in what differs between the rows of
        persons: (rows,)."""
        table = self.profiles.rows.table
        order = np.argsort(units, kind="stable")
        is_same = units[order][1:] == units[order][:-1]
        columns = []
        for name in self._names(secret=False):
            codes = _coded([table[name]], table.num_rows)[0][order]
            if ((codes[1:] != codes[:-1]) & is_same).any():
                columns.append(table[name])
        return _coded(columns, table.num_rows)[0]

    def decided_as(self, codes: "Codes", value: int) -> "Iterator[tuple[Masks, Masks]]":
        """Yield the same for a condition, and a key that is computed of the secret."""
        table = self.profiles.rows.table
        if not table.num_rows:
            return
        known_rows, secrets = (
            _coded([table[name] for name in self._names(secret=one)], table.num_rows)
            for one in (False, True)
        )
        own, is_value = secrets[0][codes == value], codes == value
        chosen, places = np.unique(own, return_inverse=True)
        if not len(chosen):
            return
        matrix = self._matrix(known_rows[1], secrets[1][chosen])
        secret = np.full(table.num_rows, -1)
        secret[is_value] = places.reshape(-1)
        for profile in np.unique(matrix[matrix.any(axis=1)], axis=0)[:MOST_PROFILES]:
            members = (matrix == profile).all(axis=1)[known_rows[0]]
            yield members, is_value & profile[secret]

    def _first(self) -> int:
        return int(np.argmin(self.profiles.numbers))

    def _matrix(self, known_rows: "Codes", secrets: "Codes") -> "Masks":
        """Return whether the condition holds of known rows with secret values: (known, secret)."""
        if len(known_rows) * len(secrets) > MOST_PAIRS:
            message = "A condition has too many pairs of values that it may hold of."
            raise NotCheckableError("K046", message, "Compare columns that have fewer values.")
        table = self.profiles.rows.table
        sides = {
            _KNOWN: _side(table, self._names(secret=False), known_rows, "i"),
            _SECRET: _side(table, self._names(secret=True), secrets, "j"),
        }
        for atom in self.condition.atoms:  # Nothing is assumed of any.
            nothing = pa.nulls(len(secrets), pa.bool_())
            sides[_SECRET] = sides[_SECRET].append_column(atom.name, nothing)
        select = exp.select(exp.column("i", quoted=True), exp.column("j", quoted=True))
        select = select.from_(exp.table_(_KNOWN, quoted=True))
        select = select.join(exp.table_(_SECRET, quoted=True), join_type="cross")
        select = select.where(does_hold(self.condition, self.profiles.rows))
        pairs = run_checked({"": to_sql(select, "duckdb")}, sides)[""]
        matrix = np.zeros((len(known_rows), len(secrets)), np.bool_)
        matrix[pairs["i"].to_numpy(), pairs["j"].to_numpy()] = True
        return matrix


def _side(table: "pa.Table", names: Sequence[str], rows: "Codes", place: str) -> "pa.Table":
    chosen = table.select(names).take(pa.array(rows))
    columns = dict(zip(chosen.column_names, chosen.columns, strict=True))
    return pa.table({**columns, place: np.arange(len(rows))})


def _coded(columns: "Sequence[pa.ChunkedArray]", rows: int) -> "tuple[Codes, Codes]":
    """Return a code for rows with the same values, (rows,), and a row with each code: (codes,)."""
    codes = np.zeros(rows, np.int64)
    for column in columns:
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        places = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        codes = _dense(codes * max(len(coded.dictionary), 1) + places)
    firsts = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    firsts[codes[::-1]] = np.arange(rows)[::-1]
    return codes, firsts


def _dense(codes: "Codes") -> "Codes":
    """Return codes without gaps between them."""
    if int(codes.max(initial=0)) > max(4 * len(codes), 1 << 16):
        dense: Codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
        return dense
    is_there = np.bincount(codes, minlength=1) > 0
    places: Codes = np.cumsum(is_there)[codes] - 1
    return places


def _any_of(units: "Codes", rows: "Masks", count: int) -> "Masks":
    """Return which persons have any of some rows: (persons,)."""
    return np.bincount(units[rows], minlength=count) > 0


def _flags(column: "pa.ChunkedArray") -> "Masks":
    flags: Masks = pc.fill_null(column, pa.scalar(value=False)).to_numpy().astype(np.bool_)
    return flags
