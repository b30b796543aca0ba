"""The releases that inputs are, and what is remembered of them."""

import hashlib
from datetime import UTC, datetime

import pytest
from building import DATASET, OUTPUT, anonymize, column, permission, policy
from certifying import certified, sha256

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.sources import as_upstream, proof_asset, upstream_releases
from policy_engine.errors import CertificateError
from policy_engine.plan.inputs import Read
from policy_engine.policy import read_policy

AGAIN = "http://x.org/again"
K = {"method": "k-anonymity", "k": 2}
ROWS = Read(asset=OUTPUT, location="rows.csv", format="csv", columns=())


def made(*quasi, dataset=DATASET, output=OUTPUT, before=(), uid="http://x.org/policy", **parts):
    action = anonymize(**K, quasi=list(quasi), **parts)
    rule = permission(action=action, output=output, target=dataset)
    text = policy([rule], uid=uid).replace(f"{DATASET}/", f"{dataset}/")
    return certified(read_policy(text), *before)


def word(asset=OUTPUT):
    return Attestation(
        policy="http://x.org/policy",
        policy_digest="d",
        asset=asset,
        actions=("http://x.org/sum",),
        output_digest="0" * 64,
        by="http://x.org/ann",
        time=datetime(2026, 1, 1, tzinfo=UTC),
    )


def nothing_beside(_location):
    return None


def test_a_release_is_remembered_by_its_digests_and_policy():
    proof = made("age")
    found = as_upstream(proof)
    assert (found.asset, found.policy) == (OUTPUT, "http://x.org/policy")
    assert found.output_digest == sha256(OUTPUT)
    assert found.certificate_digest == sha256(proof.to_jsonld())
    assert found.policy_digest == proof.plan.policy_digest
    assert found.upstream == ()
    again = as_upstream(made("age", dataset=OUTPUT, output=AGAIN, before=[proof]))
    assert (again.asset, again.upstream) == (AGAIN, (found,))


def test_an_attested_output_is_remembered_by_its_digest_and_policy():
    found = as_upstream(word())
    text = word().to_jsonld().encode()
    assert found.certificate_digest == hashlib.sha256(text).hexdigest()
    assert (found.asset, found.output_digest) == (OUTPUT, "0" * 64)
    assert (found.policy, found.policy_digest) == ("http://x.org/policy", "d")
    assert (found.generalised, found.upstream) == ((), ())


def generalised(proof):
    return {one.name: one for one in as_upstream(proof).generalised}


def test_columns_are_remembered_as_they_were_generalised():
    found = generalised(
        made("age", column("zip", generalization="prefix"), column("pay", generalization="mean"))
    )
    assert found.keys() == {"age", "zip"}  # a mean is a value
    assert (found["age"].generalization, found["age"].mask) == ("", "")
    assert (found["zip"].generalization, found["zip"].mask) == ("prefix", "*")
    assert found["age"].unlisted == "refuse"


def test_a_range_in_two_columns_is_remembered_by_three_names():
    proof = made("age", column("pay", generalization="mean"))
    publish = proof.plan.publish.model_copy(update={"cells": "bounds"})
    steps = (*(one for one in proof.plan.steps if one.step != "publish"), publish)
    plan = proof.plan.model_copy(update={"steps": steps})
    found = generalised(proof.model_copy(update={"plan": plan}))
    assert found.keys() == {"age", "age_low", "age_high"}


def test_what_was_generalised_before_is_remembered_where_it_is_kept():
    first = made("age", "city", "zip", "pay")
    parts = {"sensitive": ["city"], "insensitive": ["zip"]}
    action = {"dataset": OUTPUT, "output": AGAIN, "before": [first]}
    again = made(column("age", generalization="prefix"), **parts, **action)
    found = generalised(again)
    assert found.keys() == {"age", "city", "zip"}  # pay is not released
    assert (found["age"].generalization, found["zip"].generalization) == ("prefix", "")


def test_an_input_is_the_releases_that_are_given_for_it_or_lie_beside_it():
    proof = made("age")
    assert upstream_releases([ROWS], [], nothing_beside) == ()
    for given, beside in (([proof], None), ([], proof), ([proof], proof)):
        assert upstream_releases([ROWS], given, lambda _, one=beside: one) == (as_upstream(proof),)
    both = upstream_releases([ROWS], [proof, word(), word("http://x.org/other")], nothing_beside)
    assert both == (as_upstream(proof), as_upstream(word()))
    assert (proof_asset(proof), proof_asset(word(AGAIN))) == (OUTPUT, AGAIN)


def test_a_certificate_that_is_not_of_the_input_is_refused():
    other = made("age", output=AGAIN)
    with pytest.raises(CertificateError, match=f"V013 No certificate is of the input '{OUTPUT}'"):
        upstream_releases([ROWS], [other, word("http://x.org/o")], nothing_beside)
    with pytest.raises(CertificateError, match=f"V013 The input is the release '{AGAIN}'") as told:
        upstream_releases([ROWS], [], lambda _: other)
    assert f"Give it as {AGAIN}" in told.value.problems[0].hint


def test_a_certificate_that_does_not_hold_or_tells_no_making_is_of_no_input():
    proof = made("age")
    short = proof.measurements[0].model_copy(update={"achieved": 1})
    broken = proof.model_copy(update={"measurements": (short,)})
    with pytest.raises(CertificateError, match=f"V013 The certificate of the input '{OUTPUT}'"):
        upstream_releases([ROWS], [broken], nothing_beside)
    with pytest.raises(CertificateError, match=f"V016 The input is '{OUTPUT}'") as told:
        upstream_releases([ROWS], [], lambda _: proof.model_copy(update={"made_by": None}))
    assert told.value.source == "rows.csv"
    assert told.value.problems[0].hint.startswith("Make it with policy-engine apply")
