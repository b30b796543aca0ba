"""A policy bounds how many rows are unique on what is kept exact."""

import json

import pytest
from applying import applied, asking, measured, refused

from policy_engine import certify_output, check_policy, plan_policy
from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError, PolicyEngineError

PEOPLE = {"age": [20, 21, 30, 31], "job": list("aabb"), "pay": [1, 1, 2, 3]}
ASKED = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": ["job", "pay"]}


def test_a_release_that_keeps_the_bound_says_so(tmp_path):
    made = applied(PEOPLE, tmp_path / "a" / "out.csv", **ASKED, maxUniqueKept=0.5)
    assert measured(made)["maxUniqueKept", ""] == 0.5
    again = certify_output(made.path, asking(**ASKED, maxUniqueKept=0.5))
    assert again.measurements == made.certificate.measurements


def test_a_release_with_more_unique_rows_is_refused(tmp_path):
    assert refused(PEOPLE, tmp_path, **ASKED, maxUniqueKept=0.49) == ["V001"]
    with pytest.raises(PolicyEngineError, match=r"0\.5 of the rows are unique on"):
        applied(PEOPLE, **ASKED, maxUniqueKept=0)


def test_an_output_without_exact_columns_has_none_that_is_unique():
    asked = {name: value for name, value in ASKED.items() if name != "insensitive"}
    assert measured(applied(PEOPLE, **asked, maxUniqueKept=0))["maxUniqueKept", ""] == 0


def test_a_share_that_is_not_that_of_the_unique_rows_is_refused():
    document = json.loads(applied(PEOPLE, **ASKED, maxUniqueKept=0.5).certificate.to_jsonld())
    [share] = [
        m for m in document["pe:certificate"]["measurements"] if m["bound"] == "maxUniqueKept"
    ]
    share["achieved"] = 0.25
    with pytest.raises(CertificateError, match=r"V005 .*share of unique rows"):
        read_certificate(json.dumps(document))


@pytest.mark.parametrize("share", [-0.1, 1.5, "half"])
def test_a_share_lies_between_0_and_1(share):
    with pytest.raises(PolicyEngineError, match="maxUniqueKept"):
        check_policy(asking(**ASKED, maxUniqueKept=share))


def test_rows_in_buckets_are_not_bounded():
    asked = {"method": "l-diversity", "k": 2, "l": 2, "algorithm": "bucketization"}
    with pytest.raises(PolicyEngineError, match=r"M003 .*buckets have none"):
        check_policy(asking(**asked, quasi=["age"], sensitive=["job"], maxUniqueKept=0.5))


def test_plans_without_the_bound_are_as_before():
    plan = plan_policy(asking(**ASKED))
    assert "max_unique_kept" not in plan.model_dump_json()
    assert type(plan).model_validate_json(plan.model_dump_json()) == plan
    bounded = plan_policy(asking(**ASKED, maxUniqueKept=0.5))
    assert type(plan).model_validate_json(bounded.model_dump_json()) == bounded
    assert [one.name for one in bounded.bounds()] == ["k", "maxUniqueKept"]
