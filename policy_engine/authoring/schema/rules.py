"""Rules, and their parties, assets and actions (sections 2.2 to 2.6)."""

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    TYPES,
    Schema,
    described_object,
    object_schema,
    odrl_properties,
    one_of_terms,
    one_or_more,
    ref,
    requires,
    term_schema,
    when,
)
from policy_engine.authoring.schema.conditions import has_key
from policy_engine.policy.model import Kind
from policy_engine.policy.structure import INNER_KINDS, KINDS

_ODRL, _MC = terms.ODRL, terms.MOSAICROWN
_VALUE = f"{terms.RDF}value"
_ANONYMIZE = one_of_terms(f"{_ODRL}anonymize")
_TRAIN = one_of_terms(f"{terms.PE}train")


def rules() -> dict[str, Schema]:
    """Return the definitions of rules and of their parts."""
    return {
        **one_or_more("parties", when({"type": "object"}, _collection("parties"), ref("iri"))),
        **one_or_more("assets", when({"type": "object"}, _collection("assets"), ref("iri"))),
        **one_or_more(
            "output", when({"type": "object"}, _collection("assets"), ref("iri")), most=1
        ),
        "refinedAction": _refined_action(),
        "simpleAction": object_schema(
            odrl_properties(includedIn="actionNames", implies="actionNames")
        ),
        **one_or_more("actions", when({"type": "object"}, _action(), ref("actionName"))),
        **{
            name: one
            for kind in ("Permission", "Prohibition", "Duty")
            for name, one in one_or_more(f"{kind}Type", _type_of(kind)).items()
        },
        **{name: one for kind in INNER_KINDS for name, one in _rule(kind).items()},
    }


def shared_properties() -> dict[str, str]:
    """Return the properties of rules, which a policy may state for all of them (section 2.7.1)."""
    functions = terms.instances(f"{terms.PE}PartyFunction")
    return odrl_properties(target="assets", action="actions") | dict.fromkeys(functions, "parties")


def _rule(kind: Kind) -> dict[str, Schema]:
    keys = shared_properties() | odrl_properties(constraint="constraints")
    name = kind.capitalize() if kind in ("permission", "prohibition") else "Duty"
    if kind in ("permission", "prohibition"):
        keys |= {f"{_ODRL}output": "output", f"{_MC}purpose": "purposes"}
    keys |= odrl_properties(**{one: f"{one}Rules" for one in INNER_KINDS[kind]})
    own = [] if kind in KINDS else [requires("action")]
    own += [when(_asks_for(_TRAIN), requires("output"))] if kind == "permission" else []
    rule = object_schema(keys, *own)
    rule["properties"] |= dict.fromkeys(TYPES, ref(f"{name}Type"))
    return one_or_more(f"{kind}Rules", when({"type": "object"}, rule, ref("linked")))


def _type_of(kind: str) -> Schema:
    return term_schema([f"{_ODRL}{kind}", f"{_ODRL}Rule"])


def output_needed() -> dict[str, Schema]:
    """Return the rule that a permission to anonymise names its output, or its assigner.

    An assigner is enough if it only lets others anonymise.
    """
    nobody = {"allOf": [_asks_for(_ANONYMIZE), {"not": {"required": ["assigner"]}}]}
    return one_or_more("outputNeeded", when(nobody, requires("output")))


def _asks_for(action: Schema) -> Schema:
    """Return a schema matched by rules that ask for something to be made as refined."""
    refined = {"type": "object", "allOf": [_is_action(action), {"required": ["refinement"]}]}
    either = {"anyOf": [refined, {"type": "array", "contains": refined}]}
    return {"required": ["action"], "properties": {"action": either}}


def _is_action(action: Schema) -> Schema:
    """Return a schema matched by refined actions of some kind."""
    return {"required": ["rdf:value"], "properties": {"rdf:value": _name_object(action)}}


def _name_object(name: Schema) -> Schema:
    """Return the schema of an object with nothing but a name."""
    return {"type": "object", "anyOf": [has_key("@id", name), has_key("uid", name)]}


def _collection(kind: str) -> Schema:
    """Return the schema of a party or asset that is part of another, or has members."""
    keys = odrl_properties(partOf=kind, source="oneName", refinement="refinements")
    if kind == "parties":
        keys[f"{_MC}belongsTo"] = kind
    members_chosen = {"properties": {"uid": False, "@id": False}, "required": ["source"]}
    return object_schema(
        keys, when({"allOf": [described_object(), {"required": ["refinement"]}]}, members_chosen)
    )


def _action() -> Schema:
    plain = {"not": {"anyOf": [{"required": ["refinement"]}, {"required": ["rdf:value"]}]}}
    return when(plain, ref("simpleAction"), ref("refinedAction"))


def _refined_action() -> Schema:
    """Return the schema of a refined action; the refinements of `anonymize` are parameters."""
    keys = {_VALUE: "actionObject", f"{_ODRL}refinement": "anything"}
    is_named = {"required": ["rdf:value"], "properties": {"rdf:value": _name_object({})}}
    refinements = {"properties": {"refinement": ref("refinements")}}
    parameters = {"properties": {"refinement": ref("anonymization")}}
    chosen = when(_is_action(_ANONYMIZE), parameters, when(is_named, refinements))
    label: Schema = {"type": "string", "pattern": "^_:"}
    nameless = {"properties": {"uid": label, "@id": label}}
    return object_schema(keys, requires("rdf:value"), nameless, chosen)
