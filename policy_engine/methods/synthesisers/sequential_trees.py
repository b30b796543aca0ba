"""Sequential trees: every column is drawn given those before it."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from policy_engine.methods.synthesiser import Synthesiser

DEFAULT_LEAF = 5


class SequentialTrees(Synthesiser):
    """A tree a column learns it from the columns before; a cell is drawn from those of its leaf.

    A leaf has at least `leaf` rows: the more, the less single rows show, and the less columns go
    together. Reiter: Using CART to Generate Partially Synthetic Public Use Microdata, Journal of
    Official Statistics 21(3), 2005; Nowok, Raab and Dibben: synthpop, Journal of Statistical
    Software 74(11), 2016.
    """

    notation: ClassVar[str] = "sequential-trees"

    synthesiser: Literal["sequential-trees"] = "sequential-trees"
    leaf: Annotated[int, Field(alias="leafSize", ge=1, le=10**9, strict=True)] = DEFAULT_LEAF

    @property
    def details(self) -> str:
        """How many rows a leaf has at least, in words."""
        return f", at least {self.leaf:,} rows in a leaf"
