"""The syntaxes that a policy may be written in, each read to a JSON-LD document."""

from typing import Literal

Syntax = Literal["json-ld", "turtle", "n-triples", "rdf-xml", "yaml"]
