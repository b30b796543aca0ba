"""Masking alone: columns are masked, and no class of rows is formed."""

from collections.abc import Collection, Iterator
from typing import ClassVar

from policy_engine.methods.findings import Finding, missing_parameter
from policy_engine.methods.method import Method

_REASONS = ("masked",)
"""The operands one of which has to be given, since otherwise nothing would be masked."""


class Masking(Method):
    """Columns are masked, and all rows are released, without a bound on what any of them reveals.

    It has no parameters: each masked column has its own (`methods.masking.Masking`). Together with
    privacy models, it says that some column is masked as well.
    """

    notation: ClassVar[str] = "masking"

    @classmethod
    def lacking(cls, roles: Collection[str]) -> Iterator[Finding]:
        """Yield that nothing is masked (M002)."""
        if not {*_REASONS} & {*roles}:
            yield missing_parameter(cls.notation, _REASONS[0])
