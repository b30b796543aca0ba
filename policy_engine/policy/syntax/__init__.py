"""The syntaxes that a policy may be written in, each read to a JSON-LD document."""
