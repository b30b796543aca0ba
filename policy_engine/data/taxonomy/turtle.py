"""SKOS concepts written in Turtle, read by rdflib where that is installed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from policy_engine.data.taxonomy.concepts import EDGES, NAMINGS, RDF_TYPE, SKOS, Concepts
from policy_engine.data.taxonomy.problems import Problems, shown
from policy_engine.data.taxonomy.tree import Taxonomy
from policy_engine.errors import NOWHERE, Place

_BASE = "http://relative.invalid/"
_REASON = re.compile(r"Bad syntax \((.*)\) at \^ in:", re.DOTALL)


@dataclass(frozen=True)
class _Triple:
    """A statement; `language` is None where its object is an IRI or a blank node."""

    subject: str
    predicate: str
    value: str
    language: str | None


def read_turtle(text: str, problems: Problems) -> Taxonomy:
    """Read SKOS concepts. Raises DataError: C011 without rdflib, T001 for what is no Turtle."""
    concepts = Concepts(problems)
    for triple in _triples(text, problems):
        _take(concepts, triple, problems)
    return concepts.tree()


def _triples(text: str, problems: Problems) -> Iterator[_Triple]:
    """Yield the statements in the order of the text, which a graph of rdflib does not keep."""
    try:
        import rdflib  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
    except ImportError:
        message = "Turtle is read by rdflib, which is not installed."
        problems.fail("C011", message, "pip install 'policy-engine[rdf]'.")
    found: list[tuple[rdflib.term.Node, ...]] = []

    class Recorder(rdflib.Graph):  # type: ignore[misc,unused-ignore]
        def add(self, triple: tuple[rdflib.term.Node, ...]) -> "Recorder":
            found.append(triple)
            return self

    try:
        Recorder().parse(data=text, format="turtle", publicID=_BASE)
    except RecursionError:
        problems.fail("T003", "The text is nested too deeply.")
    except Exception as error:  # noqa: BLE001 (rdflib lets any error of its parts through)
        _refuse(error, problems)
    for subject, predicate, value in found:
        ends = [
            f"_:{end}" if isinstance(end, rdflib.BNode) else str(end) for end in (subject, value)
        ]
        language = (value.language or "") if isinstance(value, rdflib.Literal) else None
        yield _Triple(ends[0], str(predicate), ends[1], language)


def _refuse(error: Exception, problems: Problems) -> None:
    reason = _REASON.search(str(error))
    line = getattr(error, "lines", -1) + 1
    message = f"The text is not Turtle: {reason[1] if reason else shown(str(error))}."
    problems.fail("T001", message, "", Place("", line, 1) if line else NOWHERE)


def _take(concepts: Concepts, triple: _Triple, problems: Problems) -> None:
    local = triple.predicate.removeprefix(SKOS) if triple.predicate.startswith(SKOS) else ""
    if triple.predicate == RDF_TYPE:
        concepts.classify(triple.subject, triple.value)
    elif local in EDGES and triple.language is None:
        concepts.relate(triple.subject, EDGES[local], triple.value)
    elif local in NAMINGS and triple.language is not None:
        concepts.name(triple.subject, NAMINGS[local], triple.value, triple.language)
    elif local in EDGES or local in NAMINGS:
        what = "a text" if local in NAMINGS else "a concept"
        message = f"skos:{local} of {shown(triple.subject)} is not {what}: {shown(triple.value)}."
        problems.add("T001", message)
    else:
        concepts.check_term(triple.predicate)
