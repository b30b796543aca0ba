import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from policy_engine.engines.persons import (
    alike_persons,
    person_marks,
    person_numbers,
    person_texts,
    respelt_texts,
)
from policy_engine.errors import DataError

STAMP = pa.timestamp("us")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", " 1", "1 "], pa.int64()),
        (["1.5", "1.50", "15e-1"], pa.float64()),
        (["0.10000000000000000", ".1"], pa.float64()),
        (["1e00000000000000000000", "1", "10e-1"], pa.float64()),
        (["1e99999999999999999999", "1E99999999999999999999"], pa.float64()),
        (["1e-999999999", "10e-1000000000"], pa.float64()),
        (["2020-01-01 00:00:00", "2020-01-01T00:00"], STAMP),
        (["10:00", "10:00:00"], pa.time64("ns")),
        (["Ann", "Ann"], pa.string()),
        ([1.5, 1.5], None),
        ([Decimal("1.50"), Decimal("1.5")], None),
        ([dt.date(2020, 1, 1)] * 2, None),
        ([True, True], None),
    ],
)
def test_a_person_has_one_text_however_he_is_written(values, kind):
    texts = person_texts(pa.array(values), kind).to_pylist()
    assert None not in texts
    assert len(set(texts)) == 1


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "10"], pa.int64()),
        (["1.5", "1.51"], pa.float64()),
        (["0.1", "0.10000000000000001"], pa.float64()),
        (["1e99999999999999999999", "1e99999999999999999998"], pa.float64()),
        ([f"{'1' * 5000}", f"{'1' * 4999}2"], pa.float64()),
        (["Ann", "ann"], pa.string()),
        ([1, 2], None),
        ([0.1, 0.2], None),
        ([True, False], None),
    ],
)
def test_two_persons_have_two_texts(values, kind):
    assert len(set(person_texts(pa.array(values), kind).to_pylist())) == 2


@pytest.mark.parametrize(
    ("values", "kind"),
    [(["", None], pa.string()), (["nan", "NaN"], pa.float64()), ([float("nan"), None], None)],
)
def test_rows_that_name_nobody_have_no_text(values, kind):
    assert person_texts(pa.array(values), kind).to_pylist() == [None, None]


def test_persons_of_a_dictionary_are_those_of_its_rows():
    column = pa.array(["b", "a", None, "b"]).dictionary_encode()
    assert person_texts(column).to_pylist() == ["b", "a", None, "b"]


def test_arrays_name_no_person():
    with pytest.raises(DataError, match="C009 The unit of privacy"):
        person_texts(pa.array([[1, 2], [1, 2]]))


def test_persons_of_several_tables_are_numbered_together():
    texts = pa.chunked_array([["5.0", " ", "Ann"], [None, "9007199254740993", "Ann "]])
    figures = pa.chunked_array([[5, 9007199254740992, None]])
    others = pa.chunked_array([[5.0, float("nan")]])
    first, second, third = (one.tolist() for one in person_numbers([texts, figures, others], "who"))
    assert first == [0, -1, 1, -1, 2, 1]
    assert second == [0, 3, -1]
    assert third == [0, -1]


def test_marks_of_persons_are_the_same_in_whatever_tables():
    texts, figures = pa.chunked_array([["5.0", " ", "Ann"]]), pa.chunked_array([[5, None]])
    [one], [other] = person_marks([texts], "who"), person_marks([figures], "p")
    assert one[0] == other[0] != one[2]
    assert one[1] == other[1] == -1


def test_numbers_of_any_exponent_and_length_name_persons():
    columns = [["1e99999999999999999999", "1e-999999999", "7"], ["1" * 5000, "7.0"]]
    marks = person_marks([pa.chunked_array([one]) for one in columns], "who")
    numbers = person_numbers([pa.chunked_array([one]) for one in columns], "who")
    assert numbers[0].tolist() == [0, 1, 2]
    assert numbers[1].tolist() == [3, 2]
    assert marks[0][2] == marks[1][1]
    assert len({*marks[0].tolist(), *marks[1].tolist()}) == 4


@pytest.mark.parametrize(
    ("texts", "alike"),
    [
        (["Ann", "ann", "Bob"], 2),
        (["Ann", "Ann\u200b", "\ufeffAnn"], 3),
        (["A  1", "a 1", "A1"], 2),
        (["\u00e9", "e\u0301"], 0),  # one person, composed in two ways
        (["Ann", " Ann", "Ann"], 0),  # one person
        (["\u200b", "Ann", "", None], 0),
        (["7", "7.0", "07", "8"], 0),
    ],
)
def test_persons_who_look_alike_are_counted(texts, alike):
    halves = [pa.chunked_array([texts[:1]]), pa.chunked_array([texts[1:]])]
    assert alike_persons(halves, "who") == alike


def test_persons_are_known_again_however_a_text_is_padded_or_composed():
    texts = ["996", "996 ", " 996", "e\u0301", "\u00e9", "Ann", "ann", "\u3000", "", None, "a  b"]
    assert person_texts(pa.array(texts)).to_pylist() == [
        *["996"] * 3,
        *["\u00e9"] * 2,
        *["Ann", "ann"],
        *[None] * 3,
        "a  b",
    ]
    # Numbers in texts, and numbers, are known by their value as before.
    assert person_texts(pa.array(["996 ", "996"]), pa.int64()).to_pylist() == ["996", "996"]
    assert person_texts(pa.array([996, None])).to_pylist() == ["996", None]


def test_what_all_ways_to_write_a_person_have_in_common():
    texts = ["P-01", "p 01", "P01\u200b", "p01", "996", "0996", "996.0", "1.5", "--", None]
    persons, plain = (one.to_pylist() for one in respelt_texts(pa.array(texts)))
    assert dict(zip(persons, plain, strict=True)) == {
        **dict.fromkeys(texts[:3], "p01"),
        **dict.fromkeys(texts[5:7], "996"),
        "1.5": "15e-1",
    }
