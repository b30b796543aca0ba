"""One file of all that decisions follow from: policies, and what they are read and decided with."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from policy_engine.decision.package import Package

Kind = Literal[
    "policy",
    "parent",
    "vocabulary",
    "context",
    "hierarchy",
    "owners",
    "certificate",
    "attestation",
    "taxonomy",
]


@dataclass(frozen=True)
class Bundle(Package):
    """What decisions follow from, as it was packed."""

    noun: ClassVar[str] = "bundle"
    kinds: ClassVar[frozenset[str]] = frozenset(get_args(Kind))
    single: ClassVar[frozenset[str]] = frozenset({"certificate", "attestation", "context"})
