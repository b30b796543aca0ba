"""SKOS concepts, in whichever syntax they were written, and the tree that they form.

Simple Knowledge Organization System Reference, W3C Recommendation, 2009: sections 5 (labels),
6 (notations) and 8 (semantic relations).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from policy_engine.data.taxonomy.json_text import Pointer, place_at
from policy_engine.data.taxonomy.problems import MAX_DEPTH, Problems, quote
from policy_engine.data.taxonomy.tree import Taxonomy, make_tree
from policy_engine.errors import did_you_mean

SKOS = "http://www.w3.org/2004/02/skos/core#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

Edge = Literal["broader", "narrower"]
Naming = Literal["notation", "prefLabel"]
EDGES: Mapping[str, Edge] = {name: name for name in get_args(Edge)}
NAMINGS: Mapping[str, Naming] = {name: name for name in get_args(Naming)}

_GROUPINGS = ("ConceptScheme", "Collection", "OrderedCollection")
CLASSES = frozenset(("Concept", *_GROUPINGS))
_UNREAD = """
    altLabel hiddenLabel note changeNote definition editorialNote example historyNote scopeNote
    semanticRelation related broaderTransitive narrowerTransitive mappingRelation broadMatch
    narrowMatch closeMatch exactMatch relatedMatch inScheme hasTopConcept topConceptOf member
    memberList
"""
TERMS = frozenset((*EDGES, *NAMINGS, *_UNREAD.split()))
_CIRCLE_SHOWN = 5


@dataclass
class _Concept:
    """A concept; `names` are by `notation`, or by `prefLabel` and its language."""

    pointer: Pointer
    is_related: bool = False
    broader: dict[str, None] = field(default_factory=dict)
    names: dict[tuple[Naming, str], dict[str, None]] = field(default_factory=dict)


class Concepts:
    """Concepts by IRI, in the order in which they first come up."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.concepts: dict[str, _Concept] = {}
        self.groupings: set[str] = set()

    def concept(self, iri: str, pointer: Pointer = None) -> _Concept:
        """Return the concept of an IRI, a new one where there is none yet."""
        if iri not in self.concepts:
            self.concepts[iri] = _Concept(pointer)
            self.problems.check_size(len(self.concepts))
        return self.concepts[iri]

    def relate(self, iri: str, edge: Edge, other: str, pointer: Pointer = None) -> None:
        """Note that the other concept is broader, or narrower, than the first."""
        one, two = self.concept(iri, pointer), self.concept(other, pointer)
        one.is_related = two.is_related = True
        if edge == "broader":
            one.broader[other] = None
        else:
            two.broader[iri] = None

    def name(
        self, iri: str, kind: Naming, text: str, language: str, pointer: Pointer = None
    ) -> None:
        """Note a notation or a preferred label; the language of a notation is ignored."""
        key = (kind, language.lower() if kind == "prefLabel" else "")
        self.concept(iri, pointer).names.setdefault(key, {})[text] = None

    def classify(self, iri: str, kind: str, pointer: Pointer = None) -> None:
        """Note the class of a resource: a concept, or a group of concepts."""
        if kind == f"{SKOS}Concept":
            self.concept(iri, pointer)
        elif kind.removeprefix(SKOS) in _GROUPINGS:
            self.groupings.add(iri)

    def check_term(self, iri: str, pointer: Pointer = None) -> None:
        """Note a property in the namespace of SKOS that SKOS does not have (P005)."""
        local = iri.removeprefix(SKOS)
        if iri.startswith(SKOS) and local not in TERMS:
            message = f"SKOS has no property {quote(local)}."
            hint = did_you_mean(local, TERMS) if len(local) < 80 else ""
            self.problems.add("P005", message, hint, place_at(pointer))

    def tree(self) -> Taxonomy:
        """Return the tree of the concepts, below a root `*` where several have none above.

        The value of a concept is its notation, else its preferred label (that without a
        language, else the English one, else the first by language), else the local name of
        its IRI. Raises DataError: two names, two broader concepts, circles, a value twice.
        """
        concepts = {
            iri: concept
            for iri, concept in self.concepts.items()
            if concept.is_related or iri not in self.groupings
        }
        if not concepts:
            self.problems.refuse()
            self.problems.fail("T002", "The text holds no SKOS concept.")
        numbers = {iri: number for number, iri in enumerate(concepts)}
        labels = [self._label(iri, concept) for iri, concept in concepts.items()]
        parents = [self._parent(iri, concept, numbers) for iri, concept in concepts.items()]
        self._check_circles(list(concepts), parents)
        self._check_values(list(concepts), labels, parents)
        self.problems.refuse()
        tree = make_tree(labels, parents)
        if tree.depth.max() > MAX_DEPTH:
            message = f"The taxonomy has {tree.depth.max():,} levels. {MAX_DEPTH} are allowed."
            self.problems.fail("T003", message)
        return tree

    def _label(self, iri: str, concept: _Concept) -> str:
        label = self._given_name(iri, concept) if concept.names else _local_name(iri)
        if not label and concept.names:
            self.problems.add(
                "T005",
                f"{quote(iri)} has an empty name.",
                "",
                place_at(concept.pointer),
            )
        elif not label:
            message = f"The concept {quote(iri)} has neither a name nor an IRI that ends in one."
            hint = "Give it a skos:notation or a skos:prefLabel."
            self.problems.add("T009", message, hint, place_at(concept.pointer))
        return label

    def _given_name(self, iri: str, concept: _Concept) -> str:
        for (kind, language), texts in concept.names.items():
            if len(texts) > 1:
                what = f"{kind} in the language {language!r}" if language else kind
                first, second, *_ = texts
                message = f"{quote(iri)} has more than one skos:{what}: "
                message += f"{quote(first)} and {quote(second)}."
                self.problems.add("T001", message, "One is allowed.", place_at(concept.pointer))
        return next(iter(concept.names[min(concept.names, key=_preference)]))

    def _parent(self, iri: str, concept: _Concept, numbers: Mapping[str, int]) -> int:
        if len(concept.broader) > 1:
            first, second, *_ = concept.broader
            message = f"{quote(iri)} has {len(concept.broader)} broader concepts, "
            message += f"among them {quote(first)} and {quote(second)}."
            self.problems.add("T007", message, "A tree allows one.", place_at(concept.pointer))
        return next((numbers[wide] for wide in concept.broader), -1)

    def _check_circles(self, iris: Sequence[str], parents: Sequence[int]) -> None:
        for circle in _find_circles(parents):
            names = ", ".join(quote(iris[node]) for node in circle[:_CIRCLE_SHOWN])
            more = ", ..." if len(circle) > _CIRCLE_SHOWN else ""
            message = f"Each of these concepts is broader than itself: {names}{more}."
            self.problems.add("T008", message, "", place_at(self.concepts[iris[circle[0]]].pointer))

    def _check_values(
        self, iris: Sequence[str], labels: Sequence[str], parents: Sequence[int]
    ) -> None:
        """Note leaves with the same value."""
        inner = set(parents)
        first: dict[str, str] = {}
        for node, (iri, label) in enumerate(zip(iris, labels, strict=True)):
            if node not in inner and label and first.setdefault(label, iri) != iri:
                message = f"{quote(first[label])} and {quote(iri)} have one value, {quote(label)}."
                self.problems.add("T006", message, "", place_at(self.concepts[iri].pointer))


def _preference(name: tuple[Naming, str]) -> tuple[bool, bool, bool, str]:
    """Return the key by which the preferred name of a concept comes first."""
    kind, language = name
    return kind != "notation", language != "", language != "en", language


def _local_name(iri: str) -> str:
    """Return what follows the last `#`, `/` or `:`; nothing for a blank node."""
    if iri.startswith("_:"):
        return ""
    return re.split("[#/:]", iri.rstrip("#/:"))[-1]


def _find_circles(parents: Sequence[int]) -> Iterator[list[int]]:
    """Yield the nodes of every circle, in one pass over all nodes."""
    visited_from = [-1] * len(parents)
    for start in range(len(parents)):
        node, path = start, []
        while node >= 0 and visited_from[node] < 0:
            visited_from[node] = start
            path.append(node)
            node = parents[node]
        if node >= 0 and visited_from[node] == start:
            yield path[path.index(node) :]
