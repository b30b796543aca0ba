"""What a policy can ask for a table (`mosaicrown:method`): a privacy model, or masking alone."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from policy_engine.methods.findings import Finding


class Method(BaseModel):
    """A method (`pe:Method`) with its parameters.

    Several hold together, each for its own part. Privacy models bound what a class of rows reveals;
    without one, all rows are one class, and nothing is bounded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    notation: ClassVar[str]
    step: ClassVar[str] = "anonymize"
    """The step of a plan that carries the method out."""
    has_generators: ClassVar[bool] = False
    """Whether a generator (`pe:Synthesiser`) is named, whose settings are given beside its own."""

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:  # noqa: ARG003
        """Yield contradictions between parameters that are each valid."""
        yield from ()

    @classmethod
    def lacking(cls, roles: Collection[str]) -> Iterator[Finding]:  # noqa: ARG003
        """Yield what it needs (M002), given the roles that some column has, and what is sampled."""
        yield from ()
