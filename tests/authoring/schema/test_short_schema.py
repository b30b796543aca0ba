"""The schema of the short form takes what the reader takes, and sees misspelt words."""

from pathlib import Path

import jsonschema
import pytest

from policy_engine.authoring.schema import short_policy_schema
from policy_engine.policy.collecting.files import Reading
from policy_engine.policy.converting import convert_policy
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS
from policy_engine.policy.syntax.yaml_text import read_yaml

POLICIES = sorted((Path(__file__).parents[3] / "policies").glob("*.jsonld"))


@pytest.fixture(scope="module")
def validator():
    schema = short_policy_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def messages(validator, text):
    value = read_yaml(text, "", DEFAULT_LIMITS).root.plain()
    return [error.message for error in validator.iter_errors(value)]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_schema_takes_the_policies_of_the_project(path, validator):
    text = convert_policy(path.read_text(), "json-ld", "yaml", str(path), Reading())
    assert messages(validator, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "policy: p\nkk: 3",
        "policy: p\nmethod: k-anonimity",
        "k: 3",
        "policy: p\nquasi-identifier: {a: {wight: 3}}",
    ],
)
def test_schema_sees_what_is_misspelt(text, validator):
    assert messages(validator, text)
