"""Releases stand by what each was made from itself, whoever vouches for them."""

import json
from datetime import UTC, datetime

import pytest
from certifying import certified, sha256
from owning import (
    ANN,
    HOSPITAL,
    INSURER,
    NOON,
    REGULATOR,
    STAFF,
    attested,
    derives,
    lets,
    makes,
    policy,
    rule,
)

from policy_engine.certificate.sources import as_upstream
from policy_engine.decision import Decider, Request, World
from policy_engine.policy import InForce
from policy_engine.policy.owners import read_owners
from policy_engine.terms import ODRL

A, SAFE, TOTALS, LAST = (f"http://e.org/{name}" for name in ("A", "Safe", "Totals", "Last"))
OWNED = {A: {"owner": HOSPITAL, "regulators": [REGULATOR]}, SAFE: HOSPITAL, TOTALS: HOSPITAL}


def asked(target, policies, proofs, owners=OWNED, assignee=STAFF, time=NOON):
    """Return what is decided of reading an output."""
    known = read_owners(owners) if owners else None
    request = Request(assignee=assignee, action=f"{ODRL}read", targets=(target,))
    return Decider(policies, proofs, owners=known).decide(request, World(time=time))


SAFE_MADE = makes(SAFE, A, HOSPITAL)
SUM = derives(TOTALS, SAFE, HOSPITAL)
SAFE_PROOF, SUM_PROOF = certified(SAFE_MADE), attested(SUM)
REPLACED = InForce([SUM], (), [SAFE_MADE])


@pytest.mark.parametrize(
    ("policies", "proofs", "why"),
    [
        ([SAFE_MADE, SUM], [SAFE_PROOF], ""),
        ([SAFE_MADE, SUM], [], "for which no certificate"),
        ([SUM], [SAFE_PROOF], "is not in force"),
        (REPLACED, [], "is not in force"),
    ],
)
@pytest.mark.parametrize("owners", [OWNED, None])
def test_what_a_person_attests_stands_by_what_it_was_made_from(policies, proofs, why, owners):
    found = asked(TOTALS, policies, [*proofs, SUM_PROOF], owners)
    assert found.permitted is (not why)
    assert f"{TOTALS} was made from {SAFE}, " in found.reason or not why
    assert why in found.reason


def test_a_prohibition_of_what_an_attested_output_was_made_from_is_not_lost_by_withdrawal():
    bars = policy(REGULATOR, rule("prohibition", A, action="read"))
    assert not asked(TOTALS, [SAFE_MADE, SUM, bars], [SAFE_PROOF, SUM_PROOF]).permitted
    withdrawn = InForce([SUM, bars], (), [SAFE_MADE])
    assert not asked(TOTALS, withdrawn, [SAFE_PROOF, SUM_PROOF]).permitted


def test_what_is_derived_without_leave_is_not_read_in_two_steps():
    one, two = derives(SAFE, A, INSURER), derives(TOTALS, SAFE, INSURER)
    owners = {A: HOSPITAL, SAFE: INSURER, TOTALS: INSURER}
    proofs = [attested(one), attested(two)]
    found = asked(TOTALS, [one, two], proofs, owners)
    assert f"{INSURER} does not own {A}" in found.reason
    assert asked(TOTALS, [one, two, lets(HOSPITAL, A, INSURER)], proofs, owners).permitted


LAST_MADE = makes(LAST, TOTALS, HOSPITAL)
LAST_PROOF = certified(LAST_MADE).model_copy(update={"upstream": (as_upstream(SUM_PROOF),)})


@pytest.mark.parametrize(
    ("policies", "proofs", "is_permitted"),
    [
        ([SAFE_MADE, SUM, LAST_MADE], [SAFE_PROOF, SUM_PROOF], True),
        ([SAFE_MADE, SUM, LAST_MADE], [SAFE_PROOF], False),
        ([SAFE_MADE, SUM, LAST_MADE], [SUM_PROOF], False),
        ([SAFE_MADE, LAST_MADE], [SAFE_PROOF, SUM_PROOF], False),
        (
            [SAFE_MADE, SUM, LAST_MADE],
            [SAFE_PROOF, attested(SUM, output_digest=sha256("another"))],
            False,
        ),
    ],
)
def test_what_is_made_of_an_attested_output_stands_by_that_very_output(
    policies, proofs, is_permitted
):
    owners = {**OWNED, LAST: HOSPITAL}
    assert asked(LAST, policies, [*proofs, LAST_PROOF], owners).permitted is is_permitted


def test_outputs_that_are_parts_of_what_each_was_derived_from_stand_together():
    """All that the hospital has is one collection, and each output is derived from that."""
    every = "http://e.org/all"
    parts = {name: {"owner": HOSPITAL, "partOf": every} for name in (A, SAFE, TOTALS, LAST)}
    made = [derives(name, every, HOSPITAL) for name in (SAFE, TOTALS, LAST)]
    proofs = [*map(attested, made)]
    owners = {every: HOSPITAL, **parts}
    assert asked(TOTALS, made, proofs, owners).permitted
    assert not asked(TOTALS, made, proofs[1:], owners).permitted


# -- each certificate is judged by its own lineage ------------------------------------------------

AGAIN = makes(LAST, SAFE, HOSPITAL)
GOOD, ROOTLESS = certified(AGAIN, SAFE_PROOF), certified(AGAIN, output_digest=sha256("tampered"))


@pytest.mark.parametrize("order", [(GOOD, ROOTLESS), (ROOTLESS, GOOD)])
def test_each_certificate_stands_by_its_own_lineage_in_whatever_order(order):
    decider = Decider([SAFE_MADE, AGAIN], [*order, SAFE_PROOF])
    request = Request(assignee=STAFF, action=f"{ODRL}read", targets=(LAST,))
    found = decider.decide(request, World(time=NOON))
    assert found.permitted
    assert any(GOOD.output_digest in line for line in found.derivation)
    assert decider.valid_output(AGAIN, LAST).valid == (GOOD,)
    tampered = decider.valid_output(AGAIN, LAST, digest=ROOTLESS.output_digest)
    assert "whose certificate was not given" in tampered.invalid_reason


def test_withdrawing_the_policy_before_opens_nothing_that_was_made_without_its_certificate():
    withdrawn = InForce([AGAIN], (), [SAFE_MADE])
    for policies in ([SAFE_MADE, AGAIN], withdrawn):
        assert not asked(LAST, policies, [ROOTLESS], {**OWNED, LAST: HOSPITAL}).permitted


# -- the time of what was made before -------------------------------------------------------------

UNTIL = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2027-01-01T00:00:00Z"}
LATER = {**UNTIL, "rightOperand": "2029-01-01T00:00:00Z"}
COUNT = {"leftOperand": "count", "operator": "lteq", "rightOperand": 100}


@pytest.mark.parametrize(
    ("parts", "is_over"),
    [
        ({"constraint": UNTIL}, True),
        ({"constraint": LATER}, False),
        ({"constraint": [COUNT, UNTIL]}, True),
        ({"constraint": {"and": [UNTIL, COUNT]}}, True),
        ({"constraint": {"andSequence": [COUNT, UNTIL]}}, True),
        ({"constraint": {"or": [{"and": [UNTIL, COUNT]}, {"and": [COUNT, UNTIL]}]}}, True),
        ({"constraint": {"or": [UNTIL, COUNT]}}, False),
        ({"constraint": {"or": [UNTIL, LATER]}}, False),
        ({"assignee": {"source": STAFF, "refinement": UNTIL}}, True),
        ({"assignee": [{"source": STAFF, "refinement": UNTIL}, ANN]}, False),
    ],
)
def test_what_was_made_ends_with_the_time_before_it_whatever_stands_beside(parts, is_over):
    first = makes(SAFE, A, HOSPITAL, **parts)
    proofs = [certified(first), certified(AGAIN, certified(first))]
    reader = policy(HOSPITAL, rule("permission", LAST, action="read", assignees=[ANN]))
    late = datetime(2028, 1, 1, tzinfo=UTC)
    for time, is_permitted in ((NOON, True), (late, not is_over)):
        found = asked(LAST, [first, AGAIN, reader], proofs, None, ANN, time)
        assert found.permitted is is_permitted, json.dumps(parts)
