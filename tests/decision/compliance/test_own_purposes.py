"""What a request says of the kind of its purpose, where others name that, too."""

import json

import pytest
from compliance_texts import PREFIXES, constrained, for_purpose, limit, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import RequestError

TOLD = ":w a sotw:SotW ; odrl:"
ADS = "http://example.com/ads"
OF_CARE = constrained(limit("odrl:purpose", "isA", ":care"))
NOT_FOR_ADS = f"[ odrl:action odrl:read ; odrl:constraint [ {limit('odrl:purpose', 'eq', '{}')} ] ]"


def refused(text, asked, told="", **more):
    with pytest.raises(RequestError, match=r"D003 The request says that .* is a kind of"):
        compliance_report(text, asked, told or world(), **more)


@pytest.mark.parametrize(
    "text",
    [f"'{ADS}'", f"' {ADS} '^^xsd:anyURI", "'http://example.com/%61ds'", f"( :sales '{ADS}' )"],
)
def test_purpose_that_the_world_names_by_a_text_is_known(text):
    asked = for_purpose(":ads", ":ads skos:broader :care .")
    refused(OF_CARE, asked, world(f"{TOLD}purpose {text} ."))
    of_policy = f":policy odrl:conflict odrl:perm ; odrl:prohibition {NOT_FOR_ADS} ."
    refused(OF_CARE + of_policy.format(text), asked)


def test_purpose_that_the_world_names_by_a_text_of_json_is_known():
    told = {"@id": "http://example.com/w", "http://www.w3.org/ns/odrl/2/purpose": ADS}
    told["@type"] = "https://w3id.org/force/sotw#SotW"
    refused(OF_CARE, for_purpose(":ads", ":ads a :care ."), json.dumps(told))


def test_value_of_another_operand_that_the_world_names_by_a_text_is_known():
    text = constrained(limit("odrl:spatial", "isA", ":EU"))
    asked = for_purpose(":US", ":US skos:broader :EU .")
    refused(text, asked, world(f"{TOLD}spatial 'http://example.com/US' ."))


def test_purpose_of_a_vocabulary_is_known_though_it_is_a_part_of_nothing(tmp_path):
    vocabulary = tmp_path / "vocabulary.ttl"
    purpose = "a <https://www.mosaicrown.eu/ns/mosaicrown/1/purpose> ."
    vocabulary.write_text(f"{PREFIXES}:ads {purpose} :care {purpose}")
    refused(OF_CARE, for_purpose(":ads", ":ads a :care ."), vocabularies=[vocabulary])


@pytest.mark.parametrize("told", ["", f"{TOLD}spatial '{ADS} and more' .", ":w :is 'ads' ."])
def test_purpose_that_nobody_names_is_of_the_kind_that_the_request_says(told):
    asked = for_purpose(":ads", ":ads a :care .")
    [report] = compliance_report(OF_CARE, asked, world(told)).policies
    assert report.rules[0].active
