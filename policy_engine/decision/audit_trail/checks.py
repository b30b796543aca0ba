"""What is found in an audit trail: each thing that was looked at, with a sentence."""

from dataclasses import dataclass
from typing import Literal

from policy_engine.errors import PolicyEngineError

State = Literal["holds", "fails", "unchecked"]


@dataclass(frozen=True)
class TrailCheck:
    """One thing that was looked at: whether it holds, and a sentence that says so."""

    state: State
    about: str
    sentence: str

    def as_json(self) -> dict[str, str]:
        """Return the check as JSON has it."""
        return {"state": self.state, "about": self.about, "sentence": self.sentence}

    @classmethod
    def failed(cls, about: str, error: PolicyEngineError) -> "TrailCheck":
        """Return the check that an error ended."""
        problem = error.problems[0]
        return cls("fails", about, f"{problem.code} {problem.message}")
