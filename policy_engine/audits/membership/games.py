"""The two games of MOSAICrOWN D5.2: which records, and which of two sets, were trained on."""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, stdev

import numpy as np

from policy_engine.audits.membership.intervals import quantile, share_ends
from policy_engine.audits.membership.observations import Bools, Floats
from policy_engine.audits.membership.result import SingleAndSet
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import Estimate

RECORDS = 100
REPETITIONS = 1000
_RESAMPLES = 200
_BLOCK_SIZE = 1 << 20
_STREAM = 55

Model = tuple[Floats, Bools]
"""The scores of some records, (n,), by what one model says, and which of them it has seen."""


def play_games(
    attack: str,
    models: Sequence[Model],
    seed: int,
    records: int = RECORDS,
    repetitions: int = REPETITIONS,
) -> SingleAndSet:
    """Play both games on the scores of one model or several, the higher the rather a member.

    Each time `records` members and as many non-members are drawn, fewer where there are fewer;
    equal scores are put in an order by draw. Single (D5.2, section 4.2.2): the share of members
    among the half with the highest scores. Set (section 4.2.3): whether they are the majority
    there, half a point for half of it, the expectation of picking a set by draw. `repetitions`
    games are played on each model.

    The intervals are over records and models, and not over other draws of the same records,
    which give nearly the same. The records of each model are resampled. With several models
    their means are spread too (Student's t), and both spreads are added, for the models may
    be of the same records; one model says nothing of others. The ends of `set` are what those
    of `single` make of a game that has its own spread. Raises AuditError (A011) without
    members or without non-members.
    """
    sides = [_split_sides(*model) for model in models]
    drawn = min(records, *(len(side) for pair in sides for side in pair))
    random = np.random.default_rng([seed, drawn, repetitions])
    shares = [_member_shares(pair, drawn, repetitions, random) for pair in sides]
    resampling = np.random.default_rng([seed, _STREAM])
    single = _single([float(one.mean()) for one in shares], sides, resampling)
    points = [float(((np.sign(one - 0.5) + 1) / 2).mean()) for one in shares]
    deviation = fmean([_game_deviation(pair, drawn, resampling) for pair in sides])
    return SingleAndSet(
        attack=attack,
        records=drawn,
        repetitions=repetitions,
        models=len(models),
        single=single,
        set=_set(points, single, deviation, drawn),
    )


def _split_sides(scores: Floats, is_member: Bools) -> tuple[Floats, Floats]:
    members, non_members = scores[is_member], scores[~is_member]
    if not len(members) or not len(non_members):
        message = f"{len(members)} of {len(is_member)} records are members."
        raise AuditError.of("A011", f"{message} Both kinds are needed.")
    return members, non_members


def _member_shares(
    sides: tuple[Floats, Floats], drawn: int, repetitions: int, random: np.random.Generator
) -> Floats:
    """Return the share of members in the top half of each draw, (repetitions,)."""
    step = max(_BLOCK_SIZE // (2 * drawn), 1)
    shares = []
    for start in range(0, repetitions, step):
        games = min(step, repetitions - start)
        scores = [
            np.concatenate([random.choice(side, drawn, replace=False) for side in sides])
            for _ in range(games)
        ]
        ties = random.random((games, 2 * drawn))
        order = np.lexsort((ties, -np.stack(scores)), axis=1)
        shares.append((order[:, :drawn] < drawn).mean(axis=1))
    return np.concatenate(shares)


def _single(
    values: Sequence[float],
    sides: Sequence[tuple[Floats, Floats]],
    random: np.random.Generator,
) -> Estimate:
    value, models = fmean(values), len(values)
    spread = fmean([_deviation(one, (len(one[0]), len(one[1])), random) for one in sides])
    over_models = stdev(values) / sqrt(models) if models > 1 else 0.0
    student = quantile([1.0], [models - 1]) if models > 1 else 0.0
    least = max(min(len(side) for pair in sides for side in pair) - 1, 1)
    over_records = quantile([1.0], [least]) * spread
    width = sqrt(over_records**2 + (student * over_models) ** 2)
    fewest = min(4 / (1 / len(members) + 1 / len(non_members)) for members, non_members in sides)
    low, high = share_ends(value, fewest)
    return Estimate(
        value=value, low=max(min(value - width, low), 0.0), high=min(max(value + width, high), 1.0)
    )


def _set(values: Sequence[float], single: Estimate, deviation: float, drawn: int) -> Estimate:
    """Return how often a set is identified, given that a game's share is nearly normal."""
    value, models = fmean(values), len(values)
    low, high = (
        _set_probability(end, single.value, deviation, drawn) for end in (single.low, single.high)
    )
    if models > 1:
        width = quantile([1.0], [models - 1]) * stdev(values) / sqrt(models)
        low, high = min(low, value - width), max(high, value + width)
    return Estimate(value=value, low=max(min(low, value), 0.0), high=min(max(high, value), 1.0))


def _set_probability(share: float, observed: float, deviation: float, drawn: int) -> float:
    """Return how often more than half are members where `share` of them are in the mean.

    The deviation of the games seen is taken to change with the share as a binomial's does.
    """
    of_binomial = sqrt(share * (1 - share) / (2 * drawn))
    scale = deviation / sqrt(observed * (1 - observed) / (2 * drawn)) if 0 < observed < 1 else 1.0
    spread = of_binomial * scale
    if not spread:
        return float(np.sign(share - 0.5) + 1) / 2
    return NormalDist().cdf((share - 0.5) / spread)


def _deviation(
    sides: tuple[Floats, Floats], sizes: tuple[int, int], random: np.random.Generator
) -> float:
    """Return the deviation of the share of members in the top half over samples of some sizes."""
    return float(np.std(_top_halves(sides, sizes, random)[0]))


def _game_deviation(sides: tuple[Floats, Floats], drawn: int, random: np.random.Generator) -> float:
    """Return the deviation of the share of members in the top half over games, in which equal
    scores are put in an order by draw."""
    shares, tied, members_tied, tied_on_top = _top_halves(sides, (drawn, drawn), random)
    # Hypergeometric: of all with the score at the cut, those on top are drawn without replacement.
    rate = members_tied / tied
    left = np.maximum(tied - tied_on_top, 0) / np.maximum(tied - 1 / drawn, 1 / drawn)
    by_draw = tied_on_top * rate * (1 - rate) * left / drawn
    return float(np.sqrt(np.var(shares) + by_draw.mean()))


def _top_halves(
    sides: tuple[Floats, Floats], sizes: tuple[int, int], random: np.random.Generator
) -> Floats:
    """Return the top halves of samples of some sizes, (4, samples), as shares of half of all.

    They are the members on top; all and the members with the score at the cut; those of these who
    are on top. Members and non-members weigh the same as a whole, whatever their sizes; of equal
    scores the part that is in the top half has as many members as all of them.
    """
    scores = np.concatenate(sides)
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    halves = []
    for _ in range(_RESAMPLES):
        weights = [_weights(len(side), n, random) for side, n in zip(sides, sizes, strict=True)]
        members = np.concatenate([weights[0], np.zeros(len(sides[1]))])[order].cumsum()[ends]
        totals = np.append(0, np.concatenate(weights)[order].cumsum()[ends])
        members = np.append(0, members)
        cut = np.searchsorted(totals[:-1], 1.0)  # the first score with which the half is full
        tied, members_tied = (one[cut] - one[cut - 1] for one in (totals, members))
        on_top = 1.0 - totals[cut - 1]
        halves.append((np.interp(1.0, totals, members), tied, members_tied, on_top))
    return np.array(halves).T


def _weights(records: int, drawn: int, random: np.random.Generator) -> Floats:
    """Return how often each record is in a sample with replacement, by its size."""
    counts = np.bincount(random.integers(0, records, drawn), minlength=records)
    return np.asarray(counts / drawn, np.float64)
