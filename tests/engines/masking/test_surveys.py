import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.masking.categories import codes_of, to_labels
from policy_engine.engines.masking.judging import survey_as_written
from policy_engine.engines.masking.surveys import (
    SharedValues,
    Survey,
    class_sizes,
    facts_of,
    facts_of_output,
    find_moments,
    labels_as,
    survey,
)
from policy_engine.errors import DataError
from policy_engine.methods.masking import masking_class

NOISE = (masking_class("noise")(name="pay", sdShare=0.1),)
PRAM = (masking_class("pram")(name="job", keep=0.5),)
SWAP = (masking_class("rank-swapping")(name="pay", p=0.1),)


@given(st.lists(st.none() | st.integers(-1000, 1000), min_size=2), st.data())
def test_the_parts_of_a_table_tell_what_the_whole_does(values, data):
    place = data.draw(st.integers(0, len(values)))
    table = pa.table({"pay": pa.array(values, pa.int64())})
    parts = [table.slice(0, place), table.slice(place)]
    whole = survey(table, NOISE, {})
    seen = survey(parts[0], NOISE, {}).merge(survey(parts[1], NOISE, {}))
    assert seen.rows == whole.rows
    assert np.array_equal(seen.exponents, whole.exponents)
    one, other = (find_moments(part, NOISE, seen) for part in parts)
    assert one + other == find_moments(table, NOISE, whole)


def test_categories_are_counted_in_parts_and_are_in_one_order():
    parts = [pa.table({"job": ["b", "a", None]}), pa.table({"job": ["c", "a"]})]
    seen = survey(parts[0], PRAM, {}).merge(survey(parts[1], PRAM, {}))
    facts = facts_of(PRAM, seen, None)
    assert (facts.rows, facts.labels.to_pylist()) == (4, ["a", "b", "c"])
    assert facts.counts.tolist() == [2, 1, 1]
    codes = codes_of(pa.chunked_array([["b", None, "c"]]), facts.labels)
    assert codes.tolist() == [1, -1, 2]
    assert to_labels(codes, facts.labels).to_pylist() == ["b", None, "c"]


def test_categories_of_an_output_that_the_input_lacks_are_counted_last():
    before = facts_of(PRAM, survey(pa.table({"job": ["a", "b"]}), PRAM, {}), None)
    after = facts_of_output(survey(pa.table({"job": ["b", "x", "y"]}), PRAM, {}), None, before)
    assert (after.rows, after.counts.tolist()) == (3, [0, 1, 2])


@pytest.mark.parametrize("values", [[3, 3, 3], [None, 7, None]])
def test_numbers_that_are_all_the_same_are_refused(values):
    table = pa.table({"pay": values})
    seen = survey(table, NOISE, {})
    with pytest.raises(DataError, match="R013 The values of the column 'pay' are all the same"):
        facts_of(NOISE, seen, find_moments(table, NOISE, seen))


def test_of_ranks_only_the_rows_are_counted():
    assert survey(pa.table({"pay": ["a", None, "b"]}), SWAP, {}) == Survey(2, {}, None)


def aggregated(names, size):
    kind = masking_class("microaggregation")
    return tuple(kind(name=name, groupSize=size, together="x") for name in names)


def test_rows_whose_values_too_few_share_are_counted_without_those_that_have_none():
    table = pa.table({"pay": [1, 1, 1, 2, None], "cap": [5, 5, 6, 6, None]})
    assert class_sizes(table, aggregated(["pay", "cap"], 2)) == SharedValues(1, 2, rare=2)
    assert class_sizes(table, aggregated(["pay"], 3)) == SharedValues(1, 3, rare=1)
    assert class_sizes(table.slice(4), aggregated(["pay"], 3)).figures == {}


def test_fewer_rows_than_a_group_has_are_refused():
    table, group = pa.table({"pay": [1, 2, 3, None]}), aggregated(["pay"], 4)
    seen = survey(table, group, {})
    with pytest.raises(DataError, match="R013 Only 3 rows have a value of 'pay'"):
        facts_of(group, seen, find_moments(table, group, seen))


def test_a_part_without_any_value_does_not_decide_the_type():
    table = pa.table({"pay": pa.array([None, None, 1.5, 2.5])})
    parts = [survey(table.slice(place, 2), NOISE, {}) for place in (0, 2)]
    assert parts[0].merge(parts[1]).forms["pay"].kind == "float"


@pytest.mark.parametrize(
    ("texts", "others"),
    [
        (["33.3", "-48.1", "0", "9.30"], 0),
        (["33.299999999999997", "-48.1", "93.400000000000006", None], 2),
        (["3.33e1", "1.00000000000000001e-1"], 1),
    ],
)
def test_a_text_whose_float_is_that_of_a_multiple_is_not_one_itself(texts, others):
    group = (masking_class("random-rounding")(name="pay", base=0.1),)
    seen = survey_as_written(pa.table({"pay": texts}), group, {"pay": pa.float64()})
    assert seen.summary["others"].tolist() == [others]


@pytest.mark.parametrize("kind", [pa.null(), pa.list_(pa.int64()), pa.int64()], ids=str)
def test_texts_are_missing_where_a_type_has_no_such_value(kind):
    assert labels_as(pa.array(["a", "b"]), kind).equals(pa.nulls(2, kind))
    assert labels_as(pa.array([], pa.string()), kind).equals(pa.nulls(0, kind))
