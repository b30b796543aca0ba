"""Blank cells that follow if lines are totals that nothing shows to be some."""

import pytest

from policy_engine.audits.outputs import undecided_totals
from policy_engine.audits.outputs.linked_tables import LinkedTables
from policy_engine.audits.outputs.reading_tables import read_finished
from policy_engine.audits.outputs.undecided_totals import SmallCounts, may_tell_small

PERSONS = "region,men,women,persons\nnorth,.,40,46\nsouth,30,.,37\nwest,20,.,28\n"
TEN = SmallCounts(1, 10)


def told(folder, *texts, small=TEN):
    tables = []
    for number, text in enumerate(texts):
        (folder / f"{number}.csv").write_text(text)
        tables.append(read_finished(folder / f"{number}.csv"))
    return may_tell_small(LinkedTables(tables), [~one.is_blank for one in tables], small)


def test_a_blank_that_a_total_of_another_name_would_tell_is_for_a_person(tmp_path):
    assert told(tmp_path, PERSONS) == [True]
    # 70 - 30 - 28 = 12 would be enough persons.
    assert told(tmp_path, "region,n\nnorth,70\nsouth,.\nwest,58\n") == [False]
    assert told(tmp_path, "region,n\nnorth,70\nsouth,.\nwest,63\n") == [True]


def test_rounded_figures_that_add_up_tell_as_exact_ones_do(tmp_path):
    # Multiples of three: 33 - 12 - 15 is 6 where figures were rounded so as to add up.
    rows = "north,.,.,.,126\nsouth,30,12,21,.\nwest,12,15,.,33\neast,30,30,30,90\n"
    assert told(tmp_path, f"region,a,b,c,persons\n{rows}") == [True]
    assert told(tmp_path, f"region,a,b,c,persons\n{rows.replace('33', '48')}") == [False]


def test_what_is_enough_and_whether_nobody_is_a_secret_are_those_of_the_profile(tmp_path):
    assert told(tmp_path, PERSONS, small=SmallCounts(1, 5)) == [False]
    zero = "region,men,women,persons\nnorth,.,40,40\nsouth,30,.,30\n"
    assert told(tmp_path, zero) == [False]
    assert told(tmp_path, zero, small=SmallCounts(0, 10)) == [True]


def test_lines_of_two_keys_may_be_totals_together(tmp_path):
    # Only both sums tell: 61 - 25 - 30 of the first column, once the row tells 25.
    rows = "north,30,40,.,70\nsouth,.,.,50,93\nwest,.,33,12,70\npersons,61,.,.,.\n"
    assert told(tmp_path, f"region,farm,shop,mill,persons\n{rows}") == [True]


def test_it_is_said_of_the_table_that_comes_later(tmp_path):
    first = "region,men,women\nnorth,.,40\nsouth,30,.\n"
    assert told(tmp_path, first, "region,n\nnorth,46\nsouth,39\n") == [False, True]
    # Which combinations are missing tells as blank cells do.
    long = "region,sex,n\nnorth,women,40\nsouth,men,30\n"
    assert told(tmp_path, long, "region,n\nnorth,46\nsouth,39\n") == [False, True]


def test_a_table_whose_figures_are_all_shown_has_no_undecided_totals(tmp_path):
    assert told(tmp_path, "region,men,women,x\nnorth,30,40,46\nsouth,30,22,37\n") == [False]


@pytest.mark.parametrize(("name", "value"), [("_MOST_WAYS", 1), ("_SECONDS", -1.0)])
def test_what_cannot_be_tried_is_for_a_person(tmp_path, monkeypatch, name, value):
    monkeypatch.setattr(undecided_totals, name, value)
    assert told(tmp_path, PERSONS, small=SmallCounts(1, 2)) == [True]


def test_without_a_solver_what_follows_by_elimination_is_for_a_person(tmp_path, monkeypatch):
    monkeypatch.setattr(undecided_totals, "can_solve", lambda: False)
    assert told(tmp_path, PERSONS) == [True]
    assert told(tmp_path, "region,men,women\nnorth,.,40\nsouth,30,.\n") == [False]
