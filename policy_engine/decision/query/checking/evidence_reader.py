"""The evidence of each cell of an answer, as numbers, from the columns of the queries for it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.audits.outputs.lines import LineUnits, line_rests, line_shares
from policy_engine.audits.outputs.model import TOTAL, CellEvidence, ShownStatistic
from policy_engine.decision.query.checking.checked_query import CheckedAggregate
from policy_engine.decision.query.checking.evidence_columns import ROWS, UNITS
from policy_engine.decision.query.checking.evidence_query import BASE, EvidenceQueries
from policy_engine.kernels.output_checks.near_values import spreads_tell
from policy_engine.methods.output_checks.profile import NEARLY_ALL

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Figures = NDArray[np.float64]


@dataclass(frozen=True)
class EvidenceReader:
    """Reads the evidence of aggregates from the columns of the queries for it.

    `settled` are the keys of which a condition leaves one value, if they are yes or no, or else
    compared with one.
    """

    queries: EvidenceQueries
    whole: "pa.Table"
    codes: "Counts"
    settled: frozenset[int] = frozenset()

    def statistic(self, number: int, aggregate: CheckedAggregate) -> ShownStatistic:
        """Return an aggregate as a statistic with its evidence."""
        place = self.queries.places[number]
        is_every_row = self.queries.contributions[place].is_every_row
        present = self.counts(UNITS if is_every_row else f"n{place}")
        more = getattr(self, f"_{aggregate.kind}")(number, place, present)
        if aggregate.condition is not None and aggregate.kind not in ("count", "units", "binary"):
            left_out = self.counts(UNITS) - present
            more["left_out"] = np.minimum(left_out, more.get("left_out", left_out))
        if f"f{place}" in self.whole.column_names and aggregate.kind != "count":
            # Of a figure over many values, it does not matter how many have each.
            more["units_of_rarest_value"] = np.minimum(self.counts(f"f{place}"), present)
        evidence = CellEvidence(**{"units": present, "rows": self.counts(ROWS), **more})
        return ShownStatistic(
            aggregate.statbarn, evidence, self._columns(aggregate), aggregate.tail
        )

    @staticmethod
    def _columns(aggregate: CheckedAggregate) -> tuple[str, ...]:
        parts = [*aggregate.arguments, *([aggregate.condition] if aggregate.condition else [])]
        columns = [one for part in parts for one in part.find_all(exp.Column)]
        return tuple(dict.fromkeys(one.name for one in columns))

    def populations(self) -> tuple[tuple[str, ...], ...]:
        """Return who each aggregate is about: the same columns for the same rows."""
        units, rows = self.counts(UNITS), self.counts(ROWS)
        is_plain = np.array_equal(units, rows)  # Then all units are all rows.

        def shared(name: str) -> str:
            # Who says yes stays apart from all even where all do: the conditions differ.
            can_be_all = is_plain and name != BASE and not name.startswith("p")
            return "" if can_be_all and np.array_equal(self.counts(name), units) else name

        return tuple(
            tuple(dict.fromkeys(shared(name) if name else "" for name in names))
            for names in map(self.queries.memberships_of, range(len(self.queries.places)))
        )

    def counts(self, name: str) -> "Counts":
        """Return a column of whole numbers, 0 where there is none."""
        if name not in self.whole.column_names:
            return np.zeros(self.whole.num_rows, dtype=np.int64)
        column = pc.fill_null(self.whole[name], 0)
        counts: Counts = column.cast(pa.int64()).to_numpy()
        return counts

    def figures(self, name: str) -> "NDArray[np.float64]":
        """Return a column of numbers, NaN where there is none, or no number."""
        if name not in self.whole.column_names:
            return np.full(self.whole.num_rows, np.nan)
        column = self.whole[name]
        kind = column.type
        if not (
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        ):
            return np.full(self.whole.num_rows, np.nan)
        figures: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
        return figures

    # -- by the kind of aggregate -------------------------------------------------------------

    def _count(self, number: int, place: int, present: "Counts") -> dict[str, Any]:
        left_out = self.counts(f"o{place}")
        aggregate = self.queries.query.aggregates[number]
        own_units = self._line_units(place, present, is_of_rows=aggregate.kind == "count")
        lines = self.codes, present, self._single_keys(), (), own_units, self._missing_codes()
        shares, rests = line_shares(*lines), line_rests(*lines)
        if aggregate.is_group:
            # All of whom it is asked are a line, too.
            is_most, own = shares > NEARLY_ALL, _ratio(present, self.counts(UNITS))
            rests = np.where(is_most, np.fmin(rests, left_out), left_out)
            shares = np.fmax(shares, own)
        figures = {"left_out": left_out, "group_share": shares, "rest_of_line": rests}
        return {**figures, **self._row_shares(place, present)}

    def _line_units(self, place: int, present: "Counts", *, is_of_rows: bool) -> LineUnits:
        """Return the different units of lines, as far as they were counted."""
        names = ((key, f"u{key}_{place}") for key in range(self.codes.shape[1]))
        columns = self.whole.column_names
        wholes = {key: self.counts(name) for key, name in names if name in columns}
        if not is_of_rows:
            return LineUnits(wholes)
        has_rows = f"t{place}" in columns
        rows = np.nan_to_num(self.figures(f"t{place}")).astype(np.int64) if has_rows else present
        return LineUnits(wholes, rows)

    def _single_keys(self) -> frozenset[int]:
        """Return the settled keys that have one value indeed: a number may be a yes, too."""
        codes = self.codes[self.counts(UNITS) > 0]
        sizes = [len({*codes[:, key].tolist()} - {TOTAL}) for key in range(codes.shape[1])]
        return frozenset(key for key in self.settled if sizes[key] <= 1)

    def _missing_codes(self) -> dict[int, int]:
        """Return the code of those without a value, of each key that some have none of: not of one
        that may have none of whoever has a value in its column."""
        missing: dict[int, int] = {}
        for key, expression in enumerate(self.queries.query.keys):
            if expression.find(exp.Case, exp.If, exp.Nullif, exp.TryCast):
                continue
            is_null = pc.is_null(self.whole[f"k{key}"]).to_numpy()
            codes = self.codes[is_null & (self.codes[:, key] != TOTAL), key]
            missing |= {key: int(codes[0])} if len(codes) else {}
        return missing

    def _row_shares(self, place: int, present: "Counts") -> dict[str, Any]:
        """Return the rows of the two units that have most, where a unit has several."""
        if f"r{place}" not in self.whole.column_names:
            return {}
        totals = np.nan_to_num(self.figures(f"t{place}"))
        if np.array_equal(totals, present):
            return {}
        sizes = self._two_largest(f"r{place}")
        named = {"largest": sizes[:, 0], "second": sizes[:, 1], "total": totals}
        return {**named, "negatives": np.zeros(len(totals), np.int64)}

    _units = _count

    def _binary(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        yes = self.counts(f"p{place}")
        # Where nobody is present nothing is said about anybody.
        shares, no = np.where(present > 0, _ratio(yes, present), np.nan), self.counts(f"q{place}")
        rests = no.astype(np.float64)
        return {"units": yes, "left_out": no, "group_share": shares, "rest_of_line": rests}

    def _two_largest(self, name: str) -> "NDArray[np.float64]":
        """Return a column of lists of up to two numbers, 0 where there are fewer: (rows, 2)."""
        pairs = self.whole[name].combine_chunks()
        sizes = np.zeros((self.whole.num_rows, 2))
        lengths = np.diff(pairs.offsets.to_numpy()) if len(pairs) else np.zeros(0, np.int64)
        flat, rows = (
            pairs.flatten().to_numpy(zero_copy_only=False),
            np.repeat(np.arange(len(lengths)), lengths),
        )
        places = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        sizes[rows, places] = flat
        return sizes

    def _total(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        return {"units": self.counts(f"z{place}"), **self._sizes(place, present)}

    def _sizes(self, label: object, present: "Counts") -> dict[str, Any]:
        """Return what is known of the sizes of contributions."""
        sizes = self._two_largest(f"d{label}")
        total = self.figures(f"s{label}")
        is_constant = pc.equal(self.whole[f"e{label}_0"], self.whole[f"e{label}_1"])
        return {
            "largest": sizes[:, 0],
            "second": sizes[:, 1],
            "total": np.where(np.isnan(total) & (present == 0), 0.0, total),
            "negatives": self.counts(f"g{label}"),
            "is_constant": pc.fill_null(is_constant, fill_value=False).to_numpy() & (present > 0),
        }

    def _spread_sizes(self, place: int, present: "Counts") -> dict[str, Any]:
        """Return the sizes of contributions; of two values, the largest shares of either."""
        first = self._sizes(place, present)
        if f"s{place}b" not in self.whole.column_names:
            return first
        sides = [first, self._sizes(f"{place}b", present)]
        shares = [_share(side["largest"], side["total"]) for side in sides]
        both = [_share(side["largest"] + side["second"], side["total"]) for side in sides]
        one, two = np.maximum(*shares), np.maximum(*both)
        total = np.where(np.isfinite(one + two), 1.0, np.nan)
        return {
            "largest": one,
            "second": two - one,
            "total": np.where(present == 0, 0.0, total),
            "negatives": first["negatives"],
        }

    def _position(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        # Of the units that have the percentile itself, one may be known.
        sides = [np.maximum(self.counts(f"{side}{number}") - 1, 0) for side in "bc"]
        tied = self.counts(f"m{number}")
        is_constant = (tied >= present) & (present > 0)
        return {"below": sides[0], "above": sides[1], "tied": tied, "is_constant": is_constant}

    def _mode(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        tied = self.counts(f"m{number}")
        return {"mode_share": _ratio(tied, present), "tied": tied}

    def _extreme(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        return {}

    def _shape(self, number: int, place: int, present: "Counts") -> dict[str, Any]:
        figures = self.figures(f"a{number}")
        # Where there is no figure it is not told why.
        degrees = np.where(np.isfinite(figures), present - 1.0, np.nan)
        sizes = self._spread_sizes(place, present)
        squares = _squares(self.queries.query.aggregates[number].function, figures, present)
        return {
            **sizes,
            "degrees_of_freedom": degrees,
            "is_constant": (figures == 0) | spreads_tell(squares, present, sizes["largest"]),
            "left_out": self._uncommon(number),
        }

    def _uncommon(self, number: int) -> "Counts":
        """Return how many units have another value than the most common one, of the values with
        fewer of them: what has a shape is about those."""
        sides = [name for name in self.whole.column_names if name.startswith(f"w{number}_")]
        fewest: Counts = np.minimum.reduce([self.counts(name) for name in sides])
        return fewest

    def _coefficient(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        aggregate = self.queries.query.aggregates[number]
        parameters = aggregate.parameters
        own: dict[str, Any] = {"left_out": self._uncommon(number)}
        if isinstance(aggregate.function, exp.Corr | exp.RegrR2):
            own["coefficient"] = self.figures(f"a{number}")
        if not parameters:
            return own
        return {
            **own,
            "degrees_of_freedom": np.where(
                np.isfinite(self.figures(f"a{number}")), present - float(parameters), np.nan
            ),
            "levels": self.counts(f"l{number}"),
        }


def _squares(function: exp.Expr, spreads: "Figures", units: "Counts") -> "Figures":
    """Return the sums of squared deviations from the mean that spreads of one column are made of,
    NaN where it is none; of units with several rows, it is the least that they may be."""
    if isinstance(function, exp.RegrSyy):
        return spreads
    if isinstance(function, exp.Anonymous) and str(function.this).lower() == "sem":
        return spreads**2 * units**2
    if isinstance(function, exp.Stddev | exp.StddevSamp | exp.StddevPop):
        is_sample = not isinstance(function, exp.StddevPop)
        return spreads**2 * (units - is_sample)
    named = isinstance(function, exp.Anonymous) and str(function.this).lower() == "var_samp"
    if named or isinstance(function, exp.Variance):
        return spreads * (units - 1)
    if isinstance(function, exp.VariancePop):
        return spreads * units
    return np.full(len(spreads), np.nan)


def _ratio(part: "Counts", whole: "Counts") -> "NDArray[np.float64]":
    return part / np.maximum(whole, 1)


def _share(part: "NDArray[np.float64]", whole: "NDArray[np.float64]") -> "NDArray[np.float64]":
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole == 0, 0.0, part / whole)
