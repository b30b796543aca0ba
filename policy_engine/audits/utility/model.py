"""What a comparison found, frozen and as JSON."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.disclosure.risks.result import FileRisks
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement

Kind = Literal["generalised", "representative", "kept", "pseudonym", "masked"]
Scale = Literal["values", "frequent", "even", "logarithmic", "quantile"]
"""What the bins of a column are: its values, its most frequent ones, or ranges that are equally
wide, equally wide on a logarithmic axis, or hold about as many rows each."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class TableSide(_Frozen):
    """A table that was compared: its name, the sha-256 of its bytes, its rows."""

    name: str
    digest: str
    rows: int


class Bin(_Frozen):
    """Values put together, and the share of rows that have them before and after."""

    label: str
    before: float
    after: float


class ColumnChange(_Frozen):
    """One column before and after.

    `loss` is the mean normalised certainty penalty, `entropy` the share of the column's
    information that is lost (Gionis and Tassa); both are None where the cells are no
    generalisations. `hellinger` and `total_variation` are distances of its distribution: of masked
    numbers, in at most 20 bins of about equally many rows of the original; of a pseudonym, of how
    often its values occur, the most frequent first. They are None where every cell stands for all
    values, and so tells nothing of the distribution. `suppressed` is the share of the released rows
    whose cell stands for all values, None for a column that was not generalised. `values_before`
    and `values_after` count distinct values, or cells. In what is shareable, whatever takes the
    original to be told is None, and there are no `bins`. `scale` says what they are.
    """

    name: str
    role: str
    kind: Kind
    is_ordered: bool | None
    loss: float | None
    entropy: float | None
    hellinger: float | None
    total_variation: float | None
    values_before: int | None
    values_after: int
    suppressed: float | None = None
    bins: tuple[Bin, ...]
    scale: Scale = "values"


class PairChange(_Frozen):
    """Two columns together, before and after, their values put into at most 20 bins each.

    `before` and `after` are their correlation: Pearson's where both are ordered, else Cramer's
    V; None where a column is constant.
    """

    first: str
    second: str
    hellinger: float
    total_variation: float
    measure: Literal["pearson", "cramers-v"]
    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        """What was added to the correlation."""
        is_defined = self.before is not None and self.after is not None
        return self.after - self.before if is_defined else None  # type: ignore[operator]


class CellPair(_Frozen):
    """A value of the original, and the cell of the release that may stand for it."""

    column: str
    before: str
    after: str


class RowPair(_Frozen):
    """A released row beside one row of the original, of the `fitting` ones that it may stand for,
    in the columns that tell."""

    cells: tuple[CellPair, ...]
    fitting: int


class SizeBin(_Frozen):
    """How many classes have from `low` up to and with `high` rows."""

    low: int
    high: int
    classes: int


class ClassSizes(_Frozen):
    """The sizes of the classes, and how many classes have each size."""

    classes: int
    smallest: int
    median: float
    mean: float
    largest: int
    bins: tuple[SizeBin, ...]


class QueryErrors(_Frozen):
    """The relative errors of random range-count queries on 2 or 3 columns.

    `percentiles` holds the 0th to the 100th. `sanity`, a share of the rows, is the least
    denominator: smaller counts would make relative errors meaningless.
    """

    queries: int
    selectivity: float
    sanity: float
    seed: int
    median: float
    mean: float
    percentiles: tuple[float, ...]


class Classification(_Frozen):
    """How well a model predicts a column from the quasi-identifiers of rows it never saw.

    Part of the original's rows (of its persons, where there are such) is held out by chance.
    One model learns from the others as they are, one from the others anonymised by themselves,
    as the policy asks: those held out are in neither, nor in the classes. The release itself
    cannot be learnt from, for it holds the held-out rows too. Of rows that are made up, the second
    model learns from rows that are made up of those not held out. `majority` is the accuracy of
    always saying the most frequent value; `error` the standard error of an accuracy.
    """

    target: str
    values: int
    rows_learnt: int
    rows_held_out: int
    majority: float
    original: float
    anonymised: float
    error: float


class ProbabilisticLoss(_Frozen):
    """The parts of the probabilistic information loss, each from 0 to 100, and their mean.

    `covariance` and `correlation` are None where fewer than two columns of numbers are masked.
    """

    mean: float
    variance: float
    covariance: float | None
    correlation: float | None
    quantiles: float
    total: float


class Quantile(_Frozen):
    """The value below which a share of a column's values are, before and after."""

    share: float
    before: float
    after: float


class MaskedColumnLoss(_Frozen):
    """What masking cost one column, or representing the values of each class by one.

    `shared_values` is the share of the released values that are values of the original too, each
    counted as often as it occurs in both: 1 where values only changed places. Of numbers, `il1s`
    is their mean distance in units of the spread, `probabilistic` has the loss of the column's own
    statistics, and `quantiles` are those from 5 % to 95 %, 1 % and 99 %, and the ends; dates have
    none.
    """

    name: str
    masking: str
    shared_values: float
    il1s: float | NotApplicable
    probabilistic: ProbabilisticLoss | NotApplicable
    quantiles: tuple[Quantile, ...] = ()


class MaskedTogether(_Frozen):
    """The masked columns of numbers together, over the rows that have a value in all of them.

    `correlation_change` and `rank_correlation_change` are the means over all pairs of columns of
    |r - r'|, by Pearson and by Spearman; the eigenvalues are those of Pearson's correlations, the
    largest first.
    """

    columns: tuple[str, ...]
    rows_before: int
    rows_after: int
    correlation_change: float
    rank_correlation_change: float
    eigenvalues_before: tuple[float, ...]
    eigenvalues_after: tuple[float, ...]


class CategoryCounts(_Frozen):
    """How often each category of a column occurs that was changed by known probabilities.

    `estimated` are unbiased estimates of the counts before, by the certified matrix: the published
    counts where it keeps them on average, else others, some of which may be negative. `original`
    are those counts, None in what is shareable. Of a sample, estimated are its own counts.
    """

    name: str
    categories: tuple[str, ...]
    published: tuple[int, ...]
    estimated: tuple[float, ...] | NotApplicable
    original: tuple[int, ...] | None


class MaskingLoss(_Frozen):
    """What masking cost: `il1s` over all cells of numbers, and `probabilistic` over all columns."""

    columns: tuple[MaskedColumnLoss, ...]
    il1s: float | NotApplicable
    probabilistic: ProbabilisticLoss | NotApplicable
    together: MaskedTogether | NotApplicable
    frequencies: tuple[CategoryCounts, ...]


NO_RISKS = NotApplicable(reason="no quasi-identifier is released, so no classes were formed")
NOT_MASKED = NotApplicable(reason="no column is masked")


class Comparison(_Frozen):
    """A release against its original.

    `is_certified_input` tells whether the original is what the release was made from, by the
    record of the release; None without it. `entropy` and `certainty_penalty` are
    shares from 0 to 1 over all generalised columns, `discernability` and
    `average_class_ratio` those of the certificate; all are None, and `classes` say why, where the
    policy asks for no privacy model. Of a sample, so many rows were `sampled`, and what they are
    short of counts as suppressed; `entropy` is None. `left_out` are the columns of the original
    that the release lacks or blackens, `apart` those that it has in another table, by bucket, and
    `arrays` those that hold some, such as images: neither are compared. `masking` tells of those
    that are masked. `risks` are those of records by their classes, with the original as the
    population of who knows one. `row_pairs` are some rows of both, which no JSON has. A comparison
    tells how often the original's values occur, and is for its owner alone; one that `is_shareable`
    tells of the release alone, its losses are those of the rows released, and all that takes the
    original is None or empty.
    """

    is_shareable: bool = False

    original: TableSide | None
    release: TableSide
    is_certified_input: bool | None
    methods: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    suppressed: int | None
    sampled: int | None = None
    certainty_penalty: float | None
    entropy: float | None
    discernability: int | None
    average_class_ratio: float | None
    left_out: tuple[str, ...]
    apart: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    columns: tuple[ColumnChange, ...]
    pairs: tuple[PairChange, ...]
    classes: ClassSizes | NotApplicable
    queries: QueryErrors | NotApplicable
    classification: Classification | NotApplicable
    masking: MaskingLoss | NotApplicable = NOT_MASKED
    risks: FileRisks | NotApplicable = NO_RISKS
    row_pairs: Annotated[tuple[RowPair, ...], Field(exclude=True)] = ()

    @property
    def title(self) -> str:
        """What is compared with what."""
        other = f" against {self.original.name}" if self.original else ""
        return f"{self.release.name}{other}"
