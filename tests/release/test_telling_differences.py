"""The difference of two released totals is judged as a total of its own."""

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.methods.output_checks.profiles import PROFILES
from policy_engine.release.telling_differences import ToldDifferences

CHECKED = (
    ("pe:outputCheck", "eq", "sacro"),
    (
        "pe:privacyUnit",
        "eq",
        {"@id": f"{TABLE}/person"},
    ),
)


@pytest.fixture
def ask(tmp_path):
    def answer(sql, table):
        policies, ledger = [policy_with(*CHECKED)], tmp_path / "outputs"
        return query_data(sql, policies, RESEARCHER, {TABLE: table}, output_ledger=ledger)

    return answer


def earners():
    """Return 100 persons, of the first ten of whom person 7 has nearly all."""
    pay = [5000 if n == 7 else n if n <= 10 else 1000 + n for n in range(1, 101)]
    return pa.table({"person": list(range(1, 101)), "pay": pay})


@pytest.mark.one_in(4)
@pytest.mark.parametrize("figures", ["SUM(pay) AS s", "AVG(pay) AS s, COUNT(*) AS n"])
@pytest.mark.parametrize("first", ["", " WHERE person > 10"])
def test_difference_of_which_one_person_has_nearly_all_is_not_told(ask, figures, first):
    second = " WHERE person > 10" if not first else ""
    assert ask(f"SELECT {figures} FROM T{first}", earners()).permitted
    result = ask(f"SELECT {figures} FROM T{second}", earners())
    assert result.checked.table["s"].to_pylist() == [None]


def test_difference_of_which_nobody_has_much_is_told(ask):
    assert ask("SELECT SUM(pay) AS s FROM T", earners()).permitted
    assert ask("SELECT SUM(pay) AS s FROM T WHERE person <= 80", earners()).permitted


def test_two_totals_of_one_answer_do_not_tell_it_either(ask):
    result = ask("SELECT SUM(pay) AS s, SUM(pay) FILTER (WHERE person > 10) AS t FROM T", earners())
    [row] = result.checked.table.to_pylist()
    assert None in row.values()


def test_rows_of_a_unit_are_added_up_before_they_are_compared():
    units = np.repeat(np.arange(20), [40, *[1] * 19])
    told = ToldDifferences(units, lambda _: np.ones(59), PROFILES["sacro"])
    nobody = np.zeros(59, np.bool_)
    pay = 100.0 + np.arange(59) / 8
    assert told("count", units >= 4, nobody)
    assert not told("count", units <= 4, nobody)
    assert ToldDifferences(units, lambda _: pay, PROFILES["sacro"])("sum:x", units > 4, nobody)
    assert not ToldDifferences(units, lambda _: None, PROFILES["sacro"])("sum:x", units > 4, nobody)


@pytest.mark.parametrize("count", ["COUNT(*)", "COUNT(pay)"])
def test_rows_of_one_person_are_no_count_of_rows(ask, count):
    """Person 0 has 500 of 520 rows: their number is nearly that of all."""
    person = [0] * 500 + list(range(1, 21))
    table = pa.table({"person": person, "pay": [1] * 519 + [2]})
    result = ask(f"SELECT {count} AS n FROM T", table)
    assert result.checked.table["n"].to_pylist() == [None]


@pytest.mark.parametrize("count", ["COUNT(*)", "COUNT(pay)"])
def test_rows_of_persons_who_have_as_many_are_counted(ask, count):
    table = pa.table({"person": [n // 3 for n in range(90)], "pay": list(range(90))})
    assert ask(f"SELECT {count} AS n FROM T", table).checked.table["n"].to_pylist() == [90]


def clerks():
    """Return 100 persons: the 30 from 40 on have 0 of gain, a rating of 3, and 2000 of pay."""
    is_alike = [40 <= n < 70 for n in range(100)]
    columns = {
        "person": list(range(100)),
        "gain": [0 if one else 40 + 7 * n for n, one in enumerate(is_alike)],
        "rating": [3 if one else 1 + n % 3 for n, one in enumerate(is_alike)],
        "pay": [2000 if one else 1000 + 37 * n for n, one in enumerate(is_alike)],
    }
    return pa.table(columns)


ALIKE = "person >= 40 AND person < 70"
PARTS = {
    "both": ("", f" WHERE NOT ({ALIKE})"),
    "turned": (f" WHERE NOT ({ALIKE})", ""),
    "three": (" WHERE person < 70", " WHERE person < 20", " WHERE person >= 20 AND person < 40"),
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("column", ["gain", "rating"])
@pytest.mark.parametrize("function", ["SUM", "AVG"])
def test_totals_tell_of_nobody_that_all_have_least_or_most(ask, function, column, parts):
    answers = [
        ask(f"SELECT {function}({column}) AS s FROM T{one}", clerks()) for one in PARTS[parts]
    ]
    assert answers[0].permitted
    assert not all(one.permitted for one in answers)


def test_total_beside_that_of_a_filter_does_not_tell_it_either(ask):
    figures = f"SUM(gain) AS s, SUM(gain) FILTER (WHERE NOT ({ALIKE})) AS t"
    [row] = ask(f"SELECT {figures} FROM T", clerks()).checked.table.to_pylist()
    assert None in row.values()


@pytest.mark.nightly
def test_deviations_tell_of_nobody_that_all_have_one_value(ask):
    first, second = (
        ask(f"SELECT VAR_POP(pay) AS v FROM T WHERE person < {end}", clerks()) for end in (40, 70)
    )
    assert first.permitted
    assert not second.permitted


def test_deviations_are_told_of_others_who_have_several_values(ask):
    first, second = (
        ask(f"SELECT STDDEV(pay) AS v, SUM(pay) AS s FROM T WHERE person < {end}", clerks())
        for end in (40, 90)
    )
    assert first.permitted
    assert second.permitted


@pytest.mark.parametrize(("few", "passes"), [(9, False), (10, True)])
def test_difference_of_few_values_is_told_where_enough_have_each(few, passes):
    """Of the thirty in the one alone, few have 1 and the others 3; nobody else has a value."""
    rating = np.array([1.0] * few + [3.0] * (30 - few) + [0.0, 2.0, 4.0] * 10)
    told = ToldDifferences(np.arange(60), lambda _: rating, PROFILES["sacro"])
    everybody, others = np.ones(60, np.bool_), np.arange(60) >= 30
    assert told("sum:rating", everybody, others) is passes
    assert told("statistics:rating", everybody, others) is passes


def idlers(few):
    """Return persons of whom the first few and 24 are `x` by one key, and the 24 and 15 who have
    nothing by another one."""
    one, two = "x" * (few + 24) + "y" * 35, "y" * few + "x" * 39 + "y" * 20
    pay = [100 + 7 * n % 80 + n / 8 for n in range(few + 24)] + [0.0] * 15
    pay += [90 + 11 * n % 70 + n / 8 for n in range(20)]
    return pa.table({"person": range(len(pay)), "one": [*one], "two": [*two], "pay": pay})


@pytest.mark.one_in(6)
@pytest.mark.parametrize("few", [1, 9])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("AVG(pay) AS m, STDDEV_SAMP(pay) AS s", "STDDEV_SAMP(pay) AS s"),
        ("SUM(pay) AS s", "SUM(pay) AS s"),
        ("AVG(pay) AS s", "AVG(pay) AS s"),
    ],
)
def test_figures_do_not_tell_of_few_beside_those_who_have_nothing(ask, first, second, few):
    table = idlers(few)
    assert ask(f"SELECT one, {first} FROM T GROUP BY one", table).permitted
    assert not ask(f"SELECT two, {second} FROM T GROUP BY two", table).permitted


def test_totals_of_enough_persons_beside_those_who_have_nothing_are_told(ask):
    answers = [ask(f"SELECT {k}, SUM(pay) AS s FROM T GROUP BY {k}", idlers(12)) for k in KEYS]
    assert [one.checked.table["s"].null_count for one in answers] == [0, 0]


KEYS = ("one", "two")
CODES = [(0, 1), (1, 0), (2, 1)]


def overlapping(few):
    """Return rows of 60 units, and those of two populations: the first few and twenty, and these
    and twenty others."""
    rows = np.arange(60)
    return rows < few + 20, (rows >= few) & (rows < few + 40)


@pytest.mark.parametrize("value", [0.0, np.nan])
@pytest.mark.parametrize(("few", "passes"), [(1, False), (9, False), (10, True)])
@pytest.mark.parametrize("profile", ["sacro", "dwb-2015"])
def test_units_that_have_nothing_are_none_of_a_difference(profile, few, passes, value):
    one, other = overlapping(few)
    pay = np.where(other & ~one, value, 100.0 + np.arange(60) / 8)
    told = ToldDifferences(np.arange(60), lambda _: pay, PROFILES[profile])
    assert told("sum:pay", one, other) is told("sum:pay", other, one) is passes
    assert told("statistics:pay", one, other) is (passes and value == 0)
    assert told("count", one, other)


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("value", [0, 1])
def test_whether_a_difference_of_yes_and_no_is_told_depends_on_nobodys_own(value, codes):
    one, other = overlapping(1)
    ill = np.arange(60) % 2
    ill[other & ~one], ill[0] = 0, value
    told = ToldDifferences(np.arange(60), lambda _: np.array(codes)[ill] * 1.0, PROFILES["abs"])
    assert not told("sum:ill", one, other)


def test_units_that_have_what_most_have_are_none_of_a_difference():
    one, other = overlapping(5)
    pay = np.where(other & ~one, 1000.0, 1000.0 + np.arange(60) / 8)
    told = ToldDifferences(np.arange(60), lambda _: pay, PROFILES["sacro"])
    assert not told("sum:pay", one, other)


def test_what_a_unit_has_on_both_sides_does_not_count():
    """Each of twenty units has two rows, of the same, but the first three one alone."""
    units = np.repeat(np.arange(20), 2)
    is_first, is_few = np.arange(40) % 2 == 0, units < 3
    told = ToldDifferences(units, lambda _: 100.0 + units / 8, PROFILES["sacro"])
    assert not told("sum:pay", is_first, ~is_first & ~is_few)


def test_units_that_add_something_are_those_with_other_values_than_nothing():
    told = ToldDifferences(np.arange(4), {"pay": np.array([0, np.nan, 2, 5])}.get, PROFILES["abs"])
    [is_counted] = told.contributing("pay")
    assert is_counted.tolist() == [False, False, True, True]
    assert told.contributing("age") == []


def pair(few, others):
    """Return rows of two populations: what the first few have is in one alone, what the others have
    in the other one, and twenty more in both; and what all have."""
    pay = np.array([*few, *others, *(900.0 + np.arange(20) / 8)])
    rows = np.arange(len(pay))
    is_few, is_other = rows < len(few), (rows >= len(few)) & (rows < len(few) + len(others))
    return ~is_other, ~is_few, pay


RARE = [100.0 + n / 8 for n in range(10)]


@pytest.mark.parametrize("count", [10, 15, 40])
@pytest.mark.parametrize(("few", "passes"), [(1, False), (9, False), (10, True)])
@pytest.mark.parametrize("values", [(0.0, 150.0), (140.0, 150.0), (0.0, np.nan)])
def test_units_that_have_what_enough_have_hide_nobody_whatever_it_is(values, few, passes, count):
    one, other, pay = pair(RARE[:few], [*values] * count)
    told = ToldDifferences(np.arange(len(pay)), lambda _: pay, PROFILES["sacro"])
    assert told("sum:pay", one, other) is told("sum:pay", other, one) is passes


@pytest.mark.parametrize("others", [[], [0.0], [0.0] * 15])
def test_units_with_nothing_do_not_switch_off_the_rule_of_few_values(others):
    one, other, pay = pair([160.0, *[150.0] * 9], others)
    told = ToldDifferences(np.arange(len(pay)), lambda _: pay, PROFILES["sacro"])
    assert not told("sum:pay", one, other)


@pytest.mark.parametrize("codes", [(0.0, 1.0), (1.0, 2.0), (0.0, 1.0, 2.0)])
@pytest.mark.parametrize(
    ("few", "count", "passes"), [(1, 15, False), (12, 15, True), (1, 99, True)]
)
def test_few_codes_of_both_or_of_many_are_told(codes, few, count, passes):
    one, other, rating = pair([*codes] * few if few > 1 else codes[:1], [*codes] * (count + 1))
    rating[-20:] = codes[0]
    told = ToldDifferences(np.arange(len(rating)), lambda _: rating, PROFILES["sacro"])
    assert told("sum:rating", one, other) is passes


def test_rows_of_a_unit_are_added_up_before_they_are_compared_with_those_of_others():
    """Thirty units have two rows of 300 together, which are in the second population alone."""
    units = np.append(np.repeat(np.arange(30), 2), np.arange(30, 51))
    parts = np.array([[100.0 + n, 200.0 - n] for n in range(30)]).ravel()
    pay = np.append(parts, 90.0 + np.arange(21) / 8)
    told = ToldDifferences(units, lambda _: pay, PROFILES["sacro"])
    assert not told("sum:pay", units >= 30, units != 30)


@pytest.mark.parametrize(("count", "masks"), [(9, 1), (10, 2)])
def test_units_with_the_most_common_value_add_nothing_if_they_are_enough(count, masks):
    pay = np.append(np.full(count, 1000.0), np.arange(1001, 1031))
    told = ToldDifferences(np.arange(len(pay)), lambda _: pay, PROFILES["sacro"])
    sums = [int(one.sum()) for one in told.contributing("pay")]
    assert sums == [count + 30, 30][:masks]


def test_of_yes_and_no_those_with_each_add_something():
    told = ToldDifferences(np.arange(3), lambda _: np.array([1.0, 2.0, 2.0]), PROFILES["abs"])
    masks = [one.tolist() for one in told.contributing("ill")]
    assert masks == [[True] * 3, [False, True, True], [True, False, False]]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("function", ["SUM", "AVG"])
@pytest.mark.parametrize(("few", "count"), [(1, 0), (9, 0), (10, 1)])
def test_three_figures_do_not_tell_of_few_beside_those_who_have_nothing(ask, function, few, count):
    """The first total less both others is that of the few, and of nobody else who has anything."""
    sizes = (few, 24, 20, 15, 12, 20)
    parts = np.repeat(["xyy", "xxy", "xyx", "yxy", "yyx", "yyy"], sizes)
    pay = np.where(np.isin(parts, ["yxy", "yyx"]), 0, 90.0 + np.arange(len(parts)) * 7 % 80)
    columns = {key: [one[place] for one in parts] for place, key in enumerate("abc")}
    table = pa.table({"person": range(len(pay)), "pay": pay, **columns})
    answers = [
        ask(f"SELECT {key}, {function}(pay) AS s FROM T GROUP BY {key}", table) for key in "abc"
    ]
    tables = [one.checked.table.to_pydict() for one in answers]
    assert [one["s"][0] is not None for one in tables] == [True, True, bool(count)]


@pytest.mark.parametrize("values", [(0.0, 150.0), (150.0, 160.0)])
@pytest.mark.parametrize("others", [0.0, 150.0, 300.0])
def test_what_all_of_a_part_have_is_known_there(values, others):
    """Of the first part nobody has what others have; the next two have a value each."""
    pay = np.array([*RARE, *[values[0]] * 15, *[values[1]] * 15, *[others] * 90])
    parts = np.repeat(np.arange(4), [10, 15, 15, 90])
    told = ToldDifferences(np.arange(130), lambda _: pay, PROFILES["sacro"])
    *_, is_counted = told.contributing("pay", parts)
    assert np.flatnonzero(is_counted).tolist() == [*range(10)]


def test_who_has_which_of_common_values_is_not_known_of_many():
    pay = np.tile(np.arange(1.0, 13.0), 30)
    told = ToldDifferences(np.arange(360), lambda _: pay, PROFILES["sacro"])
    *_, is_counted = told.contributing("pay", np.zeros(360, np.int64))
    assert is_counted.sum() == 330


def nearly_alike(step, others=30, apart=1):
    """Return pays: of many, of others who have nearly 150, and of some who have 237 and more."""
    many = np.random.default_rng(5).lognormal(5, 0.3, 200)
    alike = 150 + step * np.arange(others)
    pay = np.concatenate([many, alike, 237 + 40.0 * np.arange(apart)])
    is_in = np.arange(len(pay))[:, None] >= np.array([0, 200, 200 + others])
    return pay, *is_in.T


def tells(pay, one, other, system="sum:pay", profile="sacro"):
    return ToldDifferences(np.arange(len(pay)), lambda _: pay, PROFILES[profile])(
        system, one, other
    )


@pytest.mark.parametrize("profile", ["sacro", "dwb-2015", "abs"])
@pytest.mark.parametrize("step", [0.0001, 0.01])
@pytest.mark.parametrize("others", [30, 150])
def test_those_who_have_nearly_the_same_do_not_hide_another(step, others, profile):
    """Neither where all of them are in one figure, nor where he is in one and they in another."""
    pay, _, is_told, is_apart = nearly_alike(step, others)
    nobody = np.zeros(len(pay), np.bool_)
    assert not tells(pay, is_told, nobody, profile=profile)
    assert not tells(pay, is_told & ~is_apart, is_apart, profile=profile)
    assert not tells(pay, is_told, nobody, "statistics:pay", profile=profile)


def test_those_who_have_nearly_the_same_are_told_of_by_themselves():
    pay, _, is_told, is_apart = nearly_alike(0.01)
    assert tells(pay, is_told & ~is_apart, np.zeros(len(pay), np.bool_))


def test_enough_others_hide_each_other_whoever_has_nearly_the_same():
    pay, _, is_told, _ = nearly_alike(0.01, apart=12)
    assert tells(pay, is_told, np.zeros(len(pay), np.bool_))


def test_what_many_have_hides_another_where_it_is_as_open_as_he_needs():
    """Of 400 who have from 150 to 250, ten have the same but for 2.5 each: 1,000 in all."""
    pay, _, is_told, _ = nearly_alike(0.25, others=400)
    assert tells(pay, is_told, np.zeros(len(pay), np.bool_))


@pytest.mark.parametrize("draw", range(5))
def test_incomes_of_a_dozen_are_told(draw):
    pay = np.random.default_rng(draw).lognormal(10, 0.5, 500).round(2)
    one = np.arange(500) < 480 + 8
    assert tells(pay, np.ones(500, np.bool_), one)
