"""Tables randomised record by record: every cell is answered, whatever it holds."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.randomising.persons import record_weights
from policy_engine.engines.randomising.tables import (
    count_strange,
    randomise_table,
    read_answers,
)
from policy_engine.errors import DataError
from policy_engine.kernels.local_privacy.frequencies import estimate_frequencies
from policy_engine.plan.randomisation import Randomisation

KEY = b"k" * 32
CATEGORIES = ("F", "M")
ALL = [
    {"name": "sex", "randomiser": "k-ary-randomised-response", "categories": CATEGORIES},
    {"name": "code", "randomiser": "symmetric-unary-encoding", "categories": ("1", "2", "3")},
    {"name": "site", "randomiser": "optimised-unary-encoding", "categories": ("x", "y")},
    {"name": "town", "randomiser": "optimised-local-hashing", "categories": ("a", "b")},
    {"name": "days", "randomiser": "piecewise", "lower": 0.0, "upper": 14.0},
    {"name": "wage", "randomiser": "duchi", "lower": 0.0, "upper": 1.0, "grid": 0.25},
]


def asked(*columns, epsilon="6", **other):
    other |= {"dataset": "http://x.org/Visits"} if "unit" in other else {}
    return Randomisation(columns=list(columns), epsilon=Decimal(epsilon), **other)


def table(rows=300):
    random = np.random.default_rng(0)
    return pa.table(
        {
            "sex": random.choice(["F", "M", "?"], rows),
            "code": random.integers(0, 5, rows),
            "site": random.choice(["x", "y"], rows),
            "town": random.choice(["a", "b"], rows),
            "days": random.integers(-5, 20, rows),
            "wage": random.random(rows),
        }
    )


@pytest.mark.parametrize("column", ALL, ids=lambda one: one["randomiser"])
def test_every_cell_is_one_that_may_be_published(column):
    one = asked(column)
    published = randomise_table(table(), one, None)
    assert published.num_rows == 300
    assert published.column(0).null_count == 0
    assert count_strange(published, one) == (0,)


@pytest.mark.parametrize("column", ALL, ids=lambda one: one["randomiser"])
def test_cells_that_could_not_be_published_are_counted(column):
    one = asked(column)
    published = pa.table({column["name"]: ["nonsense", None, "-", "b01x", "0:1", ""]})
    assert count_strange(published, one) == (6,)


def test_a_record_answers_for_one_column_where_one_is_drawn():
    one = asked(*ALL[:3], compose="sample-one-attribute")
    published = randomise_table(table(3_000), one, None)
    answered = sum(
        np.array([value is not None for value in published.column(name).to_pylist()]).astype(int)
        for name in one.names
    )
    assert (answered == 1).all()
    assert count_strange(published, one) == (0, 0, 0)
    for name in one.names:
        assert 800 < 3_000 - published.column(name).null_count < 1_200


def test_a_shared_epsilon_is_that_of_each_column_together():
    one = asked({**ALL[0], "share": 1.0}, {**ALL[2], "share": 2.0}, epsilon="0.9")
    epsilons = [one.epsilon_of(column) for column in one.columns]
    assert epsilons == [Fraction(3, 10), Fraction(6, 10)]
    sampled = asked(*ALL[:2], epsilon="0.9", compose="sample-one-attribute")
    assert [sampled.epsilon_of(column) for column in sampled.columns] == [Fraction(9, 10)] * 2


WEIRD = [
    pa.array([None, "F", "f", " F", "", "F\0", "☃"]),
    pa.array([None, 1.0, float("nan"), float("inf"), -0.0, 1e308, 2.5]),
    pa.array([None, 1, 2, 3, -(2**63), 2**63 - 1, 0]),
    pa.array([None, True, False, True, True, False, None]),
    pa.array([[1], [], None, [1, 2], [3], [4], [5]]),
    pa.array([{"a": 1}] * 7),
    pa.array([b"F", b"\xff", None, b"", b"1", b"2", b"3"]),
    pa.nulls(7),
    pa.array([None, "1e999999999", "1e-999999999", "nan", "-inf", "1_0", "0x1"]),
]


FAR = pa.array([None, 2**62, -(2**62), 10**12, 0, 1, 2], pa.int64())
FAR_DAYS = pa.array([None, 2**31 - 1, -(2**31), 2**30, 0, 1, 2], pa.int32()).cast(pa.date32())
WEIRD += [
    FAR_DAYS,
    *(FAR.cast(pa.timestamp(unit, zone)) for unit in ("s", "us", "ns") for zone in (None, "CET")),
    *(FAR.cast(kind) for kind in (pa.duration("s"), pa.date64(), pa.time64("ns"))),
    pa.nulls(7, pa.month_day_nano_interval()),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("column", ALL, ids=lambda one: one["randomiser"])
@pytest.mark.parametrize("cells", WEIRD, ids=lambda cells: str(cells.type))
def test_no_cell_is_an_error_or_left_as_it_is(column, cells):
    one = asked(column)
    published = randomise_table(pa.table({column["name"]: cells}), one, None)
    assert count_strange(published, one) == (0,)


def test_what_is_missing_or_none_of_the_categories_counts_as_another_one():
    """At an epsilon of 60 an answer is true, but once in 10^26."""
    one = asked({**ALL[0], "otherwise": "unknown"}, epsilon="60")
    cells = pa.table({"sex": ["F", "M", None, "X"]})
    published = randomise_table(cells, one, None).column("sex").to_pylist()
    assert sorted(published) == ["F", "M", "unknown", "unknown"]


def test_numbers_are_rounded_to_the_grid_and_cut_off_at_the_bounds():
    """At an epsilon of 60, `piecewise` tells the number as it is, on a grid of few steps."""
    column = {"name": "n", "randomiser": "piecewise", "lower": 0.0, "upper": 3.0, "missingAs": 2.0}
    one = asked(column, epsilon="60")
    cells = pa.table({"n": [-7.0, 0.4, 1.6, 99.0, None]})
    published = randomise_table(cells, one, None).column("n").to_pylist()
    assert sorted(published) == [0, 0, 2, 2, 3]


@pytest.mark.parametrize("column", ALL[:4], ids=lambda one: one["randomiser"])
def test_frequencies_are_estimated_from_the_published_cells(column):
    one = asked(column, epsilon="2")
    [randomiser] = one.columns
    rows = 20_000
    cells = pa.table({column["name"]: [randomiser.categories[0]] * rows})
    published = randomise_table(cells, one, None).column(0)
    mechanism = randomiser.mechanism(Fraction(2))
    answers = read_answers(published, randomiser, Fraction(2))
    assert answers.number == rows
    told = [answers.hashes, answers.codes] if answers.hashes is not None else [answers.codes]
    told = [answers.bits] if answers.bits is not None else told
    estimates = estimate_frequencies(mechanism.count(*told), rows, mechanism.supports)
    is_own = [float(value == randomiser.categories[0]) for value in randomiser.values]
    assert estimates.values == pytest.approx(is_own, abs=0.06)


def test_rows_are_in_an_order_that_tells_nothing():
    one = asked(ALL[4], epsilon="60")
    cells = pa.table({"days": np.repeat([0, 14], 500)})
    published = np.array(randomise_table(cells, one, None).column("days").to_pylist())
    assert 150 < (published[:500] < 7).sum() < 350


# -- the same answers again -----------------------------------------------------------------------

PERSONS = [f"p{number}" for number in range(200)]


def _repeated(values, epsilon="1", compose="sum"):
    one = asked(*ALL[:2], epsilon=epsilon, unit="person", compose=compose)
    cells = pa.table({"person": PERSONS, "sex": values, "code": ["1"] * len(PERSONS)})
    return sorted(map(str, randomise_table(cells, one, KEY).to_pylist()))


def test_the_same_persons_with_the_same_values_answer_alike():
    values = ["F", "M"] * 100
    assert _repeated(values) == _repeated(values)
    sampled = {"compose": "sample-one-attribute"}
    assert _repeated(values, **sampled) == _repeated(values, **sampled)


def test_other_values_and_another_epsilon_are_answered_anew():
    values = ["F", "M"] * 100
    assert _repeated(values) != _repeated(["F"] * 200)
    assert _repeated(values) != _repeated(values, epsilon="1.0001")


def test_integers_and_texts_are_the_same_persons():
    one = asked(ALL[0], unit="person")
    made = [
        randomise_table(pa.table({"person": persons, "sex": ["F"] * 50}), one, KEY)
        for persons in (pa.array(range(50)), pa.array(map(str, range(50))))
    ]
    assert sorted(made[0]["sex"].to_pylist()) == sorted(made[1]["sex"].to_pylist())


@pytest.mark.parametrize(
    "stored",
    [
        pa.array(["5"]),
        pa.array(["5"]).dictionary_encode(),
        pa.array([5], pa.uint8()),
        pa.array([5.0]),
        pa.array([Decimal("5.00")]),
    ],
    ids=lambda stored: str(stored.type),
)
def test_persons_are_the_same_however_they_are_stored(stored):
    assert told(stored) == told(pa.array([5]))


def told(persons=("p",), value="7", **settings):
    """Return the answer of a person among a thousand values, which are never alike by chance."""
    many = {"name": "v", "randomiser": "k-ary-randomised-response"}
    many |= {"categories": tuple(map(str, range(1_000)))} | settings
    one = asked(many, epsilon="0.5", unit="person")
    cells = pa.table({"person": persons, "v": [value] * len(persons)})
    return randomise_table(cells, one, KEY)["v"].to_pylist()


def test_what_changes_no_probability_changes_no_answer():
    """With one column its share is of no matter, and neither is the order of categories, or whether
    the value that others count as is named among them."""
    assert told() == told(share=7.0) == told(categories=tuple(map(str, range(999, -1, -1))))
    names = tuple(map(str, range(1_000)))
    assert told(otherwise="3") == told(categories=names[:3] + names[4:], otherwise="3")
    assert told() != told(otherwise="3")


def test_bits_are_in_the_same_order_however_categories_are_named():
    bits = {"name": "v", "randomiser": "optimised-unary-encoding"}
    made = [
        randomise_table(
            pa.table({"v": ["a"] * 99}), asked({**bits, "categories": names}, epsilon="60"), None
        )
        for names in (("a", "b", "c"), ("c", "b", "a"))
    ]
    assert all({"b1000", "b0000"} == {*one["v"].to_pylist()} for one in made)


def test_another_dataset_or_column_of_persons_has_other_answers():
    answers = []
    for dataset, unit in (("x", "p"), ("y", "p"), ("x", "q")):
        one = Randomisation(
            columns=[{**ALL[0], "categories": tuple(map(str, range(1_000)))}],
            epsilon=Decimal("0.5"),
            unit=unit,
            dataset=dataset,
        )
        cells = pa.table({"p": ["a"], "q": ["a"], "sex": ["7"]})
        answers += randomise_table(cells, one, KEY)["sex"].to_pylist()
    assert len({*answers}) == 3


# -- one record of each person --------------------------------------------------------------------


def test_a_person_has_one_answer_however_many_records():
    """At an epsilon of 60 an answer is the value itself."""
    one = asked(ALL[0], epsilon="60", unit="person")
    cells = pa.table({"person": ["a"] * 6 + ["b"] * 3, "sex": ["F"] * 6 + ["M"] * 3})
    assert sorted(randomise_table(cells, one, KEY)["sex"].to_pylist()) == ["F", "M"]


def test_one_whole_record_of_a_person_is_drawn_and_again_the_same():
    """Of F1, F1, M2, M3 each of the three that differ is drawn for a third of 600 persons, and the
    cells are those of one record."""
    one = asked(*ALL[:2], epsilon="64", unit="person")
    records = {"sex": ["F", "F", "M", "M"] * 600, "code": ["1", "1", "2", "3"] * 600}
    cells = pa.table({"person": np.repeat(np.arange(600), 4), **records})
    made = randomise_table(cells, one, KEY)
    pairs = list(zip(made["sex"].to_pylist(), made["code"].to_pylist(), strict=True))
    kinds = {pair: pairs.count(pair) for pair in pairs}
    assert {*kinds} == {("F", "b1000"), ("M", "b0100"), ("M", "b0010")}
    assert all(140 < number < 260 for number in kinds.values())
    again = randomise_table(cells.take(np.arange(2_400)[::-1]), one, KEY)
    assert sorted(map(str, again.to_pylist())) == sorted(map(str, made.to_pylist()))


@pytest.mark.parametrize("nobody", [None, "", " ", "\t \u3000"])
def test_records_without_a_person_are_left_out(nobody):
    one = asked(ALL[0], unit="person")
    cells = pa.table({"person": [nobody] * 9 + ["a"], "sex": ["F"] * 10})
    assert randomise_table(cells, one, KEY).num_rows == 1
    with pytest.raises(DataError, match="R001 No row of the table has a person"):
        randomise_table(cells[:9], one, KEY)


def test_no_number_is_no_person():
    one = asked(ALL[0], unit="person")
    cells = pa.table({"person": [float("nan"), 1.0, None], "sex": ["F"] * 3})
    assert randomise_table(cells, one, KEY).num_rows == 1


@pytest.mark.parametrize(
    "persons",
    [
        pa.array([2**62, 2**61, None, 0], pa.timestamp("s")),
        pa.array([2**31 - 1, -(2**31), None, 0], pa.int32()).cast(pa.date32()),
        pa.array([b"\xff", b"\xfe", None, b"a"]),
        pa.array([[1], [2], None, []]),
    ],
    ids=lambda persons: str(persons.type),
)
def test_persons_are_of_any_type_with_texts_or_bytes(persons):
    one = asked(ALL[0], unit="person")
    cells = pa.table({"person": persons, "sex": ["F"] * 4})
    assert randomise_table(cells, one, KEY).num_rows == 3


def test_the_records_of_a_person_count_as_one_and_those_that_differ_alike():
    """a has F twice and M: F counts a quarter each and M a half."""
    one = asked(ALL[0], unit="person")
    persons = ["a", "a", "a", "b", "", None]
    cells = pa.table({"person": persons, "sex": ["F", "M", "F", "F", "F", "M"]})
    assert record_weights(cells, one).tolist() == [0.25, 0.5, 0.25, 1.0, 0.0, 0.0]


@pytest.mark.nightly
def test_a_person_of_several_records_tells_what_epsilon_says():
    """At an epsilon of log 3, of three values the true one is told with 3/5, once for a person of
    three records."""
    one = asked(ALL[0], epsilon="1.0986", unit="person")
    told_values = []
    for number in range(1_500):
        cells = pa.table({"person": ["a"] * 3, "sex": ["F"] * 3})
        made = randomise_table(cells, one, number.to_bytes(32))
        told_values += made["sex"].to_pylist()
    assert len(told_values) == 1_500
    assert told_values.count("F") / 1_500 == pytest.approx(0.6, abs=0.05)


@pytest.mark.parametrize("key", [None, b"short"])
def test_answers_that_are_repeated_need_the_owners_key(key):
    cells = pa.table({"person": ["a"], "sex": ["F"]})
    with pytest.raises(DataError, match="C013"):
        randomise_table(cells, asked(ALL[0], unit="person"), key)
