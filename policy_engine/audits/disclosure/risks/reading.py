"""The tables beside original and release that risks are measured by: a population, and weights."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, known_columns
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines import tables
from policy_engine.engines.arrays import is_text, value_type
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.masking.cells import mask_column
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.errors import DataError, Problem, format_count
from policy_engine.plan.plan import Plan


def population_problems(
    original: pa.Table, population: pa.Table, names: Sequence[str]
) -> Iterator[Problem]:
    """Yield the columns (A024) whose cells are numbers or times in the original alone."""
    for name in names:
        before, others = (_typed(table, name) for table in (original, population))
        if is_text(value_type(others.type)) and not is_text(value_type(before.type)):
            odd = next((text for text in _texts(others) if not _is_number(text)), "")
            message = f"Cells of {name!r} in the population cannot be read as those of the original"
            yield Problem("A024", f"{message}: {odd!r:.60}.", f"The original has {before.type}.")


def _typed(table: pa.Table, name: str) -> pa.ChunkedArray:
    return tables.infer_types(table.select([name])).column(0)


def _texts(column: pa.ChunkedArray) -> list[str]:
    return [text for text in pc.unique(plain_array(column)).to_pylist() if text is not None]


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def population_columns(
    original: pa.Table,
    population: pa.Table,
    release: pa.Table,
    names: Sequence[str],
    plan: Plan | None,
    taxonomies: Mapping[str, Taxonomy],
) -> tuple[KnownColumn, ...]:
    """Return the known columns with the population before, and the release after.

    Values of the population that the original lacks are in the domain, too, and numbers that were
    rounded or coded are so there. Raises DataError as `known_columns` does, and as `mask_column`.
    """
    both = _stacked(original, _as_masked(population, names, plan), names)
    columns = known_columns(both, release, names, plan, taxonomies)
    first = original.num_rows
    return tuple(replace(column, before=column.before[first:]) for column in columns)


def _as_masked(population: pa.Table, names: Sequence[str], plan: Plan | None) -> pa.Table:
    for masking in plan.mask.columns if plan and plan.mask else ():
        rule = masking.public_rule
        if masking.name in names and rule is not None:
            place = population.schema.get_field_index(masking.name)
            field, column = population.schema.field(place), population.column(place)
            kind = _typed(population, masking.name).type if is_untyped(field) else None
            population = population.set_column(place, field, mask_column(column, rule, kind))
    return population


def _stacked(original: pa.Table, population: pa.Table, names: Sequence[str]) -> pa.Table:
    fields, columns = [], []
    for name in names:
        field, parts = original.schema.field(name), [t.column(name) for t in (original, population)]
        if parts[0].type != parts[1].type:
            parts = [plain_array(part).cast(pa.string()) for part in parts]
            field = pa.field(name, pa.string(), metadata={"csv": "text"})
        chunks = [chunk for part in parts for chunk in getattr(part, "chunks", [part])]
        columns.append(pa.chunked_array(chunks, field.type))
        fields.append(field)
    return pa.table(columns, schema=pa.schema(fields))


def read_weights(table: pa.Table, name: str) -> NDArray[np.float64]:
    """Return how many persons each row of a table stands for, (rows,).

    Raises DataError (A025) where a weight is not a finite number above 0.
    """
    column = plain_array(_typed(table, name))
    weights = _floats(column)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        count, verb = format_count(len(wrong), "row"), "has" if len(wrong) == 1 else "have"
        example = f"{str(column[int(wrong[0])])!r:.60}"
        message = f"{count} of {name!r} {verb} no weight, such as {example}."
        raise DataError.of("A025", message, "A weight is a finite number above 0.")
    persons = math.fsum(weights.tolist()) if weights.max(initial=0) < _MOST_PERSONS else math.inf
    if persons >= _MOST_PERSONS:
        message = f"The rows stand for {_MOST_PERSONS:.1g} persons or more by {name!r}."
        raise DataError.of("A025", message, "A weight is how many persons a row stands for.")
    return weights


_MOST_PERSONS = 1e15
"""No population has as many, and of more no float counts each."""


def _floats(column: pa.Array) -> NDArray[np.float64]:
    if not is_text(column.type):
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    return np.array([float(one) if _is_number(str(one)) else np.nan for one in column.to_pylist()])
