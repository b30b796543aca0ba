from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.masking.evidence import (
    GroupEvidence,
    MaskingEvidence,
    evidence_of,
    judge,
    see_pairs,
)
from policy_engine.engines.masking.known import KnownColumns
from policy_engine.engines.masking.marks import add_marks, cell_words, column_mark
from policy_engine.engines.masking.parts import WholeTable
from policy_engine.engines.masking.perturbing import RowKeys, masking_key
from policy_engine.errors import DataError
from policy_engine.methods.masking import masking_class
from policy_engine.plan.steps import Mask

NOON = datetime(2020, 2, 28, 12)  # noqa: DTZ001 (as a file writes it)
SWAP = (masking_class("rank-swapping")(name="pay", p=0.4),)
KEY = bytes(range(16))
TABLE = pa.table({"pay": [10, 20, 30, 40, None]})


def known_group(group, table):
    [known] = KnownColumns.of(WholeTable(table, {}), Mask(columns=group), {}).groups
    return known


def seen(group, table, masked):
    known = known_group(group, table)
    marks = tuple(column_mark(table.column(one.name), None, KEY) for one in group)
    pairs = see_pairs(known, table, masked, {}, KEY)
    return known, GroupEvidence(group, known.facts, marks, pairs)


def judged(group, table, masked, written=None):
    known, evidence = seen(group, table, masked)
    written = masked if written is None else written
    marks = [column_mark(written.column("pay"), None, KEY)]
    [judgement] = judge(evidence, known.facts, marks)
    return judgement


def test_a_swap_within_its_range_keeps_its_masking():
    masked = pa.table({"pay": [20, 10, 40, 30, None]})
    judgement = judged(SWAP, TABLE, masked)
    assert judgement.broken == 0
    assert judgement.figures == {"unchanged": 0, "largestRankMove": 0.25}


def test_a_swap_beyond_its_range_breaks_it():
    assert judged(SWAP, TABLE, pa.table({"pay": [40, 20, 30, 10, None]})).broken == 4


def test_an_output_with_other_values_than_were_masked_breaks_it():
    masked = pa.table({"pay": [20, 10, 40, 30, None]})
    other = pa.table({"pay": [20, 10, 40, 31, None]})
    assert judged(SWAP, TABLE, masked, other).broken == 4
    assert judged(SWAP, TABLE, masked, masked.slice(1)).broken == 4


def test_the_output_alone_does_not_show_a_perturbation():
    with pytest.raises(DataError, match="V006"):
        evidence_of((SWAP,), None)
    assert evidence_of((), None) == ()
    _, evidence = seen(SWAP, TABLE, TABLE)
    assert evidence_of((SWAP,), MaskingEvidence((evidence,))) == (evidence,)


@pytest.mark.parametrize(
    ("typed", "text", "inferred"),
    [
        (pa.array([1, 23, None]), ["1", "23", None], pa.int64()),
        (pa.array([0.5, 1e-7]), ["0.5", "1e-07"], pa.float64()),
        (pa.array([Decimal("1.50")]), ["1.5"], pa.float64()),
        (pa.array([date(2020, 1, 2)]), ["2020-01-02"], pa.date32()),
        (pa.array([NOON]), ["2020-02-28 12:00:00"], pa.timestamp("ns")),
        (pa.array(["a", "b"]), ["b", "a"], pa.string()),
    ],
)
def test_a_mark_is_the_same_however_a_file_writes_the_values(typed, text, inferred):
    written = column_mark(pa.chunked_array([pa.array(text)]), inferred, KEY)
    assert column_mark(pa.chunked_array([typed]), None, KEY) == written != 0


def test_long_integers_have_marks_of_their_own():
    # As floats, all of these are one number.
    long = [10**18 + place for place in range(4)]
    columns = [
        pa.array(long, pa.int64()),
        pa.array(list(map(str, long))),
        pa.array(list(map(Decimal, long)), pa.decimal128(20, 0)),
    ]
    words = [cell_words(pa.chunked_array([one]), None, KEY).tolist() for one in columns]
    assert words[0] == words[1] == words[2]
    assert len({tuple(one) for one in words[0]}) == 4


def words_of(values, inferred=None):
    return [tuple(one) for one in cell_words(pa.chunked_array([values]), inferred, KEY).tolist()]


LONG = [Decimal(f"0.1000000000000000000{place}") for place in range(1, 5)]


def test_long_decimals_have_marks_of_their_own():
    columns = [
        pa.array(LONG, pa.decimal128(25, 22)),
        pa.array(list(map(str, LONG))),
        pa.array([f"{one}0e0" for one in LONG]),
    ]
    words = [words_of(one) for one in columns]
    assert words[0] == words[1] == words[2]
    assert len({*words[0]}) == 4


def test_nanoseconds_have_marks_of_their_own():
    stamps = pa.array([1_000_000_001, 1_000_000_002], pa.timestamp("ns"))
    texts = pa.array(["1970-01-01 00:00:01.000000001", "1970-01-01T00:00:01.000000002"])
    assert words_of(stamps) == words_of(texts, pa.timestamp("ns"))
    assert len({*words_of(stamps)}) == 2


@pytest.mark.parametrize("value", [0.1, 0.1 + 0.2, 1e23, 5e-324, 1.5e300, 2.0**60, 3.0])
def test_a_float_is_the_number_that_its_text_says(value):
    texts = [repr(value), format(Decimal(repr(value)), "f")]
    assert {*words_of(pa.array([value])), *words_of(pa.array(texts))} == {
        *words_of(pa.array([repr(value)]))
    }


def test_numbers_beyond_floats_have_marks_of_their_own():
    words = words_of(pa.array(["1e-999", "2e-999", "0", "9e999", "8e999", "-9e999", "1.0", "2"]))
    assert len({*words}) == 8
    assert words_of(pa.array(["0.0", "-0", "10e-1", "0.0200e2"])) == [*[words[2]] * 2, *words[6:]]


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=8) | st.decimals(
    "-2", "2", allow_nan=False, places=20
)


@given(NUMBERS, NUMBERS)
def test_numbers_have_one_mark_if_they_are_equal_and_others_if_not(one, other):
    one_word, other_word = words_of(pa.array([format(one, "f"), format(other, "f")]))
    assert (one_word == other_word) == (one == other)
    assert words_of(pa.array([one])) == [one_word]


@given(st.lists(st.integers(), max_size=10).map(lambda v: [x % 2**60 for x in v]), st.randoms())
def test_marks_of_parts_add_up_in_any_order(values, random):
    mixed = [*values]
    random.shuffle(mixed)
    one, other = (pa.chunked_array([pa.array(part, pa.int64())]) for part in (mixed[:3], mixed[3:]))
    whole = column_mark(pa.chunked_array([pa.array(values, pa.int64())]), None, KEY)
    assert add_marks((column_mark(one, None, KEY),), (column_mark(other, None, KEY),)) == (whole,)


def test_pairs_of_parts_add_up():
    group = (masking_class("random-rounding")(name="pay", base=10),)
    before, after = pa.table({"pay": [13, 27, 40]}), pa.table({"pay": [10, 30, 47]})
    known = known_group(group, before)
    parts = [see_pairs(known, before.slice(i, 1), after.slice(i, 1), {}, KEY) for i in range(3)]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    whole = see_pairs(known, before, after, {}, KEY)
    assert (merged.rows, merged.marks) == (whole.rows, whole.marks) == (3, whole.marks)
    assert merged.tally["broken"].tolist() == whole.tally["broken"].tolist() == [1]


def test_words_depend_on_the_content_of_a_row_and_on_no_order():
    table = pa.table({"a": [1, 2, 2, 3], "b": ["x", "y", "y", None]})
    key = masking_key(b"k" * 32)
    words = RowKeys.of(table, key).words(1, 2)
    turned = RowKeys.of(table.select(["b", "a"]).take([3, 0, 1, 2]), key).words(1, 2)
    assert np.array_equal(turned[[1, 0]], words[[0, 3]])
    assert sorted(turned[2:].tolist()) == sorted(words[1:3].tolist())
    assert not np.array_equal(words[1], words[2])
    assert not np.array_equal(RowKeys.of(table, key).words(2, 2), words)


def test_without_a_key_of_the_owner_each_release_has_its_own():
    assert masking_key(None) != masking_key(None)
    assert masking_key(b"k" * 32) == masking_key(b"k" * 32)
    assert len(masking_key(None)) == 16


def test_values_are_marked_under_a_key_that_each_run_draws():
    """Under a known key, other values with the same sum of marks can be found."""
    first, other = (KnownColumns.of(WholeTable(TABLE, {}), Mask(columns=SWAP), {}) for _ in "12")
    assert first.key != other.key
    assert first.evidence(WholeTable(TABLE, {}), is_masked=False).key == first.key
