"""Counts that are shown rounded or with noise, beside those that are known exactly."""

from itertools import product

import numpy as np
import pytest
from asking_cells import DATASET

from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    OutputLedger,
    Populations,
    near_measure,
)

PARTS = {"c": "c", "e": "e", "ce": "ce", "all": "ace"}


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def asked(sizes, *cells):
    """Return an answer about units in parts, of such sizes: of each cell, the parts that it counts,
    and the ends it is known to lie between, empty where it is known exactly, None if withheld."""
    units = "".join(name * size for name, size in sizes.items())
    masks = np.array([[unit in PARTS[one] for unit in units] for one, _ in cells])
    made = []
    for place, (_, ends) in enumerate(cells):
        measure = near_measure(*ends) if ends else "exact count"
        if ends is None:
            made.append(OutputCell(place, "count", None, 1, is_released=False, figure=place))
        else:
            made.append(OutputCell(place, measure, None, 1, figure=place))
    populations = Populations.of_masks(masks)
    return OutputAnswer(DATASET, "1", ("organisation:x",), populations, tuple(made))


def outcome(ledger, *cells, sizes):
    return ledger.check_and_record(asked(sizes, *cells), partly=True)


NINES = {"a": 80, "c": 9, "e": 9}
WITHHELD = ("c", None), ("e", None)


def test_two_of_at_most_nine_are_not_told_to_be_eighteen(ledger):
    near = ("c", (1, 9)), ("e", (1, 9))
    assert outcome(ledger, *WITHHELD, *near, sizes=NINES).codes == ()
    last = outcome(ledger, ("ce", ()), sizes=NINES)
    assert last.codes == ("K045",)
    [cell] = last.cells
    assert (cell.told.kind, cell.told.units, cell.told.low, cell.told.high) == ("withheld", 9, 9, 9)


def test_after_their_total_one_of_them_is_not_shown(ledger):
    assert outcome(ledger, ("ce", ()), sizes=NINES).codes == ()
    near = ("c", (1, 9)), ("e", (1, 9))
    cells = outcome(ledger, *WITHHELD, *near, sizes=NINES).cells
    assert sorted(one.state for one in cells[2:]) == ["released", "suppressed"]


def test_a_wider_range_leaves_both_open(ledger):
    near = ("c", (1, 10)), ("e", (1, 9))
    assert outcome(ledger, *WITHHELD, *near, ("ce", ()), sizes=NINES).codes == ()


def test_what_the_total_tells_by_itself_is_not_told_anew_by_a_range(ledger):
    sizes = {"a": 80, "c": 9}
    cells = ("c", None), ("c", ())
    ledger.check_and_record(asked(sizes, ("c", ())), partly=True)
    near = ("c", (1, 9))
    assert ledger.check_and_record(asked(sizes, cells[0], near), partly=True).codes == ()


@pytest.mark.parametrize("reach", [0, 1, 3])
def test_of_all_sizes_that_fit_what_is_told_agrees(tmp_path, reach):
    """Of parts of up to four, ranges about c and e, with the number of both or of all."""
    for number, (c, e) in enumerate(product(range(1, 4), repeat=2)):
        for whole, a in (("ce", 0), ("all", 2)):
            ends = {"c": (max(c - reach, 0), c + 1), "e": (e - 1, e + reach)}
            ledger = OutputLedger(tmp_path / f"{whole}{number}.db")
            cells = *WITHHELD, *ends.items(), (whole, ())
            parts = asked({"a": 2, "c": c, "e": e}, *cells)
            judged = ledger.check_and_record(parts, partly=False)
            fits = [
                (one, other)
                for one, other in product(range(9), repeat=2)
                if ends["c"][0] <= one <= ends["c"][1] and ends["e"][0] <= other <= ends["e"][1]
                if (one + other <= c + e + a if whole == "all" else one + other == c + e)
            ]
            is_told = any(len(set(some)) == 1 for some in zip(*fits, strict=True))
            assert (judged.codes != ()) == is_told, (c, e, whole)
