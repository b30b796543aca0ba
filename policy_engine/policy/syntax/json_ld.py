"""JSON-LD to expanded nodes, strictly and offline: nothing is dropped, nothing is fetched.

JSON-LD 1.1 ignores what it does not know. In a policy that would turn a bounded permission
into an unbounded one, so whatever an expansion would lose is a problem here. What remains is
expanded as the JSON-LD 1.1 API says (section 5.1); the tests compare it with another
implementation of that algorithm.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from policy_engine import terms
from policy_engine.errors import Place, Problem, did_you_mean, join_names, nearest
from policy_engine.policy.syntax.contexts import (
    Context,
    Definition,
    is_compact,
    name_like_text,
    read_contexts,
    replacement_fix,
    undeclared_prefix,
)
from policy_engine.policy.syntax.json_text import Document, escape
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, MAX_PROBLEMS, Limits
from policy_engine.policy.syntax.patience import check_awaited

POINTER = "@index"
"""The key under which an expanded object holds its place in the text, a JSON pointer."""

_LANGUAGE = re.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")  # BCP 47, section 2.1, in outline
_KEYWORDS = ("@context", "@graph", "@id", "@language", "@list", "@set", "@type", "@value")
_TOP_ONLY = ("@context", "@graph")
_SHAPING = frozenset(("@graph", "@language", "@list", "@set", "@value"))
"""The keywords that say what an object is, or where it may be."""
_NAMING = ("@id", "@list", "@set", "@value")

_LEFT, _RIGHT, _DATA_TYPE = (
    f"{terms.ODRL}{name}" for name in ("leftOperand", "rightOperand", "dataType")
)
_STRING = f"{terms.XSD}string"
_PREFIXED_NAME, _NAMELESS_TEXT = "@prefixed", "@nameless"
"""How the strings of a property are read that are names where they have a declared prefix, and
those that may not look like one."""
_NAME_TYPES = frozenset(("@id", "@vocab", _PREFIXED_NAME, _NAMELESS_TEXT))
"""How strings are read in which something can be wrong."""


class Node(NamedTuple):
    """One expanded JSON-LD node, and the place of its object in the text."""

    data: Mapping[str, Any]
    pointer: str


@dataclass(frozen=True)
class Graph:
    """The expanded nodes at the top of a document, and what was wrong in getting there."""

    nodes: tuple[Node, ...]
    problems: tuple[Problem, ...]
    document: Document
    contexts: tuple[Context, ...]
    # What `place` has looked up: an object with many keys is asked for many of them.
    _members_at: dict[str, tuple[dict[str, Any], dict[str, str]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def context_at(self, pointer: str) -> Context:
        """Return the terms in force at a place: those of its object at the top of the text."""
        is_list = isinstance(self.document.value, list)
        return self.contexts[int(pointer.split("/", 2)[1]) if is_list and pointer else 0]

    def place(self, node: Node, prop: str = "", index: int = 0, *, of_key: bool = False) -> Place:
        """Return the place of a node, or of the nth value of one of its properties."""
        pointer = node.pointer
        if prop:
            members, keys = self._members(pointer)
            key = keys.get(prop)
            if key is not None:
                value, pointer = members[key], f"{pointer}/{escape(key)}"
                if not of_key and isinstance(value, list | dict):
                    pointer += _value_step(value, self.context_at(node.pointer), index)
        return self.document.place(pointer, of_key=of_key)

    def _members(self, pointer: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Return an object as it is written, and its keys by their IRIs, the first of those with
        the same one."""
        if pointer not in self._members_at:
            context, members = self.context_at(pointer), self.document.at(pointer)
            keys = {context.key(key).iri: key for key in reversed(members)}
            self._members_at[pointer] = members, keys
        return self._members_at[pointer]


def _value_step(value: Any, context: Context, index: int) -> str:
    """Return the relative pointer of the nth of a property's values.

    What is wrong with a list as a whole has an index below 0.
    """
    if index < 0:
        return ""
    if isinstance(value, list):
        return f"/{index}" if index < len(value) else ""
    if not isinstance(value, dict):
        return ""
    keys = [key for key in value if context.key(key).iri in ("@list", "@set")]
    return "" if not keys else f"/{escape(keys[0])}{_value_step(value[keys[0]], context, index)}"


def expand(
    document: Document, contexts: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS
) -> Graph:
    """Expand a document with the bundled contexts and those given, by URL.

    The graph's problems name every key, context and value that JSON-LD would drop or fetch.
    Where there are any, the graph has no nodes: it would not say what the text says.
    """
    value = document.value
    top_objects = (
        [(f"/{n}", top) for n, top in enumerate(value)]
        if isinstance(value, list)
        else [("", value)]
    )
    nodes: list[Node] = []
    problems = list(document.problems)
    declared: list[Context] = []
    for pointer, top in top_objects:
        declared.append(Context({}))
        if len(problems) >= MAX_PROBLEMS:
            continue
        if not isinstance(top, dict):
            message = f"The text must be a JSON object. Given: {top!r:.40}."
            problems.append(Problem("P001", message, "", document.place(pointer)))
            continue
        context, top_problems = read_contexts(document, top, pointer, contexts, limits)
        declared[-1] = context
        object_problems = _check_object(document, top, pointer, context, None)
        top_problems = top_problems or list(islice(object_problems, MAX_PROBLEMS))
        problems += top_problems
        if not top_problems:
            nodes += _top_nodes(top, pointer, context)
    valid_nodes = () if problems else tuple(nodes)
    return Graph(valid_nodes, tuple(problems), document, tuple(declared) or (Context({}),))


def _top_nodes(top: Mapping[str, Any], pointer: str, context: Context) -> Iterator[Node]:
    if "@graph" in top:
        parts = _values(top["@graph"], f"{pointer}/@graph", context, Definition("@graph"))
    else:
        parts = [_node(top, pointer, context)]
    yield from (Node(part, part[POINTER]) for part in parts)


def _node(source: Mapping[str, Any], pointer: str, context: Context) -> dict[str, Any]:
    node: dict[str, Any] = {POINTER: pointer}
    for key, value in source.items():
        definition = context.key(key)
        if definition.iri == "@id":
            node["@id"] = context.reference(value)
        elif definition.iri == "@type":
            names = value if isinstance(value, list) else [value]
            node["@type"] = [context.term(name) for name in names]
        elif not definition.iri.startswith("@"):
            if definition.iri == _RIGHT:
                definition = _operand_definition(source, definition, context)
            inner_context = context.value_scope(definition)
            at = f"{pointer}/{escape(key)}"
            if definition.is_list and not _has(value, "@list", context):
                values = [{"@list": _members(value, at, inner_context, definition)}]
            else:
                values = _values(value, at, inner_context, definition)
            node.setdefault(definition.iri, []).extend(values)
    return node


def _operand_definition(
    source: Mapping[str, Any], definition: Definition, context: Context
) -> Definition:
    """Return how the values of a right operand are read, by what is on its left.

    JSON-LD takes a string there for a text. A left operand that names things compares a text that
    is an IRI as one, so a name with a prefix has to mean there what it means elsewhere.
    """
    if definition.type:
        return definition
    names: dict[str, list[str]] = {
        iri: _terms_under(key, value, context)
        for key, value in source.items()
        if (iri := context.key(key).iri) in (_LEFT, _DATA_TYPE)
    }
    if _STRING in names.get(_DATA_TYPE, ()):
        return definition
    if not any(map(terms.takes_names, names.get(_LEFT, ()))):
        return definition
    return definition._replace(type=_NAMELESS_TEXT if _DATA_TYPE in names else _PREFIXED_NAME)


def _terms_under(key: str, value: Any, context: Context) -> list[str]:
    """Return the IRIs of the names that a key has as its value."""
    inner_context = context.value_scope(context.key(key))
    return [inner_context.term(name) for name in _written_names(value, inner_context)]


def _written_names(value: Any, context: Context) -> Iterator[str]:
    """Yield the names that a value is written with, however JSON-LD lets it be nested."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (name for one in value for name in _written_names(one, context))
    elif isinstance(value, dict):
        keys = (key for key in value if context.key(key).iri in _NAMING)
        yield from (name for key in keys for name in _written_names(value[key], context))


def _values(
    value: Any, pointer: str, context: Context, definition: Definition
) -> list[dict[str, Any]]:
    """Return the expanded values of a property; sets in sets become one."""
    if isinstance(value, list):
        items = enumerate(value)
        return [
            v for n, item in items for v in _values(item, f"{pointer}/{n}", context, definition)
        ]
    if not isinstance(value, dict):
        return [_scalar(value, context, definition)]
    keys = {context.key(key).iri: key for key in value}
    if "@value" in keys:
        literal = {iri: value[key] for iri, key in keys.items()}
        kind = literal.get("@type")
        return [{**literal, "@type": context.term(kind)} if kind else literal]
    for keyword, read in (("@list", _members), ("@set", _values)):
        if keyword in keys:
            at = f"{pointer}/{escape(keys[keyword])}"
            members = read(value[keys[keyword]], at, context, definition)
            return [{"@list": members}] if keyword == "@list" else members
    return [_node(value, pointer, context)]


def _members(
    value: Any, pointer: str, context: Context, definition: Definition
) -> list[dict[str, Any]]:
    """Return the expanded members of a list; what are several in the place of one is a list."""
    if not isinstance(value, list):
        return _values(value, pointer, context, definition)
    members: list[dict[str, Any]] = []
    for n, item in enumerate(value):
        values = _values(item, f"{pointer}/{n}", context, definition)
        is_several = isinstance(item, list) or _has(item, "@set", context)
        members += [{"@list": values}] if is_several else values
    return members


def _has(value: Any, keyword: str, context: Context) -> bool:
    return isinstance(value, dict) and any(context.key(key).iri == keyword for key in value)


def _scalar(value: Any, context: Context, definition: Definition) -> dict[str, Any]:
    if isinstance(value, str) and definition.type == _PREFIXED_NAME:
        is_name = is_compact(value) and not context.undeclared(value)
        return {"@id": context.reference(value)} if is_name else {"@value": value}
    if isinstance(value, str) and definition.type == "@id":
        return {"@id": context.reference(value)}
    if isinstance(value, str) and definition.type == "@vocab":
        return {"@id": context.term(value)}
    if definition.type and not definition.type.startswith("@"):
        return {"@value": value, "@type": definition.type}
    return {"@value": value}


# -- what expansion would drop, collide on or misplace -------------------------------------------


def _check(
    document: Document, value: Any, pointer: str, context: Context, definition: Definition
) -> Iterator[Problem]:
    if value is None:
        message = "JSON-LD ignores a null, so a text may not hold one."
        hint = "Remove the key or give it a value."
        yield Problem("P007", message, hint, document.place(pointer))
    elif value == []:
        message = "An empty list says nothing, so a text may not hold one."
        hint = "Remove the key or give it a value."
        yield Problem("P007", message, hint, document.place(pointer))
    elif isinstance(value, list):
        for step, item in enumerate(value):
            yield from _check(document, item, f"{pointer}/{step}", context, definition)
    elif isinstance(value, dict):
        yield from _check_object(document, value, pointer, context, definition)
    elif isinstance(value, str) and definition.type == _PREFIXED_NAME:
        if is_compact(value) and value.partition(":")[0] not in terms.PREFIXES:
            yield from _name_problems(document, value, pointer, context)
    elif isinstance(value, str) and definition.type == _NAMELESS_TEXT:
        yield from _name_like_problems(document, value, pointer, context)
    elif isinstance(value, str) and definition.type in ("@id", "@vocab"):
        yield from _name_problems(document, value, pointer, context)


def _name_problems(
    document: Document, name: str, pointer: str, context: Context, *, of_key: bool = False
) -> Iterable[Problem]:
    """Return what is wrong with a name: a character or its length, or that its prefix is not
    declared."""
    if not terms.name_problem(name, document.name_characters) and not context.undeclared(name):
        return ()
    return _problems_of_name(document, name, pointer, context, of_key=of_key)


def _problems_of_name(
    document: Document, name: str, pointer: str, context: Context, *, of_key: bool
) -> Iterator[Problem]:
    problem = terms.name_problem(name, document.name_characters)
    if problem:
        code, message = problem
        yield Problem(code, message, "", document.place(pointer, of_key=of_key))
        return
    prefix = context.undeclared(name)
    if prefix:
        prefixes = context.prefixes()
        nearest_prefix = nearest(prefix, prefixes)
        message, hint = undeclared_prefix(prefix, name, has_contexts=document.has_contexts)
        place = document.place(pointer, of_key=of_key)
        corrected = nearest_prefix and nearest_prefix + name.removeprefix(prefix)
        fix = replacement_fix(document, pointer, corrected, of_key=of_key)
        yield Problem("L007", message, did_you_mean(prefix, prefixes) or hint, place, fix)


def _name_like_problems(
    document: Document, text: str, pointer: str, context: Context
) -> Iterator[Problem]:
    """Yield what is wrong with a text that looks like a name with a prefix that is declared."""
    prefix = text.partition(":")[0]
    definition = context.definitions.get(prefix)
    namespace = definition.namespace if definition and is_compact(text) else ""
    if namespace and terms.PREFIXES.get(prefix) != namespace:
        yield Problem("L007", *name_like_text(text, prefix), document.place(pointer))


def _check_typed_text(
    document: Document,
    literal: Mapping[str, Any],
    pointer: str,
    context: Context,
    definition: Definition | None,
) -> Iterator[Problem]:
    """Yield what is wrong with a text of a type or a language where names are compared."""
    way, text = definition.type if definition else "", literal.get("@value")
    if isinstance(text, str) and way in (_PREFIXED_NAME, _NAMELESS_TEXT):
        untyped = "" if way == _NAMELESS_TEXT else _STRING
        if "@language" in literal or context.term(literal.get("@type", untyped)) != _STRING:
            yield from _name_like_problems(document, text, pointer, context)


def _check_object(
    document: Document,
    value: Mapping[str, Any],
    pointer: str,
    context: Context,
    property_definition: Definition | None,
) -> Iterator[Problem]:
    """Yield what is wrong with an object: a value of a property, or one at the top."""
    check_awaited()
    definitions = [context.key(key) for key in value]
    iris = [definition.iri for definition in definitions]
    iris_once = set(iris)
    repeated = Counter(iris) if len(iris_once) < len(iris) else {}
    for iri in (iri for iri, times in repeated.items() if times > 1):
        names = [key for key in value if context.key(key).iri == iri]
        message = f"The keys {join_names(names)} mean the same, {iri}; one of them is allowed."
        place = document.place(f"{pointer}/{escape(names[1])}", of_key=True)
        yield Problem("L003", message, "", place)
    if not iris_once.isdisjoint(_SHAPING):
        yield from _check_shape(document, iris_once, pointer)
        yield from _check_graph(document, value, pointer, context)
    literal = dict(zip(iris, value.values(), strict=True)) if "@value" in iris else {}
    if not all(isinstance(literal.get(word, ""), str) for word in ("@type", "@language")):
        message = "A literal has one type or language, a name in a string."
        yield Problem("L003", message, "", document.place(pointer))
        return
    if not _LANGUAGE.fullmatch(literal.get("@language", "en")):
        message = f"{literal['@language']!r:.40} is not a language tag such as 'en'."
        yield Problem("L003", message, "", document.place(pointer))
    if literal:
        yield from _check_typed_text(document, literal, pointer, context, property_definition)
    is_name = "@value" not in iris_once
    for definition, (key, item) in zip(definitions, value.items(), strict=True):
        value_pointer = f"{pointer}/{escape(key)}"
        is_top = property_definition is None
        problem = _check_key(key, definition.iri, item, context, is_top=is_top)
        if problem:
            fix = replacement_fix(
                document, value_pointer, _nearest_key(key, context, problem), of_key=True
            )
            place = document.place(value_pointer, of_key=True)
            yield Problem(problem.code, problem.message, problem.hint, place, fix)
        elif key != "@context":
            yield from _name_problems(document, key, value_pointer, context, of_key=True)
            if definition.iri == _RIGHT:
                definition = _operand_definition(value, definition, context)  # noqa: PLW2901
            inner = _value_definition(definition, property_definition, is_name=is_name)
            yield from _item_problems(document, item, value_pointer, context, definition, inner)


def _item_problems(
    document: Document,
    item: Any,
    pointer: str,
    context: Context,
    definition: Definition,
    value_definition: Definition,
) -> Iterable[Problem]:
    """Return what is wrong with the value of a key; nothing is with a text, as most of them are."""
    if isinstance(item, str) and value_definition.type not in _NAME_TYPES:
        return ()
    return _check(document, item, pointer, context.value_scope(definition), value_definition)


def _value_definition(
    definition: Definition, property_definition: Definition | None, *, is_name: bool
) -> Definition:
    """Return how the values of a key are to be read: those of a list as the property's."""
    if definition.iri in ("@list", "@set"):
        return property_definition or definition
    if definition.iri == "@type" or (definition.iri == "@id" and is_name):
        iri, _, is_list, namespace, scoped = definition
        return Definition(iri, "@vocab", is_list, namespace, scoped)
    return definition


def _check_shape(document: Document, iris: set[str], pointer: str) -> Iterator[Problem]:
    """Yield what keeps an object from being a node, a literal, a list or a set, and no other."""
    keys_by_keyword = {
        "@value": {"@value", "@type", "@language"},
        "@list": {"@list"},
        "@set": {"@set"},
        "@graph": {"@graph", "@context"},
    }
    for keyword, allowed_keys in keys_by_keyword.items():
        if keyword in iris and not iris <= allowed_keys:
            message = (
                f"An object with {keyword!r} may have only {join_names(sorted(allowed_keys))}."
            )
            yield Problem("L003", message, "", document.place(pointer))
            return
    if {"@type", "@language"} <= iris and "@value" in iris:
        message = "A literal has a '@type' or a '@language', not both."
        yield Problem("L003", message, "", document.place(pointer))
    if "@language" in iris and "@value" not in iris:
        message = "'@language' is allowed only beside '@value'."
        yield Problem("L003", message, "", document.place(pointer))


def _check_key(key: str, iri: str, value: Any, context: Context, *, is_top: bool) -> Problem | None:
    """Return what is wrong with a key and its value, if anything."""
    if iri[:1] != "@":
        if ":" in iri:
            return None
        hint = (
            did_you_mean(key, _candidate_keys(key, context))
            or "Declare a context for it, or remove it."
        )
        return Problem("L002", f"No context defines the key {key!r}; JSON-LD would drop it.", hint)
    if iri not in _KEYWORDS or (iri in _TOP_ONLY and not is_top):
        message = f"The JSON-LD keyword {key!r} is not allowed here."
        hint = "It is allowed only at the top." if iri in _TOP_ONLY else ""
        allowed = [word for word in _KEYWORDS if is_top or word not in _TOP_ONLY]
        return Problem("L004", message, hint or f"Allowed are {join_names(allowed)}.")
    return _check_keyword_value(key, iri, value)


def _check_keyword_value(key: str, iri: str, value: Any) -> Problem | None:
    """Return what is wrong with the value of a key that means a keyword, if anything."""
    if iri == "@id" and not isinstance(value, str):
        return Problem("P007", f"{key!r} is an IRI in a string. Given: {value!r:.40}.")
    if iri == "@value" and isinstance(value, dict | list):
        return Problem("L003", f"{key!r} is a string, a number or a truth value.")
    names = value if isinstance(value, list) else [value]
    if iri == "@type" and not all(isinstance(name, str) for name in names):
        return Problem("P007", f"{key!r} is the name of a type. Given: {value!r:.40}.")
    return None


def _candidate_keys(key: str, context: Context) -> list[str]:
    """Return the keys that may be meant by one that no context defines."""
    settings = terms.instances("owl:DatatypeProperty")
    keys = [terms.compact(iri) for iri in settings if terms.local_name(iri) == key]
    return keys or [name for name in context.definitions if not name[:1].isupper()]


def _nearest_key(key: str, context: Context, problem: Problem) -> str:
    return nearest(key, _candidate_keys(key, context)) if problem.code == "L002" else ""


def _check_graph(
    document: Document, value: Mapping[str, Any], pointer: str, context: Context
) -> Iterator[Problem]:
    """Yield the members of a graph that are not objects about one thing."""
    for key, item in value.items():
        parts = item if isinstance(item, list) else [item]
        if context.key(key).iri == "@graph" and not all(_is_node(part, context) for part in parts):
            message = f"{key!r} holds objects, each about one thing. Given: {item!r:.40}."
            yield Problem("L003", message, "", document.place(f"{pointer}/{escape(key)}"))


def _is_node(value: Any, context: Context) -> bool:
    if not isinstance(value, dict):
        return False
    return not {"@value", "@list", "@set"} & {context.key(key).iri for key in value}
