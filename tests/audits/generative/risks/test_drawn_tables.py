"""Tables of members, of as many others, and of synthetic rows."""

from dataclasses import replace

import numpy as np
import pytest
from risk_tables import material, records

from policy_engine.audits.generative.risks.tables import draw_tables

MEMBERS, HOLDOUT = [[1, 0], [2, 1], [3, 0]], [[4, 1], [5, 0]]
SYNTHETIC = [[1, 0], [11, 2], [np.nan, 1], [6, 1]]


def drawn(table, most=None, seed=0):
    return draw_tables(table, np.random.default_rng(seed), most)


def test_members_and_others_are_equally_many():
    tables = drawn(material(MEMBERS, HOLDOUT, SYNTHETIC, "a"))
    assert len(tables.members) == len(tables.holdout) == 2
    assert {tuple(row) for row in tables.members} < {tuple(row) for row in MEMBERS}
    assert len(drawn(material(MEMBERS, HOLDOUT, SYNTHETIC, "a"), most=1).members) == 1


def test_widths_are_of_public_numbers_alone():
    table = material(MEMBERS, HOLDOUT, SYNTHETIC, "a")
    assert drawn(table).widths.tolist() == [10, 0]
    known_to_all = replace(table, reference=records("reference", [[0, 1], [50, 1]]))
    assert drawn(known_to_all).widths.tolist() == [50, 0]
    everything_missing = material(MEMBERS, HOLDOUT, [[np.nan, 0]], "a")
    assert drawn(everything_missing).widths.tolist() == [0, 0]


def test_labels_are_a_column_if_all_have_them():
    table = material(MEMBERS, HOLDOUT, SYNTHETIC, "a", classes=("no", "yes"))
    table = replace(
        table,
        members=records("members", MEMBERS, [0, 1, 0]),
        holdout=records("holdout", HOLDOUT, [0, 1]),
    )
    assert [column.name for column in drawn(table).columns] == ["a", "b"]
    table = replace(table, synthetic=records("synthetic", SYNTHETIC, [1, 1, 1, 0]))
    tables = drawn(table)
    assert [column.name for column in tables.columns] == ["a", "b", "label"]
    assert {tuple(row) for row in tables.members} < {(1, 0, 0), (2, 1, 1), (3, 0, 0)}
    assert tables.widths.tolist() == [10, 0, 0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"columns": ()}, "not rows of a table"),
        ({"synthetic": None}, "no synthetic records"),
        ({"synthetic": records("synthetic", np.empty((0, 2)))}, "no synthetic records"),
        ({"holdout": records("holdout", np.empty((0, 2)))}, "no members, or no records"),
    ],
)
def test_not_applicable_where_something_is_lacking(change, reason):
    assert reason in drawn(replace(material(MEMBERS, HOLDOUT, SYNTHETIC), **change)).reason


def test_numbers_of_half_the_size_are_read_too():
    table = material(MEMBERS, HOLDOUT, SYNTHETIC, "a")
    short = replace(table, synthetic=replace(table.synthetic, values=np.float32(SYNTHETIC)))
    assert drawn(short).synthetic.dtype == np.float64
    assert drawn(short).widths.tolist() == [10, 0]
