"""Risks beside a comparison, by hand."""

import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.risks.compared import compared_risks
from policy_engine.audits.utility.matching import match
from policy_engine.plan.anonymization import Anonymization

ORIGINAL = {"age": [20, 21, 22, 40, 41]}
RELEASE = {"age": ["[20 - 22]", "[20 - 22]", "[40 - 41]", "[40 - 41]"]}


def risks(release, *, shareable=False, suppresses=False, original=ORIGINAL, **settings):
    columns = {"quasi-identifier": [{"name": "age", **settings}]}
    asked = Anonymization(columns=columns, methods={"k-anonymity": {"k": 2}})
    columns = list(match(pa.table(original), pa.table(release), asked, {}))
    return compared_risks(columns, suppresses=suppresses, shareable=shareable)


def figures(found):
    return {one.measure: one.value for one in found.risks}


def test_a_row_that_was_suppressed_hides_others_from_who_knows_the_original_alone():
    found = figures(risks(RELEASE))
    # Both classes have two records; three people could be in the first, two in the second.
    assert found["prosecutor-largest"] == found["prosecutor-mean"] == 1 / 2
    assert found["journalist-largest"] == 1 / 2
    assert found["marketer"] == pytest.approx((2 / 3 + 2 / 2) / 4)
    assert found["prosecutor-above"] == found["journalist-above"] == 1


def test_risks_are_above_the_threshold_in_classes_of_fewer_than_five():
    release = {"age": ["[20 - 24]"] * 5 + ["[30 - 33]"] * 4}
    original = {"age": [20, 21, 22, 23, 24, 30, 31, 32, 33]}
    assert figures(risks(release, original=original))["prosecutor-above"] == pytest.approx(4 / 9)


def test_what_is_shared_tells_of_the_release_alone():
    found = risks(RELEASE, shareable=True)
    assert {*figures(found)} == {
        "prosecutor-mean", "prosecutor-largest", "prosecutor-above", "sample-uniques",
    }  # fmt: skip
    assert {one.reason for one in found.not_run} == {
        "figures of the original are for its owner alone"
    }


def test_who_knows_a_value_does_not_know_what_represents_its_class():
    found = risks({"age": [21.0, 21.0, 40.5, 40.5]}, generalization="mean")
    assert figures(found)["prosecutor-largest"] == 1 / 2
    assert "represents" in found.not_run[0].reason


def test_a_release_with_more_rows_of_a_class_than_the_original_has_no_figure():
    found = risks({"age": ["[40 - 41]"] * 4})
    assert "fewer rows of some class" in found.not_run[0].reason
    assert found.figure("marketer") is None
