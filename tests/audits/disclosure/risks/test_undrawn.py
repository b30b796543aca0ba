"""Columns drawn by a matrix, with the likeliest values before drawing."""

import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.files import known_columns
from policy_engine.audits.disclosure.risks.undrawn import undrawn
from policy_engine.audits.utility.categories import Transitions


def column(before, after):
    return known_columns(pa.table({"ill": before}), pa.table({"ill": after}), ["ill"], None, {})[0]


NOES = (["no", "no", "no", "yes"], ["no", "no", "no", "yes"])


@pytest.mark.parametrize(
    ("matrix", "values", "made"),
    [
        # A value mostly becomes the other one.
        (((0.1, 0.9), (0.9, 0.1)), NOES, [["yes", "yes", "yes", "no"]]),
        # Values mostly stay.
        (((0.9, 0.1), (0.1, 0.9)), NOES, []),
        # Nearly all were a no before, and those that show a yes most probably so, too.
        (((0.7, 0.3), (0.3, 0.7)), NOES, [["no", "no", "no", "no"]]),
    ],
)
def test_each_category_becomes_the_one_that_it_most_probably_was(matrix, values, made):
    variants = list(undrawn(ill := column(*values), Transitions(("no", "yes"), matrix)))
    assert [[str(ill.labels[code]) for code in one.released_codes()] for one in variants] == made


def test_nothing_is_known_of_a_column_that_was_not_drawn():
    assert list(undrawn(column(["a", "b"], ["b", "a"]), None)) == []
