"""Rules, and the parties, assets and actions that they are about (sections 2.2 to 2.6)."""

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    TYPES,
    Schema,
    a_term,
    an_object,
    exactly,
    needs,
    of_odrl,
    ref,
    said,
    several,
    when,
)
from policy_engine.authoring.schema.conditions import for_key
from policy_engine.policy.model import Kind
from policy_engine.policy.structure import KINDS, WITHIN

_ODRL, _MC = terms.ODRL, terms.MOSAICROWN
_VALUE = f"{terms.RDF}value"
_ANONYMIZE = exactly(f"{_ODRL}anonymize")
_TRAIN = exactly(f"{terms.PE}train")


def rules() -> dict[str, Schema]:
    """Return the definitions of rules and of what stands in them."""
    return {
        **several("parties", when({"type": "object"}, _collection("parties"), ref("iri"))),
        **several("assets", when({"type": "object"}, _collection("assets"), ref("iri"))),
        **several("output", when({"type": "object"}, _collection("assets"), ref("iri")), most=1),
        "refinedAction": _refined(),
        "simpleAction": an_object(of_odrl(includedIn="actionNames", implies="actionNames")),
        **several("actions", when({"type": "object"}, _action(), ref("actionName"))),
        **{
            name: one
            for kind in ("Permission", "Prohibition", "Duty")
            for name, one in several(f"{kind}Type", _type_of(kind)).items()
        },
        **{name: one for kind in WITHIN for name, one in _rule(kind).items()},
    }


def shared() -> dict[str, str]:
    """Return what rules have, and a policy may have for all of them (section 2.7.1)."""
    functions = terms.instances(f"{terms.PE}PartyFunction")
    return of_odrl(target="assets", action="actions") | dict.fromkeys(functions, "parties")


def _rule(kind: Kind) -> dict[str, Schema]:
    keys = shared() | of_odrl(constraint="constraints")
    name = kind.capitalize() if kind in ("permission", "prohibition") else "Duty"
    if kind in ("permission", "prohibition"):
        keys |= {f"{_ODRL}output": "output", f"{_MC}purpose": "purposes"}
    keys |= of_odrl(**{one: f"{one}Rules" for one in WITHIN[kind]})
    own = [] if kind in KINDS else [needs("action")]
    own += [when(_makes(_TRAIN), needs("output"))] if kind == "permission" else []
    rule = an_object(keys, *own)
    rule["properties"] |= dict.fromkeys(TYPES, ref(f"{name}Type"))
    return several(f"{kind}Rules", when({"type": "object"}, rule, ref("linked")))


def _type_of(kind: str) -> Schema:
    return a_term([f"{_ODRL}{kind}", f"{_ODRL}Rule"])


def output_needed() -> dict[str, Schema]:
    """Return that a rule which has something anonymised names the output or, where it lets others
    do so, who gives it."""
    nobody = {"allOf": [_makes(_ANONYMIZE), {"not": {"required": ["assigner"]}}]}
    return several("outputNeeded", when(nobody, needs("output")))


def _makes(action: Schema) -> Schema:
    """Return what tells a rule that has something made as its refinements say."""
    refined = {"type": "object", "allOf": [_is(action), {"required": ["refinement"]}]}
    either = {"anyOf": [refined, {"type": "array", "contains": refined}]}
    return {"required": ["action"], "properties": {"action": either}}


def _is(action: Schema) -> Schema:
    """Return what tells an action that is one of some narrowed."""
    return {"required": ["rdf:value"], "properties": {"rdf:value": _with_name(action)}}


def _with_name(name: Schema) -> Schema:
    """Return an object that is no more than one name."""
    return {"type": "object", "anyOf": [for_key("@id", name), for_key("uid", name)]}


def _collection(kind: str) -> Schema:
    """Return a party or an asset that says what it is part of, or some members of one."""
    keys = of_odrl(partOf=kind, source="oneName", refinement="refinements")
    if kind == "parties":
        keys[f"{_MC}belongsTo"] = kind
    chosen = {"properties": {"uid": False, "@id": False}, "required": ["source"]}
    return an_object(keys, when({"allOf": [said(), {"required": ["refinement"]}]}, chosen))


def _action() -> Schema:
    plain = {"not": {"anyOf": [{"required": ["refinement"]}, {"required": ["rdf:value"]}]}}
    return when(plain, ref("simpleAction"), ref("refinedAction"))


def _refined() -> Schema:
    """Return an action that is narrowed; what narrows `anonymize` are parameters."""
    keys = {_VALUE: "actionObject", f"{_ODRL}refinement": "anything"}
    is_named = {"required": ["rdf:value"], "properties": {"rdf:value": _with_name({})}}
    refinements = {"properties": {"refinement": ref("refinements")}}
    parameters = {"properties": {"refinement": ref("anonymization")}}
    chosen = when(_is(_ANONYMIZE), parameters, when(is_named, refinements))
    return an_object(keys, needs("rdf:value"), chosen)
