"""Values that an output has as they are in its input: the rows and the strata that they tell."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines import field_marks
from policy_engine.engines.arrays import unchunk
from policy_engine.engines.masking.common_forms import (
    StoredType,
    common_forms,
    identifying_words,
    representative_texts,
    values_of_cells,
    with_texts,
)
from policy_engine.engines.masking.marks import mark_key
from policy_engine.engines.masking.sampling import units_of
from policy_engine.engines.masking.stratum_words import stratum_words
from policy_engine.engines.strata import InputStrata, SampledOutput, SampledRows, Stratum
from policy_engine.kernels.row_matching import count_strange
from policy_engine.kernels.siphash import Words
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Sample


def strange_rows(table: pa.Table, output: pa.Table, names: Sequence[str], present: str = "") -> int:
    """Return how many rows of an output have values that no row of its input has, or more often.

    Of the `present` column, which has cells, only rows with a value count.
    """
    if present:
        output = output.filter(pc.is_valid(output.column(present)))
        output = values_of_cells(output, present)
        numbers = field_marks.is_untyped(table.schema.field(present))
        representatives = representative_texts(present, table.column(present), numbers=numbers)
        table = with_texts(table, present, representatives)
    both = (stored_types(one.schema) for one in (table, output))
    forms, key = common_forms([*names, *filter(None, [present])], *both), mark_key()
    if not forms:
        return 0
    return count_strange(*(identifying_words(one, forms, key) for one in (table, output)))


def stored_types(schema: pa.Schema) -> dict[str, StoredType]:
    """Return the types of the columns of a table in this process."""
    return {
        one.name: StoredType(one.type, field_marks.is_untyped(one), field_marks.is_inferred(one))
        for one in schema
    }


def compare_sampled(output: pa.Table, plan: Plan, table: pa.Table | None) -> SampledOutput:
    """Return an output as a sample, of an input if there is one."""
    step, key = plan.sampling(), mark_key()
    names = [name for name in plan.shown_strata if name in output.column_names]
    strata = None if table is None else input_strata(table, step, key)
    are_shown = {*names} == {*step.stratified_by}
    rows = sampled_rows(output, step, names, key)
    return SampledOutput(step, rows, plan.most_suppressed, strata, are_shown)


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
    strata, counts = np.unique(words, axis=0, return_counts=True)
    units = dict(zip(_strata(strata), counts.tolist(), strict=True))
    return InputStrata(table.num_rows, units)


def _words(table: pa.Table, names: Sequence[str], key: bytes) -> Words:
    """Return 128 bits for every row, (rows, 2), equal for equal strata."""
    if not names:
        return np.zeros((table.num_rows, 2), dtype=np.uint64)
    return stratum_words([table.column(name) for name in sorted(names)], key)


def _strata(words: Words) -> list[Stratum]:
    return [(high, low) for high, low in words.tolist()]
