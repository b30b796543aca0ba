"""Constraints and refinements, one by one and joined (ODRL Information Model 2.2, section 2.5)."""

from policy_engine import terms
from policy_engine.schema.building import (
    Schema,
    a_term,
    an_object,
    exactly,
    needs,
    of_odrl,
    ref,
    said,
    several,
    spelling,
    told,
    when,
    without,
)
from policy_engine.schema.names import named
from policy_engine.schema.values import taking

_ODRL = terms.ODRL


def conditions() -> dict[str, Schema]:
    """Return the definitions of constraints and of refinements but those of `anonymize`."""
    operands = terms.instances(f"{_ODRL}LeftOperand")
    left = a_term(
        (iri for iri, one in operands.items() if "range" not in one.facts), or_foreign=True
    )
    joining = exactly(*_joining())["pattern"]
    is_plain = {"type": "object", "propertyNames": {"not": {"pattern": joining}}}
    is_joined = {"type": "object", "not": is_plain}
    alone = when({"type": "object"}, ref("comparison"), ref("linked"))
    return {
        "linked": {
            "type": "string",
            "pattern": "^[^:/?#]+:",
            "description": "The name of an object elsewhere in the text.",
        },
        "leftOperandName": left,
        **several("leftOperand", named(ref("leftOperandName")), most=1),
        "comparison": _comparison(),
        "joined": _joined(),
        "twoAtLeast": _two(),
        "ordered": _ordered(),
        **several("conditions", when(is_joined, ref("joined"), alone)),
    }


def _joining() -> list[str]:
    return list(terms.instances(f"{terms.PE}LogicalOperator"))


def _comparison() -> Schema:
    keys = of_odrl(
        leftOperand="leftOperand",
        operator="operator",
        rightOperand="values",
        rightOperandReference="names",
        dataType="oneName",
        unit="oneName",
        status="oneValue",
    )
    either = {"anyOf": [{"required": ["rightOperand"]}, {"required": ["rightOperandReference"]}]}
    made = an_object(
        keys, needs("leftOperand", "operator"), when(said(), either), _one_right(), *_takes()
    )
    made["dependentSchemas"] |= without("rightOperand", "rightOperandReference")
    return made


def _one_right() -> Schema:
    """Return that but for three operators there is one right operand."""
    operators = terms.instances(f"{_ODRL}Operator")
    others = [iri for iri, term in operators.items() if not term.facts.get("set")]
    one = {"rightOperand": ref("oneValue"), "rightOperandReference": ref("oneName")}
    return for_one("operator", exactly(*others), {"properties": one})


def _takes() -> list[Schema]:
    operands = terms.instances(f"{_ODRL}LeftOperand").items()
    return [
        for_one(
            "leftOperand",
            exactly(iri),
            {**told(iri), "properties": {"rightOperand": ref(taking(term))}},
        )
        for iri, term in operands
        if term.iris("takes")
    ]


def for_one(key: str, name: Schema, then: Schema) -> Schema:
    """Return what holds where a key has one name."""
    return when(for_key(key, name), then)


def for_key(key: str, name: Schema) -> Schema:
    """Return what tells an object in which a key has one name."""
    return {"required": [key], "properties": {key: name}}


def _joined() -> Schema:
    """Return the schema of a constraint that joins two others at least, by one operand."""
    operands = [terms.local_name(iri) for iri in _joining()]
    made = an_object(dict.fromkeys(_joining(), "conditions"))
    ordered = spelling([f"{_ODRL}andSequence"])
    made["patternProperties"][ordered] = {**ref("conditions"), "allOf": [ref("ordered")]}
    for one in operands:
        alone = without(one, *(other for other in operands if other != one))
        alone[one]["properties"][one] = ref("twoAtLeast")
        made["dependentSchemas"] |= alone
    return made


def _ordered() -> Schema:
    """Return the schema of an ordered list under a key whose context does not say it is one."""
    alone = {"minItems": 1, "maxItems": 1, "items": ref("ordered")}
    return when({"type": "array"}, alone, {"type": "object", "required": ["@list"]})


def _two() -> Schema:
    """Return the schema of two values at least; JSON-LD takes lists of lists for one."""
    inner = {"minProperties": 1, "propertyNames": {"enum": ["@list", "@set"]}}
    inner |= {"type": "object", "additionalProperties": ref("twoAtLeast")}
    return when(
        {"type": "array"},
        when({"maxItems": 1}, {"minItems": 1, "items": ref("twoAtLeast")}),
        inner,
    )
