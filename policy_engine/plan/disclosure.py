"""What is asked for: an attack on a table, before anybody sees it, and what it may reach."""

from pydantic import BaseModel, ConfigDict

from policy_engine.methods.audits.record_linkage import RecordLinkage


class Disclosure(BaseModel):
    """An attack that a duty asks for, on the table under a name, by a method and its bound."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    duty: str
    asset: str
    method: RecordLinkage
