"""IRIs to the short names that a JSON-LD context gives them (JSON-LD 1.1, section 4.1)."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from policy_engine import terms
from policy_engine.errors import PolicyError, Problem
from policy_engine.policy.syntax.contexts import Context, Definition, read_contexts
from policy_engine.policy.syntax.json_text import Document

ODRL_CONTEXT = "http://www.w3.org/ns/odrl.jsonld"
MOSAICROWN_CONTEXT = "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"

_PREFIX = re.compile("[A-Za-z][A-Za-z0-9_-]*")
_CUTS = re.compile(r"[:/?#\[\]@]")
_LONGEST = 200
_OFFERED = {name: terms.PREFIXES[name] for name in ("mosaicrown", "pe", "dpv")}


class TermNames:
    """The short names in force at some place of a document.

    `used` gathers the prefixes of the text's own that a name was shortened with.
    """

    def __init__(self, context: Context, own: Mapping[str, str], used: set[str]) -> None:
        self._context = context
        self.own = dict(own)
        self._scoped: dict[str, TermNames] = {}
        self.used = used
        definitions = {name: one for name, one in context.definitions.items() if ":" in one.iri}
        self._terms = {one.iri: name for name, one in definitions.items() if not one.is_prefix}
        self._prefixes = {one.namespace: name for name, one in definitions.items() if one.is_prefix}

    def value_scope(self, key: str) -> "TermNames":
        """Return the names in force in the values of a key."""
        definition = self._context.key(key)
        if not definition.scoped:
            return self
        if key not in self._scoped:
            inner_context = self._context.value_scope(definition)
            self._scoped[key] = TermNames(inner_context, self.own, self.used)
        return self._scoped[key]

    def definition(self, key: str) -> Definition:
        """Return how the values of a key are read."""
        return self._context.definitions.get(key) or Definition(key)

    def key(self, iri: str, *, is_one_list: bool) -> str:
        """Return the key for a property; a key of lists only for what is one list."""
        for name in filter(None, (self._terms.get(iri), self.word(iri))):
            if is_one_list or not self.definition(name).is_list:
                return name
        return self.whole(iri)

    def term(self, iri: str) -> str:
        """Return the name of a type, or of a value that may be a term."""
        return self._terms.get(iri) or self.word(iri)

    def word(self, iri: str) -> str:
        """Return an IRI shortened by a prefix, where there is one for it."""
        return self._shortened(iri, with_own=True) or self.whole(iri)

    def reference(self, iri: str) -> str:
        """Return an IRI for an asset, a party or a rule: whole, but for the best-known names."""
        return self._shortened(iri, with_own=False) or self.whole(iri)

    def whole(self, iri: str) -> str:
        """Return an IRI as it is. Raises PolicyError (F002) where JSON-LD would read another."""
        scheme, _, remainder = iri.partition(":")
        definition = self._context.definitions.get(scheme)
        if definition and definition.is_prefix and not remainder.startswith("//"):
            message = f"The IRI {iri!r:.80} cannot be written in JSON-LD: {scheme!r} is a prefix."
            raise PolicyError(Problem("F002", message, "Give it another scheme."))
        return iri

    def _shortened(self, iri: str, *, with_own: bool) -> str:
        for cut in reversed([*_CUTS.finditer(iri, 0, _LONGEST)]):
            prefix = self._prefixes.get(iri[: cut.end()], "")
            local = iri[cut.end() :]
            if prefix and local and not local.startswith("//"):
                if prefix in self.own and not with_own:
                    continue
                self.used.update({prefix} & self.own.keys())
                return f"{prefix}:{local}"
        return ""


def names_for(
    prefixes: Mapping[str, str], iris: Iterable[str], *, is_in_profile: bool
) -> tuple[TermNames, list[str]]:
    """Return the names for a text, and the URLs of the contexts that give them.

    The MOSAICrOWN context is among them only where every policy is in that profile already:
    to name it would bring it there, and have its conflicts resolved otherwise.
    """
    all_iris = set(iris)
    urls = [ODRL_CONTEXT, *([MOSAICROWN_CONTEXT] if is_in_profile else [])]
    bundled = _context(urls)
    schemes = {iri.partition(":")[0] for iri in (*all_iris, *prefixes.values())}
    offered = {**_OFFERED, **prefixes}
    bundled_iris = {one.iri for one in bundled.definitions.values()}
    own = {
        name: iri
        for name, iri in offered.items()
        if _PREFIX.fullmatch(name)
        and len(iri) <= _LONGEST
        and _CUTS.fullmatch(iri[-1:])
        and iri not in bundled_iris
        and name not in bundled.definitions
        and name not in schemes
    }
    return TermNames(_context([*urls, own]), own, set()), urls


def _context(entries: list[Any]) -> Context:
    value = {"@context": entries}
    context, problems = read_contexts(Document(value, "", {}, {}, (), [0]), value, "", {})
    if problems:
        raise PolicyError(*problems)
    return context
