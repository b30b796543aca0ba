"""Who owns an asset, and whose rules count for it."""

from policy_engine.policy.owners.claims import check_outputs, output_problems, owned_outputs
from policy_engine.policy.owners.model import Owners, OwnerStatement, Speakers, Standing
from policy_engine.policy.owners.reading import OwnersSource, load_owners, read_owners

__all__ = [
    "OwnerStatement",
    "Owners",
    "OwnersSource",
    "Speakers",
    "Standing",
    "check_outputs",
    "load_owners",
    "output_problems",
    "owned_outputs",
    "read_owners",
]
