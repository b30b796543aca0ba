"""Which released cells are told of, and by how much their values differ."""

import numpy as np
from asking_cells import answer, one_of

from policy_engine.release.output_ledger import OutputCell
from policy_engine.release.output_ledger.contents import AnswerContent
from policy_engine.release.output_ledger.knowledge import Knowledge
from policy_engine.release.output_ledger.told_cells import (
    difference_value,
    released_value,
    told_cells,
)

UNITS = 12


def known(*cells):
    """Return what is known once these cells of two populations, of 12 and of 8 units, are."""
    knowledge = Knowledge.of_nothing(UNITS, b"secret")
    wide, narrow = (one_of(UNITS, range(size)) for size in (12, 8))
    content = AnswerContent.of(answer(wide.joined(narrow), *cells), knowledge.words)
    knowledge.add_recorded(content, 5)
    return knowledge


def test_values_that_are_released_as_means_are_known_as_totals():
    knowledge = known(OutputCell(0, "sum:pay", 30.0, 3), OutputCell(1, "mean:pay", 2.5, 3))
    assert [released_value(knowledge, "sum:pay", one) for one in (0, 1)] == [30, 20]
    assert released_value(knowledge, "sum:age", 0) is None
    assert difference_value(knowledge, "sum:pay", 0, 1) == 10
    assert difference_value(knowledge, "sum:pay", 1, 0) == 10
    assert difference_value(knowledge, "count", 1, 0) == 4
    assert difference_value(knowledge, "median", 1, 0) is None


def test_the_earliest_cell_of_each_population_is_told():
    cells = [OutputCell(0, "count", 12.0, 3, condition="all"), OutputCell(1, "count", 8.0, 3)]
    knowledge = known(*cells, OutputCell(0, "sum:pay", 30.0, 3))
    knowledge.entries["count", 1] = 2
    told = told_cells(knowledge, {0, 1}, lambda measure: measure == "count")
    assert [(one.units, one.condition, one.entry) for one in told] == [(12, "all", 5), (8, "", 2)]
    assert not told_cells(knowledge, {0, 1}, lambda measure: measure == "sum:age")
    assert np.array_equal(knowledge.sizes, [12, 8])
