"""What a table that was randomised record by record still tells: estimates, and how far they are
from the truth where that is known."""

from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from policy_engine.audits.utility.model import TableSide
from policy_engine.data.catalog import Dataset
from policy_engine.data.column_names import missing_columns
from policy_engine.engines import tables
from policy_engine.engines.engine import StoredData
from policy_engine.engines.randomising.estimates import ColumnEstimates, Original, estimate_column
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.randomiser import Randomiser
from policy_engine.methods.randomisers.private_pixelation import PrivatePixelation
from policy_engine.plan.randomisation import Randomisation


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class EstimatedFigure(_Frozen):
    """An unbiased estimate with its variance and its interval of 95 %.

    It is neither clipped nor made to fit others: a frequency may be below 0. `truth` is that of
    the original, None where that is not at hand.
    """

    label: str
    estimate: float
    variance: float
    low: float
    high: float
    truth: float | None = None

    @property
    def is_covered(self) -> bool | None:
        """Whether the truth is in the interval, None where it is not known."""
        return None if self.truth is None else self.low <= self.truth <= self.high


class EstimatedColumn(_Frozen):
    """The estimates of a column: frequencies of categories, or a mean."""

    name: str
    randomiser: str
    epsilon: float
    answers: int
    kind: Literal["frequencies", "mean"]
    figures: tuple[EstimatedFigure, ...]


class EstimatedRelease(_Frozen):
    """What a randomised table tells, compared with its original if that is at hand."""

    release: TableSide
    original: TableSide | None = None
    epsilon: float
    columns: tuple[EstimatedColumn | NotApplicable, ...]

    @property
    def title(self) -> str:
        """What was estimated of what, in a line."""
        compared = f", compared with {self.original.name}" if self.original else ""
        return f"Estimates from {self.release.name}{compared}"


def estimate_release(
    release: Path | pa.Table, randomisation: Randomisation, original: Path | pa.Table | None = None
) -> EstimatedRelease:
    """Return the estimates of a table that was made by a randomisation, compared with its
    original if that is given.

    Raises DataError where a table cannot be read, or lacks a column (C005).
    """
    after, side = _read(release, randomisation.names, "release")
    before, first = (
        (None, None)
        if original is None
        else _read(original, randomisation.columns_used, "original")
    )
    compared = Original.of(before, randomisation) if before is not None else None
    columns = tuple(_column(after, one, randomisation, compared) for one in randomisation.columns)
    return EstimatedRelease(
        release=side, original=first, epsilon=float(randomisation.epsilon), columns=columns
    )


def _column(
    after: pa.Table, one: Randomiser, randomisation: Randomisation, original: Original | None
) -> EstimatedColumn | NotApplicable:
    if isinstance(one, PrivatePixelation):
        return NotApplicable(reason=f"{one.name} holds images, of which nothing is estimated")
    try:
        column = estimate_column(after.column(one.name), one, randomisation, original)
    except ValueError:
        return NotApplicable(reason=f"{one.name} has too few answers to estimate from")
    return EstimatedColumn(
        name=one.name,
        randomiser=one.randomiser,
        epsilon=float(randomisation.epsilon_of(one)),
        answers=column.estimates.answers,
        kind="mean" if len(column.labels) == 1 else "frequencies",
        figures=tuple(_figures(column)),
    )


def _figures(column: ColumnEstimates) -> list[EstimatedFigure]:
    estimates = column.estimates
    truths = [None] * len(estimates.values) if column.truth is None else column.truth.tolist()
    parts = (estimates.values, estimates.variances, estimates.lows, estimates.highs)
    rows = zip(column.labels, *(part.tolist() for part in parts), truths, strict=True)
    return [
        EstimatedFigure(
            label=label, estimate=value, variance=variance, low=low, high=high, truth=truth
        )
        for label, value, variance, low, high, truth in rows
    ]


def _read(
    source: Path | pa.Table, names: tuple[str, ...], title: str
) -> tuple[pa.Table, TableSide]:
    """Return a table with the columns, and what it is."""
    if isinstance(source, Path):
        table, digest = tables.read_table(source), StoredData.from_file(source).digest
        label = source.name
    else:
        table, digest, label = tables.plain_texts(source), tables.table_digest(source), title
    dataset = Dataset(iri=label, location=label, format="memory", columns=tuple(table.column_names))
    problems = list(missing_columns(names, dataset))
    if problems:
        raise DataError(*problems)
    if not table.num_rows:
        raise DataError.of("R001", "The table has no rows.", source=label)
    return table, TableSide(name=label, digest=digest, rows=table.num_rows)
