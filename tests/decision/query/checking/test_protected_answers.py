"""Small counts of checked answers, held back, rounded or with noise, as the policy says."""

import hashlib
from itertools import count

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.errors import DataError

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
SIZES = {
    ("north", "city"): 40,
    ("north", "farm"): 21,
    ("south", "city"): 33,
    ("south", "farm"): 7,
}
BY_BOTH = "SELECT region, sector, COUNT(*) AS n FROM T GROUP BY region, sector"
WITH_TOTALS = BY_BOTH.replace("GROUP BY region, sector", "GROUP BY CUBE (region, sector)")


def people(sizes=None):
    """Return 101 persons by region and sector, of whom seven are in the smallest cell."""
    cells = [cell for cell, size in (sizes or SIZES).items() for _ in range(size)]
    return pa.table(
        {
            "person": list(range(len(cells))),
            "region": [region for region, _ in cells],
            "sector": [sector for _, sector in cells],
            "pay": [1000.0 + number for number in range(len(cells))],
        }
    )


@pytest.fixture
def ask(tmp_path):
    """Return a function that asks under a policy with a mitigation, each time with an own ledger
    unless one is given."""
    numbers = count()

    def answer(sql, mitigation, *refinements, profile="sacro", sizes=None, **more):
        parts = (("pe:outputCheck", "eq", profile), ("pe:mitigation", "eq", mitigation))
        policies = [policy_with(*parts, *refinements)]
        ledger = {"output_ledger": tmp_path / f"outputs-{next(numbers)}"}
        return query_data(sql, policies, RESEARCHER, {TABLE: people(sizes)}, **{**ledger, **more})

    return answer


def counts(result):
    rows = result.checked.table.to_pylist()
    return {(row["region"], row["sector"]): row["n"] for row in rows}


@pytest.mark.parametrize(("mitigation", "outcome"), [("deny", "refused"), ("review", "review")])
def test_nothing_is_shown_where_one_cell_does_not_pass(ask, mitigation, outcome):
    result = ask(BY_BOTH, mitigation)
    assert set(counts(result).values()) == {None}
    assert not result.permitted
    assert result.checked.outcome == outcome
    assert {cell.outcome for cell in result.checked.suppressed} == {outcome}
    assert result.checked.codes == ("K049",)


@pytest.mark.parametrize("mitigation", ["deny", "review"])
def test_all_is_shown_where_every_cell_passes(ask, mitigation):
    result = ask("SELECT region, COUNT(*) AS n FROM T GROUP BY region", mitigation)
    assert result.permitted
    assert result.checked.table.column("n").to_pylist() == [61, 40]


def test_evidence_of_a_review_is_of_every_cell(ask):
    cells = {tuple(one.keys.values()): one for one in ask(BY_BOTH, "review").checked.judged.cells()}
    assert len(cells) == 4
    assert cells["south", "farm"].figures[0]["units"] == 7


def test_small_count_becomes_the_nearest_multiple(ask):
    result = ask(BY_BOTH, "round")
    assert counts(result) == {
        ("north", "city"): 40,
        ("north", "farm"): 20,
        ("south", "city"): 35,
        ("south", "farm"): 5,
    }
    assert result.checked.suppressed == ()
    assert result.checked.protection == "counts and sums are rounded to multiples of 5"


def test_rounded_table_adds_up_to_its_totals(ask):
    cells = counts(ask(WITH_TOTALS, "round"))
    assert len(cells) == 9
    assert all(value % 5 == 0 for value in cells.values())
    for region in ("north", "south", None):
        assert cells[region, "city"] + cells[region, "farm"] == cells[region, None]
    for sector in ("city", "farm", None):
        assert cells["north", sector] + cells["south", sector] == cells[None, sector]
    exact = {**SIZES, (None, None): 101}
    assert all(abs(cells[cell] - value) < 5 for cell, value in exact.items())


def test_own_base_is_rounded_to(ask):
    cells = counts(ask(BY_BOTH, "round", ("pe:roundBase", "eq", 10)))
    assert sorted(cells.values()) == [10, 20, 30, 40]


NOT_HIDDEN = {
    "chosen rows": "SELECT sector, COUNT(*) AS n FROM T WHERE region = 'south' GROUP BY sector",
    "chosen groups": "SELECT person = 100 AS p, COUNT(*) AS n FROM T GROUP BY p",
    "chosen condition": "SELECT COUNT(*) FILTER (WHERE person > 96) AS n FROM T",
    "sums": "SELECT region, sector, SUM(pay) AS n FROM T GROUP BY region, sector",
    "means": "SELECT region, sector, AVG(pay) AS n FROM T GROUP BY region, sector",
    "extremes": "SELECT MAX(pay) AS n FROM T",
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("sql", NOT_HIDDEN.values(), ids=NOT_HIDDEN)
@pytest.mark.parametrize("mitigation", ["round", "random-rounding", "noise"])
def test_what_rounding_and_noise_do_not_hide_stays_suppressed(ask, sql, mitigation):
    result = ask(sql, mitigation, noise_key=KEY)
    shown = result.checked.table.column("n").to_pylist()
    assert None in shown if result.checked.suppressed else not shown


def test_line_of_few_stays_suppressed(ask):
    """Who knows one of the nine in the east would learn from a multiple above 0 where they are."""
    east = {**SIZES, ("east", "city"): 5, ("east", "farm"): 4}
    cells = counts(ask(BY_BOTH, "round", sizes=east))
    assert (cells["east", "city"], cells["east", "farm"]) == (None, None)
    assert cells["south", "farm"] == 5


def test_group_that_nearly_everyone_is_in_stays_suppressed(ask):
    one_sided = {**SIZES, ("south", "city"): 330}
    result = ask(WITH_TOTALS, "round", sizes=one_sided)
    assert counts(result)["south", "city"] is None
    assert result.checked.codes == ("K049",)


def test_sums_that_pass_are_rounded(ask):
    sql = "SELECT region, SUM(pay) AS s, AVG(pay) AS m FROM T GROUP BY region"
    result = ask(sql, "round")
    assert result.checked.table.column("s").to_pylist() == [62830, 43220]
    assert result.checked.table.column("m").to_pylist() == [1030.0, 1080.5]


def test_having_sees_rounded_counts_alone(ask):
    result = ask(f"{BY_BOTH} HAVING COUNT(*) = 5", "round")
    assert counts(result) == {("south", "farm"): 5}
    assert not counts(ask(f"{BY_BOTH} HAVING COUNT(*) = 7", "round"))


@pytest.mark.parametrize("mitigation", ["round", "random-rounding"])
@pytest.mark.parametrize(("profile", "base", "code"), [("abs", None, "K020"), ("sacro", 2, "K017")])
def test_rounding_without_a_base_that_hides_is_refused(ask, mitigation, profile, base, code):
    own = [] if base is None else [("pe:roundBase", "eq", base)]
    result = ask(BY_BOTH, mitigation, *own, profile=profile, noise_key=KEY)
    assert result.reasons[0].code == code
    assert not result.permitted


def test_noise_is_bounded_and_the_same_in_every_answer(ask):
    once, again = (counts(ask(BY_BOTH, "noise", noise_key=KEY)) for _ in range(2))
    assert once == again
    assert all(abs(once[cell] - size) <= 4 for cell, size in SIZES.items())
    assert once != SIZES


BY_KEYS = pytest.mark.parametrize("mitigation", ["random-rounding", "noise"])


@pytest.mark.one_in(2)
@BY_KEYS
def test_same_persons_have_the_same_figure_however_they_are_asked_for(ask, mitigation):
    sizes = {**SIZES, ("north", "city"): 42}
    part = counts(ask(BY_BOTH, mitigation, noise_key=KEY, sizes=sizes))["north", "city"]
    sql = "SELECT COUNT(*) AS n FROM T WHERE sector <> 'farm' AND region LIKE 'n%'"
    result = ask(sql, mitigation, noise_key=KEY, sizes=sizes)
    assert result.checked.table.column("n").to_pylist() == [part]


@BY_KEYS
def test_another_key_gives_other_figures(ask, mitigation):
    sizes = {(region, sector): 42 for region in "abcd" for sector in "uvw"}
    one, other = (
        counts(ask(BY_BOTH, mitigation, noise_key=key, sizes=sizes)) for key in (KEY, OTHER_KEY)
    )
    assert one != other


@BY_KEYS
@pytest.mark.parametrize("key", [None, b"short"])
def test_what_follows_from_a_key_is_an_error_without(ask, mitigation, key):
    with pytest.raises(DataError) as error:
        ask(BY_BOTH, mitigation, noise_key=key)
    assert error.value.code == "C013"


def test_counts_rounded_at_random_are_multiples_beside_them_and_the_same_again(ask):
    once, again = (
        ask(WITH_TOTALS, "random-rounding", ("pe:roundBase", "eq", 7), noise_key=KEY)
        for _ in range(2)
    )
    assert counts(once) == counts(again)
    assert all(value % 7 == 0 for value in counts(once).values())
    exact = {**SIZES, (None, None): 101, ("north", None): 61, (None, "city"): 73}
    assert all(abs(counts(once)[cell] - value) < 7 for cell, value in exact.items())
    text = "counts of units are rounded at random to multiples of 7, the same in every answer"
    assert once.checked.protection == text


def test_small_counts_rounded_at_random_are_not_all_the_nearest_multiple(ask):
    """Of a hundred cells of 6, a fifth is expected to become 10: within 5 deviations of 4."""
    sizes = {(f"r{region}", sector): 6 for region in range(25) for sector in "uvwx"}
    figures = [*counts(ask(BY_BOTH, "random-rounding", sizes=sizes, noise_key=KEY)).values()]
    assert {*figures} == {5, 10}
    assert 0 < figures.count(10) < 40


def test_sums_are_exact_beside_counts_rounded_at_random(ask):
    sql = "SELECT region, COUNT(*) AS n, SUM(pay) AS s FROM T GROUP BY region"
    result = ask(sql, "random-rounding", noise_key=KEY)
    assert result.checked.table.column("s").to_pylist() == [62830.0, 43220.0]
    assert [one % 5 for one in result.checked.table.column("n").to_pylist()] == [0, 0]


def test_figures_have_as_many_digits_as_the_profile_says(ask):
    sizes = {("north", "city"): 12_345, ("south", "city"): 6_788}
    sql = "SELECT region, COUNT(*) AS n, COUNT(*) / 7 AS m FROM T GROUP BY region"
    result = ask(sql, "suppress", profile="fsrdc", sizes=sizes)
    assert result.checked.table.to_pylist() == [
        {"region": "north", "n": 12_340, "m": 1763.0},
        {"region": "south", "n": 6_788, "m": 969.7},
    ]
    assert result.checked.protection == "figures have 4 significant digits"


@pytest.mark.parametrize("mitigation", ["round", "random-rounding"])
def test_ledger_knows_a_rounded_count_as_suppressed(ask, tmp_path, mitigation):
    """A total, by which the count of seven would be computed from rows that are known."""
    more = {"output_ledger": tmp_path / "answers", "noise_key": KEY}
    assert counts(ask(BY_BOTH, mitigation, **more))["south", "farm"] in (5, 10)
    result = ask("SELECT COUNT(*) AS n FROM T", mitigation, **more)
    assert result.checked.codes == ("K049",)
    assert not result.permitted


ROUNDED = ("round", "random-rounding", "noise")
BY_REGION = "SELECT region, COUNT(*) AS n, COUNT(DISTINCT person) AS p FROM T GROUP BY region"
UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
MEANS = "SELECT region, AVG(pay) AS n FROM T GROUP BY region"


def regions(*sizes):
    return {(name, "all"): size for name, size in zip("abcd", sizes, strict=False)}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mitigation", ROUNDED)
def test_exact_figures_do_not_tell_a_rounded_count_by_the_number_of_all(ask, tmp_path, mitigation):
    """Means may tell how many they are of: 43 and 37 of 89 are all but nine."""
    more = {"output_ledger": tmp_path / "answers", "noise_key": KEY, "sizes": regions(43, 37, 9)}
    rounded = ask(BY_REGION, mitigation, UNIT, **more).checked.table.to_pydict()
    assert None not in rounded["n"]
    means = ask(MEANS, mitigation, UNIT, **more).checked.table.to_pydict()["n"]
    assert means[0] is not None
    assert means[1:] == [None, None]
    first = ask(MEANS, mitigation, UNIT, sizes=regions(43, 37, 9), noise_key=KEY)
    assert first.checked.table.to_pydict()["n"] == means


@pytest.mark.nightly
def test_two_counts_of_at_most_nine_are_not_told_to_be_nine_by_their_total(ask, tmp_path):
    """Of 98, all but 18 are known: two that are shown as 5 are 9 each."""
    more = {"sizes": regions(43, 37, 9, 9), "noise_key": hashlib.sha256(b"q24").digest()}

    def shown(sql, ledger):
        result = ask(sql, "random-rounding", UNIT, **more, output_ledger=tmp_path / ledger)
        return result.checked.table.to_pydict()["n"]

    assert shown(BY_REGION, "first") == [40, 35, 5, 5]
    assert shown(MEANS, "first")[:2].count(None) == 1
    assert None not in shown(MEANS, "second")[:2]
    assert None in shown(BY_REGION, "second")[2:]


def test_a_number_of_persons_with_one_row_each_is_rounded_as_that_of_rows(ask):
    table = ask(BY_REGION, "random-rounding", UNIT, noise_key=KEY).checked.table.to_pydict()
    assert table["n"] == table["p"]
    assert {one % 5 for one in table["p"]} == {0}


def of_six(farm, *, south=4):
    """Return sizes by which six persons of the north are on farms, or not, and four of 14 of the
    south."""
    sizes = {("north", "farm"): farm, ("north", "city"): 6 - farm, ("south", "farm"): south}
    sizes |= {("south", "city"): 14 - south, ("west", "farm"): 11, ("west", "city"): 9}
    return {key: size for key, size in {**sizes, ("east", "city"): 10}.items() if size} | {
        ("east", "farm"): 12
    }


OF_FIVE = ("pe:minUnits", "eq", 5), ("pe:zerosDisclosive", "eq", False), ("pe:roundBase", "eq", 5)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("farm", [0, 6])
@pytest.mark.parametrize("mitigation", ["round", "random-rounding", "noise"])
def test_a_zero_is_not_shown_beside_the_cell_that_has_all_others(ask, mitigation, farm):
    result = ask(BY_BOTH, mitigation, *OF_FIVE, sizes=of_six(farm), noise_key=KEY)
    shown = counts(result)
    assert {shown["north", "farm"], shown["north", "city"]} == {None}


@pytest.mark.parametrize("farm", [0, 6])
def test_all_of_a_line_but_a_few_are_not_told_by_a_rounded_count_of_the_few(ask, farm):
    """Of 300 in the north, four are not in the same sector."""
    sizes = of_six(farm) | {("north", "city"): 296, ("north", "farm"): 4}
    shown = counts(ask(BY_BOTH, "noise", *OF_FIVE, sizes=sizes, noise_key=KEY))
    assert {shown["north", "farm"], shown["north", "city"]} == {None}


RATE = "SELECT AVG(CASE WHEN sector = 'farm' THEN 1 ELSE 0 END) AS r FROM T "
RATE += "WHERE region IN ('north', 'south')"


@pytest.mark.parametrize("is_rate_first", [True, False])
@BY_KEYS
def test_a_small_count_does_not_tell_with_a_rate_that_all_of_a_region_are_alike(
    ask, tmp_path, mitigation, is_rate_first
):
    """If ten of the 20 are on farms, and four at most of the south, all six of the north are."""
    about = {"sizes": of_six(6), "noise_key": KEY, "output_ledger": tmp_path / "ledger"}
    queries = [RATE, BY_BOTH] if is_rate_first else [BY_BOTH, RATE]
    answers = [ask(sql, mitigation, *OF_FIVE, **about) for sql in queries]
    rate, table = answers if is_rate_first else answers[::-1]
    assert None in {rate.table["r"][0].as_py(), counts(table)["south", "farm"]}
    assert answers[0].checked.is_released
