"""Attacks by persons who are alone in a cell: they know it, and what is left over is another's.

Each attack is computed by who attacks, of what is shown to all and what she has herself.
"""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

BUNDESBANK = ("pe:outputCheck", "eq", "bundesbank")
TWO = ("pe:minUnits", "eq", 2)
UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
ROLLUP = "SELECT g, SUM(pay) AS s FROM T GROUP BY ROLLUP (g)"
LONE = {"a": 1, "b": 1, "c": 50, "d": 60}


def rows_of(sizes):
    """Return the group and the pay of persons, in groups of some sizes."""
    groups = [group for group, size in sizes.items() for _ in range(size)]
    return [(n, group, 1000.0 + 37 * n % 501) for n, group in enumerate(groups)]


def table_of(rows):
    names = ("person", "g", "pay")
    return pa.table({name: [row[n] for row in rows] for n, name in enumerate(names)})


@pytest.fixture
def ask(tmp_path):
    """Return a function that answers a query about rows, and gives the figure of each group; None
    is the total."""

    def answer(sql, rows, *refinements):
        policy = policy_with(BUNDESBANK, TWO, UNIT, *refinements)
        data, ledger = {TABLE: table_of(rows)}, tmp_path / "outputs"
        result = query_data(sql, [policy], RESEARCHER, data, output_ledger=ledger)
        return {row.get("g"): row["s"] for row in result.table.to_pylist()}

    return answer


def left_over(figures, own, groups):
    """Return what a person with `own` figures learns of the others that are withheld: the groups,
    and their sum. A group that is not listed is withheld."""
    assert figures[None] is not None
    shown = {group: one for group, one in figures.items() if one is not None and group is not None}
    assert not {*shown} & {*own}
    return groups - {*shown, *own}, figures[None] - sum(shown.values()) - sum(own.values())


def totals(rows):
    sums = {}
    for _, group, pay in rows:
        sums[group] = sums.get(group, 0.0) + pay
    return {**sums, None: sum(sums.values())}


@pytest.mark.parametrize(("mine", "theirs"), [("a", "b"), ("b", "a")])
def test_lone_person_does_not_learn_the_pay_of_another_one(ask, mine, theirs):
    rows = rows_of(LONE)
    exact = totals(rows)
    own = {mine: exact[mine]}
    outsiders = {**exact, "a": None, "b": None}  # What protects both from who has no pay at all.
    assert left_over(outsiders, own, {*LONE}) == ({theirs}, pytest.approx(exact[theirs]))
    names, rest = left_over(ask(ROLLUP, rows), own, {*LONE})
    assert theirs in names
    assert len(names) > 1
    assert rest > 5 * exact[theirs]


def test_lone_person_does_not_learn_that_another_one_is_alone(ask):
    """Of counts, too: of two in two groups, whoever knows to be alone in one is told the other."""
    figures = ask(ROLLUP.replace("SUM(pay)", "COUNT(*)"), rows_of(LONE))
    names, rest = left_over(figures, {"a": 1}, {*LONE})
    assert len(names) > 1
    assert rest > 1


def test_lone_persons_do_not_learn_of_each_other_by_several_answers(ask):
    rows = rows_of(LONE)
    figures = ask("SELECT g, SUM(pay) AS s FROM T GROUP BY g", rows)
    assert figures["c"] is not None
    assert figures["d"] is not None
    assert ask("SELECT SUM(pay) AS s FROM T", rows) == {None: None}


def test_second_of_a_dominated_cell_who_is_alone_in_another_does_not_learn_of_the_first(ask):
    """Person 1 shares a group with person 0, and is the only one in another one."""
    rows = [(0, "a", 900.0), (1, "a", 100.0), (1, "b", 70.0)]
    rows += [(n + 2, group, pay) for n, group, pay in rows_of({"c": 50, "d": 60})]
    exact = totals(rows)
    attack = left_over({**exact, "a": None, "b": None}, {"b": 70.0}, {*LONE})
    assert attack == ({"a"}, pytest.approx(900.0 + 100.0))
    names, rest = left_over(ask(ROLLUP, rows), {"b": 70.0}, {*LONE})
    assert len(names) > 1
    assert rest - 100.0 > 10 * 900.0


def test_whoever_is_alone_in_two_cells_knows_both(ask):
    """Person 0 is alone in a and b, and person 1 in c: three withheld cells do not hide her."""
    rows = [(0, "a", 500.0), (0, "b", 600.0), (1, "c", 700.0)]
    rows += [(n + 2, group, pay) for n, group, pay in rows_of({"d": 50, "e": 60})]
    own = {"a": 500.0, "b": 600.0}
    exact = totals(rows)
    attack = left_over({**exact, "a": None, "b": None, "c": None}, own, {*"abcde"})
    assert attack == ({"c"}, pytest.approx(700.0))
    names, rest = left_over(ask(ROLLUP, rows), own, {*"abcde"})
    assert len(names) > 1
    assert rest > 5 * 700.0


def test_whoever_has_nothing_in_a_cell_is_not_who_is_alone_in_it(ask):
    """Person 1 has pay of 0 beside person 0, who is alone in both cells of a pay for all that."""
    rows = [(0, "a", 500.0), (1, "a", 0.0), (0, "b", 600.0), (2, "c", 700.0)]
    rows += [(n + 3, group, pay) for n, group, pay in rows_of({"d": 50, "e": 60})]
    own = {"a": 500.0, "b": 600.0}
    names, rest = left_over(ask(ROLLUP, rows), own, {*"abcde"})
    assert len(names) > 1
    assert rest > 5 * 700.0
