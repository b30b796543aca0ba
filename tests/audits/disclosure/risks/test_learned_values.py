import numpy as np
import pyarrow as pa

from policy_engine.audits.disclosure.files import known_columns
from policy_engine.audits.disclosure.risks.attributes import (
    MaskedNumbers,
    homogeneous,
    interval_disclosure,
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
