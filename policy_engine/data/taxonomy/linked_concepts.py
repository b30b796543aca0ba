"""SKOS concepts written in JSON-LD: a graph, a list of resources, or resources in each other."""

from collections.abc import Iterator
from typing import Any

from policy_engine.data.taxonomy.concepts import EDGES, NAMINGS, RDF_TYPE, SKOS, TERMS, Concepts
from policy_engine.data.taxonomy.inline_context import IGNORED, ContextTerms, read_context
from policy_engine.data.taxonomy.json_text import (
    Number,
    Pointer,
    is_text,
    note_duplicate_key,
    place_at,
    pointer_text,
    read_json,
)
from policy_engine.data.taxonomy.problems import Problems, quote
from policy_engine.data.taxonomy.tree import Taxonomy
from policy_engine.errors import did_you_mean

_INNER = {"@graph", "@included"}
_SILENT = {"@id", "@index", IGNORED}

_LISTS = {"@list", "@set"}
_END = object()

_Placed = tuple[Any, Pointer]


def read_json_ld(text: str, problems: Problems) -> Taxonomy:
    """Read SKOS concepts by their inline context; nothing is fetched.

    Raises DataError: what is not JSON, a context to be fetched, a key that no context defines,
    and whatever keeps the concepts from being a tree.
    """
    reader = _Reader(problems)
    for value, pointer in _items(read_json(text, problems), None):
        reader.read(value, pointer)
    return reader.concepts.tree()


class _Reader:
    """Walks resources, nested ones too, and adds their statements to `concepts`."""

    def __init__(self, problems: Problems) -> None:
        self.concepts = Concepts(problems)
        self.problems = problems
        self.vocabulary = ContextTerms()
        self._nameless = 0
        self._queue: list[tuple[dict[str, Any], str, Pointer]] = []

    def read(self, value: Any, pointer: Pointer) -> None:
        """Read a resource at the top of the text, by its own context, and all within it."""
        context = value.get("@context") if isinstance(value, dict) else None
        self.vocabulary = read_context(context, (pointer, "@context"), self.problems)
        self.problems.refuse()
        self._queue.clear()
        self._resource(value, pointer)
        for number, (members, iri, place) in enumerate(self._queue):
            note_duplicate_key(members, place, self.problems)
            for key, inner in members.items():
                if key != "@context" or number:
                    self._member(iri, key, inner, (place, key))

    def _resource(self, value: Any, pointer: Pointer) -> str:
        """Return the IRI of a resource, or a generated name, and queue it to be read."""
        if not isinstance(value, dict):
            self._note("T001", "The value at {} is not a resource: {}.", value, pointer)
            return ""
        key_of = self.vocabulary.key
        names = [inner for key, inner in value.items() if key_of(key) == "@id"]
        self._nameless += 1
        iri = self.vocabulary.resource(names[0]) if _is_name(names) else f"_: {self._nameless}"
        if names and not _is_name(names):
            self._note("T001", "The name of the resource at {} is not an IRI: {}.", names, pointer)
        if len(value) > len(names):
            self._queue.append((value, iri, pointer))
        return iri

    def _member(self, iri: str, key: str, value: Any, pointer: Pointer) -> None:
        meaning = self.vocabulary.key(key)
        if meaning in _SILENT:
            return
        if not meaning:
            message = f"No context defines the key {quote(key)} at {pointer_text(pointer)}."
            self.problems.add("L002", message, _key_hint(key), place_at(pointer))
        elif meaning in ("@type", RDF_TYPE):
            self._classify(iri, value, pointer)
        elif meaning in _INNER:
            for inner, place in _items(value, pointer):
                self._resource(inner, place)
        elif meaning.startswith("@"):
            self._note("T001", "A keyword at {} is not read here: {}.", meaning, pointer)
        else:
            self._property(iri, key, meaning, value, pointer)

    def _classify(self, iri: str, value: Any, pointer: Pointer) -> None:
        for kind, _ in _items(value, pointer):
            name = kind.get("@id") if isinstance(kind, dict) else kind
            if isinstance(name, str):
                class_iri = self.vocabulary.key(name) or name
                self.concepts.classify(iri, class_iri, pointer)

    def _property(self, iri: str, key: str, meaning: str, value: Any, pointer: Pointer) -> None:
        local = meaning.removeprefix(SKOS) if meaning.startswith(SKOS) else ""
        self.concepts.check_term(meaning, pointer)
        for inner, place in _items(value, pointer):
            if local in EDGES:
                other = self._reference(key, inner, place)
                if other:
                    self.concepts.relate(iri, EDGES[local], other, place)
            elif local in NAMINGS:
                for text, language in self._texts(key, inner, place):
                    self.concepts.name(iri, NAMINGS[local], text, language, place)
            elif self._is_resource(key, inner):
                self._resource(inner, place)

    def _is_resource(self, key: str, value: Any) -> bool:
        if key in self.vocabulary.maps or not isinstance(value, dict):
            return False
        return all(self.vocabulary.key(name) != "@value" for name in value)

    def _reference(self, key: str, value: Any, pointer: Pointer) -> str:
        """Return the IRI of the concept that is the value of a property, empty without one."""
        if _is_name([value]):
            return self.vocabulary.resource(value, key)
        if self._is_resource("", value):
            return self._resource(value, pointer)
        self._note("T001", "The value at {} is not a concept: {}.", value, pointer)
        return ""

    def _texts(self, key: str, value: Any, pointer: Pointer) -> Iterator[tuple[str, str]]:
        for text, language in self._literals(key, value, pointer):
            if is_text(text) and isinstance(language, str):
                yield text, language
            else:
                self._note("T001", "The value at {} is not a text: {}.", value, pointer)

    def _literals(self, key: str, value: Any, pointer: Pointer) -> Iterator[tuple[Any, Any]]:
        """Yield the texts of a value with their languages, none of them checked."""
        if not isinstance(value, dict):
            settings = self.vocabulary.settings
            yield value, self.vocabulary.languages.get(key, settings.get("@language", ""))
        elif key in self.vocabulary.maps:
            for language, inner in value.items():
                for text, _ in _items(inner, pointer):
                    yield text, "" if language == "@none" else language
        else:
            members = {self.vocabulary.key(name): inner for name, inner in value.items()}
            yield members.get("@value"), members.get("@language") or ""

    def _note(self, code: str, message: str, value: Any, pointer: Pointer) -> None:
        self.problems.add(
            code,
            message.format(pointer_text(pointer), quote(value)),
            "",
            place_at(pointer),
        )


def _key_hint(key: str) -> str:
    if key in TERMS:
        return f'Declare the prefix of SKOS: "@context": {{"skos": "{SKOS}"}}.'
    return did_you_mean(key, TERMS) if len(key) < 80 else ""


def _is_name(values: list[Any]) -> bool:
    """Tell whether this is one IRI: a string, not a number."""
    return len(values) == 1 and is_text(values[0]) and not isinstance(values[0], Number)


def _items(value: Any, pointer: Pointer) -> Iterator[_Placed]:
    """Yield the items of a value, of lists and of lists in lists, in order, without nulls."""
    if isinstance(value, str):
        yield value, pointer
        return
    stack: list[Iterator[_Placed]] = [iter([(value, pointer)])]
    while stack:
        item, place = next(stack[-1], (_END, None))
        if item is _END:
            stack.pop()
        elif isinstance(item, list):
            stack.append(_number_items(item, place))
        elif isinstance(item, dict) and len(item) == 1 and item.keys() & _LISTS:
            stack.append((inner, (place, key)) for key, inner in item.items())
        elif item is not None:
            yield item, place


def _number_items(values: list[Any], pointer: Pointer) -> Iterator[_Placed]:
    return ((value, (pointer, str(index))) for index, value in enumerate(values))
