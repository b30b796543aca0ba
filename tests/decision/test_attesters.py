"""Whose word for an output counts where it is said who owns what."""

import pytest
from owning import HOSPITAL, INSURER, REGULATOR, STAFF, VISITS, attested, derives

from policy_engine.decision import Decider, Request
from policy_engine.policy import Hierarchy
from policy_engine.policy.model import READ
from policy_engine.policy.owners import read_owners

SUM, BOB, CREW = "http://e.org/Sum", "http://e.org/Bob", "http://e.org/Crew"
MADE = derives(SUM, VISITS, HOSPITAL)
OWNED = {
    VISITS: HOSPITAL,
    SUM: {"owner": HOSPITAL, "delegates": [INSURER], "regulators": [REGULATOR]},
}


def read(by, owners=OWNED, given=None, made=MADE):
    word = attested(made, by=by)
    decider = Decider([made], [word], given, read_owners(owners) if owners else None)
    return decider.decide(Request(assignee=STAFF, action=READ, targets=(SUM,)))


@pytest.mark.parametrize(
    ("by", "counts"),
    [(HOSPITAL, True), (INSURER, True), (STAFF, True), (REGULATOR, False), (BOB, False)],
)
def test_who_speaks_for_an_output_or_may_make_it_attests_it(by, counts):
    assert read(by).permitted == counts
    assert read(by, owners=None).permitted


def test_who_belongs_to_one_of_these_attests_it_too():
    assert read(BOB, given=Hierarchy(party=((BOB, INSURER),))).permitted
    assert not read(INSURER, {VISITS: HOSPITAL}, Hierarchy(party=((STAFF, INSURER),))).permitted


def test_a_word_that_does_not_count_is_told_with_whose_would():
    names = f"'{HOSPITAL}', '{INSURER}' and '{STAFF}'"
    assert read(BOB).reason == (
        f"{SUM} has no certificate that is valid for {MADE.uid}; without one nobody may read it. "
        f"The attestation of {BOB} does not count: only {names} may attest it."
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"policy": "urn:other"},
        {"policy_digest": "other"},
        {"asset": VISITS},
        {"asset": f"{SUM}/2"},
    ],
    ids=str,
)
def test_a_word_for_something_else_is_none(changes):
    word = attested(MADE).model_copy(update=changes)
    decider = Decider([MADE], [word], owners=read_owners(OWNED))
    found = decider.decide(Request(assignee=STAFF, action=READ, targets=(SUM,)))
    assert found.reason.endswith("; without one nobody may read it.")
