"""Masking alone: columns are masked or rows sampled, and no class of rows is formed."""

from collections.abc import Collection, Iterator
from typing import ClassVar

from policy_engine.errors import join_names
from policy_engine.methods.findings import Finding
from policy_engine.methods.method import Method
from policy_engine.methods.sampling import SIZES

_REASONS = ("masked", *SIZES)
"""The operands one of which has to be given, since otherwise all would be released as it is."""


class Masking(Method):
    """Columns are masked, or rows are sampled, without a bound on what any row reveals.

    It has no parameters: each masked column has its own (`methods.masking.ColumnMasking`), and so
    has the sample (`methods.sampling.Sampling`). Together with privacy models, it says that some
    column is masked, or that rows are sampled, as well.
    """

    notation: ClassVar[str] = "masking"

    @classmethod
    def lacking(cls, roles: Collection[str]) -> Iterator[Finding]:
        """Yield that nothing is masked or sampled (M002)."""
        if not {*_REASONS} & {*roles}:
            named = join_names(_REASONS, "or")
            yield Finding("M002", _REASONS[0], f"{cls.notation} needs a parameter: {named}.")
