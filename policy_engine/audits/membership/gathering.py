"""What an attacker gathers: what the target says, and what shadow models say that they trained."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.cache import Said
from policy_engine.audits.membership.observations import (
    Bools,
    Evidence,
    Observations,
    Peers,
    Shadow,
)
from policy_engine.audits.membership.shadows import (
    FURTHER,
    ONLINE,
    SHADOW,
    TARGET,
    Job,
    Workshop,
    seed_of,
)
from policy_engine.audits.membership.splits import Rows, Splits
from policy_engine.engines.engine import Progress, silent

_COMPARED = 8
"""How many shadows are compared with the others, as if each were the target."""


@dataclass(frozen=True, eq=False)
class Turn:
    """One model in the target's place: what an attacker holds, and which records were members."""

    evidence: Evidence
    is_member: Bools


@dataclass(frozen=True, eq=False)
class Heard:
    """What a model says of the judged records, and on which of them it was trained."""

    said: Observations
    is_in: Bools


@dataclass(frozen=True, eq=False)
class Gathered:
    """What all models said: the target's own words, its turn, and those of further targets."""

    target: Said
    turn: Turn
    further: tuple[Turn, ...]


def gather(
    workshop: Workshop,
    splits: Splits,
    seed: int,
    further: int = 0,
    model: Path | None = None,
    progress: Progress = silent,
) -> Gathered:
    """Train all models and return what they say, with so many models in the target's place.

    Online shadows take turns as targets, at no cost; without any, others are trained on
    halves of the judged records. The target is written to the file `model`.
    Raises AuditError (A008) where memory would not do, and as the learner does.
    """
    judged, trained = splits.judged, splits.shadow_train
    asked = np.unique(np.concatenate([judged, *trained, *splits.shadow_test]))
    jobs = [
        Job(splits.target_train, judged, seed_of(seed, TARGET)),
        *(Job(rows, asked, seed_of(seed, SHADOW, n)) for n, rows in enumerate(trained)),
        *(
            Job(rows, judged, seed_of(seed, ONLINE, n))
            for n, rows in enumerate(splits.online_train)
        ),
        *(
            Job(rows, judged, seed_of(seed, FURTHER, n))
            for n, rows in enumerate(splits.further_train)
        ),
    ]
    workshop.check(jobs)
    target, *others = workshop.run(jobs, "models", progress, model)
    labels, gives = workshop.records.labels, workshop.learner.gives
    names = workshop.records.classes
    shadows, rest = others[: len(trained)], others[len(trained) :]

    def seen(said: Said, rows: Rows) -> Heard:
        observed = Observations(said.logits, labels[judged], gives)
        return Heard(observed, np.isin(judged, rows))

    halves = (*splits.online_train, *splits.further_train)
    models = [seen(said, rows) for said, rows in zip(rest, halves, strict=True)]
    online, later = models[: len(splits.online_train)], models[len(splits.online_train) :]
    first = seen(target, splits.target_train)
    if online:
        turns = [online_turn(first, online, seed, names)]
        turns += [_instead(first, online, n, seed, names) for n in range(further)]
    else:
        apart = _disjoint(shadows, asked, splits, labels)
        turns = [
            Turn(Evidence(one.said, apart, (), seed, names), one.is_in) for one in (first, *later)
        ]
    return Gathered(target, turns[0], tuple(turns[1:]))


def _instead(
    first: Heard, online: Sequence[Heard], number: int, seed: int, names: tuple[str, ...]
) -> Turn:
    """Return the turn of an online shadow, the first target among its shadows.

    The one that was trained on just the other half is left out: whoever has it knows by which
    records it lacks who was a member.
    """
    others = [one for n, one in enumerate(online) if n // 2 != number // 2]
    return online_turn(online[number], [*others, first], seed, names)


def online_turn(target: Heard, online: Sequence[Heard], seed: int, names: tuple[str, ...]) -> Turn:
    """Return a turn in which models that saw half of the judged records each serve every attack.

    Those not trained on a record are its out-models, and what each says of its own and of other
    judged records is what attacks learn from.
    """
    signals = np.stack([one.said.signal for one in online])
    inside = np.stack([one.is_in for one in online])
    shadows = tuple(
        Shadow(one.said, one.is_in, one.said, _peers(signals, inside, n), seen=one.is_in)
        for n, one in enumerate(online)
    )
    pairs = tuple((one.said, one.is_in) for one in online)
    return Turn(Evidence(target.said, shadows, pairs, seed, names), target.is_in)


def _peers(signals: NDArray[np.float64], inside: Bools, number: int) -> Peers | None:
    """Return what others say of the judged records, beside one that is tried as a target."""
    if number >= _COMPARED:
        return None
    others = [n for n in range(len(inside)) if n != number and (inside[n] == inside[number]).any()]
    return Peers(signals[others], inside[others]) if others else None


def _disjoint(
    said: Sequence[Said], asked: Rows, splits: Splits, labels: NDArray[np.int64]
) -> tuple[Shadow, ...]:
    """Return the disjoint shadows; the first of them also with what the others say."""
    if not said:
        return ()
    every = [Observations(one.logits, labels[asked]) for one in said]
    trained = [np.isin(asked, rows) for rows in splits.shadow_train]
    at = np.searchsorted(asked, splits.judged)
    found = []
    for number, sides in enumerate(zip(splits.shadow_train, splits.shadow_test, strict=True)):
        own = np.searchsorted(asked, np.concatenate(sides))
        others = [n for n in range(len(said)) if n != number]
        peers = Peers(
            np.stack([every[n].signal[own] for n in others]),
            np.stack([trained[n][own] for n in others]),
        )
        found.append(
            Shadow(
                own=Observations(said[number].logits[own], labels[asked[own]]),
                is_member=trained[number][own],
                judged=Observations(said[number].logits[at], labels[splits.judged]),
                peers=peers if number < _COMPARED else None,
            )
        )
    return tuple(found)
