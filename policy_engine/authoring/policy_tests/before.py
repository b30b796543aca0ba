"""The log before a test: requests with their answers, and duty events."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from policy_engine.authoring.policy_tests.model import EarlierDuty, EarlierEntry, EarlierRequest
from policy_engine.decision import Decider
from policy_engine.decision.duties import find_duty
from policy_engine.decision.history import History
from policy_engine.decision.log import LoggedDeed, LogRecord
from policy_engine.decision.log.state import record_entry
from policy_engine.errors import RequestError
from policy_engine.policy.doing import meaning_of


def history_of(decider: Decider, logged: Sequence[EarlierEntry]) -> tuple[History, tuple[str, ...]]:
    """Return the state of a log with these entries, and mismatches with the expected answers.

    Each request is decided with the entries before it, as with a log. Raises RequestError: D006 for
    a duty that no policy or several have, D005 if a state of the world contradicts the log.
    """
    history = History()
    failures: list[str] = []
    for number, one in enumerate(logged, 1):
        try:
            if isinstance(one, EarlierDuty):
                record_entry(history, _duty_record(decider, one))
            else:
                failures += _replay_request(decider, one, history, number)
        except RequestError as error:
            raise RequestError(
                *(replace(each, place=one.place) for each in error.problems)
            ) from None
    return history, tuple(failures)


def _replay_request(
    decider: Decider, one: EarlierRequest, history: History, number: int
) -> list[str]:
    """Add a request as often as it was made, and return mismatches with its expected answer."""
    for _ in range(one.times):
        decision = decider.decide(one.request, one.world, history)
        logged_decision = LogRecord.from_decision(decision).model_dump(exclude_none=True)
        record_entry(
            history, {"decision": logged_decision, "logged": datetime.now(UTC).isoformat()}
        )
        if decision.effect != one.effect:
            mismatch = f"expected {one.effect}, got {decision.effect}: {decision.reason}"
            return [f"logged before, entry {number}: {mismatch}"]
    return []


def _duty_record(decider: Decider, one: EarlierDuty) -> dict[str, object]:
    is_violated = one.state == "violated"
    policy, duty = find_duty(decider.policies, one.duty, one.policy, violated=is_violated)
    time = (one.time or datetime.now(UTC)).isoformat()
    logged_deed = LoggedDeed(
        state=one.state,
        policy=policy.uid,
        digest=policy.digest,
        duty=duty.label(),
        by=one.by,
        time=time,
        meaning=meaning_of(policy, duty),
    )
    return {"deed": logged_deed.model_dump(exclude_none=True)}
