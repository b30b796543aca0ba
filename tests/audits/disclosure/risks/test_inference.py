"""What of a sensitive column is guessed from the others known."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.risks.inference import inferences, inferred
from policy_engine.kernels.rank_swapping import rank_swap
from policy_engine.methods.maskings.noise import Noise
from policy_engine.methods.maskings.rank_swapping import RankSwapping

PERSONS = {"city": ["Bern"] * 4 + ["Oslo"] * 6, "ill": ["flu"] * 4 + ["gout"] * 3 + ["flu"] * 3}


def columns(before, after=None):
    original, release = pa.table(before), pa.table(after or before)
    return known_columns(original, release, original.column_names, None, {})


def known_by(known):
    """Return two files with these columns, the records in the order of persons."""
    rows = len(known[0].before)
    return TwoFiles(tuple(known), np.arange(rows), rows)


def test_values_are_guessed_as_those_of_the_nearest_records():
    city, ill = columns(PERSONS)
    found = inferred(known_by([city]), ill)
    # All of Bern; of Oslo half, whichever of two equally frequent values is guessed.
    assert (found.value, found.baseline) == (0.7, 0.7)
    assert found.low < 0.7 < found.high
    assert not found.beats_baseline


def test_values_that_go_with_nothing_known_are_guessed_no_better_than_from_all():
    random = np.random.default_rng(3)
    before = {"age": random.integers(0, 5, 3000), "ill": random.choice(["a", "b"], 3000)}
    age, ill = columns(before)
    found = inferred(known_by([age]), ill)
    assert found.value == pytest.approx(found.baseline, abs=0.03)


def test_numbers_are_guessed_within_a_tenth_of_a_deviation():
    before = {"city": ["Bern"] * 5 + ["Oslo"] * 5, "pay": [100.0, 101, 102, 100, 101] + [900.0] * 5}
    city, pay = columns(before)
    found = inferred(known_by([city]), pay)
    assert (found.value, found.baseline) == (1, 0.5)


def test_too_few_persons_for_an_interval_are_said():
    city, ill = columns({"city": ["Bern"] * 9, "ill": ["flu"] * 9})
    assert inferred(known_by([city]), ill).reason == "9 persons are too few for an interval"


YEARS = [20, 30, 40, 50] * 10


@pytest.mark.parametrize("outlier", [2.0**70, 1e200, float("inf"), 10.0**12])
def test_one_value_far_out_hides_not_that_others_are_learned(outlier):
    pay = [outlier] + [1000.0 * age for age in YEARS[1:]]
    age, column = columns({"age": YEARS, "pay": pay})
    risk = inferred(known_by([age]), column)
    assert risk.value >= 0.97
    assert risk.baseline < 0.3


def test_integers_beyond_the_digits_of_floats_are_learned_exactly():
    age, account = columns({"age": YEARS, "account": [2**62 + age for age in YEARS]})
    risk = inferred(known_by([age]), account)
    assert (risk.value, risk.baseline) == (1, 0.25)


def test_a_mark_for_many_unknown_values_does_not_make_all_others_equal():
    ends = [999_999_999] * 12 + [1000 * age for age in YEARS[12:]]
    age, column = columns({"age": YEARS, "end": ends})
    risk = inferred(known_by([age]), column)
    assert (risk.value, risk.baseline) == (0.7, 0.3)


def test_columns_that_say_nothing_do_not_hide_one_that_tells():
    random = np.random.default_rng(2)
    before = {"age": YEARS, "ill": [f"v{age}" for age in YEARS]}
    noise = {f"n{place}": random.normal(0, 1, 40) for place in range(4)}
    after = {f"n{place}": random.normal(0, 1, 40) for place in range(4)}
    *known_columns, ill = columns({**noise, **before}, {**after, **before})
    risk = inferred(known_by(known_columns), ill)
    assert (risk.known, risk.value, risk.baseline) == (("age",), 1, 0.25)


def test_many_records_tell_what_single_ones_hide():
    # Ill are two of three of the old, one of three of the young: a nearest record copies chance.
    random = np.random.default_rng(2)
    age = random.permutation(1_200)
    rare, common = random.random(1_200) < 1 / 3, random.random(1_200) < 2 / 3
    ill = np.where(np.where(age >= 600, common, rare), "yes", "no")
    known, column = columns({"age": age, "ill": ill}, {"age": age ^ 1, "ill": ill})
    nearest, *others = inferences(known_by([known]), column)
    assert nearest.value < 0.58
    assert max(one.value for one in others) > 0.62
    assert {one.detail for one in others} >= {"by the best split of its values in two"}


def test_many_records_are_not_asked_where_values_go_with_nothing_known():
    before = {"age": [*range(400)], "ill": ["yes", "no", "no", "yes"] * 100}
    age, ill = columns(before)
    assert [one.detail for one in inferences(known_by([age]), ill)] == ["", "the commonest of all"]


def test_nobody_guesses_less_than_by_the_commonest_value():
    # The nearest record of everybody has another value than the own, for half of them or more.
    before = {"age": [*range(40)], "ill": [*["yes", "no", "no"] * 13, "no"]}
    age, ill = columns(before, {**before, "age": [*range(1, 40), 0]})
    nearest, *_, by_nothing = inferences(known_by([age]), ill)
    assert nearest.value < nearest.baseline == by_nothing.value == 27 / 40
    assert inferred(known_by([age]), ill).value == 27 / 40


@pytest.mark.nightly
def test_two_columns_that_tell_together_alone_are_found_among_many():
    random = np.random.default_rng(2)
    known = {f"c{place}": random.permutation(400) for place in range(12)}
    after = {name: random.permutation(one) for name, one in known.items()}
    after |= {name: known[name] ^ 1 for name in ("c3", "c8")}
    ill = (known["c3"] >= 200) ^ (known["c8"] >= 200)
    *others, column = columns({**known, "ill": ill}, {**after, "ill": ill})
    risk = inferred(known_by(others), column)
    assert risk.known == ("c3", "c8")
    assert risk.value > 0.9


@pytest.fixture
def many_columns():
    """Ten columns of which each tells a little of a sum, and what noise makes of them."""
    random = np.random.default_rng(2)
    known = {f"c{place}": random.normal(size=600) for place in range(8)}
    known |= {f"t{place}": random.choice(["no", "yes"], 600) for place in range(2)}
    after = {
        name: one + random.normal(size=600) if name[0] == "c" else one
        for name, one in known.items()
    }
    return (
        known,
        after,
        sum(one if one.dtype == float else (one == "yes") for one in known.values()),
    )


@pytest.mark.nightly
def test_what_many_columns_tell_a_little_each_is_guessed_by_a_linear_model(many_columns):
    known, after, total = many_columns
    ill = np.where(total > 1, "yes", "no")
    *others, column = columns({**known, "ill": ill}, {**after, "ill": ill})
    risks = inferences(known_by(others), column)
    risk = inferred(known_by(others), column)
    assert risk.known == tuple(known)
    assert risk.detail == "by a linear model of who has which value"
    assert risk.value > 0.85
    assert max(one.value for one in risks if one is not risk and one != risk) < 0.75


@pytest.mark.nightly
def test_a_number_that_is_a_sum_of_many_is_guessed_by_a_linear_model(many_columns):
    known, _, total = many_columns
    *others, column = columns({**known, "pay": total}, {**known, "pay": total})
    exact = [
        one for one in inferences(known_by(others), column) if "model of the number" in one.detail
    ]
    assert [one.value for one in exact] == [1]


def masked_files(known, masked, method, **parameters):
    """Return what is known of columns that were masked by a method, whose parameters are known."""
    columns_ = [
        replace(one, masking=method(name=one.name, **parameters)) for one in columns(known, masked)
    ]
    return replace(known_by(columns_), is_published=True)


def test_values_are_guessed_by_the_partners_of_swaps():
    random = np.random.default_rng(1)
    known = {name: random.normal(size=200) for name in "abc"}
    words = random.integers(0, 2**63, (3, 200)).astype(np.uint64)
    masked = {
        name: values[rank_swap(values, some, 0.15, "plain")]
        for (name, values), some in zip(known.items(), words, strict=True)
    }
    [ill] = columns({"ill": random.choice(["no", "yes"], 200)})
    files = masked_files(known, masked, RankSwapping, p=0.15)
    by_partners = {one.detail: one.value for one in inferences(files, ill)}
    assert by_partners["by the partners of swaps"] > 0.95
    assert max(one.value for one in inferences(replace(files, is_published=False), ill)) < 0.7


def test_values_are_guessed_by_all_records_as_likely_as_noise_makes_them():
    # The nearest record, 12, tells nothing; those around it are ill as the person is.
    known = {"a": [10.0] * 10}
    masked = {"a": [12.0, 7, 7.2, 7.4, 7.6, 7.8, 12.9, 13, 90, 95]}
    [ill] = columns({"ill": ["yes"] * 10}, {"ill": ["no"] + ["yes"] * 5 + ["no"] * 4})
    files = masked_files(known, masked, Noise, sdShare=0.1)
    by_likelihood = {one.detail: one.value for one in inferences(files, ill)}
    assert by_likelihood["by how likely each record is"] == 1
    assert by_likelihood[""] == 0


def noisy_files(known, random, **parameters):
    masked = {name: one + random.normal(0, one.std(), len(one)) for name, one in known.items()}
    return masked_files(known, masked, Noise, sdShare=1.0, **parameters)


def best_by(files, sensitive):
    """Return the greatest share that is guessed in each way."""
    risks = sorted(inferences(files, sensitive), key=lambda one: one.value)
    return {one.detail: one.value for one in risks}


def test_values_are_guessed_by_inverting_the_masking():
    # The fifth with the greatest values is ill; of no part of the noisy ones more than half are.
    random = np.random.default_rng(1)
    known = random.normal(size=500)
    [ill] = columns({"ill": np.where(known > np.quantile(known, 0.8), "yes", "no")})
    files = noisy_files({"a": known}, random)
    shares = best_by(files, ill)
    assert shares["by inverting the masking"] > 0.95
    assert max(best_by(replace(files, is_published=False), ill).values()) < 0.9


@pytest.mark.nightly
def test_what_noisy_columns_tell_a_little_each_is_guessed_by_whom_to_expect_of_records():
    random = np.random.default_rng(1)
    known = {name: random.normal(size=500) for name in "abcd"}
    total = sum(known.values())
    [ill] = columns({"ill": np.where(total > np.quantile(total, 0.8), "yes", "no")})
    shares = best_by(noisy_files(known, random), ill)
    expected = shares["by a linear model of the person to expect of each record"]
    assert expected > 0.92
    assert shares.get("by a linear model of who has which value", 0) < expected - 0.04


def test_a_record_that_many_may_have_is_less_likely_each_ones():
    random = np.random.default_rng(1)
    known = {name: random.normal(size=300) for name in "abcdef"}
    [ill] = columns({"ill": random.choice(list("uvwxyz"), 300)})
    shares = best_by(noisy_files(known, random), ill)
    alone = shares["by how likely each record is"]
    assert shares["by how likely each record is, each one person's"] > alone + 0.05


def test_a_masking_is_not_inverted_where_values_go_with_nothing_known():
    random = np.random.default_rng(1)
    [ill] = columns({"ill": random.choice(["yes", "no"], 400)})
    ways = best_by(noisy_files({"a": random.normal(size=400)}, random), ill)
    assert not [one for one in ways if "inverting" in one or "expect" in one]
