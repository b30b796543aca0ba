"""Constraints and refinements, one by one and joined (ODRL Information Model 2.2, section 2.5)."""

from collections.abc import Mapping

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    Schema,
    a_term,
    an_object,
    exactly,
    needs,
    of_odrl,
    offered,
    own_names,
    ref,
    said,
    several,
    spelling,
    told,
    when,
    without,
)
from policy_engine.authoring.schema.names import named
from policy_engine.authoring.schema.values import is_lexical, taking
from policy_engine.policy.reading.constraints import operands, refining_operands
from policy_engine.policy.vocabulary import Vocabulary

_ODRL = terms.ODRL


def conditions(vocabulary: Vocabulary) -> dict[str, Schema]:
    """Return the definitions of constraints and of refinements but those of `anonymize`."""
    linked = "The name of an object elsewhere in the text."
    return {
        "linked": {"type": "string", "pattern": "^[^:/?#]+:", "description": linked},
        **_conditions("constraints", operands(), vocabulary),
        **_conditions("refinements", refining_operands(), vocabulary),
        **_ordered(),
    }


def _conditions(
    kind: str, known: Mapping[str, terms.Term], vocabulary: Vocabulary
) -> dict[str, Schema]:
    """Return the definitions of conditions of one kind, plain and joined, about known operands."""
    joining = exactly(*_joining())["pattern"]
    is_plain = {"type": "object", "propertyNames": {"not": {"pattern": joining}}}
    is_joined = {"type": "object", "not": is_plain}
    alone = when({"type": "object"}, ref(f"{kind}Compared"), ref("linked"))
    left = f"{kind}Left"
    return {
        f"{left}Name": a_term(known, or_foreign=True, own=offered(vocabulary.operands, vocabulary)),
        **several(left, named(ref(f"{left}Name")), most=1),
        f"{kind}Compared": _comparison(left, known, vocabulary),
        f"{kind}Joined": _joined(kind),
        **several(kind, when(is_joined, ref(f"{kind}Joined"), alone)),
    }


def _joining() -> list[str]:
    return list(terms.instances(f"{terms.PE}LogicalOperator"))


def _comparison(left: str, known: Mapping[str, terms.Term], vocabulary: Vocabulary) -> Schema:
    keys = of_odrl(
        leftOperand=left,
        operator="operator",
        rightOperand="values",
        rightOperandReference="names",
        dataType="oneName",
        unit="oneName",
        status="oneValue",
    )
    either = {"anyOf": [{"required": ["rightOperand"]}, {"required": ["rightOperandReference"]}]}
    made = an_object(
        keys,
        needs("leftOperand", "operator"),
        when(said(), either),
        _one_right(),
        *_takes(known, vocabulary),
    )
    made["dependentSchemas"] |= without("rightOperand", "rightOperandReference")
    return made


def _one_right() -> Schema:
    """Return that but for three operators there is one right operand."""
    operators = terms.instances(f"{_ODRL}Operator")
    others = [iri for iri, term in operators.items() if not term.facts.get("set")]
    one = {"rightOperand": ref("oneValue"), "rightOperandReference": ref("oneName")}
    return for_one("operator", exactly(*others), {"properties": one})


def _takes(known: Mapping[str, terms.Term], vocabulary: Vocabulary) -> list[Schema]:
    """Return which values the left operands take; of those of vocabularies, where it can be told.

    The others are left to the reader.
    """
    own = [
        for_one(
            "leftOperand",
            {"enum": [*own_names(iri, vocabulary)]},
            {"properties": {"rightOperand": ref(taking(term))}},
        )
        for iri, term in vocabulary.operands.items()
        if is_lexical(term)
    ]
    return own + [
        for_one(
            "leftOperand",
            exactly(iri),
            {**told(iri), "properties": {"rightOperand": ref(taking(term))}},
        )
        for iri, term in known.items()
        if term.iris("takes")
    ]


def for_one(key: str, name: Schema, then: Schema) -> Schema:
    """Return what holds where a key has one name."""
    return when(for_key(key, name), then)


def for_key(key: str, name: Schema) -> Schema:
    """Return what tells an object in which a key has one name."""
    return {"required": [key], "properties": {key: name}}


def _joined(kind: str) -> Schema:
    """Return the schema of a condition that joins two others at least, by one operand."""
    operators = [terms.local_name(iri) for iri in _joining()]
    made = an_object(dict.fromkeys(_joining(), kind))
    ordered = spelling([f"{_ODRL}andSequence"])
    made["patternProperties"][ordered] = {**ref(kind), "allOf": [ref("ordered")]}
    for one in operators:
        alone = without(one, *(other for other in operators if other != one))
        alone[one]["properties"][one] = ref("twoAtLeast")
        made["dependentSchemas"] |= alone
    return made


def _ordered() -> dict[str, Schema]:
    """Return the definitions of an ordered list and of two values at least.

    An ordered list stands under a key whose context does not say it is one; JSON-LD takes lists
    of lists for one.
    """
    alone = {"minItems": 1, "maxItems": 1, "items": ref("ordered")}
    inner = {"minProperties": 1, "propertyNames": {"enum": ["@list", "@set"]}}
    inner |= {"type": "object", "additionalProperties": ref("twoAtLeast")}
    several_ = when({"maxItems": 1}, {"minItems": 1, "items": ref("twoAtLeast")})
    return {
        "ordered": when({"type": "array"}, alone, {"type": "object", "required": ["@list"]}),
        "twoAtLeast": when({"type": "array"}, several_, inner),
    }
