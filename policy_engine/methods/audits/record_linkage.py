"""Record linkage: how many persons' own records an intruder finds in a released table."""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.methods.disclosure import DisclosureBound

DEFAULT_ATTACKS = (
    "distance-linkage",
    "value-linkage",
    "exact-linkage",
    "mahalanobis-linkage",
    "probabilistic-linkage",
    "intersection-linkage",
    "likelihood-linkage",
    "assignment-linkage",
)


class RecordLinkage(BaseModel):
    """The attacks of an intruder who knows some columns of persons, and the bound on them all.

    The intruder knows one column of `known`, two, and so on, those that tell most first, exactly,
    and by the certificate how each was made. The bound is about every attack that
    applies, by however many of the columns, and holds where the upper end of the figure's 95%
    interval does. The share is that of the released records: whoever is not in the release does not
    make it smaller.
    Domingo-Ferrer, Torra: Disclosure risk assessment in statistical microdata protection via
    advanced record linkage, Statistics and Computing 13, 2003.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    notation: ClassVar[str] = "record-linkage"

    kind: Literal["record-linkage"] = "record-linkage"
    bound: DisclosureBound
    known: Annotated[tuple[str, ...], Field(min_length=1)]
    attacks: Annotated[tuple[str, ...], Field(min_length=1)] = DEFAULT_ATTACKS

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns whose values are compared with those released."""
        return self.known

    def sorted_copy(self) -> "RecordLinkage":
        """Return it with the known columns and the attacks in one order."""
        names, attacks = tuple(sorted(self.known)), tuple(sorted(self.attacks))
        return self.model_copy(update={"known": names, "attacks": attacks})

    def __str__(self) -> str:
        return str(self.bound)
