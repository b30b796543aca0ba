"""Who owns an asset, and whose rules count for it."""

from policy_engine.policy.owners.claims import Claims
from policy_engine.policy.owners.model import Owners, OwnerStatement, Speakers, Standing
from policy_engine.policy.owners.reading import OwnersSource, load_owners, read_owners

__all__ = [
    "Claims",
    "OwnerStatement",
    "Owners",
    "OwnersSource",
    "Speakers",
    "Standing",
    "load_owners",
    "read_owners",
]
