"""Which columns of its inputs are in what is read of an output, and which columns it has."""

import json

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from certifying import certified
from matched import CLAIMS, MATCHED, VISITS, matching

from policy_engine.decision.lineage import target_columns
from policy_engine.decision.outputs import Output
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy

PEOPLE = read_policy(people_policy())
JOINED = make_plan(read_policy(json.dumps(matching())))
ALL = ("age", "city", "disease")


@pytest.mark.parametrize(
    ("targets", "columns"),
    [
        (["age"], ["age"]),
        (["age_low"], ["age"]),
        (["age_high"], ["age"]),
        (["disease", "age_high", "age"], ["disease", "age"]),
        (["age_lower"], ALL),  # there is none: it may be any
        (["age", "name"], ALL),
    ],
    ids=str,
)
def test_a_column_of_an_output_was_made_from_that_of_its_input(targets, columns):
    found = target_columns(make_plan(PEOPLE), OUTPUT, [f"{OUTPUT}/{one}" for one in targets])
    assert found == tuple(f"{DATASET}/{one}" for one in columns)


@pytest.mark.parametrize("targets", [[OUTPUT], [OUTPUT, f"{OUTPUT}/age"], ["http://x.org/"]])
def test_an_output_was_made_from_all_that_is_published_of_its_input(targets):
    found = target_columns(make_plan(PEOPLE), OUTPUT, targets)
    assert found == tuple(f"{DATASET}/{one}" for one in ALL)


def test_what_rows_are_joined_by_is_in_every_column_of_them():
    found = target_columns(JOINED, MATCHED, [f"{MATCHED}/Age"])
    assert found == (f"{VISITS}/Age", f"{CLAIMS}/Insured", f"{VISITS}/Patient")


PROOF = certified(PEOPLE)


def changed(**changes):
    """Return the certificate with another plan."""
    return PROOF.model_copy(update={"plan": PROOF.plan.model_copy(update=changes)})


BOUNDS = PROOF.plan.publish.model_copy(update={"cells": "bounds"})
STEPS = (BOUNDS if one.step == "publish" else one for one in PROOF.plan.steps)
IN_BOUNDS = changed(steps=tuple(STEPS))


def output(*certificates, plan=None):
    return Output.of(PEOPLE, OUTPUT, certificates, plan=plan or make_plan(PEOPLE))


@pytest.mark.parametrize(
    ("target", "published", "in_bounds", "unproven"),
    [
        (OUTPUT, True, True, True),
        (f"{OUTPUT}/age", True, True, True),
        (f"{OUTPUT}/name", False, False, False),
        (f"{OUTPUT}/age_low", False, True, False),
        (f"{OUTPUT}/age_high", False, True, False),
        (f"{OUTPUT}/name_low", False, False, False),
        ("http://x.org/other", True, True, True),
    ],
)
def test_an_output_has_the_columns_that_are_published_and_their_bounds_where_cells_are_bounds(
    target, published, in_bounds, unproven
):
    assert output(PROOF).may_have(target) == published
    assert output(IN_BOUNDS).may_have(target) == in_bounds
    assert output().may_have(target) == unproven


def test_an_output_covers_itself_and_its_columns():
    for target, covered in ((OUTPUT, True), (f"{OUTPUT}/x", True), (DATASET, False)):
        assert output().covers(target) == covered


def test_what_has_to_be_readable_for_an_output_is_all_its_inputs_or_all_their_named_columns():
    columns = tuple(f"{DATASET}/{one}" for one in ("name", "age", "city", "disease"))
    assert [*output().inputs()] == [(DATASET,), columns]
    [datasets, joined] = output(plan=JOINED).inputs()
    assert sorted(datasets) == [CLAIMS, VISITS]
    assert set(joined) == {
        *(f"{VISITS}/{one}" for one in ("Patient", "Age", "Diagnosis")),
        *(f"{CLAIMS}/{one}" for one in ("Insured", "Zip", "Amount")),
    }
    assert [*Output(PEOPLE, OUTPUT, None, None).inputs()] == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ""),
        ({"policy": "http://x.org/other"}, ""),
        ({"policy_digest": "0" * 64}, "Its certificate is for an earlier version of the"),
        ({"rule": "http://x.org/other#rule"}, "Its certificate is for a different plan from"),
        (
            {"assignees": (ANALYST, "http://x.org/eve")},
            "Its certificate is for a different plan from",
        ),
    ],
    ids=str,
)
def test_an_output_tells_why_its_certificate_does_not_count(changes, told):
    found = output(changed(**changes))
    assert found.refusal.startswith(told)
    assert (found.uncertified == "") == (not changes)
    assert (found.certificate is None) == bool(changes)
    assert bool([*found.proof_lines()]) == (not changes)


def test_a_valid_certificate_counts_beside_one_that_is_not():
    old = changed(policy_digest="0" * 64)
    for proofs in ((old, PROOF), (PROOF, old)):
        found = output(*proofs)
        assert (found.certificate, found.valid, found.refusal) == (PROOF, (PROOF,), "")
