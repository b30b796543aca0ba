"""Texts that have an order are compared by their ranks."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.attacks.transparency import (
    intersection_linkage,
    likelihood_linkage,
)
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.risks.attributes import MaskedNumbers
from policy_engine.audits.disclosure.risks.inference import inferences
from policy_engine.audits.disclosure.text_orders import in_declared_order, in_order_of_codes
from policy_engine.methods.maskings.rank_swapping import RankSwapping

NAMES = ["Abel", "Bohr", "Cook", "Dahl", "Eden", "Frei"]
NEIGHBOURS = [1, 0, 3, 2, 5, 4]
SWAPPED = [NAMES[one] for one in NEIGHBOURS]


def column_of(before, after):
    tables = pa.table({"x": before}), pa.table({"x": after})
    return known_columns(*tables, ["x"], None, {})[0]


def swapped_files():
    """Return two columns of which every value was swapped with a neighbour's in its order."""
    far = [3, 4, 5, 0, 1, 2]
    tables = [
        pa.table({"name": names, "code": [names[one] for one in far]}) for names in (NAMES, SWAPPED)
    ]
    columns = known_columns(*tables, ["name", "code"], None, {})
    masked = (replace(one, masking=RankSwapping(name=one.name, p=0.2)) for one in columns)
    ordered = tuple(in_declared_order(one, "lexicographic") for one in masked)
    return TwoFiles(ordered, np.arange(6), 6, is_published=True)


def test_texts_in_an_order_are_their_ranks_among_those_released():
    column = in_declared_order(column_of(["a", "b", "c", "d"], ["a", "d", "d"]), "lexicographic")
    assert column.known_numbers().tolist() == [0.5, 1, 1, 2]
    assert column.released_numbers()[0].tolist() == [0.5, 2, 2]


def test_the_most_frequent_texts_are_the_first():
    column = in_declared_order(column_of(["b", "a", "b"], ["b", "a", "b"]), "frequency")
    assert column.known_numbers().tolist() == [1, 2.5, 1]


def test_numbers_and_missing_texts_have_no_other_place():
    assert not in_declared_order(column_of([1, 2], [1, 2]), "lexicographic").is_ordinal
    column = in_declared_order(column_of(["b", None], [None, "b"]), "lexicographic")
    assert np.isnan(column.known_numbers()).tolist() == [False, True]


def test_swapped_texts_are_linked_by_ranks_although_no_cell_is_as_it_was():
    files = swapped_files()
    plain = [replace(one, is_number=False) for one in files.columns]
    assert distance_linkage(replace(files, columns=tuple(plain))).sum() == 0
    for attack in (distance_linkage, intersection_linkage, likelihood_linkage):
        assert attack(files).sum() >= 3


def test_what_is_guessed_of_a_text_is_the_text_itself():
    sensitive = in_declared_order(column_of(NAMES * 5, SWAPPED * 5), "lexicographic")
    files = TwoFiles((column_of(["x"] * 30, ["x"] * 30),), np.arange(30), 30)
    risk, *_ = inferences(files, sensitive)
    assert risk.value == pytest.approx(1 / 6, abs=1e-6)
    assert MaskedNumbers.of([sensitive], np.arange(30)).names == ()


@pytest.mark.parametrize(
    ("texts", "ranks"),
    [
        (["007", "010", "002"], [1, 2, 0]),
        (["S10", "S9", "S100"], [1, 0, 2]),
        (["B1-2", "A1-10", "A1-9"], [2, 1, 0]),
        (["10:05", "9:30", "10:20"], [1, 0, 2]),
    ],
)
def test_codes_of_one_form_are_in_the_order_of_their_numbers(texts, ranks):
    column = in_order_of_codes(column_of(pa.array(texts), pa.array(texts)))
    assert (column.known_numbers() - 0.5).tolist() == ranks


@pytest.mark.parametrize("texts", [["x", "y", "z"], ["a1", "b", "c2"], ["a1", "a2", "a1"]])
def test_other_texts_have_no_order_of_codes(texts):
    assert not in_order_of_codes(column_of(texts, texts)).is_number
