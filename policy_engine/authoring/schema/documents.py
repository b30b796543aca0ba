"""Policies, and the texts that hold them: contexts, graphs, lists (sections 2.1 and 2.7)."""

import re

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    NAMES,
    Schema,
    a_term,
    an_object,
    exactly,
    of_odrl,
    ref,
    said,
    several,
    spelling,
    when,
    written,
)
from policy_engine.authoring.schema.rules import output_needed, shared
from policy_engine.policy.model import ACCEPTED, ENDS_WITH
from policy_engine.policy.structure import KINDS, NEEDED, POLICY_TYPES

_ODRL = terms.ODRL
_TYPES = tuple(f"{_ODRL}{name}" for name in POLICY_TYPES)
_ENDS = r"[:/?#\[\]@]$"
_REPLACED = "^(dct:|http://purl\\.org/dc/terms/)isReplacedBy$"
_RULES = tuple(f"{_ODRL}{kind}" for kind in KINDS)


def documents() -> dict[str, Schema]:
    """Return the definitions of policies, and of what may stand at the top of a text."""
    url = {"type": "string"}
    own = {"type": "object", "additionalProperties": {"type": "string"}}
    found = several("context", when({"type": "object"}, own, url))
    found |= {f"{key}Needed": one for key, one in _needed().items()} | output_needed()
    return {
        **found,
        "plainContext": _plain_context(),
        **several("digest", _digest(), most=1),
        **several("policyType", a_term(_TYPES), most=1),
        "policy": _policy(),
        "described": _described(),
        **several("graph", when(_is_policy(), ref("policy"), ref("described"))),
        "document": _document(),
    }


def _digest() -> Schema:
    """Return a sha-256 in hexadecimal, alone or as the value of a literal."""
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
    """Return contexts that are known, with prefixes of other namespaces at most.

    Under a term or a prefix of the policy's own, any key may be one of ODRL.
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
    rules = of_odrl(**{kind: f"{kind}Rules" for kind in KINDS})
    keys = of_odrl(profile="names", inheritFrom="names", conflict="conflict") | rules | shared()
    keys |= {ENDS_WITH: "names", ACCEPTED: "digest"}
    made = an_object(keys, *_of_policy())
    made["properties"] |= {"@context": True, "@type": ref("policyType"), "type": ref("policyType")}
    made["properties"] |= dict.fromkeys(NAMES, ref("iri"))
    made["patternProperties"][_REPLACED] = False
    made["anyOf"] = [{"required": ["@type"]}, {"required": ["type"]}]
    return made


def _of_policy() -> list[Schema]:
    """Return what a policy has to have, in itself or in its rules (section 2.1)."""
    named = {"anyOf": [{"required": [key]} for key in NAMES]}
    alone = {**said(), "not": {"required": ["inheritFrom"]}}
    some = {"anyOf": [{"required": [kind]} for kind in KINDS]}
    found = [named, when(alone, some)]
    for part, kinds, types in NEEDED:
        key = terms.local_name(part)
        types_ = [f"{_ODRL}{name}" for name in types] if types != POLICY_TYPES else []
        lacks = {**alone, "not": {"anyOf": [{"required": ["inheritFrom"]}, {"required": [key]}]}}
        if types_:
            lacks |= {"anyOf": [_has_type(one, types_) for one in ("@type", "type")]}
        found.append(when(lacks, {"properties": dict.fromkeys(kinds, ref(f"{key}Needed"))}))
    nobody = {
        **alone,
        "not": {"anyOf": [{"required": ["inheritFrom"]}, {"required": ["assigner"]}]},
    }
    return [*found, when(nobody, {"properties": {"permission": ref("outputNeeded")}})]


def _has_type(key: str, types: list[str]) -> Schema:
    name = exactly(*types)
    either = {"anyOf": [name, {"type": "array", "contains": name}]}
    return {"properties": {key: either}, "required": [key]}


def _needed() -> dict[str, Schema]:
    """Return that rules have a part, one definition a part."""
    return {
        key: several(f"{key}Needed", when(said(), {"required": [key]}))[f"{key}Needed"]
        for key in (terms.local_name(part) for part, _, _ in NEEDED)
    }


# -- other nodes ----------------------------------------------------------------------------------


def _is_policy() -> Schema:
    """Return what tells a policy from what else stands in a graph."""
    keys = [
        *(name for iri in _RULES for name in written(iri)),
        "profile",
        "conflict",
        "inheritFrom",
    ]
    types = [_has_type(key, list(_TYPES)) for key in ("@type", "type")]
    has_rule = {"not": {"propertyNames": {"not": {"pattern": spelling(_RULES)}}}}
    return {"anyOf": [*({"required": [key]} for key in keys), *types, has_rule]}


def _described() -> Schema:
    """Return an object of a graph that others name: anything that has a name."""
    known = {name: True for iri in _known() for name in written(iri)}
    keys = dict.fromkeys((*NAMES, "@type", "type"), True) | known
    return {
        "type": "object",
        "properties": keys,
        "patternProperties": {":": True},
        "additionalProperties": False,
    }


def _known() -> list[str]:
    """Return the properties of ODRL and of the profile."""
    kinds = ("PartyFunction", "LogicalOperator", "Property", "ObjectProperty")
    return [
        iri
        for iri, term in terms.vocabulary().items()
        if any(terms.local_name(kind) in kinds for kind in term.types)
    ]
