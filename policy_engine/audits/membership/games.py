"""The two games of MOSAICrOWN D5.2: which records, and which of two sets, were trained on."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.intervals import of_mean, wilson
from policy_engine.audits.membership.observations import Bools, Floats
from policy_engine.audits.membership.result import SingleAndSet
from policy_engine.errors import AuditError

RECORDS = 100
REPETITIONS = 1000
_AT_ONCE = 1 << 20


def play(
    attack: str,
    scores: Floats,
    is_member: Bools,
    seed: int,
    records: int = RECORDS,
    repetitions: int = REPETITIONS,
) -> SingleAndSet:
    """Play both games on scores (n,), the higher the rather a member.

    Each time `records` members and as many others are drawn, fewer where there are fewer; equal
    scores are put in an order by draw. Single (D5.2, section 4.2.2): the share of members among
    the half with the highest scores. Set (section 4.2.3): whether they are the majority there,
    half a point for half of it, the expectation of picking a set by draw. The interval of single
    is the normal one of a mean, that of set is Wilson's, which has a width at 0 and 1 too; they
    speak of other draws from these records, not of other models. Raises AuditError (A011)
    without members or without others.
    """
    sides = np.flatnonzero(is_member), np.flatnonzero(~is_member)
    most = min(len(side) for side in sides)
    if not most:
        message = f"{len(sides[0])} of {len(is_member)} records are members."
        raise AuditError.of("A011", f"{message} Both kinds are needed.")
    drawn = min(records, most)
    shares = _shares(scores, sides, drawn, repetitions, seed)
    points = (np.sign(shares - 0.5) + 1) / 2
    deviation = float(shares.std(ddof=1)) if repetitions > 1 else 0.5
    return SingleAndSet(
        attack=attack,
        records=drawn,
        repetitions=repetitions,
        single=of_mean(float(shares.mean()), deviation, repetitions),
        set=wilson(float(points.mean()), repetitions),
    )


def _shares(
    scores: Floats,
    sides: tuple[NDArray[np.int64], NDArray[np.int64]],
    drawn: int,
    repetitions: int,
    seed: int,
) -> Floats:
    """Return the share of members in the top half of each draw, (repetitions,)."""
    generator = np.random.default_rng([seed, drawn, repetitions])
    step = max(_AT_ONCE // (2 * drawn), 1)
    found = []
    for start in range(0, repetitions, step):
        games = min(step, repetitions - start)
        rows = [
            np.concatenate([generator.choice(side, drawn, replace=False) for side in sides])
            for _ in range(games)
        ]
        ties = generator.random((games, 2 * drawn))
        order = np.lexsort((ties, -scores[np.stack(rows)]), axis=1)
        found.append((order[:, :drawn] < drawn).mean(axis=1))
    return np.concatenate(found)
