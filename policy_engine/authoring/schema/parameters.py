"""The refinements of `anonymize`: method, parameters, columns and their settings."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal

from pydantic import BaseModel

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    Schema,
    described_object,
    object_schema,
    odrl_properties,
    one_of_terms,
    one_or_more,
    ref,
    requires,
    spellings,
    term_description,
    term_schema,
    when,
)
from policy_engine.authoring.schema.conditions import has_key, where_key
from policy_engine.authoring.schema.names import name_or_object
from policy_engine.authoring.schema.values import DECIMAL, HAS_VALUE, literal_pattern
from policy_engine.errors import join_names
from policy_engine.methods import method_class, parameters
from policy_engine.methods.columns import Columns
from policy_engine.methods.guide import GuideParameters
from policy_engine.methods.masking import masking_class
from policy_engine.methods.randomiser import randomiser_class
from policy_engine.methods.recoding import RecodingOptions
from policy_engine.methods.reference import SETTINGS
from policy_engine.methods.sampling import SIZES, Sampling
from policy_engine.methods.synthesiser import synthesiser_class
from policy_engine.policy.reading.operands import parameters as operands

_ODRL, _PE = terms.ODRL, terms.PE
METHOD = f"{terms.MOSAICROWN}method"
_MASKED, _RANDOMISED = f"{terms.PE}masked", f"{terms.PE}randomised"
_RELEASE = f"{terms.PE}release"
_ONE: Schema = {"maxItems": 1}
_KEYS: tuple[Literal["requires", "requiresOne", "allows"], ...] = (
    "requires",
    "requiresOne",
    "allows",
)


def anonymization() -> dict[str, Schema]:
    """Return the definitions of parameters, of their values, and of column settings."""
    definitions: dict[str, Schema] = {}
    for iri, term in operands().items():
        definitions |= one_or_more(_values_of(iri), _value(iri), most=_most_values(term))
    keys = odrl_properties(
        leftOperand="parameterName", operator="operator", rightOperand="anything"
    )
    refinement = object_schema(
        keys | odrl_properties(dataType="oneName"),
        requires(*map(terms.local_name, keys)),
        *_parameter_rules(),
    )
    for operators in {term.iris("operator") for term in operands().values()}:
        definitions |= one_or_more(
            _operators_definition(operators), name_or_object(term_schema(operators)), most=1
        )
    return {
        **definitions,
        "parameterTerm": term_schema(operands()),
        **one_or_more("parameterName", name_or_object(ref("parameterTerm")), most=1),
        **one_or_more("parameters", when({"type": "object"}, refinement, ref("linked"))),
        "anonymization": {**ref("parameters"), "allOf": [*_refinement_rules()]},
        **_columns(),
    }


def _values_of(iri: str) -> str:
    return f"{terms.local_name(iri)}Values"


def _operators_definition(operators: tuple[str, ...]) -> str:
    return "Or".join(["only", *map(terms.local_name, operators)])


def _most_values(term: terms.Term) -> int | None:
    several = {f"{_ODRL}isAllOf", f"{_ODRL}isAnyOf"}
    return None if several & {*term.iris("operator")} else 1


def _parameter_rules() -> Iterator[Schema]:
    for iri, term in operands().items():
        inner = {
            "operator": ref(_operators_definition(term.iris("operator"))),
            "rightOperand": ref(_values_of(iri)),
        }
        yield where_key(
            "leftOperand", one_of_terms(iri), {**term_description(iri), "properties": inner}
        )
    single = one_of_terms(f"{_ODRL}eq", f"{_ODRL}lteq")
    yield where_key("operator", single, {"properties": {"rightOperand": _ONE}})


def _value(iri: str) -> Schema:
    """Return the schema of one value of a parameter."""
    name = terms.local_name(iri)
    if iri == METHOD:
        return _method()
    if terms.names_columns(iri):
        role = next((role for role in SETTINGS if role == iri), "")
        return ref(f"{name}Column" if role else "column")
    if iri == _RELEASE:
        return ref("column")
    return _value_schema(fields_of(iri))


def fields_of(iri: str) -> list[Schema]:
    """Return the schemas of a parameter's values as JSON has them, of each model that has it."""
    name = terms.local_name(iri)
    kinds: list[type[BaseModel]] = [
        GuideParameters,
        RecodingOptions,
        Columns,
        Sampling,
        *map(method_class, terms.methods()),
        *map(synthesiser_class, terms.synthesisers()),
    ]
    return [field_schema(kind, name) for kind in kinds if name in parameters(kind)]


def field_schema(kind: type[BaseModel], name: str) -> Schema:
    """Return the schema of a field from its model, without its title; of several, that of one.

    An exact decimal is a number, or the text of one, as any number is.
    """
    field: Schema = dict(kind.model_json_schema(by_alias=True)["properties"][name])
    field = field["items"] if field.get("type") == "array" else field
    types = [one for one in field.pop("anyOf", []) if one != {"type": "null"}]
    numbers = [one for one in types if one.get("type") == "number"]
    types = numbers or types
    merged = field | (types[0] if len(types) == 1 else {})
    return {key: value for key, value in merged.items() if key != "title" and value is not None}


def _value_schema(fields: list[Schema]) -> Schema:
    """Return the schema of a value of any of some fields, as JSON or as a literal."""
    unique = [field for place, field in enumerate(fields) if field not in fields[:place]]
    plain = unique[0] if len(unique) == 1 else {"anyOf": unique}
    kinds = {field.get("type") for field in unique}
    if kinds <= {"integer", "number"}:
        text = {"type": "string", "pattern": literal_pattern(rf"{DECIMAL}([eE][-+]?[0-9]+)?")}
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
    options: list[Schema] = [
        {"const": notation, "description": term.definition}
        for notation, term in terms.methods().items()
    ]
    names = [one_of_terms(*(term.iri for term in terms.methods().values()))]
    plain = {"anyOf": [*options, *names]}
    inner = {"properties": {"@value": plain}, **ref("literal")}
    as_object = {"properties": {"@id": names[0], "uid": names[0]}, **ref("reference")}
    return when({"type": "object"}, when(HAS_VALUE, inner, as_object), plain)


# -- columns --------------------------------------------------------------------------------------


def _columns() -> dict[str, Schema]:
    """Return the definitions of columns: as a name, and with settings."""
    literal = {"properties": {"@value": ref("iri")}, **ref("literal")}
    plain = when({"type": "object"}, when(HAS_VALUE, literal, ref("name")), ref("iri"))
    definitions = {"column": plain}
    for role, kind in SETTINGS.items():
        name, settings = terms.local_name(role), {}
        for iri, term in terms.vocabulary().items():
            if role in term.iris("domain"):
                definition = f"{name}-{terms.local_name(iri)}"
                settings[iri] = definition
                setting = (
                    ref("name")
                    if terms.names_columns(iri)
                    else _setting(kind, terms.local_name(iri))
                )
                most = None if term.flag("several") else 1
                definitions |= one_or_more(definition, setting, most=most)
        rules = _choice_rules(role)
        column = when(HAS_VALUE, literal, object_schema(settings, *rules))
        schema = when({"type": "object"}, column, ref("iri"))
        definitions[f"{name}Column"] = schema
    return definitions


def _setting(kind: type[BaseModel], name: str) -> Schema:
    return _value_schema([field_schema(kind, name)])


def _choice_rules(role: str) -> Iterator[Schema]:
    """Yield the rules for the settings of a column that is masked or randomised: the parameters of
    its masking, or randomiser."""
    if role == _MASKED:
        yield from _rules_of(f"{_PE}masking", terms.maskings(), masking_class)
    elif role == _RANDOMISED:
        yield from _rules_of(f"{_PE}randomiser", terms.randomisers(), randomiser_class)


def _rules_of(
    choice: str,
    chosen_terms: Mapping[str, terms.Term],
    class_of: Callable[[str], type[BaseModel]],
) -> Iterator[Schema]:
    own = dict.fromkeys(iri for term in chosen_terms.values() for iri in _settings_of(term))
    yield when({"anyOf": [*map(_has_property, own)]}, _has_property(choice))
    for notation, term in chosen_terms.items():
        values = {"anyOf": [{"const": notation}, _literal_of({"const": notation})]}
        is_it = {
            **_has_property(choice),
            "patternProperties": {one_of_terms(choice)["pattern"]: values},
        }
        foreign = [iri for iri in own if iri not in _settings_of(term)]
        message = f"{notation} has no such parameter."
        none = {"not": one_of_terms(*foreign), "errorMessage": message}
        rules = [*map(_has_property, term.iris("requires")), {"propertyNames": none}]
        rules += [*_one_property(term.iris("requiresOne")), *_own_words(notation, term, class_of)]
        yield when(is_it, {"allOf": rules})


def _own_words(
    notation: str, term: terms.Term, class_of: Callable[[str], type[BaseModel]]
) -> Iterator[Schema]:
    """Yield which words a masking takes for each of its settings that takes words: another masking
    may take others for the same one."""
    kind = class_of(notation)
    for iri in _settings_of(term):
        field = kind.model_json_schema(by_alias=True)["properties"][terms.local_name(iri)]
        words = _words_of(field)
        if words:
            values = {"anyOf": [{"enum": words}, _literal_of({"enum": words})]}
            message = f"{notation} takes {join_names(words, 'or')}."
            yield {
                "patternProperties": {one_of_terms(iri)["pattern"]: values},
                "errorMessage": message,
            }


def _words_of(field: Schema) -> list[str]:
    """Return the texts that a field takes, none where it takes others as well."""
    kinds = [one for one in field.get("anyOf", [field]) if one != {"type": "null"}]
    words = [one.get("enum", [one["const"]] if "const" in one else []) for one in kinds]
    return words[0] if len(words) == 1 else []


def _settings_of(term: terms.Term) -> tuple[str, ...]:
    """Return the settings that a masking or a randomiser has, those that it needs first."""
    return tuple(iri for key in _KEYS for iri in terms.method_operands(term, key))


def _one_property(iris: Sequence[str]) -> Iterator[Schema]:
    """Yield the rules for an object with exactly one of some properties, if there are any."""
    if iris:
        names = join_names(map(terms.compact, iris), "or")
        has_one = [_has_property(iri) for iri in iris]
        yield {"anyOf": has_one, "errorMessage": f"{names} is missing."}
        for one, other in combinations(has_one, 2):
            message = f"Of {names}, one is allowed."
            yield {"not": {"allOf": [one, other]}, "errorMessage": message}


def _has_property(iri: str) -> Schema:
    """Return the schema of an object with a property, in any spelling."""
    message = f"{terms.compact(iri)} is missing."
    return {"not": {"propertyNames": {"not": one_of_terms(iri)}}, "errorMessage": message}


# -- what belongs together ------------------------------------------------------------------------


def _refinement_rules() -> Iterator[Schema]:
    """Yield which parameters go together, as far as all of them are visible."""
    operand = {"required": ["leftOperand"], "properties": {"leftOperand": {"type": "string"}}}
    all_visible = {"type": "array", "items": {**described_object(), **operand}}
    yield when(all_visible, _contains(METHOD))
    yield from (_not_repeated(iri) for iri in operands())
    both = "A sample has a share or a size, not both."
    sizes = [_contains(f"{_PE}{name}") for name in SIZES]
    # What is not an array, such as {"@list": [...]}, contains nothing, and everything.
    yield when({"type": "array"}, {"not": {"allOf": sizes}, "errorMessage": both})
    for notation, term in terms.methods().items():
        one = {"anyOf": [{"const": notation}, one_of_terms(term.iri)]}
        single = {"anyOf": [one, _literal_of(one)]}
        included = {"anyOf": [*single["anyOf"], {"type": "array", "contains": single}]}
        required = [_contains(iri) for iri in terms.method_operands(term, "requires")]
        required += _one_contained(terms.method_operands(term, "requiresOne"))
        yield when(
            {"allOf": [all_visible, {"contains": _method_is(included)}]}, {"allOf": required}
        )
        own = [*_foreign_parameters(term), *_ranges(notation)]
        yield when({"contains": _method_is(single)}, {"items": {"allOf": own}})


def _contains(iri: str) -> Schema:
    operand = {"type": "object", **has_key("leftOperand", one_of_terms(iri))}
    message = f"A refinement with the leftOperand {spellings(iri)[0]} is missing."
    return {"contains": operand, "errorMessage": message}


def _one_contained(iris: Iterable[str]) -> Iterator[Schema]:
    if iris := tuple(iris):
        names = join_names(map(terms.compact, iris), "or")
        message = f"A refinement with the leftOperand {names} is missing."
        yield {"anyOf": [_contains(iri) for iri in iris], "errorMessage": message}


def _not_repeated(iri: str) -> Schema:
    twice = f"{terms.compact(iri)} is given twice."
    return {**_contains(iri), "minContains": 0, "maxContains": 1, "errorMessage": twice}


def _literal_of(value: Schema) -> Schema:
    return {"type": "object", "properties": {"@value": value}, "required": ["@value"]}


def _method_is(value: Schema) -> Schema:
    inner = {"leftOperand": one_of_terms(METHOD), "rightOperand": value}
    return {"type": "object", "properties": inner, "required": list(inner)}


def _foreign_parameters(term: terms.Term) -> Iterator[Schema]:
    """Yield the rules that a single method has no parameters of others."""
    own = {METHOD, *(iri for key in _KEYS for iri in terms.method_operands(term, key))}
    foreign = [iri for iri in operands() if iri not in own]
    message = f"{term.facts['notation']} has no such parameter."
    none = {"not": one_of_terms(*foreign), "errorMessage": message}
    if foreign:
        yield {"properties": {"leftOperand": none}}


def _ranges(notation: str) -> Iterator[Schema]:
    """Yield the ranges of the parameters of a single method."""
    kind = method_class(notation)
    for iri in operands():
        name = terms.local_name(iri)
        if name in parameters(kind):
            number = when({"type": "number"}, field_schema(kind, name))
            yield where_key(
                "leftOperand", one_of_terms(iri), {"properties": {"rightOperand": number}}
            )
