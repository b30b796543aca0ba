import pytest
from policy_texts import ex, odrl, text

from policy_engine import terms
from policy_engine.errors import RequestError
from policy_engine.policy import read_policy
from policy_engine.policy.naming import Names
from policy_engine.policy.reading.vocabulary_reader import read_vocabulary
from policy_engine.policy.vocabulary import joined

RULE = {"permission": {"target": "ex:T", "action": "read"}}
POLICY = read_policy(text(**RULE))
DEFINED = joined(
    [
        read_vocabulary(
            '{"@id": "https://www.mosaicrown.eu/ns/mosaicrown/1/read", '
            '"@type": "http://www.w3.org/ns/odrl/2/Action"}'
        )
    ]
)
UNDER = read_policy(text(**{**RULE, "uid": "ex:other"}), vocabulary=DEFINED)


def test_a_name_is_what_it_is_in_the_policy():
    names = Names([POLICY])
    assert names.full("ex:Ann", "assignee") == ex("Ann")
    assert names.full("read", "action") == odrl("read")
    assert names.full("statistical", "purpose") == f"{terms.MOSAICROWN}statistical"
    assert names.full("http://e.org/%41") == ex("A")


def test_a_name_means_what_it_does_under_its_key():
    assert Names([POLICY]).full("purpose", "leftOperand") == odrl("purpose")


def test_a_name_that_a_vocabulary_defines_is_its_own():
    assert Names([UNDER]).full("read", "action") == f"{terms.MOSAICROWN}read"


def test_a_name_that_policies_read_otherwise_is_refused():
    with pytest.raises(RequestError, match=r"D001 .*'read' does not mean the same"):
        Names([POLICY, UNDER]).full("read", "action")


def test_a_whole_iri_and_a_prefix_of_one_policy_are_not_the_same():
    other = text(**{**RULE, "uid": "ex:other"}).replace(
        '"ex": ', '"urn": "http://evil.org/", "ex": '
    )
    assert Names([POLICY]).full("urn:a") == "urn:a"
    with pytest.raises(RequestError, match="D001"):
        Names([POLICY, read_policy(other)]).full("urn:a")


def test_what_no_policy_names_is_a_term_of_the_bundled_contexts():
    assert Names().full("read", "action") == odrl("read")
    assert Names([POLICY]).full("foo:bar") == "foo:bar"


def test_a_state_of_the_world_is_given_in_full():
    given = {
        "values": {"count": 1, "ex:trust": 2},
        "of": {"ex:Ann": {"ex:trust": 3}},
        "memberships": {"party": [["ex:Ann", "ex:Staff"]], "action": [["ex:do", "read"]]},
    }
    found = Names([POLICY]).world(given)
    assert found["values"] == {odrl("count"): 1, ex("trust"): 2}
    assert found["of"] == {ex("Ann"): {ex("trust"): 3}}
    assert found["memberships"] == {
        "party": [[ex("Ann"), ex("Staff")]],
        "action": [[ex("do"), odrl("read")]],
    }
