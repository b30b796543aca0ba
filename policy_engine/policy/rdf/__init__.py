"""Policies in Turtle, N-Triples and RDF/XML, read by way of the JSON-LD that means the same."""

from policy_engine.policy.rdf.converting import (
    convert_text,
    read_statements,
    syntax_of,
    to_json_ld,
)

__all__ = ["convert_text", "read_statements", "syntax_of", "to_json_ld"]
