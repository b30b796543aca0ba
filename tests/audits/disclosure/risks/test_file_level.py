"""Risks of a release by its classes, by hand and by published figures."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.files import known_columns
from policy_engine.audits.disclosure.risks.classes import KnownClasses
from policy_engine.audits.disclosure.risks.file_level import CountedPopulation, Share, file_risks
from policy_engine.kernels.estimates import NotApplicable

NOBODY = NotApplicable(reason="nobody told")
# The keys and weights of a test of sdcMicro (tests/testthat/test_freqCalc.R).
KEYS = {
    "a": [2, 3, 2, 2, 3, 3, 1, 2],
    "b": [3, 3, 3, 3, 3, 3, 4, 3],
    "c": [1, 3, 1, 2, 1, 1, 1, 1],
}
WEIGHTS = np.array([18, 45.5, 39, 17, 92, 8, 123.5, 51])


def classes(keys=KEYS):
    table = pa.table(keys)
    return KnownClasses.of(known_columns(table, table, table.column_names, None, {}))


def figures(found):
    return {one.measure: one.value for one in found.risks}


def test_records_are_found_by_who_knows_that_they_are_released():
    found = figures(file_risks(classes(), 0.4, NOBODY, NOBODY))
    # Classes of 3, 2, 1, 1 and 1 records.
    assert found["prosecutor-mean"] == 5 / 8
    assert found["prosecutor-largest"] == 1
    assert found["prosecutor-above"] == 5 / 8
    assert found["sample-uniques"] == 3 / 8
    # Records 2 (c is 3), 4 (c is 2) and 7 (a is 1) are unique by a single column.
    assert found["special-uniques"] == 3 / 8


def test_individual_risks_are_those_of_sdcmicro():
    of = classes()
    share = Share.of_weights(of, WEIGHTS)
    assert share.by_class[of.class_of].tolist() == [108, 45.5, 108, 17, 100, 100, 123.5, 108]
    found = file_risks(of, 0.1, NOBODY, share)
    # Exact where sdcMicro's default approximates: its test expects .01355297 for f = 3.
    risks = [0.01355297] * 3 + [0.08579129, 0.17707583, 0.01877883, 0.01877883, 0.03931625]
    assert figures(found)["individual-mean"] == pytest.approx(np.mean(risks), abs=1e-7)
    assert figures(found)["individual-largest"] == pytest.approx(0.17707583, abs=1e-7)
    assert figures(found)["individual-above"] == 1 / 8


def test_a_population_tells_how_rare_released_classes_are():
    of = classes({"city": ["Bern", "Bern", "Oslo", "Rome"]})
    in_bern, in_oslo, in_rome = 4, 1, 10
    found = figures(
        file_risks(of, 0.2, CountedPopulation(15, np.array([in_bern, in_oslo, in_rome])), NOBODY)
    )
    assert found["marketer"] == pytest.approx((2 / 4 + 1 + 1 / 10) / 4)
    assert found["journalist-largest"] == 1
    assert found["journalist-above"] == 3 / 4
    assert found["k-map"] == 1
    assert found["counted-uniques"] == 1 / 4
    assert (found["presence-least"], found["presence-largest"]) == (1 / 10, 1)


def test_somebody_in_no_released_class_is_certainly_not_in_the_release():
    of = classes({"city": ["Bern"]})
    found = figures(file_risks(of, 0.2, CountedPopulation(5, np.array([4])), NOBODY))
    assert (found["presence-least"], found["presence-largest"]) == (0, 1 / 4)


def test_what_is_not_known_is_not_estimated():
    found = file_risks(classes(), 0.2, NOBODY, NOBODY)
    assert {one.measure for one in found.not_run} >= {
        "marketer", "k-map", "individual", "log-linear", "population-uniques", "suda-dis",
    }  # fmt: skip
    assert {one.reason for one in found.not_run} == {"nobody told"}


def test_an_estimate_that_is_not_valid_is_said_to_be_none():
    of = classes({"city": ["Bern", "Bern", "Oslo", "Oslo"]})
    found = file_risks(of, 0.2, NOBODY, Share.of_sample(of, 0.5))
    reasons = {one.measure: one.reason for one in found.not_run}
    assert reasons["population-uniques"] == "Zayatz's model: no record is unique in the sample"
    assert "population-uniques" not in figures(found)


def test_a_sample_tells_of_population_uniques():
    random = np.random.default_rng(1)
    of = classes({"age": random.integers(0, 60, 400), "town": random.integers(0, 12, 400)})
    found = figures(file_risks(of, 0.2, NOBODY, Share.of_sample(of, 0.25)))
    assert 0 < found["log-linear-uniques"] <= found["log-linear-links"] <= found["sample-uniques"]
    # Most classes of 720 have one of 1,600 persons or more: fewer uniques than in the sample.
    assert 0 < found["population-uniques"] < found["sample-uniques"]


def test_the_distribution_of_risks_falls_from_all_records_to_the_riskiest():
    found = file_risks(classes(), 0.2, NOBODY, NOBODY).distributions[0]
    told = dict(zip(found.at, found.shares, strict=True))
    assert (told[1e-6], told[1 / 3], told[1 / 2], told[1]) == (1, 1, 5 / 8, 3 / 8)
    assert list(found.shares) == sorted(found.shares, reverse=True)


def test_the_order_of_records_decides_nothing():
    random = np.random.default_rng(2)
    keys = {name: random.integers(0, 4, 200) for name in "abc"}
    weights, order = random.uniform(1, 9, 200), random.permutation(200)
    first, second = classes(keys), classes({name: one[order] for name, one in keys.items()})
    found = [
        file_risks(of, 0.2, NOBODY, Share.of_weights(of, given))
        for of, given in ((first, weights), (second, weights[order]))
    ]
    assert found[0] == found[1]
