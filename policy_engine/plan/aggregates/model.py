"""The statistics that a permission releases under differential privacy, and the noise of each."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from policy_engine.methods import Bound
from policy_engine.methods.sanitisations.differential_privacy import (
    MOST_CONTRIBUTIONS,
    MOST_DELTA,
    MOST_EPSILON,
    Neighbours,
    NoiseMechanism,
    SelectionMechanism,
)
from policy_engine.plan.aggregates.countable_numbers import countable_problem

Function = Literal[
    "count-units", "count", "sum", "mean", "variance", "quantile", "histogram", "top-k", "synthetic"
]
OF_NUMBERS = ("sum", "mean", "variance")
OF_RATIOS = ("mean", "variance")
"""Functions of several numbers with noise, which are divided by one of them, a number of rows."""
OF_CANDIDATES = ("histogram", "top-k")
Quantity = Literal[
    "units",
    "rows",
    "sum",
    "squares",
    "counts",
    "ranks",
    "choices",
    "keys",
    "pair choices",
    "pair counts",
]
"""What gets noise: units, rows, sums of values or of their squares, units of every candidate, or of
every two of a pair of columns; and what is chosen: a rank, the most frequent candidates, the keys
that are released, pairs of columns."""
MOST_ROWS = 1_000_000
"""So many rows has a synthetic table at most: the ledger keeps it."""
MOST_PAIR_CELLS = 1_000_000
"""So many counts the pairs of columns of a synthetic table have in all."""
_FEWEST = 2
_NOISES = 2
_SUM = "sequential"
"""The accountant that adds epsilons (`kernels/differential_privacy/accounting.py`)."""


def _as_text(number: Decimal) -> str:
    """Return a number as JSON has it: 20 and not 2E+1, which means the same."""
    is_short = 0 < int(number.as_tuple().exponent) < _LONGEST
    return f"{number:f}" if is_short else str(number)


_LONGEST = 30
Exact = Annotated[Decimal, Field(allow_inf_nan=False), PlainSerializer(_as_text, return_type=str)]
Name = Annotated[str, Field(min_length=1)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class AddedNoise(_Frozen):
    """What makes one quantity private: all that decides it is known without data.

    One unit of privacy changes at most `cells` numbers, each by at most `sensitivity` steps of
    `step`, in the units of the column; `derivation` says why. `scale` is that of the noise in
    steps, or of the scores of what is chosen, as an exact fraction; `epsilon` (and `delta`) is what
    this quantity costs by itself. `half_width` is that of an interval that has the error of
    this number with a probability of 95 %, in the units of the column; of a quantile, in rows.
    """

    quantity: Quantity
    mechanism: NoiseMechanism | SelectionMechanism | Literal["partition-selection"]
    cells: Annotated[int, Field(ge=1)]
    sensitivity: Annotated[int, Field(ge=1)]
    step: Exact
    scale: Annotated[str, Field(pattern=r"^[0-9]+(/[0-9]+)?$")]
    epsilon: Exact
    delta: Exact = Decimal(0)
    half_width: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    derivation: str

    @property
    def exact_scale(self) -> Fraction:
        """The scale as a number."""
        return Fraction(self.scale)


class Statistic(_Frozen):
    """One aggregate: a column of the output by its `name`.

    Numbers of the column `of` are rounded to multiples of `grid` after they were moved into
    `lower` to `upper`. A quantile `at` a share is one of `candidates`, first, last and step; a
    histogram counts the units that have each of `candidates`, a unit for one of its rows, and
    `top-k` names the `k` most frequent. A synthetic column has values of its `candidates`, or of
    the numbers from `lower` to `upper` by `grid`. `share` is its weight when epsilon is
    shared out among all. Of a
    mean or a variance, `half_width_times_n` is such that over n rows it is off by at most this over
    n, with a probability of 95 %, whatever n and the rows: that is of all its noise together, as
    the half-widths of its parts by themselves are not.
    """

    name: Name
    function: Function
    of: str = ""
    lower: Exact | None = None
    upper: Exact | None = None
    grid: Exact | None = None
    at: Exact | None = None
    candidates: tuple[str, ...] = ()
    k: int | None = None
    share: Annotated[Exact, Field(gt=0, le=1)] = Decimal(1)
    noise: tuple[AddedNoise, ...] = ()
    half_width_times_n: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    @model_serializer(mode="wrap")
    def _omit_what_only_ratios_have(self, serialize: SerializerFunctionWrapHandler) -> Any:
        values: dict[str, Any] = serialize(self)
        return {k: v for k, v in values.items() if k != "half_width_times_n" or v is not None}

    @model_validator(mode="after")
    def _is_of_its_function(self) -> Self:
        """Raise ValueError for bounds, candidates and numbers of choices that no policy has."""
        is_of_values = self.function in (*OF_CANDIDATES, "synthetic")
        if len({*self.candidates}) < len(self.candidates) and is_of_values:
            raise ValueError("a candidate is given twice")
        if self.function == "top-k" and not 0 < (self.k or 0) <= len(self.candidates):
            raise ValueError("there are fewer candidates than are chosen")
        if self.is_synthetic and self.candidates:
            has_bounds = any(one is not None for one in (self.lower, self.upper, self.grid))
            if len(self.candidates) < _FEWEST or has_bounds:
                raise ValueError("a synthetic column has two values at least, or bounds")
        elif self.function in OF_NUMBERS or self.is_synthetic:
            lower, upper, grid = self.lower, self.upper, self.grid
            if lower is None or upper is None or not grid or grid <= 0:
                raise ValueError("a sum has bounds and a grid")
            self._check_countable(lower, upper, grid)
            if not lower < upper or lower % grid or upper % grid:
                raise ValueError("bounds are multiples of the grid")
        if self.function == "quantile":
            self._check_quantile()
        return self

    def _check_quantile(self) -> None:
        first, last, step = map(Decimal, self.candidates)
        if not (first < last and step > 0 and 0 < (self.at or 0) < 1):
            raise ValueError("a quantile has candidates in equal steps")
        self._check_countable(first, last, step)
        if (last - first) % step:
            raise ValueError("a quantile has candidates in equal steps")

    def _check_countable(self, lower: Decimal, upper: Decimal, step: Decimal) -> None:
        """Raise ValueError for numbers that floats do not tell apart."""
        problem = countable_problem(self.function, lower, upper, step)
        if problem:
            raise ValueError(problem)

    @property
    def is_synthetic(self) -> bool:
        """Whether it is a column of a synthetic table."""
        return self.function == "synthetic"

    @property
    def options(self) -> int:
        """How many values its cells may have, where it is counted how many rows have each."""
        if self.function == "quantile":
            return self.candidate_grid[2]
        if self.is_synthetic and not self.candidates:
            return self.ends[1] - self.ends[0] + 1
        return len(self.candidates)

    @property
    def ends(self) -> tuple[int, int]:
        """Its bounds, in steps of the grid."""
        assert self.lower is not None and self.upper is not None and self.grid  # noqa: S101, PT018 (of numbers)
        return int(self.lower / self.grid), int(self.upper / self.grid)

    @cached_property
    def candidate_grid(self) -> tuple[Decimal, Decimal, int]:
        """The first candidate of a quantile, the step between two, and their number."""
        first, last, step = map(Decimal, self.candidates)
        return first, step, int((last - first) / step) + 1


class GroupedBy(_Frozen):
    """A column that is grouped by, and its public keys, none where a file has those of all."""

    name: Name
    keys: tuple[str, ...] = ()


Comparison = Literal[
    "is any of", "is none of", "<", "<=", ">", ">=", "is missing", "is not missing"
]


class RowCondition(_Frozen):
    """What the cell of a row in one column must satisfy for the row to be counted.

    It is compared with `values`, as numbers or as texts; a missing cell satisfies none but that.
    """

    column: Name
    comparison: Comparison
    values: tuple[str, ...] = ()
    of_numbers: bool = False


class Aggregation(_Frozen):
    """All that a permission asks of statistics under differential privacy.

    The statistics are those of groups by some columns, or of all rows. Groups are the public keys
    of the columns or of a file (`key_table`, by its IRI, with its `key_table_digest` once the plan
    is bound), or else those that `key_selection` lets through. Where all figures are synthetic
    columns, a table of `rows` rows is made up of noisy counts of each column and of pairs of
    columns; `pair_noise` is that of the choices of pairs, then of their counts. What is promised
    is about the
    `unit`, the column that tells persons apart, and follows from `epsilon` and `delta`, which the
    `accountant` proved for all noise together. Only rows that satisfy all `conditions` count.
    """

    unit: Name
    neighbours: Neighbours
    max_groups: Annotated[int, Field(ge=1, le=MOST_CONTRIBUTIONS)]
    max_rows: Annotated[int, Field(ge=1, le=MOST_CONTRIBUTIONS)]
    epsilon: Annotated[Exact, Field(gt=0, le=MOST_EPSILON)]
    delta: Annotated[Exact, Field(ge=0, lt=MOST_DELTA)]
    group_by: tuple[GroupedBy, ...] = ()
    key_table: str = ""
    key_table_digest: str = ""
    figures: Annotated[tuple[Statistic, ...], Field(min_length=1)]
    key_selection: AddedNoise | None = None
    accountant: str = ""
    conditions: tuple[RowCondition, ...] = ()
    rows: Annotated[int, Field(ge=1, le=MOST_ROWS)] | None = None
    pair_noise: tuple[AddedNoise, ...] = ()

    @model_serializer(mode="wrap")
    def _omit_what_is_not_there(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit the conditions where there are none, as in all that policies declare, and what only
        synthetic tables have."""
        values: dict[str, Any] = serialize(self)
        optional = ("conditions", "rows", "pair_noise")
        return {k: v for k, v in values.items() if v or k not in optional}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Raise ValueError for columns with one name, and for groups without known keys."""
        names = [*self.group_names, *(one.name for one in self.figures)]
        if len({*names}) < len(names):
            raise ValueError("two columns of the output have one name")
        with_keys = [bool(one.keys) for one in self.group_by]
        if any(with_keys) and (not all(with_keys) or self.key_table):
            raise ValueError("the keys of groups are those of a file, or of every column")
        if self.key_table_digest and not self.key_table:
            raise ValueError("a digest is that of a file of keys")
        if self.group_by and (self.has_public_keys == (self.key_selection is not None)):
            raise ValueError("groups have public keys, or they are selected")
        if not self.group_by and (self.key_table or self.key_selection or self.max_groups > 1):
            raise ValueError("without groups, there are no keys of any")
        if self.unit in {*self.group_names, *(one.of for one in self.figures)}:
            raise ValueError("the unit of privacy is not released")
        self._check_synthetic()
        return self

    def _check_synthetic(self) -> None:
        """Raise ValueError for a synthetic table that is not one of all rows, one of each unit."""
        if not self.is_synthetic:
            if self.rows or self.pair_noise or any(one.is_synthetic for one in self.figures):
                raise ValueError("synthetic columns are not beside other figures")
            return
        is_whole = all(one.is_synthetic for one in self.figures) and not self.group_by
        if not (is_whole and self.rows and self.max_rows == 1 and len(self.pair_noise) == _NOISES):
            raise ValueError("a synthetic table is of all rows, one of each unit")
        if len(self.figures) < _FEWEST or self.pair_cells > MOST_PAIR_CELLS:
            raise ValueError("a synthetic table has two columns at least, of not too many values")

    @property
    def is_synthetic(self) -> bool:
        """Whether a synthetic table is released."""
        return self.figures[0].is_synthetic

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of columns of a synthetic table, by their places; none of other statistics."""
        return tuple(combinations(range(len(self.figures)), 2)) if self.is_synthetic else ()

    @property
    def pair_cells(self) -> int:
        """How many counts all pairs of columns have."""
        options = [one.options for one in self.figures]
        return sum(options[one] * options[other] for one, other in self.pairs)

    @property
    def group_names(self) -> tuple[str, ...]:
        """The columns that are grouped by."""
        return tuple(one.name for one in self.group_by)

    @property
    def has_public_keys(self) -> bool:
        """Whether everybody may know which groups there are."""
        return bool(self.key_table) or (
            bool(self.group_by) and all(one.keys for one in self.group_by)
        )

    @property
    def output_columns(self) -> tuple[str, ...]:
        """The columns of the output: those that are grouped by, then one for each aggregate."""
        return (*self.group_names, *(one.name for one in self.figures))

    @property
    def columns_used(self) -> tuple[str, ...]:
        """The columns of the input, each once, the unit of privacy last."""
        names = (*self.group_names, *(one.of for one in self.figures if one.of))
        return tuple(dict.fromkeys((*names, *(one.column for one in self.conditions), self.unit)))

    @property
    def delta_spent(self) -> Decimal:
        """The delta that is charged: none where the epsilons of all noise add up to the whole."""
        is_pure = self.accountant == _SUM and self.key_selection is None
        return Decimal(0) if is_pure else self.delta

    def noises(self) -> Iterator[AddedNoise]:
        """Yield all noise of the release, in the order of its figures, then that of pairs of
        columns, and of the keys."""
        for one in self.figures:
            yield from one.noise
        yield from self.pair_noise
        if self.key_selection is not None:
            yield self.key_selection

    def budget_bounds(self) -> tuple[Bound, ...]:
        """Return the bounds that hold by the noise alone: epsilon and delta."""
        return (
            Bound("epsilon", "", float(self.epsilon), "at most"),
            Bound("delta", "", float(self.delta_spent), "at most"),
        )
