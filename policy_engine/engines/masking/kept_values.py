"""Values that an output has as they are in its input: the rows and the strata that they tell."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines import field_marks
from policy_engine.engines.arrays import is_text, unchunk, value_type
from policy_engine.engines.masking.common_forms import (
    StoredType,
    common_forms,
    identifying_words,
)
from policy_engine.engines.masking.marks import mark_key
from policy_engine.engines.masking.sampling import units_of
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.strata import InputStrata, SampledOutput, SampledRows, Stratum
from policy_engine.kernels.row_matching import count_strange
from policy_engine.kernels.siphash import Words
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Sample


def are_comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """Tell whether equal values of two types are equal however a file of one format has them."""
    return is_text(value_type(one)) == is_text(value_type(other))


def shared_names(table: pa.Schema, output: pa.Schema, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of some columns whose values can be compared in an input and an output: both
    are texts of CSV files, or neither is."""
    both = {*table.names} & {*output.names}
    pairs = ((name, table.field(name), output.field(name)) for name in names if name in both)
    return tuple(
        name
        for name, one, other in pairs
        if field_marks.is_untyped(one) == field_marks.is_untyped(other)
        and are_comparable(one.type, other.type)
    )


def distinct_texts(output: pa.Table, names: Sequence[str]) -> tuple[str, ...]:
    """Return some columns if their values are those of an unknown input: texts, all of them there.

    Numbers may be those of several texts, and missing values those of empty ones.
    """
    columns = [output.column(name) for name in names if name in output.column_names]
    are_texts = all(is_text(value_type(one.type)) and not one.null_count for one in columns)
    return tuple(names) if are_texts and len(columns) == len(names) else ()


def strange_rows(table: pa.Table, output: pa.Table, names: Sequence[str], present: str = "") -> int:
    """Return how many rows of an output have values that no row of its input has, or more often.

    Of the `present` column only rows with a value count.
    """
    if present:
        output = output.filter(pc.is_valid(output.column(present)))
    both = (stored_types(one.schema) for one in (table, output))
    forms, key = common_forms([*names, *filter(None, [present])], *both), mark_key()
    if not forms:
        return 0
    return count_strange(*(identifying_words(one, forms, key) for one in (table, output)))


def stored_types(schema: pa.Schema) -> dict[str, StoredType]:
    """Return the types of the columns of a table in this process."""
    return {one.name: StoredType(one.type, field_marks.is_untyped(one)) for one in schema}


def compare_sampled(output: pa.Table, plan: Plan, table: pa.Table | None) -> SampledOutput:
    """Return an output as a sample, of an input if there is one."""
    step, key, names, strata = plan.sampling(), mark_key(), plan.shown_strata, None
    if table is None:
        names = distinct_texts(output, names)
    else:
        names = shared_names(table.schema, output.schema, names)
        strata = input_strata(table, step, key)
    are_shown = {*names} == {*step.stratified_by}
    found = sampled_rows(output, step, names, key)
    return SampledOutput(step, found, plan.most_suppressed, strata, are_shown)


def sampled_rows(output: pa.Table, step: Sample, names: Sequence[str], key: bytes) -> SampledRows:
    """Return the rows of an output by stratum, as some columns tell it, and weight."""
    weights: list[float | None] = [None] * output.num_rows
    if step.weight_column:
        column = unchunk(output.column(step.weight_column))
        try:
            weights = column.cast(pa.float64()).to_pylist()
        except pa.ArrowInvalid:
            weights = [None] * output.num_rows
    return Counter(zip(_strata(_words(output, names, key)), weights, strict=True))


def input_strata(table: pa.Table, step: Sample, key: bytes) -> InputStrata:
    """Return how many rows, or persons, of each stratum an input has."""
    words = _words(table, step.stratified_by, key)
    if step.unit:
        words = words[units_of(table, step, key)]
    found, counts = np.unique(words, axis=0, return_counts=True)
    units = dict(zip(_strata(found), counts.tolist(), strict=True))
    return InputStrata(table.num_rows, units)


def _words(table: pa.Table, names: Sequence[str], key: bytes) -> Words:
    """Return 128 bits for every row, (rows, 2), equal for equal strata: texts count as they are."""
    if not names:
        return np.zeros((table.num_rows, 2), dtype=np.uint64)
    return row_keys([table.column(name) for name in sorted(names)], key)


def _strata(words: Words) -> list[Stratum]:
    return [(high, low) for high, low in words.tolist()]
