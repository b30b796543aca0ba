"""What a text of RDF states, and where: Turtle, N-Triples and RDF/XML; nothing is fetched."""

from policy_engine.data.rdf.reading import RdfSyntax, read_rdf
from policy_engine.data.rdf.statements import Bounds, Literal, Statement, Statements, Term

__all__ = ["Bounds", "Literal", "RdfSyntax", "Statement", "Statements", "Term", "read_rdf"]
