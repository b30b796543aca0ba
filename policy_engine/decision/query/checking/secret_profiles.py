"""Of which rows one secret column decides whether a condition holds, and of which it says so.

Who asks may know all columns but one. Rows that are known to be alike then fare alike with each
value of that one: this is their profile. Where it is not constant, a count tells how many of the
rows have one of the values that the profile asks for, whatever the words of the condition are.
Where some have no value, it is told of those who have one as well, as to somebody who knows who
they are: of these, whoever has none of some values has one of the others.
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
from policy_engine.decision.query.checking.row_codes import coded_rows
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
    If it is taken as known who has a value at all, these rows are `valued`.
    """

    column: str
    members: "Masks"
    holders: "Masks"
    values: "Masks | None" = None
    valued: "Masks | None" = None


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
    each, and "q<i>" says whether it counts for condition i at all; the `value_columns` say of each
    column of the conditions whether it has a value."""

    rows: AlikeRows
    conditions: tuple[LeafExpression, ...]
    leaf_columns: Mapping[str, str]
    value_columns: Mapping[str, str]
    _decided: "dict[str, list[DecidedRows]]" = field(default_factory=dict)

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
        others: dict[str, exp.Expr] = {
            name: exp.and_(*parts) for name, parts in present.items() if parts
        }
        read = [node for one in conditions for node in one.whole.find_all(exp.Column)]
        secrets = {one.sql("duckdb"): one for one in read}
        value_columns = {text: f"v{number}" for number, text in enumerate(secrets)}
        others |= {value_columns[text]: _has_value(one) for text, one in secrets.items()}
        rows = leaves_of_rows(source, leaves.by_name(), {ROW: row, **others}, tables)
        counted = rows.table.filter(rows.table[ROW].is_valid())
        columns = {name: next(iter(columns_of(one))) for name, one in leaves.by_name().items()}
        return cls(AlikeRows(counted, rows.can_fail), own, columns, value_columns)

    @property
    def numbers(self) -> "Codes":
        """The number of each row: (rows,)."""
        numbers: Codes = self.rows.table[ROW].cast(pa.int64()).to_numpy()
        return numbers

    def decided(self, number: int) -> "Iterator[DecidedRows]":
        """Yield the rows of which each column decides whether a condition holds.

        Raises NotCheckableError (K046) for too many pairs of known rows and secret values.
        """
        condition, is_present = self.conditions[number], self._is_present(number)
        # That of other figures may be the same, but for which values have to be present.
        text = condition.expression.sql("duckdb")
        if text not in self._decided:
            self._decided[text] = [one for own in self._splits(condition) for one in own.decided()]
        for decided in self._decided[text]:
            if (decided.members & is_present).any():
                yield replace(decided, members=decided.members & is_present)

    def decided_persons(self, number: int, units: "Codes") -> "Iterator[DecidedRows]":
        """Yield the persons of whom each column decides whether any row counts, and those who have
        such a row: masks of persons, by the `units` that rows are of, (rows,). Raises the same."""
        is_present = self._is_present(number)
        for split in self._splits(self.conditions[number]):
            yield from split.persons(units, is_present)

    def decided_owners(self, number: int) -> "Iterator[DecidedOwners]":
        """Yield the rows by which each column decides whether their owners count. Raises the
        same."""
        is_present = self._is_present(number)
        for split in self._splits(self.conditions[number]):
            for one in split.owners():
                yield replace(one, members=one.members & is_present, counts=one.counts & is_present)

    def decided_as(
        self, number: int, column: str, codes: "Codes", value: int
    ) -> "Iterator[DecidedRows]":
        """Yield the rows of which a column decides whether a condition holds and a key of it is a
        `value`, of the `codes` that the key has in each row: (rows,). Raises the same."""
        is_present = self._is_present(number)
        for split in self._splits(self.conditions[number]):
            for one in split.decided_as(codes, value) if split.column == column else ():
                if (one.members & is_present).any():
                    yield replace(one, members=one.members & is_present)

    def _is_present(self, number: int) -> "Masks":
        """Return which rows count for a condition at all: (rows,)."""
        name, table = f"q{number}", self.rows.table
        return _flags(table[name]) if name in table.column_names else _every(table)

    def _splits(self, condition: LeafExpression) -> "Iterator[_Split]":
        """Yield a condition by each column that may be the secret: where some rows have a value of
        it and others none, who has one may be known, too."""
        for column in sorted(condition.columns):
            yield _Split(self, condition, column, _every(self.rows.table))
            valued = _flags(self.rows.table[self.value_columns[column]])
            if valued.any() and not valued.all():
                yield _Split(self, condition, column, valued, are_values_known=True)


@dataclass(frozen=True, eq=False)
class _Split:
    """A condition of which all columns but one are known, and the rows whose secret is asked about:
    all, or those with a value, if `are_values_known`."""

    profiles: SecretProfiles
    condition: LeafExpression
    column: str
    valued: "Masks"
    are_values_known: bool = False

    def _names(self, *, secret: bool) -> list[str]:
        columns = self.profiles.leaf_columns
        own = tuple(n for n in self.condition.leaves if (columns[n] == self.column) == secret)
        names = [*own, *self.profiles.rows.failing(own)]
        is_told_apart = secret and self.are_values_known
        return [*names, self.profiles.value_columns[self.column]] if is_told_apart else names

    def _sides(self) -> "tuple[tuple[Codes, Codes], tuple[Codes, Codes]]":
        """Return the codes of what is known of rows, and of their secrets, and a row of each."""
        table = self.profiles.rows.table
        known_rows, secrets = (
            coded_rows([table[name] for name in self._names(secret=one)], table.num_rows)
            for one in (False, True)
        )
        return known_rows, secrets

    def _told_of(self, holders: "Masks") -> "Masks":
        """Return holders, or the other ones that are asked about, so that the first is none."""
        if not self.are_values_known:
            return holders
        named_holders: Masks = (holders ^ holders[self._first()]) & self.valued
        return named_holders

    @property
    def _told_valued(self) -> "Masks | None":
        return self.valued if self.are_values_known else None

    def decided(self) -> "Iterator[DecidedRows]":
        """Yield rows with a profile, and those of all rows whose secret is of it: (rows,) each."""
        if not self.profiles.rows.table.num_rows:
            return
        known_rows, secrets = self._sides()
        matrix = self._matrix(known_rows[1], secrets[1])
        # Whoever knows how many have other values knows how many have these.
        profiles: Masks = matrix ^ matrix[:, [secrets[0][self._first()]]]
        profiles &= self.valued[secrets[1]]
        varies: Masks = np.asarray(profiles.any(axis=1), np.bool_)
        varying, places = np.unique(profiles[varies], axis=0, return_inverse=True)
        valued = self._told_valued
        if len(varying) > MOST_PROFILES:
            holders = self._told_of(matrix[known_rows[0], secrets[0]])
            members = varies[known_rows[0]] & self.valued
            yield DecidedRows(self.column, members, holders, valued=valued)
            return
        own = np.full(len(varies), -1)
        own[varies] = places.reshape(-1)
        for place, profile in enumerate(varying):
            members = (own == place)[known_rows[0]] & self.valued
            yield DecidedRows(self.column, members, profile[secrets[0]], valued=valued)

    def persons(self, units: "Codes", is_present: "Masks") -> "Iterator[DecidedRows]":
        """Yield persons all of whose rows that may decide have one profile, all persons who have a
        row like those with a value that the profile asks for, (persons,) each, and all rows with
        one: (rows,).

        Who counts by a row that is known is none of them.
        """
        count = int(units.max(initial=-1)) + 1
        if not self.profiles.rows.table.num_rows:
            return
        known_rows, secrets = self._sides()
        matrix = self._matrix(known_rows[1], secrets[1])
        counts, may_decide, profiles, places = self._deciding(matrix, secrets[1])
        own = np.full(len(matrix), -1)
        own[may_decide] = places
        kinds = own[known_rows[0]]
        kinds[~(is_present & self.valued)] = -1
        is_always = self._always(matrix, counts, known_rows[0], secrets[0]) & is_present
        alike = self._alike_rows(units)
        for place, profile in enumerate(profiles[:MOST_PROFILES]):
            is_in = kinds == place
            members = _any_of(units, is_in, count)
            members &= ~_any_of(units, is_always | ((kinds >= 0) & ~is_in), count)
            values, kinds_in = profile[secrets[0]], distinct_numbers(alike[is_in & members[units]])
            holders = _any_of(units, values & np.isin(alike, kinds_in), count)
            yield DecidedRows(self.column, members, holders, values, self._told_valued)

    def owners(self) -> "Iterator[DecidedOwners]":
        """Yield rows with a profile, those whose secret is of it, or of none of it, as `decided`
        has them, and the rows that count whatever the secret is."""
        if not self.profiles.rows.table.num_rows:
            return
        known_rows, secrets = self._sides()
        matrix = self._matrix(known_rows[1], secrets[1])
        counts, varies, profiles, places = self._deciding(matrix, secrets[1])
        always, first = self._always(matrix, counts, known_rows[0], secrets[0]), self._first()
        varying = (matrix ^ matrix[:, [secrets[0][first]]]) & self.valued[secrets[1]]
        valued = self._told_valued
        if len(np.unique(varying[varies], axis=0)) > MOST_PROFILES:
            holders = matrix[known_rows[0], secrets[0]]
            is_first = bool(holders[first])
            holders = (holders ^ is_first) & self.valued
            parts = self.column, varies[known_rows[0]] & self.valued, holders, None, valued
            yield DecidedOwners(*parts, counts=always, of_holders=not is_first)
            return
        own = np.full(len(matrix), -1)
        own[varies] = places
        for place, profile in enumerate(profiles):
            is_first, members = bool(profile[secrets[0][first]]), (own == place)[known_rows[0]]
            holders = (profile ^ is_first)[secrets[0]] & self.valued
            parts = self.column, members & self.valued, holders, None, valued
            yield DecidedOwners(*parts, counts=always, of_holders=not is_first)

    def _deciding(self, matrix: "Masks", secrets: "Codes") -> "tuple[Masks, Masks, Masks, Codes]":
        """Return which known rows count whatever the secret is, and which it decides about, with
        the profiles of these, and the place of the profile that each has."""
        columns = self.valued[secrets]
        counts = np.asarray(matrix[:, columns].all(axis=1), np.bool_)
        varies = np.asarray(matrix[:, columns].any(axis=1) & ~counts, np.bool_)
        profiles, places = np.unique((matrix & columns)[varies], axis=0, return_inverse=True)
        return counts, varies, profiles, places.reshape(-1)

    def _always(
        self, matrix: "Masks", counts: "Masks", known_rows: "Codes", secrets: "Codes"
    ) -> "Masks":
        """Return the rows that are known to count: of those without a value, all is known."""
        always: Masks = np.where(self.valued, counts[known_rows], matrix[known_rows, secrets])
        return always

    def _alike_rows(self, units: "Codes") -> "Codes":
        """Return a code for rows that are known to be alike in what differs between the rows of
        persons: (rows,)."""
        table = self.profiles.rows.table
        order = np.argsort(units, kind="stable")
        is_same = units[order][1:] == units[order][:-1]
        columns = []
        for name in self._names(secret=False):
            codes = coded_rows([table[name]], table.num_rows)[0][order]
            if ((codes[1:] != codes[:-1]) & is_same).any():
                columns.append(table[name])
        return coded_rows(columns, table.num_rows)[0]

    def decided_as(self, codes: "Codes", value: int) -> "Iterator[DecidedRows]":
        """Yield the same for a condition, and a key that is computed of the secret."""
        table, is_value = self.profiles.rows.table, (codes == value) & self.valued
        if not table.num_rows:
            return
        known_rows, secrets = self._sides()
        chosen, places = np.unique(secrets[0][is_value], return_inverse=True)
        if not len(chosen):
            return
        matrix = self._matrix(known_rows[1], secrets[1][chosen])
        secret = np.full(table.num_rows, -1)
        secret[is_value] = places.reshape(-1)
        for profile in np.unique(matrix[matrix.any(axis=1)], axis=0)[:MOST_PROFILES]:
            members = (matrix == profile).all(axis=1)[known_rows[0]] & self.valued
            holders = is_value & profile[secret]
            yield DecidedRows(self.column, members, holders, valued=self._told_valued)

    def _first(self) -> int:
        """Return the first row that is asked about."""
        rows = np.flatnonzero(self.valued)
        return int(rows[np.argmin(self.profiles.numbers[rows])])

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


def _any_of(units: "Codes", rows: "Masks", count: int) -> "Masks":
    """Return which persons have any of some rows: (persons,)."""
    return np.bincount(units[rows], minlength=count) > 0


def _every(table: "pa.Table") -> "Masks":
    return np.ones(table.num_rows, np.bool_)


def _has_value(column: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column.copy(), expression=exp.null()))


def _flags(column: "pa.ChunkedArray") -> "Masks":
    flags: Masks = pc.fill_null(column, pa.scalar(value=False)).to_numpy().astype(np.bool_)
    return flags
