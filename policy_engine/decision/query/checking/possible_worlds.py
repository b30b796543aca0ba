"""Whether cells of an answer would be shown whatever a secret of one person is.

Which columns are somebody's secret is not known. So, of the columns of a cell's condition, each
set of them is assumed to be secret, and the others known to who asks, as are the keys of the cell.
How a row fares with each of the secret values that occur in the data is its profile. Of the rows
whose profile is not constant, being in the cell tells something: enough of them must be in the
cell, and enough must not. Then whether the cell is shown does not depend on the secret of one,
unless there are just enough: J. Kenthapadi, N. Mishra, K. Nissim, Simulatable auditing (PODS 2005).

Rows are told apart by the leaves of conditions alone, of which there are few, so that each is
combined with the leaves of all others. An atom of a condition that is never yes, or never no, is
assumed to be: otherwise it would be told that nobody is the only one. Such answers, and those of
fewer rows than are enough, can only withhold: there must be enough rows without them, too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.audits.outputs.reasons import Reason
from policy_engine.decision.query.checking.alike_rows import NUMBER, AlikeRows, alike_rows
from policy_engine.decision.query.checking.answer_populations import keyed_cells
from policy_engine.decision.query.checking.atom_answers import (
    OwnedTable,
    absent_answers,
    common_answers,
)
from policy_engine.decision.query.checking.condition_counts import ConditionCounts
from policy_engine.decision.query.checking.condition_leaves import (
    ConditionLeaves,
    LeafExpression,
    columns_of,
)
from policy_engine.decision.query.checking.evidence_query import CELLS
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.owned_rows import OWNER, RowOwners
from policy_engine.decision.query.checking.persons_told import PersonProfiles
from policy_engine.decision.query.checking.population_conditions import (
    MOST_COLUMNS,
    PopulationCondition,
    base_condition,
    has_base,
    key_columns,
    population_condition,
)
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.checking.unit_columns import is_unit
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

MOST_PAIRS = 2_000_000
"""How many pairs of different rows and secret values a condition may be evaluated on: what is
beyond that is for a person to decide."""

ALIKE, PART = "rows alike", "rows of cells"
"""The tables of the rows that are alike, and of those in the cells of one grouping set."""


def telling_cells(
    gathered: GatheredAnswer,
    rows: UnfilteredRows,
    tables: "Mapping[str, pa.Table]",
    least: Callable[[], int],
    owners: RowOwners | None = None,
) -> ConditionCounts:
    """Return the reasons (bits) against cells that tell of fewer than the `least` rows that they
    have a secret, or that all but fewer do, and of how many: (rows of the answer, aggregates).

    Of fewer rows than that it is asked whose they are, if it is known who the `owners` are: rows of
    enough units are enough.

    Raises NotCheckableError: K017 for a condition that cannot be read, K022 if the query fails.
    """
    query = gathered.queries.query
    shape = len(gathered.sets), len(query.aggregates)
    places: dict[str, list[int]] = {}
    conditions: dict[str, PopulationCondition] = {}
    for number, aggregate in enumerate(query.aggregates):
        for condition in _conditions_of(gathered, number, rows):
            if condition.parts and aggregate.kind != "extreme":
                conditions[condition.text] = condition
                places.setdefault(condition.text, []).append(number)
    if not conditions:
        return ConditionCounts.none(*shape)
    whole = ConditionCounts.zeros(*shape)
    keys = [rows.resolved(one) for one in query.keys]
    parts = rows.source, keys, [*conditions.values()], tables
    worlds = PossibleWorlds.of(*parts, least(), owners)
    if owners is not None:
        worlds = replace(worlds, of_persons=_numbers_of_persons(gathered, places.values()))
    for number, own in enumerate(query.sets):
        cells = np.flatnonzero(gathered.sets == number)
        codes = gathered.table.codes[cells]
        against = worlds.counts(own, keyed_cells(gathered, cells), codes)
        for numbers, counts in zip(places.values(), against, strict=True):
            whole.add(np.ix_(cells, np.array(numbers)), counts)
    return whole


def _numbers_of_persons(
    gathered: GatheredAnswer, places: Iterable[Sequence[int]]
) -> frozenset[int]:
    """Return the conditions, by their number, under which units are counted."""
    unit, aggregates = gathered.queries.unit, gathered.queries.query.aggregates
    units = {
        number
        for number, one in enumerate(aggregates)
        if one.kind == "units" and unit is not None and is_unit(one.arguments[0], unit)
    }
    return frozenset(place for place, own in enumerate(places) if not units.isdisjoint(own))


def _conditions_of(
    gathered: GatheredAnswer, number: int, rows: UnfilteredRows
) -> tuple[PopulationCondition, ...]:
    """Return the condition of an aggregate's own rows, and that of those it is compared with."""
    own = population_condition(gathered.queries, number, rows)
    if not has_base(gathered.queries.query.aggregates[number]):
        return (own,)
    base = base_condition(gathered.queries, number, rows)
    return (own,) if base.text == own.text else (own, base)


@dataclass(frozen=True, eq=False)
class PossibleWorlds:
    """The rows that conditions are asked of, alike ones once.

    `keys` and `conditions` are expressions over leaves, and `leaf_columns` the column that each
    leaf reads. Column "c<i>" of the rows says whether condition i holds, "q<i>" whether it is asked
    of the row at all. `absent` are the answers that no row gives to an atom, and `common` the one
    to an atom to which fewer than the `least` rows give the other. `owned` returns how many units
    are enough, and the rows with the unit of each, where one may have several. `of_persons` are the
    conditions under which units are counted, each once.
    """

    rows: AlikeRows
    keys: tuple[LeafExpression, ...]
    plain_keys: tuple[frozenset[str], ...]
    conditions: tuple[LeafExpression, ...]
    leaf_columns: Mapping[str, str]
    absent: Mapping[str, tuple[bool, ...]]
    common: Mapping[str, bool]
    least: int
    owned: OwnedTable | None = None
    of_persons: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        source: exp.Select,
        keys: Sequence[exp.Expr],
        conditions: Sequence[PopulationCondition],
        tables: "Mapping[str, pa.Table]",
        least: int,
        owners: RowOwners | None = None,
    ) -> "PossibleWorlds":
        """Return the possible worlds of a query's rows. Raises NotCheckableError (K022)."""
        leaves = ConditionLeaves()
        leaf_conditions = tuple(leaves.condition(one.whole) for one in conditions)
        plain = tuple(key_columns([one]) for one in keys)
        # What is a key by itself is never secret in its cell.
        leaf_keys = tuple(
            LeafExpression(one, columns_of(one), ()) if columns else leaves.value(one)
            for one, columns in zip(keys, plain, strict=True)
        )
        others = {f"k{number}": one for number, one in enumerate(keys)}
        others |= {f"c{number}": _holds(one.whole) for number, one in enumerate(conditions)}
        present = {f"q{number}": one.presence for number, one in enumerate(conditions)}
        others |= {
            name: exp.and_(*parts) if parts else exp.true() for name, parts in present.items()
        }
        alike = alike_rows(source, leaves.by_name(), others, tables)
        columns = {name: next(iter(columns_of(one))) for name, one in leaves.by_name().items()}
        atoms = [atom for one in leaf_conditions for atom in one.atoms]
        absent = absent_answers(atoms, alike.table)
        owned: OwnedTable | None = None
        if owners is not None:
            read = owners

            @cache
            def owned() -> "tuple[int, pa.Table]":
                more = {**others, **read.expressions()}
                table = alike_rows(source, leaves.by_name(), more, tables).table
                return read.least, read.owned(table)

        common = common_answers(atoms, alike.table, least, owned)
        columns_by_leaf = columns, absent, common
        return cls(alike, leaf_keys, plain, leaf_conditions, *columns_by_leaf, least, owned)

    def counts(
        self, keys: Sequence[int], cells: "pa.Table", codes: "Counts"
    ) -> list[ConditionCounts]:
        """Return what the cells of a grouping set are judged by: (cells,) per condition.

        A reason against cells together, whatever a key is that the condition reads, is one against
        each. `codes` tell the values of keys apart, (cells, keys).
        """
        counts = [ConditionCounts.none(cells.num_rows) for _ in self.conditions]
        groups: dict[tuple[int, ...], list[int]] = {}
        for number, condition in enumerate(self.conditions):
            read = [one for one in keys if self.keys[one].columns & condition.columns]
            if condition.columns <= self._settled_columns(keys):
                read = []  # It only chooses cells.
            if len(read) > MOST_COLUMNS:
                counts[number] = counts[number].with_reason(Reason.BEYOND_LEDGER)
                continue
            for size in range(len(read) + 1):
                for some in combinations(read, size):
                    kept = tuple(one for one in keys if one not in some)
                    groups.setdefault(kept, []).append(number)
        for kept, numbers in groups.items():
            coarse, places = _together(cells, codes[:, list(kept)])
            for number, own in self._counts(kept, coarse, numbers).items():
                counts[number] = counts[number].joined(own.at(places))
        return counts

    def _settled_columns(self, keys: Sequence[int]) -> frozenset[str]:
        """Return the columns that are known of whoever is in a cell."""
        return frozenset[str]().union(*(self.plain_keys[number] for number in keys))

    def _counts(
        self, keys: Sequence[int], cells: "pa.Table", numbers: Sequence[int]
    ) -> dict[int, ConditionCounts]:
        """Return what cells by some keys are judged by, (cells,) for each condition."""
        counts = {number: ConditionCounts.none(cells.num_rows) for number in numbers}
        splits = []
        for number in numbers:
            columns = sorted(self.conditions[number].columns - self._settled_columns(keys))
            if len(columns) > MOST_COLUMNS:
                counts[number] = counts[number].with_reason(Reason.BEYOND_LEDGER)
                continue
            splits += [
                _Split(self, number, frozenset(one), keys)
                for size in range(1, len(columns) + 1)
                for one in combinations(columns, size)
            ]
        if not splits:
            return counts
        part = self._part(keys, cells)
        few = [*self._within_limits(splits, part)]
        for split in splits:
            if split not in few:
                counts[split.number] = counts[split.number].with_reason(Reason.BEYOND_LEDGER)
        selects = [one.counts_by_name() for one in few]
        texts = {
            f"{name}{place}": to_sql(select, "duckdb")
            for place, by_name in enumerate(selects)
            for name, select in by_name.items()
        }
        results = run_checked(texts, {ALIKE: self.rows.table, PART: part})
        judged = {
            split: ConditionCounts.judged(
                [results[f"{name}{place}"] for name in selects[place]],
                cells.num_rows,
                self.least,
                split.secret,
                is_of_units=False,
            )
            for place, split in enumerate(few)
        }
        doubtful = [
            split
            for split, own in judged.items()
            if own.reasons.any() or split.number in self.of_persons
        ]
        if doubtful and self.owned is not None:
            judged |= self._judged_by_owner(keys, cells, doubtful)
        for split, own in judged.items():
            counts[split.number] = counts[split.number].joined(own)
        return counts

    def _judged_by_owner(
        self, keys: Sequence[int], cells: "pa.Table", splits: "Sequence[_Split]"
    ) -> "Mapping[_Split, ConditionCounts]":
        """Return what cells are judged by: how many units the rows are of."""
        assert self.owned is not None  # noqa: S101 (its caller checks)
        least, owned = self.owned()
        queries = [one.texts_of_units() for one in splits]
        texts = {
            f"{name}{place}": text
            for place, by_name in enumerate(queries)
            for name, text in by_name.items()
        }
        part = self._part(keys, cells, owned)
        results = run_checked(texts, {ALIKE: self.rows.table, PART: part})
        return {
            split: ConditionCounts.judged(
                [results[f"{name}{place}"] for name in queries[place]],
                cells.num_rows,
                least,
                split.secret,
                is_of_units=True,
            )
            for place, split in enumerate(splits)
        }

    def _part(
        self, keys: Sequence[int], cells: "pa.Table", owned: "pa.Table | None" = None
    ) -> "pa.Table":
        """Return the rows in the cells of a grouping set, alike ones of a cell once; of rows that
        are `owned`, those of one owner."""
        alike = self.rows.table if owned is None else owned
        names = [
            n for n in alike.column_names if n[0] not in "kn" or n[1:] in {str(one) for one in keys}
        ]
        select = exp.select(
            _column("cell", CELLS), *(_column(n, ALIKE) for n in names if n != NUMBER)
        )
        total = exp.cast(exp.Sum(this=_column(NUMBER, ALIKE)), exp.DType.BIGINT)
        select = select.select(exp.alias_(total, NUMBER, quoted=True)).from_(_table(ALIKE))
        pairs = [_same(f"k{number}", ALIKE, CELLS) for number in keys]
        select = select.join(_table(CELLS), on=exp.and_(*pairs) if pairs else exp.true())
        select.set("group", exp.Group(all=True))
        return run_checked({"": to_sql(select, "duckdb")}, {ALIKE: alike, CELLS: cells})[""]

    def _within_limits(self, splits: "Sequence[_Split]", part: "pa.Table") -> "Iterator[_Split]":
        """Yield the splits of which there are few enough pairs."""
        if part.num_rows * self.rows.table.num_rows <= MOST_PAIRS:
            yield from splits
            return
        texts = {}
        for place, split in enumerate(splits):
            for name, select in (("k", split.known_parts()), ("s", split.secret_parts())):
                count = exp.select("COUNT(*) AS n").from_(select.subquery("x"))
                texts[f"{name}{place}"] = to_sql(count, "duckdb")
        results = run_checked(texts, {ALIKE: self.rows.table, PART: part})
        sizes = {name: one["n"][0].as_py() for name, one in results.items()}
        for place, split in enumerate(splits):
            if sizes[f"k{place}"] * sizes[f"s{place}"] <= MOST_PAIRS:
                yield split


@dataclass(frozen=True)
class _Split:
    """Columns of a condition that are assumed to be secret, and the queries of what that tells."""

    worlds: PossibleWorlds
    number: int
    secret: frozenset[str]
    keys: Sequence[int]

    @property
    def condition(self) -> LeafExpression:
        """The condition over leaves."""
        return self.worlds.conditions[self.number]

    @property
    def bound_keys(self) -> tuple[int, ...]:
        """The keys that read a secret: it is known what they are."""
        return tuple(one for one in self.keys if self.worlds.keys[one].columns & self.secret)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The leaves of the condition and of keys that read a secret."""
        of_keys = (n for one in self.bound_keys for n in self.worlds.keys[one].leaves)
        return tuple(dict.fromkeys((*self.condition.leaves, *of_keys)))

    def _names(self, *, secret: bool) -> list[str]:
        own = tuple(
            one for one in self.leaves if (self.worlds.leaf_columns[one] in self.secret) == secret
        )
        return [*own, *self.worlds.rows.failing(own)]

    @property
    def known_names(self) -> list[str]:
        """The columns of what is known of a row."""
        return [*self._names(secret=False), *(f"k{number}" for number in self.bound_keys)]

    def known_parts(self) -> exp.Select:
        """Return the query of what may be known of rows in the cells."""
        names = [_column(one) for one in self.known_names] or [exp.alias_(exp.true(), "z")]
        select = exp.Select().select(*names, copy=False).distinct(copy=False)
        select = select.from_(_table(PART), copy=False)
        return select.where(_column(f"q{self.number}"), copy=False)

    def secret_parts(self) -> exp.Query:
        """Return the query of what the secrets may be: as they are in the data, or assumed."""
        atoms = self.condition.atoms
        assumptions = [
            (atom.name, answer)
            for atom in atoms
            if atom.columns & self.secret
            for answer in self.worlds.absent.get(atom.name, ())
        ]
        selects = [self._secrets({})] + [self._secrets({name: one}) for name, one in assumptions]
        return selects[0] if len(selects) == 1 else exp.union(*selects, distinct=False, copy=False)

    def _secrets(self, assumed: Mapping[str, bool]) -> exp.Select:
        answers = [
            exp.alias_(
                exp.cast(
                    exp.Boolean(this=assumed[one.name]) if one.name in assumed else exp.null(),
                    "BOOLEAN",
                    copy=False,
                ),
                one.name,
                quoted=True,
                copy=False,
            )
            for one in self.condition.atoms
        ]
        names = [_column(one) for one in self._names(secret=True)]
        select = exp.Select().select(*names, *answers, copy=False).distinct(copy=False)
        return select.from_(_table(ALIKE), copy=False)

    def counts_by_name(self, *, of_units: bool = False) -> dict[str, exp.Select]:
        """Return the queries of how many rows, or units, tell something: of all answers to the
        atoms, and of common ones alone, where there are others."""
        return {
            name: self._counts(secrets, of_units=of_units)
            for name, secrets in self._secrets_by_name().items()
        }

    def texts_of_units(self) -> dict[str, str]:
        """Return the queries of how many units tell something, by rows and, where they are counted
        once each, as persons."""
        texts = {
            name: to_sql(one, "duckdb") for name, one in self.counts_by_name(of_units=True).items()
        }
        if self.number in self.worlds.of_persons:
            for name, secrets in self._secrets_by_name().items():
                texts[f"p{name}"] = self._persons(secrets).query()
        return texts

    def _persons(self, secrets: exp.Query) -> PersonProfiles:
        return PersonProfiles(
            known=self.known_parts(),
            names=self.known_names,
            secrets=secrets,
            holds=does_hold(self.condition, self.worlds.rows),
            fit=exp.and_(exp.true(), *self._fitting_keys()),
            part=PART,
            inside=f"c{self.number}",
            asked=f"q{self.number}",
        )

    def _secrets_by_name(self) -> dict[str, exp.Query]:
        """Return the queries of secrets with all answers to the atoms, and, where there are others,
        with the common ones alone."""
        queries: dict[str, exp.Query] = {"a": self.secret_parts()}
        common = {
            atom.name: self.worlds.common[atom.name]
            for atom in self.condition.atoms
            if atom.columns & self.secret and atom.name in self.worlds.common
        }
        if common:
            queries["b"] = self._secrets(common)
        return queries

    def _fitting_keys(self) -> Iterator[exp.Expr]:
        """Yield the conditions that keys of a secret are what they are known to be."""
        for number in self.bound_keys:
            key = exp.Try(this=self.worlds.keys[number].expression.copy())
            yield exp.NullSafeEQ(this=key, expression=_column(f"k{number}"))

    def _counts(self, secrets: exp.Query, *, of_units: bool) -> exp.Select:
        """Return the query of how many rows of each "cell" tell something: "inside" those that the
        condition holds of, and "outside" the others."""
        pairs = self._profiles(secrets).subquery("d", copy=False)
        same = [_same(one, PART, "d") for one in self.known_names]
        numbers = []
        for name, is_in in (
            ("inside", _column(f"c{self.number}", PART)),
            ("outside", exp.Not(this=_column(f"c{self.number}", PART))),
        ):
            if of_units:
                unit = exp.case().when(is_in, _column(OWNER, PART), copy=False)
                number: exp.Expr = exp.Count(this=exp.Distinct(expressions=[unit]))
            else:
                sized = exp.case().when(is_in, _column(NUMBER, PART), copy=False)
                sized = sized.else_(exp.Literal.number(0), copy=False)
                number = exp.cast(exp.Sum(this=sized), "BIGINT", copy=False)
            numbers.append(exp.alias_(number, name, copy=False))
        on = exp.and_(*same, copy=False) if same else exp.true()
        select = exp.Select().select(_column("cell", PART), *numbers, copy=False)
        select = select.from_(_table(PART), copy=False).join(pairs, on=on, copy=False)
        select = select.where(_column(f"q{self.number}", PART), copy=False)
        return select.group_by(_column("cell", PART), copy=False)

    def _profiles(self, secrets: exp.Query) -> exp.Select:
        """Return the query of what is known of those whom the condition holds of or not, by their
        secret, of which the query becomes a part."""
        names = [_column(one) for one in self.known_names]
        parts = self.known_parts().subquery("known", copy=False)
        select = exp.Select().select(*(names or [exp.alias_(exp.true(), "z")]), copy=False)
        select = select.from_(parts, copy=False)
        select = select.join(secrets.subquery("secret", copy=False), join_type="cross", copy=False)
        select = select.where(*self._fitting_keys(), copy=False)
        holds = does_hold(self.condition, self.worlds.rows)
        varies = exp.NEQ(
            this=exp.LogicalOr(this=holds), expression=exp.LogicalAnd(this=holds.copy())
        )
        select = select.group_by(*(one.copy() for one in names), copy=False)
        return select.having(varies, copy=False)


def does_hold(condition: LeafExpression, rows: AlikeRows) -> exp.Expr:
    """Return whether a condition over leaves holds: not where any of them fails."""
    fails = [exp.Not(this=_column(one)) for one in rows.failing(condition.leaves)]
    return exp.and_(*fails, _holds(condition.expression), copy=False)


def _holds(condition: exp.Expr) -> exp.Expr:
    """Return whether a condition holds: not where it fails, or is missing."""
    return exp.func("COALESCE", exp.Try(this=condition.copy()), exp.false())


def _together(cells: "pa.Table", codes: "Counts") -> "tuple[pa.Table, Counts]":
    """Return cells with the same codes as one, and the place of each cell's among them."""
    rows, places = np.zeros(min(1, len(codes)), np.int64), np.zeros(len(codes), np.int64)
    if codes.shape[1]:
        _, rows, places = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    chosen = cells.take(pa.array(rows)).drop_columns("cell")
    return chosen.append_column("cell", pa.array(np.arange(len(rows)))), places.reshape(-1)


def _table(name: str) -> exp.Table:
    return exp.table_(name, quoted=True)


def _column(name: str, table: str | None = None) -> exp.Expr:
    return exp.column(name, table=table, quoted=True)


def _same(name: str, one: str, other: str) -> exp.Expr:
    return exp.NullSafeEQ(this=_column(name, one), expression=_column(name, other))
