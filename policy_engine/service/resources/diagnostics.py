"""What the validator says of texts, remembered for a while: many are checked again and again."""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from pydantic import BaseModel

from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.service.calls.refusals import ProblemView
from policy_engine.service.resources.policies import check

_MOST_TEXTS = 1_000
_MOST_PROBLEMS = 50
"""A text with more of them is checked anew: what is remembered stays small."""


class Diagnostics(BaseModel):
    """What the validator says of a text."""

    valid: bool
    problems: list[ProblemView]
    hints: list[ProblemView]


@dataclass(frozen=True)
class TextChecks:
    """Checks texts. What is said of a text depends on nothing but the text."""

    limits: Limits = DEFAULT_LIMITS
    _memo: OrderedDict[bytes, Diagnostics] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def remembered(self, text: bytes) -> Diagnostics | None:
        """Return what was said of a text; None for one that is not remembered."""
        digest = hashlib.sha256(text).digest()
        with self._lock:
            if digest not in self._memo:
                return None
            self._memo.move_to_end(digest)
            return self._memo[digest]

    def diagnose(self, text: bytes) -> Diagnostics:
        """Return what the validator says of a text."""
        earlier = self.remembered(text)
        if earlier is not None:
            return earlier
        digest = hashlib.sha256(text).digest()
        result = _diagnose(text, self.limits)
        if len(result.problems) + len(result.hints) <= _MOST_PROBLEMS:
            with self._lock:
                self._memo[digest] = result
                if len(self._memo) > _MOST_TEXTS:
                    self._memo.popitem(last=False)
        return result


def _diagnose(text: bytes, limits: Limits) -> Diagnostics:
    checked = check(text, limits)
    problems, hints = (
        [ProblemView.model_validate(one.as_json()) for one in some]
        for some in (checked.problems, checked.hints)
    )
    return Diagnostics(valid=not problems, problems=problems, hints=hints)
