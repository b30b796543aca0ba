"""What a text says from which others would conclude memberships, and no reader here does."""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.data.rdf.statements import FIRST, REST, TYPE, Term, is_blank
from policy_engine.decision.compliance.graph import UID, StatementGraph
from policy_engine.decision.compliance.namespaces import OWL, RDFS
from policy_engine.errors import Place, PolicyEngineError, PolicyError, Problem
from policy_engine.policy.structure import VALUE, WIDER_PROPERTIES

_BROADER, _NARROWER = (f"{terms.SKOS}{name}" for name in ("broader", "narrower"))
_ALIKE = (
    *(f"{terms.SKOS}{name}" for name in ("broadMatch", "narrowMatch", "exactMatch")),
    *(f"{terms.SKOS}{name}Transitive" for name in ("broader", "narrower")),
    *(f"{OWL}{name}" for name in ("sameAs", "equivalentClass", "unionOf", "oneOf")),
)
"""What says that two things are one, or that one is a kind of the other."""
_ALIKE_BY_LETTERS = {name.lower(): name for name in _ALIKE}
_OF_PROPERTIES = (f"{RDFS}subPropertyOf", f"{OWL}equivalentProperty", f"{OWL}inverseOf")
_READ = (
    *(terms.ODRL, terms.MOSAICROWN, terms.PE, terms.SOTW, terms.REPORT, TYPE, _BROADER),
    f"{RDFS}subClassOf",
)
_CONTENTS = (VALUE, FIRST, f"{terms.RDF}_")
"""What says what a nameless thing stands for, or holds."""


def refuse_unread_conclusions(graph: StatementGraph, error: type[PolicyEngineError]) -> None:
    """Refuse what says by other words, or of nameless things, who or what is part of what.

    Such are what makes two things one (`owl:sameAs`), `skos:narrower` without its inverse, a
    property that is a kind of one that is read, and nameless things that stand for others.
    Raises PolicyError (P006) for a policy, and RequestError (D003) for others.
    """
    for statement, message, hint in _lost(graph):
        place = Place("", *graph.spot(*statement))
        code = "P006" if issubclass(error, PolicyError) else "D003"
        raise error(Problem(code, message, hint, place), source=graph.source)


def _lost(graph: StatementGraph) -> Iterator[tuple[tuple[Term, ...], str, str]]:
    for node, properties in graph.about.items():
        # Otherwise the rest of a list would be read again at each of its nodes.
        for prop in sorted(properties.keys() - {FIRST, REST}):
            for value in graph.objects(node, prop):
                hint = _hint(graph, node, prop, value)
                if hint:
                    message = f"What {terms.compact(prop)} says of {node!r} would be lost."
                    yield (node, prop, value), message, hint


def _hint(graph: StatementGraph, node: str, prop: str, value: Term) -> str:
    """Return how else a statement may be made; empty if it is read, or is about other things."""
    if prop.lower() in _ALIKE_BY_LETTERS:
        return "Say by skos:broader or odrl:partOf what is part of what, or use one name."
    if prop == _NARROWER and not _has_inverse(graph, node, value):
        return "Say it by skos:broader, of the narrower one."
    if prop in _OF_PROPERTIES and any(_is_read(one) for one in (node, value)):
        return "Use the property itself."
    if prop in WIDER_PROPERTIES:
        return _hint_of_membership(graph, node, value)
    return ""


def _has_inverse(graph: StatementGraph, node: str, value: Term) -> bool:
    nodes = graph.named.get(graph.name(value), ()) if isinstance(value, str) else ()
    above = {graph.name(one) for lower in nodes for one in graph.nodes(lower, _BROADER)}
    return graph.name(node) in above


def _is_read(name: Term) -> bool:
    return isinstance(name, str) and name.startswith(_READ)


def _hint_of_membership(graph: StatementGraph, node: str, value: Term) -> str:
    if is_blank(node) and graph.is_list(node):
        return "Say it of each member of the list."
    nameless = (
        end
        for end in (node, value)
        if isinstance(end, str) and is_blank(end) and not graph.objects(end, UID)
    )
    contents = (prop for end in nameless for prop in graph.about.get(end, ()))
    is_holding = any(prop.startswith(_CONTENTS) for prop in contents)
    return "Say it by the names of the two." if is_holding else ""
