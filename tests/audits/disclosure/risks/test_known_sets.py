"""By which sets of columns values are guessed."""

import numpy as np
import pyarrow as pa

from policy_engine.audits.disclosure.files import known_columns
from policy_engine.audits.disclosure.risks.known_sets import inverted_sets, known_sets, most_telling


def columns(table):
    given = pa.table(table)
    return known_columns(given, given, given.column_names, None, {})


def names(sets):
    return ["".join(one.name for one in some) for some in sets]


def test_values_are_guessed_by_each_column_the_first_ones_all_and_pairs():
    sets = known_sets(columns({name: [1, 2] for name in "abcd"}), np.array([0, 1]))
    assert names(sets) == [*"abcd", "ab", "abc", "abcd", "ac", "ad", "bc", "bd", "cd"]


def eight(telling):
    """Return eight columns of all rows of 0 and 1, and whether `telling` ones have an odd sum."""
    kinds = np.arange(256)
    bits = {name: (kinds >> place) & 1 for place, name in enumerate("abcdefgh")}
    return columns(bits), sum(bits[name] for name in telling) % 2


def test_of_many_columns_the_pairs_are_tried_that_tell_most():
    sets = known_sets(*eight("cf"))
    assert "cf" in names(sets)
    assert "cg" not in names(sets)


def test_pairs_grow_by_what_tells_more():
    known, _ = eight("")
    # What is learned has four values: two columns tell half of it, four all.
    values = sum(known[place].before.astype(int) for place in (1, 3, 5, 6))
    assert "bdfg" in names(known_sets(known, values))


def test_the_sets_that_tell_most_come_first_and_those_that_tell_nothing_not():
    known, values = eight("cf")
    assert names(most_telling(known_sets(known, values), values, 2)) == ["cf"]


def test_a_masking_is_inverted_by_few_columns_even_if_they_tell_nothing_in_the_release():
    known, values = eight("cf")
    sets = names(inverted_sets(known_sets(known, values), values))
    assert sets[:9] == [*"abcdefgh", "cf"]
    assert max(map(len, sets)) <= 3


def test_columns_that_tell_whose_record_is_whose_come_first_whatever_their_order():
    draws = np.random.default_rng(2)
    before = {name: np.arange(64) for name in "abcdexyz"}
    after = before | {name: draws.permutation(64) for name in "abcde"}
    some = known_columns(pa.table(before), pa.table(after), list(before), None, {})
    values = draws.integers(0, 2, 64)
    assert "xyz" in names(known_sets(some, values, np.arange(64)))
    assert "xyz" not in names(known_sets(some, values, np.full(64, -1)))
    turned = known_sets(some[::-1], values, np.arange(64))
    assert {*map(frozenset, names(turned))} == {
        *map(frozenset, names(known_sets(some, values, np.arange(64))))
    }
