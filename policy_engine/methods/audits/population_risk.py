"""Population risk: how few persons could have a released record, by the columns known of them."""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from policy_engine.methods.disclosure import RISKS, RiskBound, RiskKey


class PopulationRisk(BaseModel):
    """Bounds on the risk of the records of a release by their classes.

    A class are the records with the same cells in the columns `known`. Without a `population`, the
    intruder knows who is in the release: the risk of a record is 1/f, f being the records of its
    class. With one, the IRI of a dataset, it is 1/F, F being the persons in there who could be of
    the class: the least F is that of k-map.
    Sweeney: k-anonymity, a model for protecting privacy, 2002; El Emam, Dankar: Protecting privacy
    using k-anonymity, JAMIA 2008.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    notation: ClassVar[str] = "population-risk"

    kind: Literal["population-risk"] = "population-risk"
    bounds: Annotated[tuple[RiskBound, ...], Field(min_length=1)]
    known: Annotated[tuple[str, ...], Field(min_length=1)]
    population: str = ""

    @model_validator(mode="after")
    def _can_be_measured(self) -> "PopulationRisk":
        if any(not RISKS[one.measure][bool(self.population)] for one in self.bounds):
            raise ValueError("presence needs a population, and the uniques of one are estimated")
        return self

    @property
    def keys(self) -> tuple[RiskKey, ...]:
        """What its measurements are about, bound by bound."""
        names = frozenset(self.known)
        return tuple(RiskKey(bound, names, self.population) for bound in self.bounds)

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns whose values are compared with those released."""
        return self.known

    def sorted_copy(self) -> "PopulationRisk":
        """Return it with the bounds and the known columns in one order."""
        bounds = tuple(sorted(self.bounds, key=str))
        return self.model_copy(update={"bounds": bounds, "known": tuple(sorted(self.known))})

    def __str__(self) -> str:
        of = f" in {self.population}" if self.population else ""
        return f"{', '.join(map(str, self.bounds))}{of}"
