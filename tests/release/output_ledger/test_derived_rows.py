"""Numbers of rows by values of a column that follow from those by its other values."""

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from asking_cells import DATASET
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
    persons_told_measure,
    rows_told_measure,
    set_told_measure,
)

LEAST = 3


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def told(kinds, *asked, among=None, is_one_sided=False):
    """Return an answer of how many rows have some values, or how many persons have one (`+`).

    `kinds` are the values of each person's rows, as "aab", and `among` the persons whose rows are
    counted; "-" is no value.
    """
    owners = np.repeat(np.arange(len(kinds)), [len(one) for one in kinds])
    letters = np.array([*"".join(kinds)])
    names = tuple(sorted({*letters} - {"-"}))
    codes = np.array([names.index(one) if one in names else -1 for one in letters.tolist()])
    mask = np.ones(len(owners), bool) if among is None else np.isin(owners, among)
    cells, holders = [], {}
    for place, text in enumerate(asked):
        own, is_valued = np.isin(letters, [*text.strip("+")]), codes >= 0
        named_holders = (own ^ own[np.argmax(is_valued)]) & is_valued
        held = held_measure(named_holders)
        rows = rows_told_measure(held)
        of_holders = bool((named_holders & own).any())
        holders |= {rows: named_holders, held: own}
        one = ToldSet("d", frozenset(text), is_one_sided=is_one_sided)
        measures = [rows, set_told_measure(one)]
        if "+" in text:
            measures = [persons_told_measure(rows, of_holders=of_holders)]
        least = UnitOwners(owners).units_of(LEAST)
        cells += [OutputCell(0, measure, None, least, figure=place) for measure in measures]
    about = (DATASET, "1", ("organisation:x",), Populations.of_masks(mask), tuple(cells))
    return OutputAnswer(
        *about,
        holders=holders,
        secret_values={"d": SecretValues(codes, names)},
        owners=UnitOwners(owners),
        one_sided=frozenset(holders if is_one_sided else ()),
    )


def codes_of(ledger, *answers):
    return [ledger.check_and_record(one, partly=True).codes for one in answers]


ALL_OF_FOUR = ["xxxxx"] * 4 + ["x"] * 7 + ["y"] * 27 + ["z"] * 27
"""Eleven persons have 27 rows with x: so many only with all rows of the four."""
FEWER = ["xxxyz"] * 4 + ["x"] * 7 + ["y"] * 23 + ["z"] * 23


@pytest.mark.parametrize("order", [*permutations(["x+", "y", "z"])], ids="-".join)
def test_rows_with_the_other_values_are_those_that_are_left(ledger, order):
    answers = [told(ALL_OF_FOUR, one) for one in order]
    assert codes_of(ledger, *answers) == [(), (), ("K045",)]


def test_rows_that_are_left_and_may_be_others_are_told(ledger):
    answers = [told(FEWER, one) for one in ("x+", "y", "z")]
    assert codes_of(ledger, *answers) == [(), (), ()]


@pytest.mark.parametrize("parts", [("y", "yz"), ("xy", "y"), ("yz",)])
def test_sets_of_values_tell_the_others(ledger, parts):
    codes = codes_of(ledger, *(told(ALL_OF_FOUR, one) for one in ("x+", *parts)))
    assert codes[-1] == ("K045",)


def test_what_follows_of_one_population_by_others_is_told(ledger):
    """Rows with y of all, and with z of two halves of them."""
    first, second = [*range(30)], [*range(30, 65)]
    answers = [told(ALL_OF_FOUR, "x+", "y")]
    answers += [told(ALL_OF_FOUR, "z", among=one) for one in (first, second)]
    assert codes_of(ledger, *answers)[-1] == ("K045",)


def test_who_has_most_rows_is_not_told_to_have_the_value_that_is_left(ledger):
    """Of 89 rows, 49 have x, and 44 are of all others than the first person."""
    kinds = ["x" * 36 + "y" * 5 + "z" * 4] + ["x"] * 13 + ["y"] * 16 + ["z"] * 15
    outcome = ledger.check_and_record(told(kinds, "y", "z", is_one_sided=True), partly=True)
    assert sorted({cell.state for cell in outcome.cells}) == ["released", "suppressed"]


def test_rows_without_a_value_count_as_known(ledger):
    kinds = [*ALL_OF_FOUR, "--", "-"]
    answers = [told(kinds, one) for one in ("x+", "y", "z")]
    assert codes_of(ledger, *answers)[-1] == ("K045",)


def test_owners_see_the_figures_that_it_follows_from(ledger):
    answers = [told(ALL_OF_FOUR, one) for one in ("x+", "y", "z")]
    *_, last = (ledger.check_and_record(one, partly=True) for one in answers)
    figures = [one.told for one in last.cells if one.told]
    assert {one.kind for one in figures} == {"alike"}
    assert {one.owners for one in figures} == {65}


@pytest.mark.parametrize(
    "queries",
    [
        [
            "SELECT COUNT(DISTINCT id) AS n FROM T WHERE job = 'x'",
            "SELECT COUNT(*) AS n FROM T WHERE job = 'y'",
            "SELECT COUNT(*) AS n FROM T WHERE job = 'z'",
        ],
        [
            "SELECT COUNT(DISTINCT id) AS n FROM T WHERE job = 'x'",
            "SELECT job, COUNT(*) AS n FROM T WHERE job <> 'x' GROUP BY job",
        ],
    ],
)
def test_queries_do_not_tell_whose_the_other_rows_are(tmp_path, queries):
    rows = [(person, one) for person, kinds in enumerate(ALL_OF_FOUR) for one in kinds]
    ids, jobs = zip(*rows, strict=True)
    table = pa.table({"id": ids, "job": jobs})
    policy = policy_with(
        ("pe:outputCheck", "eq", "bundesbank"),
        ("pe:minUnits", "eq", LEAST),
        ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"}),
    )
    path = tmp_path / "ledger"
    answers = [
        query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=path).table
        for sql in queries
    ]
    assert answers[0]["n"].to_pylist() == [11]
    assert None in answers[-1]["n"].to_pylist()
