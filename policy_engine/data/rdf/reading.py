"""A text in a syntax of RDF to its statements."""

from typing import Literal

from policy_engine.data.rdf.statements import Bounds, Collector, Statements
from policy_engine.data.rdf.xml import read_rdf_xml
from policy_engine.errors import DataError, PolicyEngineError

RdfSyntax = Literal["turtle", "n-triples", "rdf-xml"]


def read_rdf(
    text: str,
    syntax: RdfSyntax,
    source: str,
    bounds: Bounds,
    error: type[PolicyEngineError] = DataError,
    base: str = "",
) -> Statements:
    """Return the statements of a text, each with its place; `base` is that of relative names.

    Raises an `error` with the first problem: F001 for what is not in its syntax, L006 for a
    relative IRI without a base, J003 beyond the bounds.
    """
    collector = Collector(text, source, bounds, error)
    if syntax == "rdf-xml":
        read_rdf_xml(collector)
    else:
        from policy_engine.data.rdf.turtle import read_turtle  # noqa: PLC0415 (rdflib)

        read_turtle(collector, base)
    return collector.statements()
