"""Singling out: predicates found among synthetic records that exactly one member satisfies.

Giomi, Boenisch, Wehmeyer and Tasnádi: A unified framework for quantifying privacy risk in synthetic
data, PoPETs 2023(2), section 4.2; after Cohen and Nissim: Towards formalizing the GDPR's notion of
singling out, PNAS 117(15), 2020.
"""

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.generative.material import Ints, Material
from policy_engine.audits.generative.risks.result import RiskName, SyntheticRisk, risk_of_shares
from policy_engine.audits.generative.risks.successes import naive_successes, singled_out
from policy_engine.audits.generative.risks.tables import AttackedRows, Floats, draw_tables
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.generative.predicate_counts import (
    ABOVE,
    AT_LEAST,
    AT_MOST,
    BELOW,
    EQUAL,
    NOT_EQUAL,
    Predicates,
    count_rows,
)

_UNIVARIATE, _MULTIVARIATE = 1, 2
_BATCH = 2_000
_OF_NUMBERS = np.array([EQUAL, NOT_EQUAL, AT_MOST, AT_LEAST, BELOW, ABOVE])


class SinglingOutSettings(BaseModel):
    """How many predicates are judged, how many columns those of several have, and how many
    random ones are looked at for each that is wanted."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    attacks: int = Field(default=500, ge=1)
    columns: int = Field(default=3, ge=2)
    tries: int = Field(default=100, ge=1)


def single_out_by_one_column(
    material: Material, settings: SinglingOutSettings
) -> SyntheticRisk | NotApplicable:
    """Return the risk of predicates on one column: a value that occurs once, or an extreme one.

    All such predicates that one synthetic record satisfies are listed, and some drawn if they
    are more than wanted. Not applicable if there is none, or no synthetic table.
    """
    random = np.random.default_rng((material.seed, _UNIVARIATE))
    tables = draw_tables(material, random, is_whole=True)
    if isinstance(tables, NotApplicable):
        return tables
    predicates = univariate_predicates(tables)
    chosen = random.permutation(len(predicates))[: settings.attacks]
    return _judged("singling-out-univariate", predicates[chosen], tables, settings, random)


def single_out_by_several_columns(
    material: Material, settings: SinglingOutSettings
) -> SyntheticRisk | NotApplicable:
    """Return the risk of predicates on several columns, drawn at random.

    Of those of `multivariate_predicates` that one synthetic record satisfies, so many as are wanted
    are judged. Not applicable if there is none, and to tables with one column.
    """
    random = np.random.default_rng((material.seed, _MULTIVARIATE))
    tables = draw_tables(material, random, is_whole=True)
    if isinstance(tables, NotApplicable):
        return tables
    if len(tables.columns) < 2:
        return NotApplicable(reason="The table has one column.")
    predicates = multivariate_predicates(tables, settings, random)
    return _judged("singling-out-multivariate", predicates, tables, settings, random)


def univariate_predicates(tables: AttackedRows) -> Predicates:
    """Return all predicates on one column that one synthetic record alone satisfies.

    A value, or that it is missing, if it occurs once; of numbers also that they are as small as
    the smallest or as great as the greatest.
    """
    parts: list[tuple[int, int, float]] = []
    for place, column in enumerate(tables.columns):
        values, counts = np.unique(tables.synthetic[:, place], return_counts=True)
        parts += [(place, EQUAL, value) for value in values[counts == 1].tolist()]
        numbers, times = values[~np.isnan(values)], counts[~np.isnan(values)]
        if column.is_number and len(numbers):
            ends = (AT_MOST, 0), (AT_LEAST, -1)
            parts += [(place, name, float(numbers[end])) for name, end in ends if times[end] == 1]
    columns, operators, thresholds = zip(*parts, strict=True) if parts else ((), (), ())
    return Predicates(
        np.array(columns, dtype=np.int64).reshape(-1, 1),
        np.array(operators, dtype=np.int64).reshape(-1, 1),
        np.array(thresholds, dtype=np.float64).reshape(-1, 1),
    )


def multivariate_predicates(
    tables: AttackedRows, settings: SinglingOutSettings, random: np.random.Generator
) -> Predicates:
    """Return distinct predicates on several columns that one synthetic record alone satisfies.

    Each has the values of a random synthetic record in random columns: equality of categories, and
    of numbers at least the value if it is above the median, or at most. What is missing is missing.
    """
    medians = _medians(tables)
    predicates, chosen = _no_predicates(_breadth(tables, settings)), np.empty(0, dtype=np.int64)
    for _ in range(-(-settings.attacks * settings.tries // _BATCH)):
        batch = _from_records(tables, medians, _breadth(tables, settings), random)
        batch = batch[np.flatnonzero(count_rows(tables.synthetic, batch) == 1)]
        predicates = _joined(predicates, batch)
        chosen = _first_of_each(predicates)[: settings.attacks]
        predicates = predicates[chosen]
        if len(chosen) == settings.attacks:
            break
    return predicates


def _breadth(tables: AttackedRows, settings: SinglingOutSettings) -> int:
    return min(settings.columns, len(tables.columns))


def _medians(tables: AttackedRows) -> Floats:
    """Return the medians of numbers, which need no values, and nan for categories."""
    medians = np.full(len(tables.columns), np.nan)
    for place, column in enumerate(tables.columns):
        values = tables.synthetic[:, place]
        numbers = values[~np.isnan(values)]
        if column.is_number and len(numbers):
            medians[place] = np.median(numbers)
    return medians


def _from_records(
    tables: AttackedRows, medians: Floats, breadth: int, random: np.random.Generator
) -> Predicates:
    columns = _random_columns(len(tables.columns), breadth, _BATCH, random)
    rows = random.integers(len(tables.synthetic), size=(_BATCH, 1))
    values, middle = tables.synthetic[rows, columns], medians[columns]
    bound = np.where(values > middle, AT_LEAST, AT_MOST)
    # Of categories the median is nan, of a missing number the value.
    return Predicates(columns, np.where(np.isnan(values + middle), EQUAL, bound), values)


def _random_columns(columns: int, breadth: int, count: int, random: np.random.Generator) -> Ints:
    """Return the places of so many different columns for each predicate, ascending."""
    order = random.permuted(np.tile(np.arange(columns), (count, 1)), axis=1)
    return np.sort(order[:, :breadth], axis=1)


def _random_predicates(
    tables: AttackedRows, breadth: int, count: int, random: np.random.Generator
) -> Predicates:
    """Return naive predicates: random comparisons with random ones of the values that occur."""
    columns = _random_columns(len(tables.columns), breadth, count, random)
    is_number = np.array([column.is_number for column in tables.columns])
    values = np.empty(columns.shape)
    for place in range(len(tables.columns)):
        domain, here = np.unique(tables.synthetic[:, place]), columns == place
        values[here] = random.choice(domain, size=int(here.sum()))
    is_ordered = is_number[columns] & ~np.isnan(values)
    drawn = random.integers(np.where(is_ordered, len(_OF_NUMBERS), 2))
    return Predicates(columns, _OF_NUMBERS[drawn], values)


def _judged(
    name: RiskName,
    predicates: Predicates,
    tables: AttackedRows,
    settings: SinglingOutSettings,
    random: np.random.Generator,
) -> SyntheticRisk | NotApplicable:
    if not len(predicates):
        return NotApplicable(reason="No predicate was found that one synthetic record satisfies.")
    breadth = predicates.columns.shape[1]
    naive = _random_predicates(tables, breadth, len(predicates), random)
    shares = (*singled_out(tables, predicates), naive_successes(tables, naive))
    return risk_of_shares(name, shares, len(predicates), settings.attacks)


def _no_predicates(breadth: int) -> Predicates:
    none = np.empty((0, breadth), dtype=np.int64)
    return Predicates(none, none, np.empty((0, breadth)))


def _joined(one: Predicates, other: Predicates) -> Predicates:
    return Predicates(
        np.concatenate([one.columns, other.columns]),
        np.concatenate([one.operators, other.operators]),
        np.concatenate([one.values, other.values]),
    )


def _first_of_each(predicates: Predicates) -> Ints:
    """Return the places where a predicate occurs first, ascending."""
    values = np.nan_to_num(predicates.values, nan=np.finfo(np.float64).max)
    parts = np.column_stack([predicates.columns, predicates.operators, values])
    return np.sort(np.unique(parts, axis=0, return_index=True)[1])
