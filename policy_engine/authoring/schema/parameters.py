"""What refines `anonymize`: the method, its parameters, columns and what is said of each."""

from collections.abc import Iterator

from pydantic import BaseModel

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    Schema,
    a_term,
    an_object,
    exactly,
    needs,
    of_odrl,
    ref,
    said,
    several,
    told,
    when,
    written,
)
from policy_engine.authoring.schema.conditions import for_key, for_one
from policy_engine.authoring.schema.names import named
from policy_engine.authoring.schema.values import DECIMAL, HAS_VALUE, lexical
from policy_engine.methods import method_class, parameters
from policy_engine.methods.columns import Columns
from policy_engine.methods.recoding import Recoding
from policy_engine.methods.reference import SETTINGS
from policy_engine.policy.reading.constraints import parameters as operands

_ODRL, _PE = terms.ODRL, terms.PE
METHOD = f"{terms.MOSAICROWN}method"
_MASKED = f"{terms.PE}masked"
_ONE: Schema = {"maxItems": 1}


def anonymization() -> dict[str, Schema]:
    """Return the definitions of parameters, of their values, and of settings of columns."""
    found: dict[str, Schema] = {}
    for iri, term in operands().items():
        found |= several(_values_of(iri), _value(iri), most=_most(term))
    keys = of_odrl(leftOperand="parameterName", operator="operator", rightOperand="anything")
    one = an_object(
        keys | of_odrl(dataType="oneName"), needs(*map(terms.local_name, keys)), *_by_parameter()
    )
    for operators in {term.iris("operator") for term in operands().values()}:
        found |= several(_only(operators), named(a_term(operators)), most=1)
    return {
        **found,
        "parameterTerm": a_term(operands()),
        **several("parameterName", named(ref("parameterTerm")), most=1),
        **several("parameters", when({"type": "object"}, one, ref("linked"))),
        "anonymization": {**ref("parameters"), "allOf": [*_whole()]},
        **_columns(),
    }


def _values_of(iri: str) -> str:
    return f"{terms.local_name(iri)}Values"


def _only(operators: tuple[str, ...]) -> str:
    return "Or".join(["only", *map(terms.local_name, operators)])


def _most(term: terms.Term) -> int | None:
    return None if f"{_ODRL}isAllOf" in term.iris("operator") else 1


def _by_parameter() -> Iterator[Schema]:
    for iri, term in operands().items():
        inner = {
            "operator": ref(_only(term.iris("operator"))),
            "rightOperand": ref(_values_of(iri)),
        }
        yield for_one("leftOperand", exactly(iri), {**told(iri), "properties": inner})
    yield for_one("operator", exactly(f"{_ODRL}eq"), {"properties": {"rightOperand": _ONE}})


def _value(iri: str) -> Schema:
    """Return the schema of one value of a parameter."""
    name = terms.local_name(iri)
    if iri == METHOD:
        return _method()
    if terms.names_columns(iri):
        role = next((role for role in SETTINGS if role == iri), "")
        return ref(f"{name}Column" if role else "column")
    kinds: list[type[BaseModel]] = [Recoding, Columns, *map(method_class, terms.methods())]
    return _within([_field(kind, name) for kind in kinds if name in parameters(kind)])


def _field(kind: type[BaseModel], name: str) -> Schema:
    """Return the schema of a field as its model has it, without what names it."""
    field: Schema = dict(kind.model_json_schema(by_alias=True)["properties"][name])
    given = [one for one in field.pop("anyOf", []) if one != {"type": "null"}]
    merged = field | (given[0] if len(given) == 1 else {})
    return {key: value for key, value in merged.items() if key != "title" and value is not None}


def _within(fields: list[Schema]) -> Schema:
    """Return the schema of a value of one of some fields, as JSON has it or as a literal."""
    unique = [field for place, field in enumerate(fields) if field not in fields[:place]]
    plain = unique[0] if len(unique) == 1 else {"anyOf": unique}
    kinds = {field.get("type") for field in unique}
    if kinds <= {"integer", "number"}:
        text = {"type": "string", "pattern": lexical(rf"{DECIMAL}([eE][-+]?[0-9]+)?")}
        plain = when({"type": "string"}, text, plain)
    inner = (
        {"$ref": "#/$defs/literal"}
        if kinds == {"boolean"}
        else {
            "properties": {"@value": plain},
            **ref("literal"),
        }
    )
    return when({"type": "object"}, when(HAS_VALUE, inner, ref("name")), plain)


def _method() -> Schema:
    usual: list[Schema] = [
        {"const": notation, "description": term.definition}
        for notation, term in terms.methods().items()
    ]
    names = [exactly(*(term.iri for term in terms.methods().values()))]
    plain = {"anyOf": [*usual, *names]}
    inner = {"properties": {"@value": plain}, **ref("literal")}
    named_ = {"properties": {"@id": names[0], "uid": names[0]}, **ref("reference")}
    return when({"type": "object"}, when(HAS_VALUE, inner, named_), plain)


# -- columns --------------------------------------------------------------------------------------


def _columns() -> dict[str, Schema]:
    """Return the definitions of columns: named alone, and with what is said of each."""
    literal = {"properties": {"@value": ref("iri")}, **ref("literal")}
    plain = when({"type": "object"}, when(HAS_VALUE, literal, ref("name")), ref("iri"))
    found = {"column": plain}
    for role, kind in SETTINGS.items():
        name, settings = terms.local_name(role), {}
        for iri, term in terms.vocabulary().items():
            if role in term.iris("domain"):
                definition = f"{name}-{terms.local_name(iri)}"
                settings[iri] = definition
                found |= several(definition, _setting(kind, terms.local_name(iri)), most=1)
        rules = _of_maskings() if role == _MASKED else ()
        column = when(HAS_VALUE, literal, an_object(settings, *rules))
        told_ = when({"type": "object"}, column, ref("iri"))
        found[f"{name}Column"] = told_
    return found


def _setting(kind: type[BaseModel], name: str) -> Schema:
    return _within([_field(kind, name)])


def _of_maskings() -> Iterator[Schema]:
    """Yield what is said of a masked column beside its masking: the parameters of that."""
    masking, maskings = f"{_PE}masking", terms.maskings()
    own = dict.fromkeys(iri for term in maskings.values() for iri in term.iris("requires"))
    yield when({"anyOf": [*map(_says, own)]}, _says(masking))
    for notation, term in maskings.items():
        given = {"anyOf": [{"const": notation}, _literal_of({"const": notation})]}
        is_it = {**_says(masking), "patternProperties": {exactly(masking)["pattern"]: given}}
        yield when(is_it, {"allOf": [*map(_says, term.iris("requires"))]})


def _says(iri: str) -> Schema:
    """Return that an object has a property, however that is written."""
    message = f"{terms.compact(iri)} is missing."
    return {"not": {"propertyNames": {"not": exactly(iri)}}, "errorMessage": message}


# -- what belongs together ------------------------------------------------------------------------


def _whole() -> Iterator[Schema]:
    """Yield which parameters stand beside one another, as far as they are all in sight."""
    operand = {"required": ["leftOperand"], "properties": {"leftOperand": {"type": "string"}}}
    shown = {"type": "array", "items": {**said(), **operand}}
    yield when(shown, _contains(METHOD))
    yield from (_at_most_once(iri) for iri in operands())
    for notation, term in terms.methods().items():
        one = {"anyOf": [{"const": notation}, exactly(term.iri)]}
        alone = {"anyOf": [one, _literal_of(one)]}
        among = {"anyOf": [*alone["anyOf"], {"type": "array", "contains": alone}]}
        required = [_contains(iri) for iri in _required(term)]
        yield when({"allOf": [shown, {"contains": _method_is(among)}]}, {"allOf": required})
        own = [*_unowned(term), *_ranges(notation)]
        yield when({"contains": _method_is(alone)}, {"items": {"allOf": own}})


def _contains(iri: str) -> Schema:
    operand = {"type": "object", **for_key("leftOperand", exactly(iri))}
    message = f"A refinement with the leftOperand {written(iri)[0]} is missing."
    return {"contains": operand, "errorMessage": message}


def _at_most_once(iri: str) -> Schema:
    twice = f"{terms.compact(iri)} is given twice."
    return {**_contains(iri), "minContains": 0, "maxContains": 1, "errorMessage": twice}


def _literal_of(value: Schema) -> Schema:
    return {"type": "object", "properties": {"@value": value}, "required": ["@value"]}


def _method_is(value: Schema) -> Schema:
    inner = {"leftOperand": exactly(METHOD), "rightOperand": value}
    return {"type": "object", "properties": inner, "required": list(inner)}


def _required(term: terms.Term) -> list[str]:
    shared = terms.vocabulary()[f"{_PE}Method"].iris("requires")
    return list(dict.fromkeys((*shared, *term.iris("requires"))))


def _unowned(term: terms.Term) -> Iterator[Schema]:
    """Yield that a method on its own takes no parameters of others."""
    known = {METHOD, *_required(term), *terms.vocabulary()[f"{_PE}Method"].iris("allows")}
    others = [iri for iri in operands() if iri not in known]
    message = f"{term.facts['notation']} has no such parameter."
    none = {"not": exactly(*others), "errorMessage": message}
    if others:
        yield {"properties": {"leftOperand": none}}


def _ranges(notation: str) -> Iterator[Schema]:
    """Yield the ranges that the parameters of a method on its own have."""
    kind = method_class(notation)
    for iri in operands():
        name = terms.local_name(iri)
        if name in parameters(kind):
            number = when({"type": "number"}, _field(kind, name))
            yield for_one("leftOperand", exactly(iri), {"properties": {"rightOperand": number}})
