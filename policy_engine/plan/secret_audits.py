"""What duties ask for of a model: attacks on what it gives away about columns, and the bound."""

from pydantic import BaseModel, ConfigDict

from policy_engine.methods.model_secrets import ModelSecrets


class SecretAudit(BaseModel):
    """What a duty asks for of a model under a name."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    duty: str
    asset: str
    method: ModelSecrets
