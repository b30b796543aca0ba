"""A policy keeps its digest in another syntax, or is not written in it."""

import json
from typing import get_args

import pytest
from policy_texts import CONTEXT

from policy_engine.errors import PolicyError
from policy_engine.policy import read_policy
from policy_engine.policy.canonical import digest_of
from policy_engine.policy.collecting.files import Reading
from policy_engine.policy.converting import convert_policy
from policy_engine.policy.syntax import Syntax

SYNTAXES = get_args(Syntax)


def text(constraint=None, kind="Set", **rule):
    rule = {"target": "ex:T", "action": "read", **rule}
    rule |= {"constraint": {"operator": "lteq", **constraint}} if constraint else {}
    return json.dumps({"@context": CONTEXT, "@type": kind, "uid": "ex:p", "permission": rule})


def typed(value, kind):
    return {"@value": value, "@type": f"xsd:{kind}"}


def digest(given, syntax="json-ld"):
    return digest_of(read_policy(given, syntax=syntax))


def limit(left, right, **more):
    return text({"leftOperand": left, "rightOperand": right, **more})


@pytest.mark.one_in(4)
@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize(
    "given",
    [
        *(limit("count", right) for right in (5, 5.0, 1e20, -0.0, {"@list": [5.0]})),
        *(limit("resolution", right) for right in (300, "300", 5.0, typed("300", "integer"))),
        *(limit("ex:q", typed(5, kind)) for kind in ("decimal", "double", "integer")),
        *(limit("ex:q", right) for right in (0.5, 5.0, 1e20, -0.0, typed(0.5, "decimal"))),
        limit("ex:q", 5.0, dataType="xsd:integer"),
        limit("ex:q", 0.5, dataType="xsd:decimal"),
        limit("ex:q", 0.5, dataType="xsd:float"),
    ],
)
def test_number_is_the_same_in_every_syntax(given, syntax):
    converted = convert_policy(given, "json-ld", syntax, "", Reading())
    assert digest(converted, syntax) == digest(given)


def test_number_with_a_type_is_that_of_its_literal():
    assert digest(limit("resolution", typed("300", "integer"))) == digest(limit("resolution", 300))
    decimals = [digest(limit("ex:q", typed(five, "decimal"))) for five in (5, "5", "5.0")]
    assert len(set(decimals)) == 1


def test_policy_that_would_have_another_digest_is_not_converted():
    given = limit("ex:q", 10**18 + 1, dataType="xsd:decimal")
    with pytest.raises(PolicyError) as error:
        convert_policy(given, "json-ld", "turtle", "", Reading())
    assert [one.code for one in error.value.problems] == ["F002"]


def test_policy_is_not_valid_only_by_being_converted():
    given = text(kind=["Set", "Set"])
    with pytest.raises(PolicyError, match="A policy has one type"):
        convert_policy(given, "json-ld", "turtle", "", Reading())


def test_what_is_no_policy_is_converted_as_it_is():
    given = text(action="odrl:raed", target=["ex:T", "ex:T"])
    assert "raed" in convert_policy(given, "json-ld", "json-ld", "", Reading())
