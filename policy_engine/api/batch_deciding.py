"""Many requests, one a line, each with its answer."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import Any

from policy_engine.certificate.sightings import Sighting
from policy_engine.decision import Decider, Decision, World
from policy_engine.decision.requests import RequestReader
from policy_engine.errors import PolicyEngineError, RequestError, did_you_mean, join_names

_KEYS = ("assignee", "action", "target", "purpose", "id")
MOST_CHARACTERS = 1_000_000
"""A line with more is refused unread."""


def decide_batch(
    decider: Decider, lines: Iterable[str | bytes], world: World | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the answer to each request, in the order of the lines.

    A line is a JSON object with `assignee` and `target` (an IRI or a list of those read together),
    perhaps an `action` (`read` by default), a `purpose`, and an `id`, which comes back with the
    answer. An answer has `line` (from 1), `effect`, `reason`, `policy`, `rule`, `signatures` (those
    of a `Decision`) and the number of `duties` that are outstanding, and perhaps `notes` of outputs
    that were not seen; that to a line which is no request has an `error` with code and message
    instead. Blank lines are left out. All are decided
    as of one moment: that of the world, or else that at which the first line is read.
    """
    state = world or World()
    if state.time is None:
        state = state.model_copy(update={"time": datetime.now(UTC)})
    reader = RequestReader(decider.policies)
    unseen = () if decider.vouched is None else decider.vouched.notes

    @lru_cache(maxsize=_MOST_REMEMBERED)
    def remembered(*parts: Any) -> tuple[_Members, list[Sighting]]:
        request = reader.read(*parts)
        return _said(decider.decide(request, state)), decider.request_sightings(request, state)

    def answer_to(*parts: Any) -> _Members:
        members, sightings = remembered(*parts)
        if not all(one.is_same() for one in sightings):
            members = _said(decider.decide(reader.read(*parts), state))
        notes = [*unseen, *filter(None, (one.note() for one in sightings))]
        return {**members, "notes": notes} if notes and members["effect"] == "permit" else members

    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield {"line": number, **_answer(answer_to, line)}


_Members = dict[str, Any]
_MOST_REMEMBERED = 100_000


def _answer(answer_to: Callable[..., _Members], line: str | bytes) -> _Members:
    name: _Members = {}
    try:
        words = _words(line)
        name = {"id": words["id"]} if "id" in words else {}
        targets = words["target"]
        several = (targets,) if isinstance(targets, str) else tuple(targets)
        parts = (words["assignee"], words.get("action", "read"), several, words.get("purpose", ""))
        return {**name, **answer_to(*parts)}
    except PolicyEngineError as error:
        [problem, *_] = error.problems
        return {**name, "error": {"code": problem.code, "message": problem.message}}


def _said(decision: Decision) -> _Members:
    return {
        "effect": decision.effect,
        "reason": decision.reason,
        "policy": decision.policy,
        "rule": decision.rule,
        "signatures": decision.signatures,
        "duties": len(decision.duties),
    }


def _words(line: str | bytes) -> Mapping[str, Any]:
    """Return the members of a line. Raises RequestError (D001) where it is not a request."""
    if len(line) > MOST_CHARACTERS:
        message = f"The line has {len(line):,} characters. {MOST_CHARACTERS:,} are allowed."
        raise RequestError.of("D001", message)
    try:
        words = json.loads(
            line, object_pairs_hook=_each_once, parse_float=_finite, parse_constant=_finite
        )
    except (ValueError, RecursionError):
        raise RequestError.of("D001", "The line is not JSON.") from None
    if not isinstance(words, dict):
        message = f"A request is an object of JSON. Given: {type(words).__name__}."
        raise RequestError.of("D001", message)
    unknown = [key for key in words if key not in _KEYS]
    if unknown:
        message = f"{unknown[0]!r:.80} is not a part of a request. Allowed are {join_names(_KEYS)}."
        raise RequestError.of("D001", message, did_you_mean(unknown[0], _KEYS))
    for key in ("assignee", "target"):
        if key not in words:
            raise RequestError.of("D001", f"A request has a {key!r}.")
    for key in ("assignee", "action", "purpose", "target"):
        _check_text(key, words.get(key, ""))
    return words


def _finite(text: str) -> float:
    """Return a number. Raises ValueError for one that JSON could not be written with again."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


def _each_once(pairs: list[tuple[str, Any]]) -> _Members:
    """Return the members of an object. Raises RequestError (D001) for a key that appears twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise RequestError.of("D001", "A key appears twice in the line.")
    return members


def _check_text(key: str, value: Any) -> None:
    is_text = isinstance(value, str)
    if key == "target" and isinstance(value, list):
        is_text = all(isinstance(one, str) for one in value)
    if not is_text:
        kinds = "a text, or a list of texts" if key == "target" else "a text"
        raise RequestError.of("D001", f"{key!r} is {kinds}. Given: {value!r:.60}.")
