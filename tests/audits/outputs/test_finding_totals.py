"""Totals of lines by what adds up."""

import numpy as np
import pytest

from policy_engine.audits.outputs.finding_totals import NOBODY, FoundTotals, Lines, find_totals

BLANK = np.nan


def found(figures, named=(), slack=0.0):
    table = np.array(figures, float)
    is_named = np.isin(np.arange(len(table)), named)
    return find_totals(Lines(table, np.full(table.shape, slack), is_named))


@pytest.mark.parametrize("top", [0, 1, 2])
def test_the_sum_of_all_others_is_their_total_wherever_it_is(top):
    lines = [[30, 40], [25, BLANK]]
    lines.insert(top, [55, 90])
    parents = [NOBODY if line == top else top for line in range(3)]
    assert found(lines) == FoundTotals(tuple(parents), top)


def test_two_lines_are_total_and_part_only_by_name():
    assert found([[30], [30]]).top == NOBODY
    assert found([[30], [30]], named=[1]).top == 1


def test_a_line_called_a_total_is_one_even_if_it_does_not_add_up():
    assert found([[30], [40], [71]], named=[2]).top == 2


def test_totals_that_are_alike_are_one_within_the_other():
    assert found([[30], [40], [70], [70]]) == FoundTotals((3, 3, NOBODY, 2), 2)


def test_what_is_more_than_a_sum_may_be_off_by_rounding_alone():
    assert found([[30, 1], [40, 2], [71, 3]]).top == NOBODY
    assert found([[30, 1], [40, 2], [71, 3]], slack=0.5).top == 2


def test_a_sum_that_is_less_than_its_shown_parts_is_none():
    assert found([[30, 20], [40, 50], [9, BLANK], [79, 60]]).top == NOBODY


def test_several_named_lines_that_do_not_add_up_are_in_doubt():
    assert found([[30], [40], [71], [80]], named=[2, 3]).is_doubtful
