"""Who owns an asset, and whose rules count for it."""

from policy_engine.policy.owners.claims import check_outputs, output_problems, owned_outputs
from policy_engine.policy.owners.issuing import issue, issue_all, publishing_problems
from policy_engine.policy.owners.model import Owners, OwnerStatement, Speakers, Standing
from policy_engine.policy.owners.overlapping import are_alike, are_overlapping
from policy_engine.policy.owners.reading import OwnersSource, load_owners, read_owners

__all__ = [
    "OwnerStatement",
    "Owners",
    "OwnersSource",
    "Speakers",
    "Standing",
    "are_alike",
    "are_overlapping",
    "check_outputs",
    "issue",
    "issue_all",
    "load_owners",
    "output_problems",
    "owned_outputs",
    "publishing_problems",
    "read_owners",
]
