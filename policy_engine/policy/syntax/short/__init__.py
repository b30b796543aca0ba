"""Policies in the short form: YAML with one word for each fact, compiled to JSON-LD."""

from policy_engine.policy.syntax.short.compiling import compile_words, read_short
from policy_engine.policy.syntax.short.writing import write_short

__all__ = ["compile_words", "read_short", "write_short"]
