"""JSON-LD contexts: what the keys and names of a policy mean (JSON-LD 1.1, section 4).

Read are term definitions: an IRI, a type coercion, a list container, a property-scoped
context. Contexts that do more (`@vocab`, `@base`, `@import`, `@reverse` and the like) would
let a name mean something that is not written beside it, and are refused.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from policy_engine import terms
from policy_engine.errors import Fix, Place, Problem, did_you_mean, join_names, nearest
from policy_engine.policy.syntax.json_text import Document, escape
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits

_IRIS = ("@id", "@type")
_DEFINITION_KEYS = {"@id", "@type", "@container", "@context"}
_COMPACT = re.compile(r"[A-Za-z][\w.-]*:[^\x00-\x20/:][^\x00-\x20]*")
_PREFIX_ENDS = (":", "/", "?", "#", "[", "]", "@")
# A name such as `ex:T` is an IRI of the scheme `ex` by its form. These words before a colon are
# prefixes wherever RDF is written, and no schemes.
_DEFAULT_CONTEXTS = (
    "http://www.w3.org/ns/odrl.jsonld",
    "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
)


class Definition(NamedTuple):
    """The meaning of a term: its IRI, and how its values are to be read.

    A prefix has a `namespace`, its IRI as written: what begins as an empty port or as half of an
    escape may go on in the names that it shortens.
    """

    iri: str
    type: str = ""
    is_list: bool = False
    namespace: str = ""
    scoped: Mapping[str, "Definition"] = MappingProxyType({})

    @property
    def is_prefix(self) -> bool:
        """Whether the term is a prefix of names."""
        return bool(self.namespace)


_KEYWORDS = {
    name: Definition(name) for name in ("@context", "@id", "@list", "@set", "@type", "@value")
}
"""What keys mean that are keywords, made once: most texts have many of them."""


class Context(NamedTuple):
    """The terms in force at some place of a document."""

    definitions: Mapping[str, Definition]

    def key(self, name: str) -> Definition:
        """Return the definition of a key; its IRI lacks a colon where the key has no definition."""
        return self.definitions.get(name) or _KEYWORDS.get(name) or Definition(self.reference(name))

    def term(self, name: str) -> str:
        """Return the IRI of a name that may be a term, as after `@type` or `@vocab`."""
        definition = self.definitions.get(name)
        return definition.iri if definition else self.reference(name)

    def reference(self, name: str) -> str:
        """Return the IRI of a compact IRI; any other name as it is, relative ones too."""
        return terms.canonical(self.joined(name))

    def joined(self, name: str) -> str:
        """Return a name with the namespace of its prefix in its place, as the two are written."""
        prefix, colon, local = name.partition(":")
        definition = self.definitions.get(prefix)
        if colon and definition and definition.is_prefix and not local.startswith("//"):
            return definition.namespace + local
        return name

    def undeclared(self, name: str) -> str:
        """Return the prefix of a name that no context declares; empty where it has none.

        Any word before a colon may be the scheme of an IRI (RFC 3986, section 3.1). It is taken
        for one where it is well known, or `//` follows; a misspelt prefix would else name what
        does not exist, and a prohibition of it would be lost.
        """
        prefix, colon, _ = name.partition(":")
        if not colon or terms.has_known_scheme(name) or prefix[:1] in "@_":
            return ""
        definition = self.definitions.get(prefix)
        is_declared = name in self.definitions or (definition and definition.is_prefix)
        return "" if is_declared else prefix

    def prefixes(self) -> list[str]:
        """Return the prefixes that are declared."""
        return [name for name, definition in self.definitions.items() if definition.is_prefix]

    def value_scope(self, definition: Definition) -> "Context":
        """Return the terms in force inside the values of a term (property-scoped)."""
        if not definition.scoped:
            return self
        return Context({**self.definitions, **definition.scoped})


def read_contexts(
    document: Document,
    top: Mapping[str, Any],
    pointer: str,
    own_contexts: Mapping[str, Any],
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Context, list[Problem]]:
    """Return the terms that an object at the top of a document declares, and what is wrong.

    `own_contexts` are contexts by URL beyond the bundled ones.
    """
    own_contexts = {terms.bundled_url(url): one for url, one in own_contexts.items()}
    contexts = {**terms.bundled_contexts(), **own_contexts}
    context, problems = Context({}), []
    urls: tuple[str, ...] = ()
    for number, (entry_pointer, entry) in enumerate(_entries(top, pointer)):
        if number >= limits.contexts:
            message = f"The text has too many contexts. {limits.contexts} are allowed."
            problems.append(Problem("J003", message, "", document.place(entry_pointer)))
            break
        if isinstance(entry, str) and terms.bundled_url(entry) in contexts:
            definitions = _definitions(contexts[terms.bundled_url(entry)])
            is_given = terms.bundled_url(entry) in own_contexts
            entry_problems = (
                list(_unreadable_entries(entry, definitions, document.place(entry_pointer)))
                if is_given
                else []
            )
        elif isinstance(entry, str):
            definitions, entry_problems = (
                {},
                [_unknown_context_problem(entry, contexts, document, entry_pointer)],
            )
        elif isinstance(entry, dict):
            definitions, entry_problems = (
                entry,
                list(_own_context_problems(document, entry_pointer, entry, context)),
            )
        else:
            message = f"A context is a URL or an object. {entry!r} was given."
            place = document.place(entry_pointer)
            definitions, entry_problems = {}, [Problem("L005", message, "", place)]
        problems += entry_problems
        urls += (terms.bundled_url(entry),) if isinstance(entry, str) and not own_contexts else ()
        if len(urls) == number + 1 and not problems:
            context = _bundled_context(urls)
        else:
            context = _extend_context(context, {} if entry_problems else definitions)
            names = () if entry_problems else definitions
            problems += _length_problems(document, entry_pointer, context, names, limits)
    if "@context" not in top and not all(map(_needs_no_context, _keys(top))):
        hint = f'Add "@context": [{", ".join(map(repr, _DEFAULT_CONTEXTS))}].'.replace("'", '"')
        message = "The text has no @context, so its keys mean nothing."
        problems.append(Problem("L001", message, hint, document.place(pointer)))
    return context, problems


def _length_problems(
    document: Document, pointer: str, context: Context, names: Iterable[str], limits: Limits
) -> Iterator[Problem]:
    """Yield the terms and prefixes whose definition is longer than every use may repeat."""
    allowed = limits.namespace_characters
    for name in names:
        definition = context.definitions.get(name, Definition(""))
        if max(len(definition.iri), len(definition.type)) > allowed:
            message = f"The definition of {name!r:.40} in the context is too long."
            place = document.place(f"{pointer}/{escape(name)}", of_key=True)
            yield Problem("J003", f"{message} {allowed:,} characters are allowed.", "", place)


@lru_cache(maxsize=64)
def _bundled_context(urls: tuple[str, ...]) -> Context:
    """Return the terms that bundled contexts declare, one upon the other."""
    outer = _bundled_context(urls[:-1]) if len(urls) > 1 else Context({})
    return _extend_context(outer, _definitions(terms.bundled_contexts()[urls[-1]]))


def _keys(top: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of an object at the top of a text, and of the objects in its graph."""
    yield from top
    parts = top.get("@graph", [])
    for part in parts if isinstance(parts, list) else [parts]:
        yield from part if isinstance(part, dict) else ()


def _needs_no_context(key: str) -> bool:
    """Tell whether a key is a keyword or an IRI, as in expanded JSON-LD, and needs no context."""
    return key.startswith("@") or ":" in key


def _definitions(context: Any) -> Any:
    return context.get("@context") if isinstance(context, Mapping) else None


def _entries(top: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, Any]]:
    context = top.get("@context", [])
    if isinstance(context, list):
        yield from ((f"{pointer}/@context/{n}", entry) for n, entry in enumerate(context))
    else:
        yield f"{pointer}/@context", context


def _extend_context(context: Context, entries: Mapping[str, Any]) -> Context:
    """Return the context with the terms of another; those may build upon one another."""
    raw = {name: entry for name, entry in entries.items() if not name.startswith("@")}
    iris = {
        name: entry if isinstance(entry, str) else entry.get("@id", name)
        for name, entry in raw.items()
    }
    # A prefix may be used before it is declared: prefixes first, then what they shorten.
    base = dict(context.definitions)
    for name, entry in raw.items():
        if isinstance(entry, str):
            base[name] = Definition(entry, namespace=_namespace(entry))
    lookup = Context(base)
    own_definitions = {name: _definition(lookup, iris[name], entry) for name, entry in raw.items()}
    return Context({**context.definitions, **own_definitions})


def _definition(context: Context, iri: str, entry: Any) -> Definition:
    full = iri if iri.startswith("@") else context.reference(iri)
    if isinstance(entry, str):
        return Definition(full, namespace=_namespace(context.joined(iri)))
    kind = entry.get("@type", "")
    plain = Definition(full, kind if kind.startswith("@") else context.reference(kind))
    scoped = _extend_context(context, entry["@context"]).definitions if "@context" in entry else {}
    own = {name: scoped[name] for name in entry.get("@context", {}) if name in scoped}
    return plain._replace(is_list=entry.get("@container") == "@list", scoped=own)


def _namespace(iri: str) -> str:
    """Return an IRI as the namespace of a prefix; empty where it is none."""
    return iri if iri.endswith(_PREFIX_ENDS) else ""


def is_compact(text: str) -> bool:
    """Tell whether a text is, by its form, a name with a prefix, and no IRI in full."""
    return bool(_COMPACT.fullmatch(text)) and not terms.has_known_scheme(text)


def _unknown_context_problem(
    url: str, contexts: Mapping[str, Any], document: Document, at: str
) -> Problem:
    return Problem(
        "L001",
        f"The context {url!r} is not bundled, and nothing is fetched. "
        f"Bundled are {join_names(sorted(contexts))}.",
        did_you_mean(url, contexts) or "Give your own copy of it: contexts={URL: FILE}.",
        document.place(at),
        replacement_fix(document, at, nearest(url, contexts)),
    )


def replacement_fix(
    document: Document, pointer: str, text: str, *, of_key: bool = False
) -> Fix | None:
    """Return the fix that puts a text in the place of a string; None without a text for it."""
    if not text or document.string(pointer, of_key=of_key) is None:
        return None
    start, end = document.span(pointer, of_key=of_key)
    return Fix(start, end, json.dumps(text, ensure_ascii=False))


def _unreadable_entries(url: str, entries: Any, place: Place) -> Iterator[Problem]:
    """Yield what a context given from outside does that cannot be read."""
    if not isinstance(entries, Mapping):
        message = (
            f"The context given for {url!r} is not an object with one object under '@context'."
        )
        yield Problem("L005", message, "", place)
        return
    bundled = _definitions(terms.bundled_contexts().get(terms.bundled_url(url))) or {}
    for name, entry in entries.items():
        if name in bundled and bundled[name] == entry:
            continue
        plain = isinstance(entry, str) or (
            isinstance(entry, dict)
            and isinstance(entry.get("@id", ""), str)
            and isinstance(entry.get("@type", ""), str)
            and entry.keys() <= _DEFINITION_KEYS - {"@context"}
            and entry.get("@container", "@list") == "@list"
        )
        plain = plain and not _is_iri_or_empty(name) and not _is_indirect(entry, entries)
        iris = (entry,) if isinstance(entry, str) else (entry.get(key, "") for key in _IRIS)
        plain = plain and not any(map(terms.name_problem, iris))
        if (name.startswith("@") and name != "@version") or not (plain or name == "@version"):
            message = f"The context {url!r} defines {name!r} as {entry!r}, which is not read."
            yield Problem("L005", message, "Read are IRIs, @type and lists.", place)


def _own_context_problems(
    document: Document, pointer: str, entries: Mapping[str, Any], context: Context
) -> Iterator[Problem]:
    """Yield what a policy's own context does beyond declaring prefixes and new terms."""
    for name, entry in entries.items():
        problem = terms.name_problem(entry) if isinstance(entry, str) else None
        if problem:
            code, message = problem
            yield Problem(code, message, "", document.place(f"{pointer}/{escape(name)}"))
            continue
        if name.startswith("@") and name != "@version":
            message = f"The keyword {name!r} is not allowed in a context of the text."
        elif name in context.definitions and entry != _written(context.definitions[name]):
            message = f"The context gives the known term {name!r} another meaning."
        elif name != "@version" and not _is_plain(name, entry, entries):
            message = f"The context defines {name!r} as {entry!r}."
        else:
            continue
        hint = "A context of the text may declare prefixes and new terms, as strings."
        place = document.place(f"{pointer}/{escape(name)}", of_key=True)
        yield Problem("L005", message, hint, place)


def _written(definition: Definition) -> str:
    return definition.namespace or definition.iri


def _is_iri_or_empty(name: str) -> bool:
    """Tell whether a name is one that JSON-LD 1.1 lets no context define anew."""
    return not name or ":" in name


def _is_plain(name: str, entry: Any, entries: Mapping[str, Any]) -> bool:
    if _is_iri_or_empty(name) or _is_indirect(entry, entries):
        return False
    return isinstance(entry, str) and ":" in entry


def _is_indirect(entry: Any, entries: Mapping[str, Any]) -> bool:
    """Tell whether an entry is built upon a prefix that is itself built upon another."""
    iri = entry.get("@id", "") if isinstance(entry, Mapping) else entry
    prefix_entry = entries.get(iri.partition(":")[0]) if isinstance(iri, str) else None
    return isinstance(prefix_entry, str) and prefix_entry.partition(":")[0] in entries


def name_like_text(text: str, prefix: str) -> tuple[str, str]:
    """Return what is wrong with a text that looks like a name, and what to write instead."""
    message = f"{text!r:.80} is a text, in which the prefix {prefix!r} means nothing."
    hint = "Write the name, without quotes in Turtle, or give the constraint the dataType "
    return message, f"{hint}xsd:string."


def undeclared_prefix(prefix: str, name: str, *, has_contexts: bool) -> tuple[str, str]:
    """Return what is wrong with a name whose prefix is not declared, and what to write instead."""
    if has_contexts:
        namespace = terms.PREFIXES.get(prefix, "http://...")
        hint = f'Add {{"{prefix}": "{namespace}"}} to the @context, or write the whole IRI.'
        return f"No context declares the prefix {prefix!r} of {name!r}.", hint
    message = f"The IRI {name!r} has the scheme {prefix!r}, which is not known: is it a prefix?"
    hint = "Write the whole IRI; in Turtle, a name with a prefix has no < > around it."
    return message, hint
