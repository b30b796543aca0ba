"""Draws the noise of statistics, once, and makes the table that is released of it."""

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from policy_engine.data.group_keys import GroupKeys
from policy_engine.engines.engine import Engine, StoredData, WrittenTable
from policy_engine.errors import DataError, PlanError
from policy_engine.kernels.differential_privacy import selection
from policy_engine.kernels.differential_privacy.partition_selection import keeps
from policy_engine.plan.aggregates.model import AddedNoise, Statistic
from policy_engine.plan.inputs import Read
from policy_engine.plan.lineage import Upstream, check_read
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import AggregateStep
from policy_engine.release.release import Release
from policy_engine.release.synthetic import CHOICES, NUMBERS, synthetic_codes

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.engines.statistics.tallies import Key, Tallies


class Charging(Protocol):
    """Who answers for what noise is drawn: every answer was paid for, and is drawn once.

    `uncovered` are other releases of the same data, of which its epsilon says nothing.
    """

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The IRIs of those that are known."""
        ...

    def answer(self, data: str, prepare: Callable[[], Callable[[], bytes]]) -> bytes:
        """Return what is drawn of data, once it was charged, or was drawn before for the same
        release of the same data, whose digest is given.

        `prepare` reads them, once there is budget, and returns what draws: where it fails, nothing
        was drawn, and nothing is charged. Raises DeniedError where the budget does not allow it.
        """
        ...


def release_statistics(
    plan: Plan,
    engine: Engine,
    destination: Path | str | None,
    charging: Charging | None,
    upstream: Sequence[Upstream] = (),
) -> tuple[Release, WrittenTable]:
    """Return the statistics of a plan, charged, drawn and written, and the table as written.

    Raises as `charged_statistics` does.
    """
    table, source = charged_statistics(plan, engine, charging, upstream)
    written = engine.write(engine.statistics_table(table), destination)
    release = Release(
        plan=plan,
        output=written.stored,
        sources=(source,),
        upstream=tuple(upstream),
        uncovered=charging.uncovered if charging else (),
    )
    return release, written


def digest_of_input(plan: Plan, engine: Engine, upstream: Sequence[Upstream] = ()) -> StoredData:
    """Return what statistics are made of, of which only the digest is read.

    Raises as `check_read` does where it is not what a certificate says.
    """
    read = plan.read
    source = engine.stored(read)
    check_read([one for one in upstream if one.asset == read.asset], source.digest, read.location)
    return source


def charged_statistics(
    plan: Plan, engine: Engine, charging: Charging | None, upstream: Sequence[Upstream] = ()
) -> "tuple[pa.Table, StoredData]":
    """Return the statistics of a plan, charged and drawn, and what was read.

    Nothing of the input is read before there is budget, but its digest. Raises PlanError (M018)
    without a ledger, DataError where a file cannot be read or OpenDP is not installed (C011), and
    as `Charging.answer` does.
    """
    step, read = plan.require_aggregate(), plan.read
    if find_spec("opendp") is None:
        message = "Noise is drawn by OpenDP, which is not installed."
        raise DataError.of("C011", message, "pip install 'policy-engine[dp]'.")
    if charging is None:
        message = "Statistics under differential privacy are charged to a budget, and no ledger is "
        raise PlanError.of("M018", f"{message}given.", "Give the file of one: ledger=FILE.")
    public = public_keys(step, engine.group_keys)
    source = digest_of_input(plan, engine, upstream)

    def prepare() -> Callable[[], bytes]:
        table, stored = _read(engine, read)
        if stored.digest != source.digest:
            message = "The input changed while it was read."
            raise DataError.of("C003", message, source=read.location)
        engine.check_countable(table, step)
        return partial(_drawn_answer, step, engine, table, public)

    answer = json.loads(charging.answer(source.digest, prepare))
    return (synthetic_table if step.is_synthetic else to_table)(step, answer), source


def _read(engine: Engine, step: Read) -> tuple[Any, StoredData]:
    """Return the input, which may be empty. Errors do not say which row is wrong: that would tell
    how many there are before it."""
    try:
        return engine.read(step, may_be_empty=True)
    except DataError as error:
        message = "The input cannot be read: a row of it, or all of it, is not as its format asks."
        code, hint = error.problems[0].code, "`policy-engine show` says what is wrong with a file."
        raise DataError.of(code, message, hint, step.location) from None


def _drawn_answer(
    step: AggregateStep, engine: Engine, table: Any, public: "tuple[Key, ...] | None"
) -> bytes:
    secret = secrets.token_bytes(SECRET_BYTES)
    tallies = engine.tally(table, step, public, secret)
    drawn = synthetic_codes(step, tallies) if step.is_synthetic else draw(step, tallies)
    return json.dumps(drawn, ensure_ascii=False, separators=(",", ":")).encode()


SECRET_BYTES = 16
"""The length of the key by which the rows of a unit are chosen: drawn anew, and then forgotten."""


def public_keys(
    step: AggregateStep, keys_by_name: Mapping[str, GroupKeys]
) -> "tuple[Key, ...] | None":
    """Return the keys of groups that everybody may know, None where the data have them.

    Raises DataError (C016) where a file of keys is not the one that the plan was made with.
    """
    if not step.has_public_keys:
        return None if step.group_by else ((),)
    if not step.key_table:
        return tuple(product(*(one.keys for one in step.group_by)))
    table = keys_by_name[step.key_table]
    if table.digest != step.key_table_digest:
        message = f"The keys of {step.key_table!r} are not those that the plan was made with."
        raise DataError.of("C016", message, source=table.name)
    return table.of(step.group_names)


Cell = int | float | str
Rows = list[list[Cell]]
"""The cells of a table, row by row: numbers, and texts."""


def draw(step: AggregateStep, tallies: "Tallies") -> Rows:
    """Return the rows that are released: a key, and a figure with noise for each aggregate.

    Noise is drawn here, and for synthetic tables in `synthetic_codes`: the caller has charged it
    before, and keeps what is returned. Everything after is a function of it and of what is public.
    """
    groups = list(range(len(tallies.keys)))
    if step.key_selection is not None:
        keys, per_key = step.key_selection, Fraction(step.key_selection.delta)
        lets_through = keeps(tallies.units, 1 / keys.exact_scale, per_key / keys.cells)
        groups = [group for group in groups if lets_through[group]]
    sums = iter(tallies.sums)
    columns = []
    for figure in step.figures:
        drawn = [
            _drawn(noise, [of_quantity[group] for group in groups], figure)
            for noise, of_quantity in zip(
                figure.noise, islice(sums, len(figure.noise)), strict=True
            )
        ]
        columns.append([_cell(figure, parts) for parts in zip(*drawn, strict=True)])
    return [
        [*tallies.keys[group], *(column[place] for column in columns)]
        for place, group in enumerate(groups)
    ]


def _drawn(noise: AddedNoise, exact: Sequence[Any], figure: Statistic) -> list[Any]:
    """Return what a quantity is with noise, or what is chosen, for every group."""
    scale = noise.exact_scale
    if noise.quantity == "counts":
        return _noisy_counts(noise, exact)
    if noise.quantity == "ranks":
        choose, at = CHOICES[noise.mechanism], Fraction(figure.at or 0)
        return [choose(selection.quantile_scores(one, at), scale) for one in exact]
    if noise.quantity == "choices":
        return [selection.top_k(one.tolist(), figure.k or 1, scale) for one in exact]
    return _noisy(noise, exact)


def _noisy_counts(noise: AddedNoise, exact: Sequence[Any]) -> list[list[int]]:
    """Return the rows at each option with noise, by group, all drawn at once."""
    drawn = _noisy(noise, [count for of_group in exact for count in of_group.tolist()])
    options = len(drawn) // max(len(exact), 1)
    return [drawn[place : place + options] for place in range(0, len(drawn), options or 1)]


def _noisy(noise: AddedNoise, exact: Sequence[int]) -> list[int]:
    return NUMBERS[noise.mechanism]([int(one) for one in exact], noise.exact_scale)


def _cell(figure: Statistic, parts: Sequence[Any]) -> Cell:
    """Return what is released of a figure, given its quantities with noise."""
    if figure.function == "mean":
        return _mean(figure, *parts)
    if figure.function == "variance":
        return _variance(figure, *parts)
    [part] = parts
    if figure.function == "quantile":
        first, step, _ = figure.candidate_grid
        return _number(first + part * step)
    if figure.function == "top-k":
        return json.dumps([figure.candidates[place] for place in part], ensure_ascii=False)
    if figure.function == "histogram":
        return json.dumps(part)
    return _number(part * (figure.grid or Decimal(1)))


def _mean(figure: Statistic, total: int, rows: int) -> float:
    """Return a mean by the noisy sum of distances from the middle, within the public bounds."""
    low, high = _bounds(figure)
    mean = (low + high) / 2 + Fraction(figure.noise[0].step) * total / max(rows, 1)
    return float(min(max(mean, low), high))


def _variance(figure: Statistic, total: int, squares: int, rows: int) -> float:
    """Return a variance by noisy sums, within what bounds allow: the square of half their width."""
    (low, high), count = _bounds(figure), max(rows, 1)
    half = Fraction(high - low) / 2
    distance = min(max(Fraction(figure.noise[0].step) * total / count, -half), half)
    # Squares were counted from the middle of theirs, half of the greatest.
    square = Fraction(figure.noise[1].step) * squares / count + half * half / 2
    return float(min(max(square - distance * distance, Fraction(0)), half * half))


def _bounds(figure: Statistic) -> tuple[Fraction, Fraction]:
    return Fraction(figure.lower or 0), Fraction(figure.upper or 0)


def _number(exact: Decimal) -> int | float:
    return min(max(int(exact), -_MOST), _MOST) if _is_whole(exact) else float(exact)


_MOST = 2**63 - 1
"""What the integers of files hold: what is beyond is moved there, and never a failure."""


def to_table(step: AggregateStep, rows: Rows) -> "pa.Table":
    """Return the rows that are released as a table: texts, integers, or floats where a column may
    have fractions."""
    import numpy as np  # noqa: PLC0415 (plans are made without it)
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    from policy_engine.engines.arrays import from_numpy, from_texts  # noqa: PLC0415 (pyarrow)

    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * len(step.released)
    kinds = ["text"] * len(step.group_by) + [_type(figure) for figure in step.figures]
    arrays = [
        from_texts(one) if kind == "text" else from_numpy(np.array(one, dtype=kind))
        for one, kind in zip(columns, kinds, strict=True)
    ]
    return pa.table(arrays, names=list(step.released))


def synthetic_table(step: AggregateStep, columns: Sequence[Sequence[int]]) -> "pa.Table":
    """Return a synthetic table, given the places of the values of its cells, column by column.

    Empty texts are missing cells.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    arrays = [
        pa.array(_column_values(figure)).take(pa.array(codes, pa.int64()))
        for figure, codes in zip(step.figures, columns, strict=True)
    ]
    return pa.table(arrays, names=list(step.released))


def _column_values(figure: Statistic) -> list[Any]:
    """Return the values that cells of a synthetic column may have: texts, or numbers."""
    if figure.candidates:
        return [one or None for one in figure.candidates]
    low, grid = figure.ends[0], figure.grid or Decimal(1)
    numbers = [(low + place) * grid for place in range(figure.options)]
    return [_number(one) for one in numbers] if _is_whole(grid) else [float(one) for one in numbers]


def _is_whole(number: Decimal) -> bool:
    return number == number.to_integral_value()


def _type(figure: Statistic) -> str:
    if figure.function in ("histogram", "top-k"):
        return "text"
    grids = [figure.grid] if figure.grid else []
    grids += [*figure.candidate_grid[:2]] if figure.function == "quantile" else []
    is_whole = all(map(_is_whole, grids))
    is_ratio = figure.function in ("mean", "variance")
    return "int64" if is_whole and not is_ratio else "float64"
