"""SKOS concepts written in Turtle."""

from policy_engine.data.rdf import Bounds, Literal, Statement, read_rdf
from policy_engine.data.taxonomy.concepts import EDGES, NAMINGS, RDF_TYPE, SKOS, Concepts
from policy_engine.data.taxonomy.problems import MAX_DEPTH, MAX_NODES, Problems, shown
from policy_engine.data.taxonomy.tree import Taxonomy
from policy_engine.errors import DataError

_BASE = "http://relative.invalid/"
"""What relative names are relative to: a taxonomy means the same wherever its file lies."""
_BOUNDS = Bounds(MAX_DEPTH, 8 * MAX_NODES)


def read_turtle(text: str, problems: Problems) -> Taxonomy:
    """Read SKOS concepts. Raises DataError: T001 for what is not Turtle, T003 beyond the bounds."""
    try:
        found = read_rdf(text, "turtle", problems.source, _BOUNDS, base=_BASE)
    except DataError as error:
        [problem] = error.problems
        if problem.code == "J003":
            problems.fail("T003", problem.message, problem.hint, problem.place)
        message = f"The text is not Turtle: {problem.message}"
        problems.fail("T001", message, problem.hint, problem.place)
    concepts = Concepts(problems)
    for statement in found.items:
        _take(concepts, statement, problems)
    return concepts.tree()


def _take(concepts: Concepts, said: Statement, problems: Problems) -> None:
    local = said.predicate.removeprefix(SKOS) if said.predicate.startswith(SKOS) else ""
    value = said.value
    if said.predicate == RDF_TYPE:
        concepts.classify(said.subject, value.text if isinstance(value, Literal) else value)
    elif local in EDGES and isinstance(value, str):
        concepts.relate(said.subject, EDGES[local], value)
    elif local in NAMINGS and isinstance(value, Literal):
        concepts.name(said.subject, NAMINGS[local], value.text, value.language)
    elif local in EDGES or local in NAMINGS:
        what = "a text" if local in NAMINGS else "a concept"
        given = shown(value.text if isinstance(value, Literal) else value)
        problems.add("T001", f"skos:{local} of {shown(said.subject)} is not {what}: {given}.")
    else:
        concepts.check_term(said.predicate)
