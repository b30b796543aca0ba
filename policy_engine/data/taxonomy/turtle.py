"""SKOS concepts written in Turtle."""

from policy_engine.data.rdf import Bounds, Literal, Statement, read_rdf
from policy_engine.data.taxonomy.concepts import EDGES, NAMINGS, RDF_TYPE, SKOS, Concepts
from policy_engine.data.taxonomy.problems import MAX_DEPTH, MAX_NODES, Problems, quote
from policy_engine.data.taxonomy.tree import Taxonomy
from policy_engine.errors import DataError

_BASE = "http://relative.invalid/"
"""The base of relative names: a taxonomy means the same wherever its file is."""
_BOUNDS = Bounds(MAX_DEPTH, 8 * MAX_NODES)


def read_turtle(text: str, problems: Problems) -> Taxonomy:
    """Read SKOS concepts. Raises DataError: T001 for what is not Turtle, T003 beyond the bounds."""
    try:
        statements = read_rdf(text, "turtle", problems.source, _BOUNDS, base=_BASE)
    except DataError as error:
        [problem] = error.problems
        if problem.code == "J003":
            problems.fail("T003", problem.message, problem.hint, problem.place)
        message = f"The text is not Turtle: {problem.message}"
        problems.fail("T001", message, problem.hint, problem.place)
    concepts = Concepts(problems)
    for statement in statements.items:
        _add_statement(concepts, statement, problems)
    return concepts.tree()


def _add_statement(concepts: Concepts, statement: Statement, problems: Problems) -> None:
    local = statement.predicate.removeprefix(SKOS) if statement.predicate.startswith(SKOS) else ""
    value = statement.value
    if statement.predicate == RDF_TYPE:
        concepts.classify(statement.subject, value.text if isinstance(value, Literal) else value)
    elif local in EDGES and isinstance(value, str):
        concepts.relate(statement.subject, EDGES[local], value)
    elif local in NAMINGS and isinstance(value, Literal):
        concepts.name(statement.subject, NAMINGS[local], value.text, value.language)
    elif local in EDGES or local in NAMINGS:
        what = "a text" if local in NAMINGS else "a concept"
        text = quote(value.text if isinstance(value, Literal) else value)
        problems.add("T001", f"skos:{local} of {quote(statement.subject)} is not {what}: {text}.")
    else:
        concepts.check_term(statement.predicate)
