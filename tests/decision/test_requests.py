"""Requests from what a person writes: which names are read how, and which are refused."""

from urllib.parse import quote

import pytest
from building import people_policy
from policy_texts import RULE, text
from pydantic import ValidationError
from ruling import ANN, ODRL, READ, TABLE

from policy_engine import terms
from policy_engine.decision import Request, read_request
from policy_engine.errors import PolicyError, RequestError
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
    ({"assignee": f"{ANN} "}, "White space is not allowed in an IRI"),
    ({"targets": [f"{TABLE}\x85"]}, "The character .* is not allowed in an IRI"),
    ({"purpose": f"http://p/{31 * '%CC%81'}"}, "The name .* has too many combining marks"),
    ({"action": f"http://p/{10_000 * 'a'}"}, "The name .* is too long"),
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


@pytest.mark.parametrize(
    ("parts", "allowed"),
    [
        ({"purpose": "sales"}, "Known are 'statistical', 'institutional' and 'marketing', and the"),
        ({"action": "qqqq"}, "Known are the actions of ODRL, such as 'read'."),
        ({"assignee": "qqqq"}, "Write its whole IRI, such as 'http://example.com/assignee'."),
    ],
    ids=str,
)
def test_a_name_that_is_near_to_none_is_told_what_is_allowed(parts, allowed):
    with pytest.raises(RequestError) as caught:
        read_request(**{**USUAL, **parts})
    assert caught.value.problems[0].hint.startswith(allowed)


@pytest.mark.parametrize("parts", [{"purpose": "dpv:Marketing"}, {"action": "dpv:Store"}])
def test_names_of_the_data_privacy_vocabulary_are_read(parts):
    found = read_request(**{**USUAL, **parts})
    assert f"{terms.DPV}{next(iter(parts.values()))[4:]}" in (found.action, found.purpose)


def test_a_purpose_may_be_left_out_and_targets_may_not():
    assert read_request(ANN, "read", [TABLE], "").purpose == ""
    with pytest.raises(RequestError, match="D001 A request needs at least one target"):
        read_request(ANN, "read", [])
    assert read_request(ANN, READ, [TABLE]).action == f"{ODRL}read"


def read_digest(target):
    return read_policy(text(permission={**RULE, "target": target})).digest


@pytest.mark.parametrize("blank", ["\xa0", "\u2003", "\u2028", "\u3000"])
def test_blanks_beyond_ascii_are_part_of_a_name(blank):
    name = f"{TABLE}{blank}"
    assert read_request(ANN, "read", [name]).targets == (f"{TABLE}{quote(blank)}",)
    digests = [read_digest(target) for target in (name, f"{TABLE}{quote(blank)}", TABLE)]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("blank", [" ", "\x85"])
def test_blanks_that_no_iri_has_are_refused_in_every_request(blank):
    with pytest.raises(ValidationError, match="not allowed in an IRI"):
        Request(assignee=ANN, action=READ, targets=(f"{TABLE}{blank}",))
    with pytest.raises(PolicyError, match=r"F001 .* not allowed in an IRI"):
        read_digest(f"{TABLE}{blank}")
