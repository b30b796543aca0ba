"""JSON-LD to expanded nodes, strictly and offline: nothing is dropped, nothing is fetched.

JSON-LD 1.1 ignores what it does not know. In a policy that would turn a bounded permission
into an unbounded one, so whatever an expansion would lose is a problem here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policy_engine import terms
from policy_engine.errors import Place, Problem, did_you_mean, listed
from policy_engine.policy.text import Document, escape

_KEYWORDS = {"@context", "@id", "@type", "@value", "@language", "@list", "@set", "@graph"}
_CONTAINERS = {"@list", "@set", "@graph"}
_USUAL = (
    "http://www.w3.org/ns/odrl.jsonld",
    "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
)
_BASE = "relative://policy/"


@dataclass(frozen=True)
class Node:
    """One expanded JSON-LD node, and where its object stands in the text."""

    data: Mapping[str, Any]
    pointer: str


@dataclass(frozen=True)
class Graph:
    """The expanded nodes of a document at its top, and what was wrong in getting there."""

    nodes: tuple[Node, ...]
    problems: tuple[Problem, ...]
    document: Document
    keys: Mapping[str, str]

    def place(self, node: Node, prop: str = "", index: int = 0, *, of_key: bool = False) -> Place:
        """Return the place of a node, or of the nth value of one of its properties."""
        pointer = node.pointer
        source = self.document.at(pointer)
        for key in source if prop else ():
            if self.iri(key) == prop:
                pointer += f"/{escape(key)}"
                if isinstance(source[key], list) and not of_key and index < len(source[key]):
                    pointer += f"/{index}"
                break
        return self.document.place(pointer, of_key=of_key)

    def iri(self, key: str) -> str:
        """Return the IRI that a key of the document stands for."""
        return _iri(key, self.keys)


def expand(document: Document, contexts: Mapping[str, Any]) -> Graph:
    """Expand a document with the bundled contexts and those given, by URL.

    The graph's problems name every key, context and value that JSON-LD would drop or fetch.
    Where there are any, the graph has no nodes: it would not say what the text says.
    """
    known = {**terms.bundled_contexts(), **contexts}
    keys, problems = _read_contexts(document, known)
    problems += document.problems
    if not any(problem.code == "L001" for problem in problems):
        problems += _check_objects(document, keys)
    nodes: tuple[Node, ...] = ()
    if not problems:
        nodes, problems = _expand(document, known, keys)
    return Graph(nodes if not problems else (), tuple(problems), document, keys)


def _expand(
    document: Document, contexts: Mapping[str, Any], keys: Mapping[str, str]
) -> tuple[tuple[Node, ...], list[Problem]]:
    from pyld import jsonld  # noqa: PLC0415 (slow to import)

    dropped: list[str] = []
    options = {"documentLoader": _frozen_loader(contexts), "base": _BASE, "extractAllScripts": False}
    try:
        expanded = jsonld.expand(
            _annotated(document.value, ""), options, on_property_dropped=dropped.append
        )
    except jsonld.JsonLdError as error:
        return (), [Problem("L003", f"The text is not valid JSON-LD. {error.code or error}.")]
    if dropped:
        message = f"Keys that no context defines were found: {listed(map(str, dropped))}."
        return (), [Problem("L002", message)]
    return tuple(Node(data, data.get("@index", "")) for data in map(_relative_again, expanded)), []


def _relative_again(value: Any) -> Any:
    """Undo the base that expansion gave to relative IRIs, so that they can be told apart."""
    if isinstance(value, list):
        return [_relative_again(item) for item in value]
    if isinstance(value, dict):
        return {key: _relative_again(item) for key, item in value.items()}
    return value.removeprefix(_BASE) if isinstance(value, str) else value


def _frozen_loader(contexts: Mapping[str, Any]) -> Any:
    def load(url: str, _options: Any) -> dict[str, Any]:
        return {
            "contentType": "application/ld+json",
            "contextUrl": None,
            "documentUrl": url,
            "document": contexts[url],
        }

    return load


def _annotated(value: Any, pointer: str) -> Any:
    """Copy the value with every object's JSON pointer as its @index, which expansion keeps."""
    if isinstance(value, list):
        return [_annotated(item, f"{pointer}/{place}") for place, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    copy = {
        key: item if key == "@context" else _annotated(item, f"{pointer}/{escape(key)}")
        for key, item in value.items()
    }
    return copy if _CONTAINERS & value.keys() else {**copy, "@index": pointer}


def _read_contexts(
    document: Document, known: Mapping[str, Any]
) -> tuple[dict[str, str], list[Problem]]:
    """Return what each key stands for, and the contexts that may not be used."""
    keys: dict[str, str] = {}
    problems: list[Problem] = []
    for pointer, entry in _contexts(document.value):
        place = document.place(pointer)
        if isinstance(entry, str) and entry in known:
            keys |= _definitions(known[entry]["@context"])
        elif isinstance(entry, str):
            problems.append(_unknown_context(entry, known, place))
        elif isinstance(entry, dict):
            problems += _inline_context(document, pointer, entry, keys)
            keys |= _definitions(entry)
        else:
            message = f"A context is a URL or an object. {entry!r} was given."
            problems.append(Problem("L005", message, "", place))
    if not keys and not problems and isinstance(document.value, dict | list):
        hint = f'Add "@context": [{", ".join(map(repr, _USUAL))}].'.replace("'", '"')
        problems.append(Problem("L001", "The text has no @context.", hint, document.place("")))
    return keys, problems


def _contexts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every context of the objects at the top, with its pointer."""
    tops = enumerate(value) if isinstance(value, list) else [("", value)]
    for step, top in tops:
        if isinstance(top, dict) and "@context" in top:
            base = f"/{step}/@context" if isinstance(value, list) else "/@context"
            context = top["@context"]
            if isinstance(context, list):
                yield from ((f"{base}/{n}", entry) for n, entry in enumerate(context))
            else:
                yield base, context


def _unknown_context(url: str, known: Mapping[str, Any], place: Place) -> Problem:
    return Problem(
        "L001",
        f"The context {url!r} is not bundled, and nothing is fetched. "
        f"Bundled are {listed(sorted(known))}.",
        did_you_mean(url, known) or "Give your own copy of it with --context URL=FILE.",
        place,
    )


def _inline_context(
    document: Document, pointer: str, entry: dict[str, Any], keys: Mapping[str, str]
) -> list[Problem]:
    problems = []
    for name, definition in entry.items():
        place = document.place(f"{pointer}/{escape(name)}", of_key=True)
        if name.startswith("@") and name != "@version":
            message = f"The keyword {name!r} may not stand in a policy's own context."
        elif name in keys and _definitions(entry).get(name) != keys[name]:
            message = f"The context gives the known term {name!r} another meaning."
        elif name != "@version" and not _is_simple(definition):
            message = f"The context defines {name!r} as {definition!r}."
        else:
            continue
        hint = "A policy's own context may declare prefixes and new terms, as strings."
        problems.append(Problem("L005", message, hint, place))
    return problems


def _is_simple(definition: Any) -> bool:
    return isinstance(definition, str) and ":" in definition


def _definitions(context: Mapping[str, Any]) -> dict[str, str]:
    names = {
        name: definition if isinstance(definition, str) else definition.get("@id", name)
        for name, definition in context.items()
        if not name.startswith("@") and isinstance(definition, str | dict)
    }
    return {name: _iri(iri, names) for name, iri in names.items()}


def _iri(key: str, keys: Mapping[str, str]) -> str:
    if key in keys and not keys[key].startswith("@"):
        key = keys[key]
    elif key in keys:
        return keys[key]
    prefix, colon, local = key.partition(":")
    if colon and prefix in keys and not local.startswith("//"):
        key = keys[prefix] + local
    return terms.canonical(key)


def _check_objects(document: Document, keys: Mapping[str, str]) -> Iterator[Problem]:
    """Yield what expansion would drop, collide on or misplace, object by object."""
    names = sorted(keys)
    for pointer, value, is_top in _values(document.value, "", is_top=True):
        if value is None:
            yield _null(document, pointer)
        if not isinstance(value, dict):
            continue
        ids = [key for key in value if _iri(key, keys) == "@id"]
        if len(ids) > 1:
            message = f"An object has one name, but {listed(ids)} both give one."
            yield Problem("L003", message, "", document.place(pointer))
        for key in value:
            place = document.place(f"{pointer}/{escape(key)}", of_key=True)
            problem = _check_key(key, value[key], keys, names, is_top=is_top)
            if problem:
                yield Problem(problem.code, problem.message, problem.hint, place)


def _null(document: Document, pointer: str) -> Problem:
    message = "JSON-LD ignores a null, so a policy may not hold one."
    return Problem("P007", message, "Remove the key or give it a value.", document.place(pointer))


def _check_key(
    key: str, value: Any, keys: Mapping[str, str], names: list[str], *, is_top: bool
) -> Problem | None:
    iri = _iri(key, keys)
    if iri.startswith("@"):
        if iri not in _KEYWORDS or (iri in ("@graph", "@context") and not is_top):
            message = f"The JSON-LD keyword {key!r} may not stand here in a policy."
            return Problem("L004", message, f"Allowed are {listed(sorted(_KEYWORDS))}.")
        if iri == "@id" and not isinstance(value, str):
            return Problem("P007", f"{key!r} is an IRI in a string. {value!r} was given.")
        return None
    if ":" not in iri:
        hint = did_you_mean(key, names) or "Declare a context for it, or remove it."
        return Problem("L002", f"No context defines the key {key!r}; JSON-LD would drop it.", hint)
    return None


def _values(value: Any, pointer: str, *, is_top: bool) -> Iterator[tuple[str, Any, bool]]:
    yield pointer, value, is_top
    if isinstance(value, list):
        for step, item in enumerate(value):
            yield from _values(item, f"{pointer}/{step}", is_top=is_top)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "@context":
                yield from _values(item, f"{pointer}/{escape(key)}", is_top=False)


