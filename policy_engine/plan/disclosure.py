"""What is asked for of a table before anybody sees it: what attacks may reach, what is at risk."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.audits.record_linkage import RecordLinkage

TableAudit = RecordLinkage | PopulationRisk | AttributeInference


class Disclosure(BaseModel):
    """What a duty asks for of the table under a name: a method with its bounds."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    duty: str
    asset: str
    method: Annotated[TableAudit, Field(discriminator="kind")]


class Population(BaseModel):
    """Where the population lies that a release is a part of."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    location: str
    format: str
