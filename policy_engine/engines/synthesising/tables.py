"""Whole tables of synthetic rows: learnt by a generator, drawn from it, and what to doubt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from policy_engine.engines.arrays import from_numpy, is_text
from policy_engine.engines.engine import AnonymizedTable
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.persons import person_numbers
from policy_engine.engines.synthesising.checking import exact_copies
from policy_engine.engines.synthesising.coding import Codes, LearntTable, learnt_table
from policy_engine.engines.synthesising.counted import Arrays
from policy_engine.engines.synthesising.generator_files import read_generator, write_generator
from policy_engine.engines.synthesising.holding_out import Ints, split
from policy_engine.engines.synthesising.released_generator import ReleasedGenerator
from policy_engine.engines.tables import infer_types
from policy_engine.engines.text_types import to_inferred_type
from policy_engine.errors import DataError, format_count, join_names
from policy_engine.methods.synthesiser import Synthesiser
from policy_engine.methods.synthesisers.sequential_trees import SequentialTrees
from policy_engine.plan.synthesis import Generation, Synthesis, TrainedGenerator


class Fitted(Protocol):
    """A generator that has learnt a table."""

    def rows(self, n: int, seed: int) -> Codes:
        """Return the codes of synthetic rows, (n, columns), all drawn by the seed."""
        ...

    def arrays(self) -> Arrays:
        """Return what a file holds of it, by name."""
        ...


def fit(table: LearntTable, settings: Synthesiser) -> Fitted:
    """Return the generator of some settings, which has learnt a table."""
    name = settings.notation.replace("-", "_")
    fitted: Fitted = import_module(f"policy_engine.engines.synthesising.{name}").fit(
        table, settings
    )
    return fitted


def synthetic_table(table: pa.Table, settings: Synthesiser, rows: int, seed: int) -> pa.Table:
    """Return so many synthetic rows of a table, whose columns are drawn in their order.

    Raises DataError (C009) for columns of a type that generators do not learn.
    """
    coded = learnt_table(table)
    return coded.table_of(fit(coded, settings).rows(rows, seed))


@dataclass(frozen=True)
class SyntheticSource:
    """The rows that a generator learnt, and those `held_out`, drawn by the seed.

    The numbers of their persons are None where every row counts by itself. The `generator` is the
    one that is released, as it was written, None where rows are.
    """

    learnt: pa.Table
    held_out: pa.Table
    seed: int
    learnt_persons: Ints | None = None
    held_out_persons: Ints | None = None
    generator: ReleasedGenerator | None = None


def made_up(
    table: pa.Table,
    synthesis: Synthesis,
    columns: Sequence[str],
    seed: int,
    held_out: float = 0,
) -> AnonymizedTable:
    """Return the synthetic rows of a table, with the published columns in their order.

    The share of rows `held_out` is drawn at random, equal ones together, and not learnt; where a
    column tells persons apart, all rows of one are together as well, and rows that name nobody are
    left out. What the owner should know besides is how many rows are copies, and which columns tell
    persons apart. The input is kept for measuring. Raises as `synthetic_table` and `split` do.
    """
    kept, persons = _with_persons(table, synthesis)
    sides = split(kept.select(list(synthesis.columns)), held_out, seed, persons)
    learnt, others = (one.table for one in sides)
    made = synthetic_table(learnt, synthesis.synthesiser, synthesis.rows, seed)
    return AnonymizedTable(
        _with_texts_of(table, made.select(list(columns))),
        rows=synthesis.rows,
        suppressed=table.num_rows - kept.num_rows,
        doubts=(
            *_nobody(table.num_rows - kept.num_rows, synthesis.unit),
            *_copies(made, learnt),
            *_unlike(learnt),
            *_unsplit(synthesis.synthesiser, learnt.num_rows),
        ),
        compared=tuple(columns),
        engine_state=SyntheticSource(learnt, others, seed, sides[0].persons, sides[1].persons),
    )


def _with_texts_of(table: pa.Table, made: pa.Table) -> pa.Table:
    """Return made-up rows with columns of texts where the table has texts, even if those that were
    drawn happen to be all numbers or times: what is released has the types of the table."""
    fields = [
        pa.field(field.name, field.type)
        if is_untyped(field) and is_text(to_inferred_type(table.column(field.name)).type)
        else field
        for field in made.schema
    ]
    return pa.table(made.columns, schema=pa.schema(fields))


def _with_persons(table: pa.Table, synthesis: Generation) -> tuple[pa.Table, Ints | None]:
    """Return the rows of persons, and the number of each one's person, None without a unit.

    Raises DataError (R001) where no row names a person.
    """
    if not synthesis.unit:
        return table, None
    [persons] = person_numbers([table.column(synthesis.unit)], synthesis.unit)
    is_of_person = persons >= 0
    if not is_of_person.any():
        message = f"No row of the table names a person: {synthesis.unit!r} has no value."
        hint = "Give the column of persons, or leave out privacyUnit."
        raise DataError.of("R001", message, hint)
    return table.filter(from_numpy(is_of_person)), persons[is_of_person]


def _nobody(rows: int, unit: str) -> Iterator[str]:
    """Yield that rows are left out, since they name nobody."""
    if rows:
        verb = "names nobody and was" if rows == 1 else "name nobody and were"
        counted = format_count(rows, "row")
        yield f"{counted} {verb} left out: of {unit!r} they have no value."


def trained(
    table: pa.Table,
    step: TrainedGenerator,
    names: Sequence[str],
    seed: int,
    held_out: float,
    folder: Path,
) -> AnonymizedTable:
    """Write a generator of a table into a folder, and return rows drawn from what was written.

    The rows have the columns `names` in their order. Raises as `made_up` does, and as
    `write_generator`.
    """
    kept, persons = _with_persons(table, step)
    sides = split(kept.select(list(step.columns)), held_out, seed, persons)
    learnt, others = _typed(*(one.table for one in sides))
    coded = learnt_table(learnt).in_order()
    write_generator(folder, coded, step.synthesiser, fit(coded, step.synthesiser))
    generator = read_generator(folder)
    number = int(np.random.default_rng([seed, _STREAM]).integers(2**63))
    made = generator.sample(step.rows_measured, seed=number)
    return AnonymizedTable(
        made.select(list(names)),
        rows=made.num_rows,
        suppressed=table.num_rows - kept.num_rows,
        doubts=(
            *_nobody(table.num_rows - kept.num_rows, step.unit),
            *_unlike(learnt),
            *_unsplit(step.synthesiser, learnt.num_rows),
        ),
        compared=tuple(names),
        engine_state=SyntheticSource(
            learnt, others, seed, sides[0].persons, sides[1].persons, generator
        ),
    )


def _typed(learnt: pa.Table, others: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return two parts of a table with texts of CSV files as the numbers or times that all are: a
    generator has types of its own."""
    whole = infer_types(pa.concat_tables([learnt, others]))
    return whole.slice(0, learnt.num_rows), whole.slice(learnt.num_rows)


_STREAM = 80
"""A stream of random numbers of its own."""


def _copies(made: pa.Table, learnt: pa.Table) -> Iterator[str]:
    """Yield how many of the made-up rows are rows of the input."""
    copies = exact_copies(made, learnt, learnt.column_names)
    if copies:
        rows, verb = format_count(made.num_rows, "row"), "is" if copies == 1 else "are"
        yield (
            f"{copies:,} of the {rows} that were made up {verb} the same as a row of the input. "
            "Some are by chance, the more the fewer columns there are."
        )


def _unlike(learnt: pa.Table) -> Iterator[str]:
    """Yield the columns whose values are nearly all those of one row."""
    coded = learnt_table(learnt)
    names = [one.field.name for one in coded.columns if len(one.values) > _NEARLY_ALL * coded.rows]
    if names:
        yield (
            f"Nearly every value of {join_names(names)} is that of one row, and values are "
            "released as they are: such a column may tell persons. Leave it out, or round its "
            "numbers."
        )


_NEARLY_ALL = 0.5


def _unsplit(settings: Synthesiser, rows: int) -> Iterator[str]:
    """Yield that leaves are so large that no tree splits the rows."""
    if isinstance(settings, SequentialTrees) and 2 * settings.leaf > rows:
        learnt = format_count(rows, "row")
        yield (
            f"Leaves of at least {settings.leaf:,} rows do not split the {learnt} that were learnt:"
            " every column is drawn by itself, and nothing of what goes together is kept."
        )
