"""What is told of what was made from what, by the word of a person."""

import pytest
from policy.owners.owning import CLAIMS, HOSPITAL, VISITS, attested, policy, rule

from policy_engine.decision import Decider
from policy_engine.decision.derivations import Derivation, DerivationSource, derivations

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
