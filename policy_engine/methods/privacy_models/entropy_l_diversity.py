"""Entropy l-diversity: the values of a class are spread, not only several."""

from typing import Annotated, ClassVar

from pydantic import Field

from policy_engine.methods.method import Guarantee, Method


class EntropyLDiversity(Method):
    """k-anonymity in which the values of a class are as uncertain as l equally frequent ones.

    The entropy of every sensitive column in every class is at least log(l). Machanavajjhala et
    al.: l-Diversity, ACM TKDD 1(1), 2007 (entropy l-diversity).
    """

    notation: ClassVar[str] = "entropy-l-diversity"
    guarantee: ClassVar[Guarantee] = Guarantee("entropy-l", "l", "at least", "entropy", "entropy")

    l: Annotated[float, Field(gt=1, strict=True, allow_inf_nan=False)]  # noqa: E741
