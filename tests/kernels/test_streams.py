from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.siphash import BLOCK, key_words
from policy_engine.kernels.streams import count_repeats, draw, hash_lists, hash_texts, mix_rows

KEY = key_words(b"a key of 16 byte")
OTHER_KEY = key_words(b"b key of 16 byte")


def words(*numbers):
    return np.array(numbers, np.uint64)


def keys_of(rows):
    return mix_rows([words(*column) for column in zip(*rows, strict=True)], KEY)


def texts(*strings, key=KEY):
    data = np.frombuffer("".join(strings).encode(), np.uint8)
    offsets = np.cumsum([0, *(len(string.encode()) for string in strings)])
    return hash_texts(offsets, data, key).tolist()


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=30)


def test_texts_have_one_hash_wherever_they_stand():
    first, second, third = texts("Zürich", "", "Zürich")
    assert first == third
    assert first != second
    assert texts("Zürich") == [first]
    assert texts("Zürich", key=OTHER_KEY) != [first]


@given(ROWS)
def test_rows_have_one_key_if_they_are_equal_and_only_then(rows):
    keys = [tuple(key) for key in keys_of(rows).tolist()]
    assert len(set(zip(rows, keys, strict=True))) == len(set(rows)) == len(set(keys))


def test_the_order_of_the_columns_counts():
    one, other = words(1), words(2)
    assert mix_rows([one, other], KEY).tolist() != mix_rows([other, one], KEY).tolist()


def test_columns_of_two_words_are_as_two_columns():
    pairs = words((1, 2), (3, 4))
    assert (mix_rows([pairs], KEY) == mix_rows([pairs[:, 0], pairs[:, 1]], KEY)).all()


@given(ROWS)
def test_repeats_number_the_rows_of_every_key(rows):
    repeats = count_repeats(keys_of(rows)).tolist()
    expected = [(row, turn) for row, times in Counter(rows).items() for turn in range(times)]
    assert sorted(zip(rows, repeats, strict=True)) == sorted(expected)


def test_keys_that_share_bits_are_told_apart():
    top, low = 2**63, 1
    keys = words((low, top), (low, top + 1), (low + 2**40, top), (low, top), (low, top + 1))
    assert count_repeats(keys).tolist() == [0, 0, 0, 1, 1]


def test_no_row_has_no_repeats_and_no_words():
    keys = np.zeros((0, 2), np.uint64)
    assert count_repeats(keys).tolist() == []
    assert draw(keys, count_repeats(keys), KEY, 0, 3).shape == (0, 3)


@given(ROWS, st.randoms(use_true_random=False))
def test_words_move_with_their_rows(rows, random):
    moved = list(rows)
    random.shuffle(moved)
    drawn = [drawn_words(some) for some in (rows, moved)]
    assert sorted(drawn[0]) == sorted(drawn[1])


def drawn_words(rows):
    keys = keys_of(rows)
    found = draw(keys, count_repeats(keys), KEY, 7, 2).tolist()
    return list(zip(rows, found, strict=True))


def test_words_differ_by_row_repeat_label_place_and_key():
    keys, repeats = keys_of([(1, 1), (1, 1), (2, 1)]), np.array([0, 1, 0])
    drawn = [draw(keys, repeats, key, label, 2) for key in (KEY, OTHER_KEY) for label in (1, 2)]
    assert len(set(np.concatenate(drawn).ravel().tolist())) == 3 * 2 * 4


def test_a_longer_draw_begins_with_a_shorter_one():
    keys, repeats = keys_of([(1, 1), (2, 1)]), np.array([0, 0])
    assert (draw(keys, repeats, KEY, 1, 3)[:, :2] == draw(keys, repeats, KEY, 1, 2)).all()


def test_words_are_the_same_in_any_process():
    # What was masked under a key must come out again under it, here and on a cluster.
    keys = mix_rows([words(5)], KEY)
    assert texts("x") == [[4956552593541368945, 15131829273249571759]]
    assert keys.tolist() == [[13002970811842390264, 4170784250398074158]]
    assert draw(keys, np.array([3]), KEY, 9, 1).tolist() == [[13980136668403966185]]


def test_the_bits_of_words_are_even():
    # Of 100,000 fair bits, the share of ones is further than this from a half once in 15,000 times.
    count = 100_000
    keys = mix_rows([np.arange(count, dtype=np.uint64)], KEY)
    drawn = draw(keys, np.zeros(count, np.int64), KEY, 0, 1)
    bits = np.unpackbits(drawn.view(np.uint8)).reshape(count, 64)
    assert bits.mean(axis=0) == pytest.approx(0.5, abs=4 / (2 * count**0.5))
    assert len(np.unique(drawn)) == count > BLOCK


def test_lists_have_one_hash_wherever_they_stand():
    elements = words((1, 2), (3, 4), (1, 2), (3, 4), (1, 2))
    first, empty, second, third = hash_lists(np.array([0, 2, 2, 4, 5]), elements, KEY).tolist()
    assert first == second
    assert len({tuple(one) for one in (first, empty, third)}) == 3
    data = elements.astype("<u8").view(np.uint8).ravel()
    assert hash_texts(np.array([0, 32]), data, KEY).tolist() != [first]
