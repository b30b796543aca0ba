"""The JSON Schema of policies in the short form, for editors of YAML."""

from policy_engine import terms
from policy_engine.authoring.schema.building import Schema, ref, term_description
from policy_engine.authoring.schema.parameters import METHOD, field_schema, fields_of
from policy_engine.methods.reference import SETTINGS
from policy_engine.policy.model import Kind
from policy_engine.policy.structure import INNER_KINDS, KINDS, POLICY_TYPES
from policy_engine.policy.syntax.short import words

_URL = "https://w3id.org/policy-engine/schema/short-policy.json"
_NAME: Schema = {"type": "string"}
_NAMES: Schema = {"anyOf": [_NAME, {"type": "array", "items": {"type": ["string", "object"]}}]}
_NAMES["anyOf"].append({"type": "object"})
_ANYTHING: Schema = {"type": ["string", "number", "boolean", "array", "object"]}
_COLUMN: Schema = {"type": ["string", "number", "boolean"]}
_DESCRIPTIONS = {
    words.POLICY: "The name of the policy, an IRI.",
    words.RULE: "The name of the rule, an IRI.",
    words.TARGET: "The dataset that the rule is about.",
    words.COLUMNS: "The columns of the target that the rule is about; without them, all.",
    words.ROWS: "The rows of the target that the rule is about, by conditions on its columns.",
    words.OUTPUT: "The name of what is made of the target.",
    words.PURPOSE: "What the rule allows or forbids the action for.",
    words.ACTION: "What may be done; where there are parameters, anonymize.",
    words.CONSTRAINT: "What must hold, by operand: {dateTime: {lt: 2030-01-01}}.",
    words.NAMESPACE: "What completes names that have no scheme.",
    words.PREFIXES: "Prefixes of names, as in {ex: http://example.com/}.",
}


def short_policy_schema() -> Schema:
    """Return the schema of policies in the short form (draft 2020-12).

    Whatever the reader takes, the schema takes too. What is seen only by looking at several places
    of the text, the reader alone finds.
    """
    head = {key: _described(key, _ANYTHING) for key in (*words.OF_POLICY, *words.SETTINGS_OF_TEXT)}
    head["type"] = {"enum": [*POLICY_TYPES]}
    lists: dict[str, Schema] = {kind: _rules(kind) for kind in KINDS}
    rule = _rule_properties("permission")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _URL,
        "title": "policy in the short form",
        "type": "object",
        "required": [words.POLICY],
        **_properties({**rule, **lists, **head}),
        "$defs": _definitions(),
    }


def _definitions() -> dict[str, Schema]:
    definitions = {word: _parameter(iri) for word, iri in words.parameters().items()}
    definitions.update({f"{kind}Rule": _rule(kind) for kind in INNER_KINDS})
    return definitions


def _rules(kind: str) -> Schema:
    rule = ref(f"{kind}Rule")
    return {"anyOf": [rule, {"type": "array", "items": rule}]}


def _rule(kind: Kind) -> Schema:
    return {"type": "object", **_properties(_rule_properties(kind))}


def _properties(properties: dict[str, Schema]) -> Schema:
    """Return the rules of an object: these keys, and those of JSON-LD, which have a prefix."""
    return {
        "properties": properties,
        "patternProperties": {":": True},
        "additionalProperties": False,
    }


def _rule_properties(kind: Kind) -> dict[str, Schema]:
    own = {key: _described(key, _ANYTHING) for key in words.keys_of(kind)}
    own |= {
        key: _described(key, _NAMES)
        for key in (*words.functions(), words.TARGET, words.PURPOSE)
        if key in own
    }
    own |= {key: _described(key, _NAME) for key in (words.RULE, words.OUTPUT) if key in own}
    own |= {inner: _rules(inner) for inner in INNER_KINDS[kind]}
    return {word: ref(word) for word in words.parameters() if word not in own} | own


def _described(key: str, schema: Schema) -> Schema:
    description = _DESCRIPTIONS.get(key) or term_description(f"{terms.ODRL}{key}").get(
        "description"
    )
    return {"description": description, **schema} if description else schema


def _parameter(iri: str) -> Schema:
    """Return the schema of a parameter: of one value, of several, or by operator."""
    if terms.names_columns(iri):
        return {**term_description(iri), **_columns(iri)}
    one = {"anyOf": [*fields_of(iri), {"type": "string"}]} if fields_of(iri) else _ANYTHING
    if iri == METHOD:
        one = {"enum": [*terms.methods(), *terms.audit_methods()]}
    by_operator = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"enum": [*words.operators()]},
    }
    several = {"type": "array", "items": one}
    return {**term_description(iri), "anyOf": [one, several, by_operator]}


def _columns(iri: str) -> Schema:
    """Return the schema of columns: one, a list, or a mapping to what is set for each."""
    settings = {word: _setting(iri, word, one) for word, one in words.settings_of(iri).items()}
    values: list[Schema] = [{"type": "null"}, {"type": "object", **_properties(settings)}]
    only = words.ONE_WORD_SETTINGS.get(iri)
    values += [settings[only]] if only else []
    by_name = {"type": "object", "additionalProperties": {"anyOf": values}}
    listed = {"type": "array", "items": {"anyOf": [_COLUMN, by_name]}}
    return {"anyOf": [_COLUMN, listed, by_name]}


def _setting(parameter: str, word: str, iri: str) -> Schema:
    if words.names_columns(iri) or parameter not in SETTINGS:
        return {**term_description(iri), **_ANYTHING}
    field = field_schema(SETTINGS[parameter], word)
    return {**term_description(iri), "anyOf": [field, {"type": "array"}, {"type": "string"}]}
