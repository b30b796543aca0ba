"""Lines that could be totals of others, by what is shown."""

import pytest

from policy_engine.audits.outputs.finding_totals import NOBODY
from policy_engine.audits.outputs.possible_totals import possible_parents
from policy_engine.audits.outputs.reading_tables import ALONE, read_finished

HEAD = "region,men,women,persons\n"


def variants(folder, text, key):
    (folder / "t.csv").write_text(text)
    return possible_parents(read_finished(folder / "t.csv"), key)


def test_the_sum_of_all_others_may_be_a_total_however_little_is_shown(tmp_path):
    rows = f"{HEAD}north,.,40,46\nsouth,30,.,37\nwest,20,.,28\n"
    assert variants(tmp_path, rows, 1) == [(-1, -1, -1), (2, 2, -1)]


@pytest.mark.parametrize("row", ["north,.,40,39", "north,7,40,46", "north,5,40,46"])
def test_what_does_not_add_up_in_one_place_is_not_a_total(tmp_path, row):
    rows = f"{HEAD}{row}\nsouth,30,.,37\nwest,20,.,28\n"
    assert (2, 2, -1) not in variants(tmp_path, rows, 1)


def test_a_total_of_lines_that_are_not_beside_it_is_one_where_that_is_no_chance(tmp_path):
    rows = "DE,300,400\nUS,330,250\nFR,.,310\nCA,220,290\nEurope,306,710\nAmericas,550,540\n"
    found = variants(tmp_path, f"region,a,b\n{rows}", 0)
    assert found[0] == (-1,) * 6
    assert found[-1] == (4, 5, 4, 5, -1, -1)


def test_small_figures_that_fit_by_chance_are_left_out(tmp_path):
    rows = "A,12\nB,15\nC,.\nD,30\nE,14\nF,27\nG,19\nH,33\n"
    assert variants(tmp_path, f"region,n\n{rows}", 0) == [(-1,) * 8]


def test_a_total_may_be_within_one_that_is_found(tmp_path):
    rows = "DE,300,400\nFR,.,310\nUS,330,250\nEurope,306,710\nWorld,636,960\n"
    found = variants(tmp_path, f"region,a,b\n{rows}", 0)
    assert (3, 3, 4, 4, -1) in found


def test_of_many_lines_sets_of_few_are_looked_at(tmp_path):
    rows = "".join(f"r{n},{1000 + 37 * n * n},{2000 + 91 * n * n}\n" for n in range(20))
    found = variants(tmp_path, f"region,a,b\n{rows}x,5000,.\nbig,6000,2000\n", 0)
    assert found == [(-1,) * 22, (*(21 if n in (0, 20) else -1 for n in range(21)), -1)]


def test_what_is_a_total_only_by_its_figures_may_be_none(tmp_path):
    rows = "region,farm,shop,all\nnorth,60,.,78\nsouth,.,33,35\nwest,18,.,43\n"
    assert variants(tmp_path, rows, 0) == [(NOBODY, NOBODY), (ALONE, ALONE)]
    assert variants(tmp_path, rows.replace("north", "Total"), 0) == [(NOBODY, NOBODY)]


def test_a_total_that_was_found_of_fewer_lines_may_be_one_of_more(tmp_path):
    rows = "north,12,.,.,14\nsouth,12,60,12,84\nwest,33,33,47,113\npersons,.,93,.,.\n"
    found = variants(tmp_path, f"region,farm,shop,mill,persons\n{rows}", 0)
    assert found[0] == (-1, 3, 3, -1)
    assert (3, 3, 3, -1) in found


def test_no_line_is_a_part_of_its_own_part(tmp_path):
    rows = "W,900,40\nt,450,.\nu,450,40\nY,900,70\nv,450,.\nx,450,70\n"
    for parents in variants(tmp_path, f"region,a,b\n{rows}", 0):
        for line in range(6):
            ways = [line]
            while parents[ways[-1]] >= 0:
                ways.append(parents[ways[-1]])
                assert len(ways) <= 6
