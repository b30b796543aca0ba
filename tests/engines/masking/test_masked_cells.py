"""Columns as maskings publish them, and what of them is found when they are read back."""

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.masking.cells import count_by_spelling, count_unmasked, mask_column
from policy_engine.errors import DataError
from policy_engine.methods.masking import masking_class

TENS = masking_class("rounding")(name="pay", base=10)
TENTHS = masking_class("rounding")(name="pay", base=0.1)
TOP = masking_class("top-coding")(name="pay", threshold=7.5)
BOTTOM = masking_class("bottom-coding")(name="pay", threshold=-5)


@pytest.mark.parametrize(
    ("masking", "given", "made"),
    [
        (TENS, pa.array([25, None, -25, 4], pa.int16()), [30, None, -30, 0]),
        (TENS, pa.array([-0.0, 24.9, 1e308]), [0.0, 20.0, 1e308]),
        (TENTHS, pa.array([0.15, 0.25, 0.3]), [0.2, 0.3, 0.3]),  # 0.15 is below a tie as a float
        (TENTHS, pa.array([0.15], pa.float32()), [pytest.approx(0.2)]),
        (TENTHS, pa.array([Decimal("0.15")], pa.decimal128(5, 2)), [Decimal("0.20")]),
        (TOP, pa.array([7.49, 7.5, 7.51, None]), [7.49, 7.5, 7.5, None]),
        (BOTTOM, pa.array([-6, -5, 3], pa.int8()), [-5, -5, 3]),
        (BOTTOM, pa.array([0, 9], pa.uint8()), [0, 9]),
        (TENS, pa.array([None, None], pa.string()), [None, None]),
    ],
)
def test_numbers_are_masked_exactly_and_keep_their_type(masking, given, made):
    found = mask_column(pa.chunked_array([given]), masking)
    assert found.type == given.type
    assert found.to_pylist() == made
    assert count_unmasked(found, masking) == 0


@pytest.mark.parametrize(
    ("kind", "values", "asked"),
    [
        (pa.float32(), [300000000, 1], {"masking": "rounding", "base": 7}),
        (pa.float32(), [1e9, 1], {"masking": "top-coding", "threshold": 123456789}),
        (pa.float16(), [65504, 1], {"masking": "rounding", "base": 1000}),
        (pa.float16(), [65504, 1], {"masking": "bottom-coding", "threshold": 100000}),
        (pa.float64(), [1e17, 1], {"masking": "rounding", "base": 0.3}),
    ],
)
def test_numbers_that_no_float_of_the_type_is_are_refused(kind, values, asked):
    masking = masking_class(asked["masking"])(name="pay", **asked)
    with pytest.raises(
        DataError, match=r"R013 .*'pay' makes numbers that the type .* cannot hold.*Change"
    ):
        mask_column(pa.array(values, pa.float64()).cast(kind), masking)


def test_a_float_counts_as_what_it_is_where_its_shortest_text_says_less():
    quarters = masking_class("rounding")(name="pay", base=0.25)
    given = pa.array([2345678.25, 1.1], pa.float32())  # its shortest text is 2345678.2
    found = mask_column(given, quarters)
    assert found.to_pylist() == [2345678.25, 1.0]
    assert count_unmasked(found, quarters) == 0
    assert count_unmasked(pa.array([2345678.5, 1.125], pa.float32()), quarters) == 1


STRANGE = [
    pa.array([[1], [2]]),
    pa.array([{"a": 1}, None]),
    pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int8())),
    pa.array([Decimal("1.5"), None], pa.decimal32(4, 1)),
    pa.array([Decimal("1.5"), None], pa.decimal64(12, 1)),
    pa.RunEndEncodedArray.from_arrays([1, 2], [1, 3]),
]


@pytest.mark.parametrize("given", STRANGE, ids=lambda given: type(given).__name__)
def test_values_that_are_no_plain_numbers_are_refused_and_are_none_that_keep_a_masking(given):
    with pytest.raises(DataError, match=r"R013 The column 'pay' holds values of the type"):
        mask_column(given, TENS)
    assert count_unmasked(given, TENS) == len(given) - given.null_count


@pytest.mark.parametrize("kind", [pa.null(), pa.list_(pa.int8()), pa.float32(), pa.date32()])
def test_a_column_without_values_stays_one(kind):
    found = mask_column(pa.chunked_array([pa.nulls(3, kind)]), TENS)
    assert (found.type, found.to_pylist(), count_unmasked(found, TENS)) == (kind, [None] * 3, 0)


def test_a_float_of_zero_has_no_sign():
    assert str(mask_column(pa.array([-0.4, -0.0]), TENS).to_pylist()) == "[0.0, 0.0]"


def test_numbers_in_texts_are_all_written_in_one_way():
    texts = pa.array(["7.500", "9", "1e1", " -3 ", "007.25", None])
    found = mask_column(texts.dictionary_encode(), TOP, pa.float64())
    assert found.to_pylist() == ["7.5", "7.5", "7.5", "-3", "7.25", None]


def test_texts_of_integers_are_integers_afterwards():
    found = mask_column(pa.array(["25", "1000000000000000000"]), TENS, pa.int64())
    assert found.to_pylist() == ["30", "1000000000000000000"]


@pytest.mark.parametrize(
    ("masking", "given", "message"),
    [
        (TENS, pa.array(["1286,68"]), "holds texts. rounding needs numbers. .*: write 1286.68"),
        (TENS, pa.array([date(2026, 1, 1)]), r"holds values of the type date32\[day\]"),
        (TENS, pa.array([True]), "holds values of the type bool"),
        (TENS, pa.array([1.0, float("inf")]), "values that are not finite numbers"),
        (TENTHS, pa.array([1, 2]), "holds integers, and its base is 0.1"),
        (TOP, pa.array([1, 2]), "holds integers, and its threshold is 7.5"),
        (TENS, pa.array([2**63 - 1]), "makes numbers that the type int64"),
        (TENS, pa.array([127], pa.int8()), "makes numbers that the type int8"),
        (TENS, pa.array([Decimal("9.5")], pa.decimal128(2, 1)), "type decimal128.* cannot hold"),
        (
            masking_class("top-coding")(name="pay", threshold=0.125),
            pa.array([Decimal("9.50")], pa.decimal128(5, 2)),
            "type decimal128.* cannot hold",
        ),
    ],
)
def test_what_a_masking_cannot_be_of_is_refused(masking, given, message):
    with pytest.raises(DataError, match=rf"R013 .*{message}"):
        mask_column(given, masking)


@pytest.mark.parametrize("kind", [pa.string(), pa.date32(), pa.time64("ns")])
def test_texts_of_a_file_are_refused_where_not_all_are_numbers(kind):
    with pytest.raises(DataError, match="R013"):
        mask_column(pa.array(["1"]), TENS, kind)
    for strange in ("nan", "inf", "1e999999", "1e-999999", f"0.{'1' * 400}"):
        with pytest.raises(DataError, match=r"R013 .*not finite numbers, or have 400 digits"):
            mask_column(pa.array(["1", strange]), TENS, pa.float64())
        assert count_unmasked(pa.array([strange]), TENS) == 1


@pytest.mark.parametrize("masking", [TENS, TENTHS, TOP, BOTTOM])
def test_the_longest_numbers_are_masked_exactly(masking):
    texts = pa.array(["1.7976931348623157e308", "-1e308", "5e-324", f"{'9' * 390}.5"])
    assert count_unmasked(mask_column(texts, masking, pa.float64()), masking) == 0


def test_cells_that_do_not_keep_a_masking_are_counted():
    column = pa.chunked_array([["30", "40", "31", "31", None, "", "[30 - 40]", "inf"]])
    assert count_unmasked(column, TENS) == 5
    assert count_unmasked(pa.array([7.5, 7.6, None]), TOP) == 1
    assert count_unmasked(pa.array([date(2026, 1, 1)]), TOP) == 1


SPELLINGS = [
    "3_0",
    " 30 ",
    "\u0663\u0660",
    "30.00",
    "3e1",
    "+30",
    "30 ",
    "\xa030",
    "030",
    "3E+1",
    "30.",
]


@pytest.mark.parametrize("spelling", [*SPELLINGS, "-0"])
def test_a_number_that_is_not_written_as_the_others_is_counted(spelling):
    assert count_unmasked(pa.array([spelling, "10", "20"]), TENS) == 1
    assert count_unmasked(pa.array([spelling, "10"]).dictionary_encode(), TENS) == 1


@pytest.mark.parametrize(
    "spelling", ["0_7.5", "\u0667.\u0665", "+7.5", "\xa07.5", "7.5 ", "7.500", "75e-1"]
)
def test_a_decimal_that_is_not_written_as_the_others_is_counted(spelling):
    assert count_unmasked(pa.array([spelling, "7.5"]), TOP) == 1


def test_floats_in_texts_are_written_as_floats_are_or_as_numbers_in_texts_are_and_not_as_both():
    floats = mask_column(pa.array([1e20, 2e-7, 25]), BOTTOM).cast(pa.string())
    assert floats.to_pylist()[0] == "1e+20"
    texts = pa.chunked_array([["100000000000000000000", "0.0000002", "25"]])
    assert (count_unmasked(floats, BOTTOM), count_unmasked(texts, BOTTOM)) == (0, 0)
    assert count_by_spelling(floats, BOTTOM) == (2, 0)
    assert count_unmasked(pa.chunked_array([*floats.chunks, *texts.chunks]), BOTTOM) == 2


@pytest.mark.parametrize("long", ["1e399", "9" * 399, f"-{'9' * 399}"])
def test_a_number_that_is_too_long_once_it_is_masked_is_refused(long):
    with pytest.raises(
        DataError, match=r"R013 .*'pay' holds a value whose rounding has 400 digits"
    ):
        mask_column(pa.array(["1", long]), TENS, pa.float64())


@given(
    st.sampled_from([TENS, TENTHS, TOP, BOTTOM]),
    st.lists(st.floats(-1e12, 1e12) | st.none(), min_size=1, max_size=5),
)
def test_what_is_masked_keeps_its_masking_and_is_masked_once(masking, values):
    once = mask_column(pa.array(values, pa.float64()), masking)
    assert count_unmasked(once, masking) == 0
    assert once.null_count == values.count(None)
    assert mask_column(once, masking).to_pylist() == once.to_pylist()
