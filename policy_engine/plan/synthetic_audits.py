"""What duties ask for of made-up rows: attacks on them, and the bounds on what these reach."""

from pydantic import BaseModel, ConfigDict

from policy_engine.methods.generative import SyntheticInference


class SyntheticAudit(BaseModel):
    """What a duty asks for of made-up rows under a name."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    duty: str
    asset: str
    method: SyntheticInference
