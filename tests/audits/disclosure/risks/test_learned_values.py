import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.files import known_columns
from policy_engine.audits.disclosure.risks.attributes import (
    MaskedNumbers,
    homogeneous,
    inferred,
    interval_disclosure,
    known_sets,
)
from policy_engine.audits.disclosure.risks.classes import KnownClasses

PERSONS = {"city": ["Bern"] * 4 + ["Oslo"] * 6, "ill": ["flu"] * 4 + ["gout"] * 3 + ["flu"] * 3}


def columns(before, after=None):
    original, release = pa.table(before), pa.table(after or before)
    return known_columns(original, release, original.column_names, None, {})


def test_classes_of_one_value_tell_it_for_certain():
    city, ill = columns(PERSONS)
    certain, likely = homogeneous(KnownClasses.of([city]), ill)
    assert (certain.measure, certain.value, certain.baseline) == ("homogeneity", 0.4, 0)
    # All of Bern and half of Oslo; of the whole release, 7 of 10 have the flu.
    assert (likely.value, likely.baseline) == (0.7, 0.7)


def test_one_value_for_all_is_nothing_that_classes_tell():
    city, ill = columns({"city": ["Bern", "Oslo"], "ill": ["flu", "flu"]})
    certain, _ = homogeneous(KnownClasses.of([city]), ill)
    assert (certain.value, certain.baseline, certain.beats_baseline) == (1, 1, False)


def test_values_are_guessed_as_those_of_the_nearest_records():
    city, ill = columns(PERSONS)
    found = inferred([city], ill)
    # All of Bern; of Oslo half, whichever of two equally frequent values is guessed.
    assert (found.value, found.baseline) == (0.7, 0.7)
    assert found.low < 0.7 < found.high
    assert not found.beats_baseline


def test_values_that_go_with_nothing_known_are_guessed_no_better_than_from_all():
    random = np.random.default_rng(3)
    before = {"age": random.integers(0, 5, 3000), "ill": random.choice(["a", "b"], 3000)}
    age, ill = columns(before)
    found = inferred([age], ill)
    assert found.value == pytest.approx(found.baseline, abs=0.03)


def test_numbers_are_guessed_within_a_tenth_of_a_deviation():
    before = {"city": ["Bern"] * 5 + ["Oslo"] * 5, "pay": [100.0, 101, 102, 100, 101] + [900.0] * 5}
    city, pay = columns(before)
    found = inferred([city], pay)
    assert (found.value, found.baseline) == (1, 0.5)


def test_too_few_persons_for_an_interval_are_said():
    city, ill = columns({"city": ["Bern"] * 9, "ill": ["flu"] * 9})
    assert inferred([city], ill).reason == "9 persons are too few for an interval"


def masked(noise, *, missing=False):
    random = np.random.default_rng(4)
    pay = random.normal(size=500)
    after = pay + noise * random.normal(size=500)
    known = columns({"pay": pay}, {"pay": [None, *after[1:]] if missing else after})
    return MaskedNumbers.of(known, np.arange(500))


def test_an_interval_around_numbers_of_little_noise_tells_them():
    within, ranks = interval_disclosure(masked(0.01))
    assert within.value > 0.99
    assert within.baseline < 0.1
    assert ranks.value > 0.99
    assert 0.1 < ranks.baseline < 0.12


def test_an_interval_around_much_noise_tells_no_more_than_that_of_another_record():
    within, _ = interval_disclosure(masked(30))
    assert within.low < within.baseline < within.high


def test_a_number_that_is_suppressed_tells_nothing():
    numbers = masked(0.01, missing=True)
    assert (len(numbers.before), numbers.persons) == (499, 500)


def test_numbers_as_they_were_are_not_masked():
    known = columns({"pay": [1.0, 2, 3]})
    [none] = interval_disclosure(MaskedNumbers.of(known, np.arange(3)))
    assert none.reason == "no known column has masked numbers whose rows can be matched"


YEARS = [20, 30, 40, 50] * 10


@pytest.mark.parametrize("outlier", [2.0**70, 1e200, float("inf"), 10.0**12])
def test_one_value_far_out_hides_not_that_others_are_learned(outlier):
    pay = [outlier] + [1000.0 * age for age in YEARS[1:]]
    age, column = columns({"age": YEARS, "pay": pay})
    risk = inferred([age], column)
    assert risk.value >= 0.97
    assert risk.baseline < 0.3


def test_integers_beyond_the_digits_of_floats_are_learned_exactly():
    age, account = columns({"age": YEARS, "account": [2**62 + age for age in YEARS]})
    risk = inferred([age], account)
    assert (risk.value, risk.baseline) == (1, 0.25)


def test_a_mark_for_many_unknown_values_does_not_make_all_others_equal():
    ends = [999_999_999] * 12 + [1000 * age for age in YEARS[12:]]
    age, column = columns({"age": YEARS, "end": ends})
    risk = inferred([age], column)
    assert (risk.value, risk.baseline) == (0.7, 0.3)


def test_columns_that_say_nothing_do_not_hide_one_that_tells():
    random = np.random.default_rng(2)
    before = {"age": YEARS, "ill": [f"v{age}" for age in YEARS]}
    noise = {f"n{place}": random.normal(0, 1, 40) for place in range(4)}
    after = {f"n{place}": random.normal(0, 1, 40) for place in range(4)}
    *known_columns, ill = columns({**noise, **before}, {**after, **before})
    risk = inferred(known_columns, ill)
    assert (risk.known, risk.value, risk.baseline) == (("age",), 1, 0.25)


def test_values_are_guessed_by_each_column_the_first_ones_and_all():
    names = "abc"
    sets = known_sets(columns({name: [1, 2] for name in names}))
    assert [tuple(one.name for one in some) for some in sets] == [
        ("a",), ("b",), ("c",), ("a", "b"), ("a", "b", "c"),
    ]  # fmt: skip
