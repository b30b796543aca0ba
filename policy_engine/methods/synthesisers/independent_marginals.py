"""Independent marginals: every column is drawn by itself."""

from typing import ClassVar, Literal

from policy_engine.methods.synthesiser import Synthesiser


class IndependentMarginals(Synthesiser):
    """Each cell is drawn from those of its column, whatever the rest of its row.

    The rows have the columns of the table, and nothing of how these go together: the baseline that
    other generators are compared with.
    """

    notation: ClassVar[str] = "independent-marginals"

    synthesiser: Literal["independent-marginals"] = "independent-marginals"
