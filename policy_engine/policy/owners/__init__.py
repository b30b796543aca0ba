"""Who owns an asset, and whose rules count for it."""

from policy_engine.policy.owners.claims import Claims
from policy_engine.policy.owners.model import Owners, Speakers, Standing, Statement
from policy_engine.policy.owners.reading import OwnersSource, load_owners, read_owners

__all__ = [
    "Claims",
    "Owners",
    "OwnersSource",
    "Speakers",
    "Standing",
    "Statement",
    "load_owners",
    "read_owners",
]
