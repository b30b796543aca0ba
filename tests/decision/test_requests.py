"""Requests from what a person writes: which names are read how, and which are refused."""

import pytest
from building import people_policy
from ruling import ANN, ODRL, READ, TABLE

from policy_engine import terms
from policy_engine.decision import Request, read_request
from policy_engine.errors import RequestError
from policy_engine.policy import read_policy

MARKETING = f"{terms.MOSAICROWN}marketing"
PEOPLE = read_policy(people_policy())


def test_short_names_are_those_of_their_part():
    found = read_request("http://Org:80/ann", "read", [TABLE, "http://e.org/%54"], "marketing")
    assert found == Request(assignee=ANN, action=READ, targets=(TABLE, TABLE), purpose=MARKETING)
    assert read_request(ANN, "odrl:read", [TABLE]) == Request(
        assignee=ANN, action=READ, targets=(TABLE,)
    )
    assert read_request(ANN, "read", [TABLE], "statistical", [PEOPLE]).purpose.endswith(
        "statistical"
    )


USUAL = {"assignee": ANN, "action": "read", "targets": [TABLE], "purpose": "marketing"}
REFUSED = [
    ({"assignee": "ann"}, "The assignee 'ann' is neither a whole IRI nor a term"),
    ({"action": "reed"}, "The action 'reed' is neither a whole IRI nor a term"),
    ({"targets": [TABLE, "T"]}, "The target 'T' is neither a whole IRI nor a term"),
    ({"purpose": "marketting"}, "The purpose 'marketting' is neither a whole IRI nor a term"),
    ({"assignee": ""}, "The assignee '' is neither"),
    ({"assignee": "http://org/\udcff"}, r"The assignee .* cannot be encoded as UTF-8"),
    ({"purpose": "http://p/\ud800"}, r"The purpose .* cannot be encoded as UTF-8"),
    ({"purpose": "dpv:Marketting"}, "The purpose 'dpv:Marketting' is not in the Data Privacy"),
    ({"action": "dpv:Stor"}, "The action 'dpv:Stor' is not in the Data Privacy Vocabulary"),
    ({"action": "dpv:Marketing"}, "The action 'dpv:Marketing' is not in the Data Privacy"),
    ({"purpose": "http://p" + "/x" * 300}, "The purpose has 302 levels. Allowed are 256."),
]


@pytest.mark.parametrize(("parts", "told"), REFUSED, ids=[told[:30] for _, told in REFUSED])
def test_a_name_that_stands_for_nothing_is_refused(parts, told):
    with pytest.raises(RequestError, match=f"D001 {told}"):
        read_request(**{**USUAL, **parts})


@pytest.mark.parametrize(
    ("parts", "nearest"),
    [
        ({"action": "reed"}, "read"),
        ({"purpose": "marketting"}, "marketing"),
        ({"purpose": "dpv:Marketting"}, "Marketing"),
        ({"assignee": "x.org/analyst"}, "http://x.org/analyst"),
        ({"targets": ["x.org/People"]}, "http://x.org/People"),
    ],
    ids=str,
)
def test_a_name_that_is_nearly_one_is_told_the_one(parts, nearest):
    with pytest.raises(RequestError) as caught:
        read_request(**{**USUAL, **parts}, policies=[PEOPLE])
    assert f"Did you mean {nearest!r}" in caught.value.problems[0].hint


@pytest.mark.parametrize("parts", [{"purpose": "dpv:Marketing"}, {"action": "dpv:Store"}])
def test_names_of_the_data_privacy_vocabulary_are_read(parts):
    found = read_request(**{**USUAL, **parts})
    assert f"{terms.DPV}{next(iter(parts.values()))[4:]}" in (found.action, found.purpose)


def test_a_purpose_may_be_left_out_and_targets_may_not():
    assert read_request(ANN, "read", [TABLE], "").purpose == ""
    with pytest.raises(RequestError, match="D001 A request needs at least one target"):
        read_request(ANN, "read", [])
    assert read_request(ANN, READ, [TABLE]).action == f"{ODRL}read"
