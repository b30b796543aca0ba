"""Policies in Turtle, N-Triples and RDF/XML, read by way of the JSON-LD that means the same."""

from policy_engine.policy.syntax.rdf.converting import (
    convert_text,
    read_statements,
    to_json_ld,
)

__all__ = ["convert_text", "read_statements", "to_json_ld"]
