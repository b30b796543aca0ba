"""Policies, and the texts they are in: contexts, graphs, lists (sections 2.1 and 2.7)."""

import re

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    NAMES,
    Schema,
    described_object,
    object_schema,
    odrl_properties,
    one_of_terms,
    one_or_more,
    ref,
    spellings,
    term_pattern,
    term_schema,
    when,
)
from policy_engine.authoring.schema.queries import PROPERTIES
from policy_engine.authoring.schema.rules import output_needed, shared_properties
from policy_engine.policy.model import ACCEPTED, ENDS_WITH
from policy_engine.policy.structure import KINDS, NEEDED, POLICY_TYPES

_ODRL = terms.ODRL
_TYPES = tuple(f"{_ODRL}{name}" for name in POLICY_TYPES)
_ENDS = r"[:/?#\[\]@]$"
_REPLACED = "^(dct:|http://purl\\.org/dc/terms/)isReplacedBy$"
_RULES = tuple(f"{_ODRL}{kind}" for kind in KINDS)


def documents() -> dict[str, Schema]:
    """Return the definitions of policies, and of everything at the top level of a text."""
    url = {"type": "string"}
    own = {"type": "object", "additionalProperties": {"type": "string"}}
    definitions = one_or_more("context", when({"type": "object"}, own, url))
    definitions |= {
        f"{key}Needed": one for key, one in _part_requirements().items()
    } | output_needed()
    return {
        **definitions,
        "plainContext": _plain_context(),
        **one_or_more("digest", _digest(), most=1),
        **one_or_more("policyType", term_schema(_TYPES), most=1),
        "policy": _policy(),
        "described": _described_node(),
        **one_or_more("graph", when(_is_policy(), ref("policy"), ref("described"))),
        "document": _document(),
    }


def _digest() -> Schema:
    """Return the schema of a sha-256 in hexadecimal, alone or as the value of a literal."""
    text = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    literal = {"properties": {"@value": text}, **ref("literal")}
    return when({"type": "object"}, literal, text)


def _document() -> Schema:
    context = {
        "description": "What the keys stand for: give the URLs of ODRL and MOSAICrOWN.",
        "examples": [list(terms.bundled_contexts())[:1]],
        **ref("context"),
    }
    graph = {
        "properties": {"@context": True, "@graph": ref("graph")},
        "additionalProperties": False,
    }
    body = when({"required": ["@graph"]}, graph, ref("policy"))
    is_plain = {"required": ["@context"], "properties": {"@context": ref("plainContext")}}
    return {
        "type": "object",
        "required": ["@context"],
        "properties": {"@context": context},
        **when(is_plain, body),
    }


def _plain_context() -> Schema:
    """Return the schema of known contexts, with only prefixes of other namespaces.

    Under a policy's own terms and prefixes, any key may be one of ODRL.
    """
    urls = {"enum": [*terms.bundled_contexts()]}
    spaces = (_ODRL, terms.MOSAICROWN, terms.PE, terms.RDF)
    within = [space[:end] for space in spaces for end in range(1, len(space) + 1)]
    begun = sorted({part for part in within if re.search(_ENDS, part)})
    other = {"type": "string", "pattern": _ENDS, "not": {"enum": begun}}
    usual = {name: {"const": space} for name, space in terms.PREFIXES.items()}
    own = {"properties": {"@version": True, **usual}, "additionalProperties": other}
    item = when({"type": "object"}, own, urls)
    return when({"type": "array"}, {"items": item}, item)


# -- policies -------------------------------------------------------------------------------------


def _policy() -> Schema:
    rules = odrl_properties(**{kind: f"{kind}Rules" for kind in KINDS})
    keys = (
        odrl_properties(profile="names", inheritFrom="names", conflict="conflict")
        | rules
        | shared_properties()
    )
    keys |= {ENDS_WITH: "names", ACCEPTED: "digest", **PROPERTIES}
    schema = object_schema(keys, *_policy_requirements())
    schema["properties"] |= {
        "@context": True,
        "@type": ref("policyType"),
        "type": ref("policyType"),
    }
    schema["properties"] |= dict.fromkeys(NAMES, ref("iri"))
    schema["patternProperties"][_REPLACED] = False
    schema["anyOf"] = [{"required": ["@type"]}, {"required": ["type"]}]
    return schema


def _policy_requirements() -> list[Schema]:
    """Return the requirements on a policy, or on its rules (section 2.1)."""
    has_name = {"anyOf": [{"required": [key]} for key in NAMES]}
    complete = {**described_object(), "not": {"required": ["inheritFrom"]}}
    some = {"anyOf": [{"required": [kind]} for kind in KINDS]}
    requirements = [has_name, when(complete, some)]
    for part, kinds, types in NEEDED:
        key = terms.local_name(part)
        type_iris = [f"{_ODRL}{name}" for name in types] if types != POLICY_TYPES else []
        lacks = {**complete, "not": {"anyOf": [{"required": ["inheritFrom"]}, {"required": [key]}]}}
        if type_iris:
            lacks |= {"anyOf": [_has_type(one, type_iris) for one in ("@type", "type")]}
        requirements.append(when(lacks, {"properties": dict.fromkeys(kinds, ref(f"{key}Needed"))}))
    nobody = {
        **complete,
        "not": {"anyOf": [{"required": ["inheritFrom"]}, {"required": ["assigner"]}]},
    }
    return [*requirements, when(nobody, {"properties": {"permission": ref("outputNeeded")}})]


def _has_type(key: str, types: list[str]) -> Schema:
    name = one_of_terms(*types)
    either = {"anyOf": [name, {"type": "array", "contains": name}]}
    return {"properties": {key: either}, "required": [key]}


def _part_requirements() -> dict[str, Schema]:
    """Return the requirement that rules have a part, one definition per part."""
    return {
        key: one_or_more(f"{key}Needed", when(described_object(), {"required": [key]}))[
            f"{key}Needed"
        ]
        for key in (terms.local_name(part) for part, _, _ in NEEDED)
    }


# -- other nodes ----------------------------------------------------------------------------------


def _is_policy() -> Schema:
    """Return a schema that only policies match among the nodes of a graph."""
    keys = [
        *(name for iri in _RULES for name in spellings(iri)),
        "profile",
        "conflict",
        "inheritFrom",
    ]
    types = [_has_type(key, list(_TYPES)) for key in ("@type", "type")]
    has_rule = {"not": {"propertyNames": {"not": {"pattern": term_pattern(_RULES)}}}}
    return {"anyOf": [*({"required": [key]} for key in keys), *types, has_rule]}


def _described_node() -> Schema:
    """Return the schema of a graph node that others refer to: anything with a name."""
    properties = {name: True for iri in _known_properties() for name in spellings(iri)}
    keys = dict.fromkeys((*NAMES, "@type", "type"), True) | properties
    return {
        "type": "object",
        "properties": keys,
        "patternProperties": {":": True},
        "additionalProperties": False,
    }


def _known_properties() -> list[str]:
    """Return the properties of ODRL and of the profile."""
    kinds = ("PartyFunction", "LogicalOperator", "Property", "ObjectProperty")
    return [
        iri
        for iri, term in terms.vocabulary().items()
        if any(terms.local_name(kind) in kinds for kind in term.types)
    ]
