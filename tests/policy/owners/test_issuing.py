"""Who publishes a policy, and what they may publish."""

from dataclasses import replace

import pytest
from owning import ANN, CLAIMS, HOSPITAL, INSURER, OWNED, VISITS, decided, lets, makes, policy, rule

from policy_engine.policy import InForce
from policy_engine.policy.owners import issue, issue_all, publishing_problems, read_owners

WARD = f"{VISITS}/Ward"
BUNDLE = "http://e.org/Bundle"
KNOWN = read_owners(OWNED)


def codes(published, *beside, party=INSURER):
    return [one.code for one in publishing_problems(published, party, beside, KNOWN)]


@pytest.mark.parametrize("kind", ["permission", "prohibition", "obligation"])
@pytest.mark.parametrize("target", [VISITS, WARD, "http://e.org/Unknown", "https://e.org/Claims"])
def test_a_rule_about_what_is_anothers_or_nobodys_is_not_published(kind, target):
    assert codes(policy("", rule(kind, CLAIMS, target))) == ["P024"]
    assert codes(policy("", rule(kind, CLAIMS))) == []


def test_a_collection_is_what_its_policy_says_it_consists_of():
    opens = rule("permission", BUNDLE)
    assert codes(policy("", opens, asset=((CLAIMS, BUNDLE),))) == []
    assert codes(policy("", opens, asset=((CLAIMS, BUNDLE), (VISITS, CLAIMS)))) == ["P024"]
    assert codes(policy("", opens)) == ["P024"]


def test_a_stranger_is_not_named_as_the_assigner():
    opens = rule("permission", CLAIMS)
    assert codes(policy(HOSPITAL, opens)) == ["P025"]
    assert codes(policy(INSURER, opens)) == []


def test_the_consent_of_the_owner_is_enough():
    opens = policy("", rule("permission", VISITS))
    assert codes(opens, lets(HOSPITAL, VISITS, INSURER)) == []
    assert codes(opens, lets(INSURER, VISITS, INSURER)) == ["P024"]


@pytest.mark.parametrize("output", [VISITS, WARD, "http://e.org/visits", "https://e.org/Visits/"])
def test_an_output_is_not_called_like_what_is_anothers(output):
    found = codes(makes(output, CLAIMS, INSURER))
    assert found
    assert set(found) <= {"P019", "P024"}
    assert codes(makes("http://e.org/Made", CLAIMS, INSURER)) == []


def test_nothing_is_told_of_the_policy_that_makes_the_same():
    other = replace(makes("http://e.org/Made", VISITS, HOSPITAL), uid="urn:other")
    [problem] = publishing_problems(
        makes("http://e.org/Made", CLAIMS, INSURER), INSURER, [other], KNOWN
    )
    assert problem.code == "P019"
    assert HOSPITAL not in str(problem)


def test_a_policy_is_its_publishers_whatever_it_says():
    false = policy(HOSPITAL, rule("permission", VISITS, assignees=[ANN]), uid="urn:false")
    assert decided([false]).permitted
    [issued] = issue_all(InForce([false]), {"urn:false": INSURER})
    assert issued.issued_by == {INSURER}
    assert not decided([issued]).permitted
    assert decided([issue(false, HOSPITAL)]).permitted
