"""A first policy for a table, and what it is made of."""

from collections.abc import Mapping
from dataclasses import dataclass

from policy_engine.engines.column_proposals import ProposedColumn


@dataclass(frozen=True)
class PolicyNames:
    """How the parties and assets of a first policy are called: IRIs, or names in a namespace."""

    namespace: str = "http://example.com/"
    dataset: str = ""
    assignee: str = "researchers"
    purpose: str = "dpv:ResearchAndDevelopment"


@dataclass(frozen=True)
class FirstPolicy:
    """A policy in the short form, and the files that it needs beside it, by name."""

    text: str
    taxonomies: Mapping[str, str]
    names: PolicyNames
    columns: tuple[ProposedColumn, ...]
