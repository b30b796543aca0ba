"""Vocabularies of one's own: the terms that policies may use beside those of the language."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from policy_engine import terms
from policy_engine.errors import Place, PolicyError
from policy_engine.policy.hierarchy import OPERATION, TOPS, Edge, Hierarchy

ACTION, OPERAND = f"{terms.ODRL}Action", f"{terms.ODRL}LeftOperand"
PURPOSE = f"{terms.MOSAICROWN}purpose"


@dataclass(frozen=True)
class Vocabulary:
    """What vocabularies define, taken together.

    `defined` are actions, left operands and purposes, by their IRI; `hierarchy` says what they,
    and parties and assets, are part of; `profiles` are the IRIs of profiles that are defined.
    `digests` are the sha-256 of the texts, in order; `wider` are the actions that others are
    included in or imply, with the name of the text and the place that says so.
    """

    defined: Mapping[str, terms.Term] = field(default_factory=dict)
    hierarchy: Hierarchy = field(default_factory=Hierarchy)
    profiles: frozenset[str] = frozenset()
    digests: tuple[str, ...] = ()
    wider: tuple[tuple[str, str, Place], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.digests)

    @cached_property
    def actions(self) -> Mapping[str, terms.Term]:
        """The actions, by IRI."""
        return self._terms_of_type(ACTION)

    @cached_property
    def operands(self) -> Mapping[str, terms.Term]:
        """The left operands, by IRI, each with the data types that it `takes`."""
        return self._terms_of_type(OPERAND)

    @cached_property
    def purposes(self) -> Mapping[str, terms.Term]:
        """The purposes, by IRI."""
        return self._terms_of_type(PURPOSE)

    def contexts(
        self, own_contexts: Mapping[str, Any] | None, text: Any = None
    ) -> Mapping[str, Any]:
        """Return JSON-LD contexts by URL: those given, and MOSAICrOWN's with its `names`.

        What the contexts given, or those that stand in the `text`, declare stays what it is.
        """
        contexts_by_url = {
            terms.bundled_url(url): context for url, context in (own_contexts or {}).items()
        }
        taken = set(_declared_names([text, *contexts_by_url.values()]))
        names = {name: iri for name, iri in self.names.items() if name not in taken}
        bundled = terms.bundled_contexts().items() if names else ()
        more = {
            url: {"@context": {**context["@context"], **names}}
            for url, context in bundled
            if terms.names_mosaicrown(url)
        }
        return {**more, **contexts_by_url}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The names that its terms have in the context of MOSAICrOWN, each with its IRI.

        The published context names the terms of the published vocabulary, which a given one may
        define. A name of that context, or of ODRL's, is left as it is but for the actions that
        MOSAICrOWN has of its own: what prohibits one of them prohibits the other.
        """
        names_by_iri = {iri.removeprefix(terms.MOSAICROWN): iri for iri in self.defined}
        return {
            name: iri
            for name, iri in names_by_iri.items()
            if iri.startswith(terms.MOSAICROWN) and _may_be_named(name)
        }

    @cached_property
    def reading(self) -> tuple[str, ...]:
        """The actions of reading: ODRL's and, where it is defined, that of MOSAICrOWN."""
        read = f"{terms.ODRL}read"
        own = [iri for iri, other in terms.OLD_ACTIONS.items() if other == read]
        return (read, *(iri for iri in own if iri in self.defined))

    def action(self, iri: str) -> str:
        """Return an action: ODRL's for one that MOSAICrOWN called otherwise, unless defined."""
        return terms.action(iri, self.defined)

    @cached_property
    def digest(self) -> str:
        """The sha-256 of the terms, their types and profiles; empty where none is defined.

        Their labels and definitions are left out, and so is what they are included in, which is
        in the hierarchy.
        """
        defined = {
            iri: [sorted(term.types), sorted(term.iris("takes"))]
            for iri, term in self.defined.items()
        }
        if not defined and not self.profiles:
            return ""
        facts = {"defined": defined, "profile": sorted(self.profiles)}
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()

    def _terms_of_type(self, kind: str) -> Mapping[str, terms.Term]:
        return {iri: term for iri, term in self.defined.items() if kind in term.types}


NONE = Vocabulary()


def joined(vocabularies: Iterable[Vocabulary]) -> Vocabulary:
    """Return several vocabularies as one.

    A name of MOSAICrOWN's that was read as ODRL's, and is defined now, stays what prohibitions
    of the other are found by: a vocabulary lifts none. Raises PolicyError (P018) where two do
    not agree on what a term is.
    """
    vocabularies_ = tuple(vocabularies)
    terms_by_iri: dict[str, terms.Term] = {}
    for iri, term in (entry for one in vocabularies_ for entry in one.defined.items()):
        first = terms_by_iri.setdefault(iri, term)
        if (first.types, first.iris("takes")) != (term.types, term.iris("takes")):
            name = terms.compact(iri)
            raise PolicyError.of("P018", f"Two vocabularies define {name!r}, as different things.")
    hierarchy = Hierarchy().joined(one.hierarchy for one in vocabularies_)
    action, implied = (
        tuple(
            (terms.action(one, terms_by_iri), terms.action(other, terms_by_iri))
            for one, other in edges
        )
        for edges in (hierarchy.action, hierarchy.implied)
    )
    hierarchy = replace(hierarchy, action=action, implied=implied)
    return Vocabulary(
        terms_by_iri,
        replace(hierarchy, perhaps=tuple(_possible_edges(hierarchy, terms_by_iri))),
        frozenset().union(*(one.profiles for one in vocabularies_)),
        tuple(digest for one in vocabularies_ for digest in one.digests),
        tuple(entry for one in vocabularies_ for entry in one.wider),
    )


def _possible_edges(hierarchy: Hierarchy, terms_by_iri: Mapping[str, terms.Term]) -> Iterator[Edge]:
    """Yield what actions may be part of though no vocabulary says so.

    A name of MOSAICrOWN's that is defined may still be meant for ODRL's of the same name, and the
    other way round. One that is neither said to be a way to use nor to transfer may be
    both.
    """
    old_names = [(iri, other) for iri, other in terms.OLD_ACTIONS.items() if iri in terms_by_iri]
    renamed_iris = [(iri, iri.replace(terms.MOSAICROWN, terms.ODRL, 1)) for iri in terms_by_iri]
    namesakes = [(iri, other) for iri, other in renamed_iris if _is_named_alike(iri, other)]
    yield from namesakes
    yield from ((other, iri) for iri, other in namesakes)
    placed_actions = _placed_actions(replace(hierarchy, perhaps=tuple(old_names)))
    for iri, term in terms_by_iri.items():
        if ACTION in term.types and iri not in placed_actions:
            yield from ((iri, top) for top in sorted(TOPS))


def _is_named_alike(iri: str, other: str) -> bool:
    return iri.startswith(terms.MOSAICROWN) and other in terms.instances(ACTION)


def _placed_actions(hierarchy: Hierarchy) -> set[str]:
    """Return the actions that are, or may be, included in use or transfer."""
    queue = [*TOPS, *([OPERATION] if hierarchy.names_dpv else ())]
    actions = set(queue)
    for here in queue:
        below = {*hierarchy.below("action", here), *hierarchy.perhaps_below(here)} - actions
        actions |= below
        queue += sorted(below)
    return actions


def _may_be_named(name: str) -> bool:
    """Tell whether a name of ODRL's context may be another term."""
    names = _declared_names(terms.bundled_contexts().values())
    is_old = f"{terms.MOSAICROWN}{name}" in terms.OLD_ACTIONS
    return name.isidentifier() and (is_old or name not in names)


def _declared_names(texts: Iterable[Any]) -> Iterator[str]:
    """Yield the names that contexts inside of texts declare."""
    for text in texts:
        for top in text if isinstance(text, list) else [text]:
            entry = top.get("@context") if isinstance(top, Mapping) else None
            for context in entry if isinstance(entry, list) else [entry]:
                yield from context if isinstance(context, Mapping) else ()
