"""A Gaussian copula: columns go together as normal numbers do."""

from typing import ClassVar, Literal

from policy_engine.methods.synthesiser import Synthesiser


class GaussianCopula(Synthesiser):
    """The ranks of each column become normal numbers, whose correlations are kept.

    Each column has its values as often as the table; pairs of columns go together as far as one
    correlation tells, and no more than pairs do. Categories are ranked by their texts. Patki, Wedge
    and Veeramachaneni: The Synthetic Data Vault, DSAA 2016.
    """

    notation: ClassVar[str] = "gaussian-copula"

    synthesiser: Literal["gaussian-copula"] = "gaussian-copula"
