"""One file of all that decisions follow from: policies, and what they are read and decided with."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from policy_engine.decision.package import Package

if TYPE_CHECKING:
    from policy_engine.data.taxonomy import Taxonomy

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
    single: ClassVar[frozenset[str]] = frozenset(
        {"certificate", "attestation", "context", "taxonomy"}
    )

    def taxonomies(self) -> "dict[str, Taxonomy]":
        """Return the taxonomies in it by the names that policies use, as `apply_policy` takes them.

        No decision needs them: they are for what the policies in it have made. Raises DataError
        for one that cannot be read.
        """
        from policy_engine.data.taxonomy.formats import read_taxonomy  # noqa: PLC0415 (as used)

        return {
            one.name: read_taxonomy(self.files[one.path], one.path)
            for one in self.of_kind("taxonomy")
        }
