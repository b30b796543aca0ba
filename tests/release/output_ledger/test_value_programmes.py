"""Numbers of persons, and of rows, by several values of a column: some persons have several."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from asking_cells import DATASET
from hypothesis import given, settings
from hypothesis import strategies as st
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    OutputLedger,
    Populations,
    SecretValues,
    ToldSet,
    UnitOwners,
    held_measure,
    persons_set_told_measure,
    persons_told_measure,
    rows_told_measure,
    set_told_measure,
    value_programmes,
)


def told(kinds, asked, names="xyz"):
    """Return an answer of how many rows have one of some values, or how many persons (`+`).

    `kinds` are the values of each person's rows, as "xxy". Of one value, it is asked by a key, and
    of more by a condition.
    """
    owners = np.repeat(np.arange(len(kinds)), [len(one) for one in kinds])
    letters = np.array([*"".join(kinds)])
    own = np.isin(letters, [*asked.strip("+")])
    named_holders = own ^ own[0]
    rows = rows_told_measure(held_measure(named_holders))
    is_key = len(asked.strip("+")) == 1
    one = ToldSet("d", frozenset(asked.strip("+")), is_one_sided=is_key)
    measures = [rows, set_told_measure(one)]
    if "+" in asked:
        of_holders = bool((named_holders & own).any())
        measures = [persons_told_measure(rows, of_holders=of_holders)]
        measures += [persons_set_told_measure(one)]
    cells = [OutputCell(0, one, None, 1, figure=0) for one in measures]
    members = Populations.of_masks(np.ones(len(owners), bool))
    codes = np.array([names.index(one) for one in letters.tolist()])
    return OutputAnswer(
        *(DATASET, "1", ("organisation:x",), members, tuple(cells)),
        holders={rows: named_holders, held_measure(named_holders): own},
        secret_values={"d": SecretValues(codes, tuple(names))},
        owners=UnitOwners(owners),
        one_sided=frozenset([rows] if is_key else ()),
    )


def codes_of(path, kinds, *asked):
    ledger = OutputLedger(path)
    return [ledger.check_and_record(told(kinds, one), partly=True).codes for one in asked]


BOTH = ["xy"] * 3 + ["x"] * 9 + ["y"] * 9 + ["z"] * 9
"""All three who have two rows have x and y: 12 persons have either, and 21 one of them."""


@pytest.mark.parametrize("asked", [("x+", "y+", "xy+"), ("xy+", "y+", "x+"), ("y+", "xy+", "x+")])
def test_who_has_one_of_two_values_tells_who_has_both(tmp_path, asked):
    assert codes_of(tmp_path / "l", BOTH, *asked) == [(), (), ("K045",)]


def test_one_of_four_may_lack_a_value(tmp_path):
    kinds = ["xz", *BOTH, *["xy"] * 12]
    assert codes_of(tmp_path / "l", kinds, "x+", "y+", "xy+") == [(), (), ()]


def test_who_has_one_row_of_each_value_has_the_third_one_too(tmp_path):
    """As many rows as persons have x, and z: who has three rows has y in one of them."""
    kinds = ["xyz", *"xxxx", *"zzzzz", *"yyyyyy"]
    asked = ["x", "x+", "z", "z+"]
    assert codes_of(tmp_path / "l", kinds, *asked)[-1] == ("K045",)


def test_what_is_too_large_is_not_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(value_programmes, "MOST_TERMS", 0)
    assert codes_of(tmp_path / "l", BOTH, "x+", "y+", "xy+") == [(), (), ()]


def worlds(sizes, figures):
    """Yield the values that all rows may have, by what was released."""
    ends = np.cumsum(sizes)
    for letters in product("xyz", repeat=int(ends[-1])):
        kinds = ["".join(letters[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
        if all(figure(kinds, asked) == count for asked, count in figures):
            yield kinds


def figure(kinds, asked):
    values = {*asked.strip("+")}
    if "+" in asked:
        return sum(not values.isdisjoint(one) for one in kinds)
    return sum(letter in values for one in kinds for letter in one)


def most(kinds, asked):
    return len(kinds) if "+" in asked else sum(map(len, kinds))


ASKED = ("x", "y", "z", "x+", "y+", "z+", "xy", "xz", "xy+", "yz+")


@given(
    st.lists(st.text("xyz", min_size=1, max_size=3), min_size=3, max_size=6).filter(
        lambda kinds: sum(map(len, kinds)) <= 8 and {*"".join(kinds)} == {*"xyz"}
    ),
    st.permutations(ASKED),
)
@settings(max_examples=15)
def test_no_figures_tell_whoever_has_most_rows_that_he_has_a_value(tmp_path_factory, kinds, order):
    """By all worlds: of persons alike in their rows, no one is known to have a value in one."""
    path = tmp_path_factory.mktemp("ledgers") / "l"
    # That all have a value, or nobody has, is told by one figure: others judge that.
    order = [one for one in order if 0 < figure(kinds, one) < most(kinds, one)]
    codes = codes_of(path, kinds, *order)
    shown = [(one, figure(kinds, one)) for one, own in zip(order, codes, strict=True) if not own]
    possible = [*worlds([len(one) for one in kinds], shown)]
    for person, own in enumerate(kinds):
        if len(own) > 1:
            sure = [value for value in "xyz" if all(value in one[person] for one in possible)]
            assert sure == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT job, COUNT(DISTINCT id) AS n FROM T WHERE job <> 'z' GROUP BY ROLLUP (job)",
        (
            "SELECT COUNT(DISTINCT id) AS a, COUNT(DISTINCT id) FILTER (WHERE job = 'x') AS b, "
            "COUNT(DISTINCT id) FILTER (WHERE job = 'y') AS n FROM T WHERE job IN ('x', 'y')"
        ),
    ],
)
def test_queries_do_not_tell_who_has_both(tmp_path, sql):
    kinds = ["xy"] * 12 + ["x"] * 47 + ["y"] * 47 + ["z"] * 94
    ids, jobs = zip(*((n, job) for n, own in enumerate(kinds) for job in own), strict=True)
    policy = policy_with(
        ("pe:outputCheck", "eq", "sacro"),
        ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"}),
    )
    table = pa.table({"id": ids, "job": jobs})
    answer = query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=tmp_path / "l")
    cells = [one for row in answer.table.to_pylist() for name, one in row.items() if name != "job"]
    assert None in cells
    assert len({*cells}) > 1
