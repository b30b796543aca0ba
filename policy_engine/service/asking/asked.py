"""What is told to a process that answers queries, and what it tells: a line of JSON for each."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from policy_engine import errors
from policy_engine.errors import Place, PolicyEngineError, Problem
from policy_engine.service.identity.actors import Actor

AskedKind = Literal["query", "accept", "check"]
_PROBLEM = ("code", "message", "hint")
_PLACE = ("line", "column", "pointer")


class Asked(BaseModel):
    """What somebody asks: a query, to accept the answer of a review, or to check its policies.

    `stop` has no kind: it ends what is worked out for the question of its number.
    """

    number: int
    kind: AskedKind | Literal["stop"]
    actor: Actor | None = None
    question: dict[str, Any] = {}


class Told(BaseModel):
    """What a process answers: an answer or an error; `is_last` where it answers nothing more.

    `effects` are those of the decisions that were logged.
    """

    answer: Any = None
    error: str = ""
    problems: list[dict[str, Any]] = []
    effects: list[list[str]] = []
    is_last: bool = False

    @classmethod
    def refusal(cls, error: PolicyEngineError) -> "Told":
        """Return the answer that tells an error, without the values that it is about."""
        problems = [one.as_json() for one in error.problems]
        return cls(error=type(error).__name__, problems=problems)

    def checked(self) -> Any:
        """Return the answer. Raises the error that is told in its place."""
        if self.error:
            kind = getattr(errors, self.error, PolicyEngineError)
            raise kind(*map(_problem, self.problems))
        return self.answer


def _problem(words: Mapping[str, Any]) -> Problem:
    place = Place(**{one: words[one] for one in _PLACE})
    return Problem(**{one: words[one] for one in _PROBLEM}, place=place)
