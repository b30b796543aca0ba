"""Tables of aggregates and budgets, the parts of a policy that differential privacy is about."""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.authoring.schema.building import (
    Schema,
    described_object,
    object_schema,
    one_of_terms,
    one_or_more,
    ref,
    when,
)
from policy_engine.authoring.schema.values import DECIMAL, HAS_VALUE, literal_pattern
from policy_engine.policy.structure import (
    AGGREGATE,
    BUDGET,
    GROUP_BY,
    QUERIES,
    QueryPart,
    query_properties,
)

_PE = terms.PE
_ABOVE_ZERO: Schema = {"exclusiveMinimum": 0}
_EPSILON: Schema = {"minimum": 1e-9, "maximum": 1e9}
_DELTA: Schema = {
    "minimum": 0,
    "exclusiveMaximum": 0.0001,
    "not": {"exclusiveMinimum": 0, "exclusiveMaximum": 1e-30},
}
_NUMBERS: dict[str, Schema] = {
    "lower": {},
    "upper": {},
    "grid": _ABOVE_ZERO,
    "at": {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "k": {"minimum": 1, "multipleOf": 1},
    "share": {"exclusiveMinimum": 0, "maximum": 1},
    "rows": {"minimum": 1, "multipleOf": 1},
    "epsilon": _EPSILON,
    "delta": _DELTA,
    "lifetimeEpsilon": _EPSILON,
    "lifetimeDelta": _DELTA,
}
_WORDS = {"function": "AggregateFunction", "scope": "BudgetScope"}


def queries() -> dict[str, Schema]:
    """Return the definitions of the tables of aggregates and of the budgets of a policy."""
    definitions: dict[str, Schema] = {}
    for name, limits in _NUMBERS.items():
        definitions |= one_or_more(f"query-{name}", _number(limits), most=1)
    for name, kind in _WORDS.items():
        definitions |= one_or_more(f"query-{name}", _word(kind), most=1)
    definitions |= one_or_more("query-text", _text({"minLength": 1}), most=1)
    definitions |= one_or_more("query-renewal", _text({"pattern": "^[ \\t\\r\\n]*P"}), most=1)
    return {
        **definitions,
        **one_or_more("keysFile", {"type": "object", **ref("reference")}, most=1),
        **one_or_more("groupColumns", when({"type": "object"}, _group_column(), ref("iri"))),
        **one_or_more("aggregates", _aggregate()),
        **one_or_more("queries", _part("Query", "A query")),
        **one_or_more("budgets", _part("Budget", "A budget")),
    }


_DEFINITIONS = {
    AGGREGATE: "aggregates",
    GROUP_BY: "groupColumns",
    f"{_PE}keys": "keysFile",
    f"{_PE}of": "oneName",
    f"{_PE}over": "oneName",
    f"{_PE}name": "query-text",
    f"{_PE}renewal": "query-renewal",
    f"{_PE}candidates": "values",
}
PROPERTIES = {QUERIES: "queries", BUDGET: "budgets"}
"""The properties of a policy, each with its definition."""


def _definition(iri: str) -> str:
    return _DEFINITIONS.get(iri) or f"query-{terms.local_name(iri)}"


def _part(kind: QueryPart, subject: str, *rules: Schema) -> Schema:
    """Return the schema of a part of a query, or of a budget, with what it needs."""
    needed, others = query_properties(kind)
    needs = [_needs(subject, iri) for iri in needed]
    keys = {iri: _definition(iri) for iri in (*needed, *others)}
    return object_schema(keys, *(when(described_object(), one) for one in needs), *rules)


def _group_column() -> Schema:
    return object_schema({f"{_PE}keys": "values"})


def _aggregate() -> Schema:
    return _part("Aggregate", "An aggregate", *_function_rules())


def _function_rules() -> Iterator[Schema]:
    """Yield which properties a function needs, and which it has not."""
    function = f"{_PE}function"
    allowed = query_properties("Aggregate").others
    for term in terms.instances(f"{_PE}AggregateFunction").values():
        notation = str(term.facts["notation"])
        own = (*term.iris("requires"), *term.iris("allows"), f"{_PE}name", f"{_PE}share")
        foreign = [iri for iri in allowed if iri not in own]
        rules = [_needs(notation, iri) for iri in term.iris("requires")]
        message = f"{notation} has no such property."
        rules.append({"propertyNames": {"not": one_of_terms(*foreign), "errorMessage": message}})
        is_it = {
            "type": "object",
            "not": {"propertyNames": {"not": one_of_terms(function)}},
            "patternProperties": {one_of_terms(function)["pattern"]: {"const": notation}},
        }
        yield when(is_it, {"allOf": rules})


def _needs(subject: str, iri: str) -> Schema:
    """Return the schema of an object with a property, in any spelling."""
    message = f"{subject} needs {terms.compact(iri)}."
    return {"not": {"propertyNames": {"not": one_of_terms(iri)}}, "errorMessage": message}


# -- values -----------------------------------------------------------------------------------


def _or_literal(plain: Schema) -> Schema:
    literal = {"properties": {"@value": plain}, **ref("literal")}
    return when({"type": "object"}, when(HAS_VALUE, literal, ref("name")), plain)


def _number(limits: Schema) -> Schema:
    text = {"type": "string", "pattern": literal_pattern(rf"{DECIMAL}([eE][-+]?[0-9]+)?")}
    return _or_literal(when({"type": "string"}, text, {"type": "number", **limits}))


def _text(limits: Schema) -> Schema:
    return _or_literal({"type": "string", **limits})


def _word(kind: str) -> Schema:
    words = terms.instances(f"{_PE}{kind}")
    options: list[Schema] = [
        {"const": term.facts["notation"], "description": term.definition} for term in words.values()
    ]
    return _or_literal({"anyOf": [*options, one_of_terms(*words)]})
