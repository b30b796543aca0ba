"""Probabilistic k-anonymity: values that are permuted within classes of k rows or more."""

from typing import ClassVar

from policy_engine.methods.permutation import LINK_PROBABILITY
from policy_engine.methods.privacy_model import Bound, PrivacyModel


class ProbabilisticKAnonymity(PrivacyModel):
    """Nobody links a row to its quasi-identifiers with a probability above 1/k.

    Each quasi-identifier is permuted at random within classes of k rows or more, by itself. Values
    are as they were, and rows are not alike: this is not k-anonymity. Soria-Comas, Domingo-Ferrer:
    Probabilistic k-anonymity through microaggregation and data swapping, FUZZ-IEEE 2012.
    """

    notation: ClassVar[str] = "probabilistic-k-anonymity"
    is_about_values: ClassVar[bool] = False

    def link_bound(self) -> Bound:
        """Return the bound on the probability that a row is linked to its quasi-identifiers."""
        return Bound(LINK_PROBABILITY, "", 1 / self.k, "at most")
