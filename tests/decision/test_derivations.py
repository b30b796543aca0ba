"""What is told of what was made from what, by certificates and by the word of a person."""

import pytest
from certifying import certified, sha256
from owning import (
    CLAIMS,
    HOSPITAL,
    NOON,
    STAFF,
    VISITS,
    attested,
    makes,
    policy,
    rule,
)

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.derivations import Derivation, DerivationSource, derivations
from policy_engine.policy.model import READ

SUM = "http://e.org/Sum"


def adds(*sources):
    """Return the policy by which the hospital adds something up."""
    made = rule("permission", *sources, action="derive", output=SUM)
    return policy(HOSPITAL, made, uid="urn:adds")


@pytest.mark.parametrize("sources", [(VISITS,), (VISITS, CLAIMS)])
def test_what_is_attested_was_made_from_the_targets_of_its_rule(sources):
    word = attested(adds(*sources))
    [found] = derivations(Decider([adds(*sources)], [word]))
    made_from = tuple(map(DerivationSource, sources))
    assert found == Derivation(SUM, word.output_digest, made_from)


def test_what_is_attested_for_a_policy_that_is_not_there_was_made_from_nobody_knows_what():
    word = attested(adds(VISITS))
    ended = f"{SUM}, whose policy urn:adds is not among those in force."
    assert derivations(Decider([], [word])) == (Derivation(SUM, word.output_digest, (), ended),)


def test_what_is_attested_for_another_text_of_its_policy_no_longer_stands():
    word = attested(adds(VISITS), policy_digest="another")
    [found] = derivations(Decider([adds(VISITS)], [word]))
    assert found.sources == (DerivationSource(VISITS),)
    assert found.end_reason == (f"{SUM}, whose attestation is not valid for urn:adds as it is now.")


SAFE, AGAIN = "http://e.org/Safe", "http://e.org/Again"
UNTIL = {"@value": "2026-06-02T00:00:00Z", "@type": "xsd:dateTime"}
JUNE = [{"leftOperand": "dateTime", "operator": "lt", "rightOperand": UNTIL}]
FIRST, SECOND = makes(SAFE, VISITS, HOSPITAL, constraint=JUNE), makes(AGAIN, SAFE, HOSPITAL)
OF_FIRST = certified(FIRST)
OF_SECOND = certified(SECOND, OF_FIRST)
KNOWN = DerivationSource(SAFE, sha256(SAFE))


def told(policies, proofs, time=NOON):
    return derivations(Decider(policies, proofs), World(time=time))


@pytest.mark.parametrize("proofs", [[OF_FIRST, OF_SECOND], [OF_SECOND, OF_FIRST]])
def test_what_is_certified_was_made_from_the_releases_that_its_certificate_names(proofs):
    assert set(told([FIRST, SECOND], proofs)) == {
        Derivation(SAFE, sha256(SAFE), (DerivationSource(VISITS),)),
        Derivation(AGAIN, sha256(AGAIN), (KNOWN,)),
    }


def test_a_release_whose_certificate_is_not_there_is_told_with_what_was_made_from_it():
    none = f"{SAFE}, for which no certificate valid for {FIRST.uid} was given."
    assert told([FIRST, SECOND], [OF_SECOND]) == (
        Derivation(AGAIN, sha256(AGAIN), (KNOWN,), f"{AGAIN} was made from {none}"),
        Derivation(SAFE, sha256(SAFE), (), none),
    )


def test_what_was_made_under_a_policy_that_is_not_there_no_longer_stands():
    ended = f"{SAFE}, whose policy {FIRST.uid} is not among those in force."
    assert told([SECOND], [OF_FIRST, OF_SECOND]) == (
        Derivation(SAFE, sha256(SAFE), (DerivationSource(VISITS),), ended),
        Derivation(AGAIN, sha256(AGAIN), (KNOWN,), f"{AGAIN} was made from {ended}"),
    )


def test_what_is_not_made_any_more_is_told_to_be_so_with_what_was_made_from_it():
    late = "may no longer be made: dateTime is 2026-07-01T12:00:00Z, not before 2026-06-02"
    safe, again = told([FIRST, SECOND], [OF_FIRST, OF_SECOND], NOON.replace(month=7))
    assert safe.end_reason.startswith(f"{SAFE}, which {late}")
    assert again.end_reason.startswith(f"{AGAIN} was made from {SAFE}, which {late}")


def test_what_was_not_released_was_made_from_nothing():
    unreleased = OF_FIRST.model_copy(update={"output_digest": None})
    assert told([FIRST], [unreleased]) == ()


def test_what_is_certified_under_a_policy_that_is_not_there_keeps_nobody_from_its_input():
    reads = policy("", rule("permission", VISITS, action="read"))
    asked = Request(assignee=STAFF, action=READ, targets=(VISITS,))
    found = Decider([reads], [OF_FIRST]).decide(asked, World(time=NOON))
    assert (found.permitted, found.made_from) == (True, ())
