"""The releases that inputs are, and what is remembered of them."""

import hashlib
from datetime import UTC, datetime

import pytest
from building import DATASET, OUTPUT, anonymize, column, permission, policy
from certifying import certified, sha256

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.sources import as_upstream, proof_asset, upstream_releases
from policy_engine.errors import CertificateError, Problem
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


def test_a_column_that_was_masked_is_remembered_by_its_masking():
    proof = made("age", masked=[column("pay", masking="rounding", base=10)])
    found = generalised(proof)
    assert found.keys() == {"age", "pay"}
    assert found["pay"].generalization == "rounding"


def test_a_column_is_remembered_with_its_taxonomy():
    proof = made(column("age", generalization="taxonomy", taxonomy="t.csv"))
    assert generalised(proof)["age"].taxonomy == "t.csv"


def test_what_was_generalised_before_a_model_learnt_from_it_is_not_in_the_model():
    first = made("age")
    steps = tuple(one for one in first.plan.steps if one.step != "anonymize")
    plan = first.plan.model_copy(update={"steps": steps})
    later = first.model_copy(update={"plan": plan, "upstream": (as_upstream(first),)})
    assert generalised(later) == {}


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
    message = f"No certificate is for the input '{OUTPUT}' or '{DATASET}'. Given are those for "
    message += f"'{AGAIN}' and 'http://x.org/o'."
    people = ROWS.model_copy(update={"asset": DATASET, "location": "people.csv"})
    with pytest.raises(CertificateError) as told:
        upstream_releases([ROWS, people], [other, word("http://x.org/o")], nothing_beside)
    assert (told.value.problems, told.value.source) == ((Problem("V013", message),), "rows.csv")
    with pytest.raises(CertificateError) as told:
        upstream_releases([ROWS], [], lambda _: other)
    message = f"The certificate beside the input is for '{AGAIN}', not for '{OUTPUT}'."
    hint = f"Give it as {AGAIN}, and name that as the policy's target."
    problem = Problem("V013", message, hint)
    assert (told.value.problems, told.value.source) == ((problem,), "rows.csv")


def test_of_several_inputs_each_is_looked_for_in_its_own_place():
    first, other = made("age"), made("age", output=AGAIN)
    reads = [ROWS, ROWS.model_copy(update={"asset": AGAIN, "location": "again.csv"})]
    beside = {"rows.csv": first, "again.csv": other}
    both = (as_upstream(first), as_upstream(other))
    assert upstream_releases(reads, [], beside.get) == both
    assert upstream_releases(reads, [other], {"rows.csv": first}.get) == both
    assert upstream_releases(reads, [other], nothing_beside) == both[1:]
    assert upstream_releases(reads, [other, first, other], nothing_beside) == both


def test_a_certificate_that_does_not_hold_or_tells_no_making_is_of_no_input():
    proof = made("age")
    short = proof.measurements[0].model_copy(update={"achieved": 1})
    broken = proof.model_copy(update={"measurements": (short,)})
    short = "k must be at least 2, but is 1 in a class of the output."
    message = f"The certificate of the input '{OUTPUT}' does not hold. {short}"
    for given in ([broken], [word(), broken]):
        with pytest.raises(CertificateError) as told:
            upstream_releases([ROWS], given, nothing_beside)
        assert (told.value.problems, told.value.source) == ((Problem("V013", message),), "rows.csv")
    unmade = proof.model_copy(update={"made_by": None})
    for given, beside in (([], unmade), ([unmade], None), ([proof, unmade], None)):
        with pytest.raises(CertificateError) as told:
            upstream_releases([ROWS], given, lambda _, one=beside: one)
        [problem] = told.value.problems
        unknown = "Its certificate does not say how it was made: the output was only "
        assert problem.message == f"The input is '{OUTPUT}'. {unknown}measured."
        assert (problem.code, told.value.source) == ("V016", "rows.csv")
        assert problem.hint.startswith("Make it with policy-engine apply, or give the certificate")
