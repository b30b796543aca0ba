"""Constraints and refinements, single and joined (ODRL Information Model 2.2, section 2.5)."""

from collections.abc import Iterator, Mapping, Sequence

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    Schema,
    described_object,
    excludes,
    object_schema,
    odrl_properties,
    one_of_terms,
    one_or_more,
    own_names,
    ref,
    requires,
    term_description,
    term_pattern,
    term_schema,
    vocabulary_terms,
    when,
)
from policy_engine.authoring.schema.names import name_or_object
from policy_engine.authoring.schema.values import has_literal_form, values_definition
from policy_engine.policy.reading.operands import operands, refining_operands
from policy_engine.policy.vocabulary import Vocabulary

_ODRL = terms.ODRL


def conditions(vocabulary: Vocabulary) -> dict[str, Schema]:
    """Return the definitions of constraints and refinements, except those of `anonymize`."""
    description = "The name of an object elsewhere in the text."
    return {
        "linked": {"type": "string", "pattern": "^[^:/?#]+:", "description": description},
        **_conditions("constraints", operands(), vocabulary),
        **_conditions("refinements", refining_operands(), vocabulary),
        **_ordered_lists(),
    }


def _conditions(
    kind: str, operands: Mapping[str, terms.Term], vocabulary: Vocabulary
) -> dict[str, Schema]:
    """Return the definitions of conditions of one kind, single and joined, on known operands."""
    joining = one_of_terms(*_logical_operators())["pattern"]
    is_plain = {"type": "object", "propertyNames": {"not": {"pattern": joining}}}
    is_joined = {"type": "object", "not": is_plain}
    single = when({"type": "object"}, ref(f"{kind}Compared"), ref("linked"))
    left = f"{kind}Left"
    return {
        f"{left}Name": term_schema(
            operands, or_foreign=True, own=vocabulary_terms(vocabulary.operands, vocabulary)
        ),
        **one_or_more(left, name_or_object(ref(f"{left}Name")), most=1),
        f"{kind}Compared": _comparison(left, operands, vocabulary),
        f"{kind}Joined": _joined_condition(kind),
        **one_or_more(kind, when(is_joined, ref(f"{kind}Joined"), single)),
    }


def _logical_operators() -> list[str]:
    return list(terms.instances(f"{terms.PE}LogicalOperator"))


def _comparison(left: str, operands: Mapping[str, terms.Term], vocabulary: Vocabulary) -> Schema:
    of_columns = [iri for iri in operands if iri in terms.settings()]
    keys = odrl_properties(
        leftOperand=left,
        operator="operator",
        rightOperand="anything" if of_columns else "values",
        rightOperandReference="names",
        dataType="oneName",
        unit="oneName",
        status="oneValue",
    )
    either = {"anyOf": [{"required": ["rightOperand"]}, {"required": ["rightOperandReference"]}]}
    schema = object_schema(
        keys,
        requires("leftOperand", "operator"),
        when(described_object(), either),
        _single_right_operand(),
        *_column_rules(of_columns),
        *_operand_rules(operands, vocabulary),
    )
    schema["dependentSchemas"] |= excludes("rightOperand", "rightOperandReference")
    return schema


def _column_rules(of_columns: Sequence[str]) -> Iterator[Schema]:
    """Yield the rules that columns with settings are those of `anonymize`, and other values have
    none."""
    for iri in of_columns:
        values = {"properties": {"rightOperand": ref(f"{terms.local_name(iri)}Values")}}
        yield where_key("leftOperand", one_of_terms(iri), values)
    if of_columns:
        plain = {"properties": {"rightOperand": ref("values")}}
        yield when(has_key("leftOperand", one_of_terms(*of_columns)), {}, plain)


def _single_right_operand() -> Schema:
    """Return the rule that all but three operators have a single right operand."""
    operators = terms.instances(f"{_ODRL}Operator")
    others = [iri for iri, term in operators.items() if not term.facts.get("set")]
    one = {"rightOperand": ref("oneValue"), "rightOperandReference": ref("oneName")}
    return where_key("operator", one_of_terms(*others), {"properties": one})


def _operand_rules(operands: Mapping[str, terms.Term], vocabulary: Vocabulary) -> list[Schema]:
    """Return the values that left operands accept, for those of vocabularies if known.

    Other operands are left to the reader.
    """
    own = [
        where_key(
            "leftOperand",
            {"enum": [*own_names(iri, vocabulary)]},
            {"properties": {"rightOperand": ref(values_definition(term))}},
        )
        for iri, term in vocabulary.operands.items()
        if has_literal_form(term)
    ]
    return own + [
        where_key(
            "leftOperand",
            one_of_terms(iri),
            {**term_description(iri), "properties": {"rightOperand": ref(values_definition(term))}},
        )
        for iri, term in operands.items()
        if term.iris("takes")
    ]


def where_key(key: str, name: Schema, then: Schema) -> Schema:
    """Return the schema that applies if a key has one of its names."""
    return when(has_key(key, name), then)


def has_key(key: str, name: Schema) -> Schema:
    """Return the schema of an object in which a key has one of its names."""
    return {"required": [key], "properties": {key: name}}


def _joined_condition(kind: str) -> Schema:
    """Return the schema of a condition that joins at least two others by one operand."""
    operators = [terms.local_name(iri) for iri in _logical_operators()]
    schema = object_schema(dict.fromkeys(_logical_operators(), kind))
    ordered = term_pattern([f"{_ODRL}andSequence"])
    schema["patternProperties"][ordered] = {**ref(kind), "allOf": [ref("ordered")]}
    for one in operators:
        exclusion = excludes(one, *(other for other in operators if other != one))
        exclusion[one]["properties"][one] = ref("twoAtLeast")
        schema["dependentSchemas"] |= exclusion
    return schema


def _ordered_lists() -> dict[str, Schema]:
    """Return the definitions of an ordered list and of at least two values.

    An ordered list is under a key whose context does not declare it as one, since JSON-LD would
    read a list of lists.
    """
    single = {"minItems": 1, "maxItems": 1, "items": ref("ordered")}
    inner = {"minProperties": 1, "propertyNames": {"enum": ["@list", "@set"]}}
    inner |= {"type": "object", "additionalProperties": ref("twoAtLeast")}
    many = when({"maxItems": 1}, {"minItems": 1, "items": ref("twoAtLeast")})
    return {
        "ordered": when({"type": "array"}, single, {"type": "object", "required": ["@list"]}),
        "twoAtLeast": when({"type": "array"}, many, inner),
    }
