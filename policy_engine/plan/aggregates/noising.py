"""The noise of every aggregate: its sensitivity, with the derivation, and its calibrated scale."""

import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple, get_args

from policy_engine.errors import format_count
from policy_engine.kernels.differential_privacy.accounting import proven, zcdp_epsilon
from policy_engine.kernels.differential_privacy.calibration import calibrate
from policy_engine.kernels.differential_privacy.half_widths import (
    DrawnNoise,
    gaussian_half_width,
    laplace_half_width,
    mean_half_width,
    score_half_width,
    variance_half_width,
)
from policy_engine.kernels.differential_privacy.parts import Mechanism, NoisyPart
from policy_engine.methods.sanitisations.differential_privacy import (
    DifferentialPrivacy,
    NoiseMechanism,
    SelectionMechanism,
)
from policy_engine.plan.aggregates.model import (
    OF_RATIOS,
    AddedNoise,
    Aggregation,
    Quantity,
    Statistic,
)

_COST = Context(prec=12, rounding=ROUND_CEILING)
"""Costs of single quantities are told, rounded up; what is charged is the exact epsilon."""
_LEAST = Context(prec=12, rounding=ROUND_FLOOR)
"""Delta is what keys are selected by: never more than was proved."""


class _Wanted(NamedTuple):
    """A quantity that needs noise: by how much one unit changes one number of it, and why.

    `numbers` tells whether it is of numbers that get noise, rather than of choices. Of a choice,
    `step` is the part of a row that one step of its scores is, and `options` is the number of
    candidates; it is made `times` for every group.
    """

    quantity: Quantity
    sensitivity: int
    step: Decimal
    share: Fraction
    derivation: str
    numbers: bool = True
    options: int = 1
    times: int = 1


def with_calibrated_noise(
    aggregation: Aggregation, mechanisms: Sequence[NoiseMechanism], selection: SelectionMechanism
) -> Aggregation:
    """Return what is released, with the noise of every figure and who proved it.

    The noise is the least that the epsilon and the delta allow, by the one of the `mechanisms`
    with which the errors are smaller.
    """
    wanted = [list(_wanted(one, aggregation)) for one in aggregation.figures]
    total = sum((Fraction(one.share) for one in aggregation.figures), Fraction())
    needs_keys = bool(aggregation.group_by) and not aggregation.has_public_keys
    pairs = [*_pairs_wanted(aggregation)]
    shares = Fraction(len(wanted), len(wanted) + 1) if needs_keys else Fraction(1)
    shares -= sum((one.share for one in pairs), Fraction())
    flat = [
        one._replace(share=one.share * Fraction(figure.share) * shares / total)
        for figure, of in zip(aggregation.figures, wanted, strict=True)
        for one in of
    ]
    flat += pairs
    if needs_keys:
        flat.append(_keys(1 - shares, aggregation))
    possible = [one for one in mechanisms if one != "discrete-gaussian" or aggregation.delta]
    if not possible:
        raise ValueError("discrete-gaussian needs a delta above 0.")
    noise, accountant = min(
        (_calibrated(flat, mechanism, selection, aggregation) for mechanism in possible),
        key=lambda pair: sum(one.half_width * float(1 / one.step) for one in pair[0]),
    )
    keys = noise.pop() if needs_keys else None
    figures = tuple(
        _with_noise(figure, [noise.pop(0) for _ in of])
        for figure, of in zip(aggregation.figures, wanted, strict=True)
    )
    changes = {"figures": figures, "key_selection": keys}
    of_all = {"pair_noise": tuple(noise), "accountant": accountant}
    return aggregation.model_copy(update={**changes, **of_all})


def _with_noise(figure: Statistic, noise: Sequence[AddedNoise]) -> Statistic:
    noisy = figure.model_copy(update={"noise": tuple(noise)})
    return noisy.model_copy(update={"half_width_times_n": _half_width_times_n(noisy)})


def calibrated(draft: Aggregation, method: DifferentialPrivacy) -> Aggregation:
    """Return what is released, with the noise that the parameters of the method allow.

    Raises ValueError where there is none.
    """
    noised = with_calibrated_noise(draft, method.mechanism, method.selection[0])
    return Aggregation(**dict(noised))


def _calibrated(
    wanted: Sequence[_Wanted],
    mechanism: NoiseMechanism,
    selection: SelectionMechanism,
    aggregation: Aggregation,
) -> tuple[list[AddedNoise], str]:
    """Return the noise of every quantity by one mechanism for numbers, and who proved it."""
    by_unit = [_part(one, mechanism, selection, aggregation.max_groups) for one in wanted]
    epsilon, delta = Fraction(aggregation.epsilon), Fraction(aggregation.delta)
    if aggregation.neighbours == "change-one":
        epsilon, delta = _of_one_change(epsilon, delta)
    made = calibrate(by_unit, epsilon, delta)
    times = _steps_of_a_change(aggregation)
    noise = [
        AddedNoise(
            quantity=one.quantity,
            mechanism=part.mechanism,
            cells=part.cells,
            sensitivity=part.sensitivity,
            step=one.step,
            scale=str(scale),
            epsilon=_rounded_up(times * cost.epsilon),
            delta=_rounded_delta(cost.delta),
            half_width=_half_width(one, part, scale),
            derivation=one.derivation,
        )
        for one, part, scale, cost in zip(wanted, by_unit, made.scales, made.costs, strict=True)
    ]
    return noise, made.accountant


def _steps_of_a_change(aggregation: Aggregation) -> int:
    """Return by how many additions and removals of a unit neighbours differ."""
    return 2 if aggregation.neighbours == "change-one" else 1


def _of_one_change(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return what may be lost by a unit that is added or removed, where one may be changed.

    A change is a removal and an addition (group privacy: Vadhan 2017, lemma 2.2), each of half of
    epsilon: together they have 1 + e^(epsilon / 2) times the delta of one.
    """
    half = epsilon / 2
    # The exponential in floats may be too small by its last digit, and a thousandth is far more.
    factor = 1 + Fraction(math.nextafter(math.exp(float(half)), math.inf)) * Fraction(1001, 1000)
    return half, delta / factor


def _part(
    one: _Wanted, mechanism: NoiseMechanism, selection: SelectionMechanism, groups: int
) -> NoisyPart:
    if one.quantity == "keys":
        return _noisy_part("partition-selection", one.share, groups, one)
    choice: Mechanism = "permute-and-flip" if one.quantity == "choices" else selection
    return _noisy_part(mechanism if one.numbers else choice, one.share, groups * one.times, one)


def _noisy_part(
    mechanism: Mechanism, share: Fraction, cells: int, one: _Wanted | AddedNoise
) -> NoisyPart:
    """Return a quantity as accountants see it. A unit more makes no count of a candidate less."""
    is_monotone = one.quantity == "choices"
    return NoisyPart(mechanism, share, cells, one.sensitivity, is_monotone)


def _wanted(figure: Statistic, aggregation: Aggregation) -> Iterator[_Wanted]:
    """Yield what a figure is made of, each with its share of the figure's part of epsilon."""
    rows = aggregation.max_rows
    where = f"in each of at most {format_count(aggregation.max_groups, 'group')}"
    if not aggregation.group_by:
        where = "in all"
    units, some = f"one {aggregation.unit}", format_count(rows, "row")
    step, one = figure.grid or Decimal(1), Fraction(1)
    if figure.function == "count-units":
        yield _Wanted("units", 1, Decimal(1), one, f"{units} is counted once {where}")
        return
    has = f"{units} has at most {some} {where}"
    if figure.function == "count":
        yield _Wanted("rows", rows, Decimal(1), one, has)
    elif figure.function == "sum":
        low, high = figure.ends
        most = max(abs(low), abs(high))
        why = f"{has}, each of at most {_steps(most, step)}"
        yield _Wanted("sum", rows * most, step, one, why)
    elif figure.function in ("mean", "variance"):
        yield from _moments(figure, rows, has)
    elif figure.function == "quantile":
        share = Fraction(figure.at or 0)
        most = rows * max(share.numerator, share.denominator - share.numerator)
        why = f"{has}, each of which moves the rank by at most {most / rows / share.denominator:g}"
        options = figure.candidate_grid[2]
        part = Decimal(1) / Decimal(share.denominator)
        yield _Wanted("ranks", most, part, one, why, numbers=False, options=options)
    elif figure.function == "histogram":
        why = f"{units} is counted for one candidate {where}"
        yield _Wanted("counts", 1, Decimal(1), one, why)
    elif figure.function == "synthetic":
        yield _Wanted("counts", 1, Decimal(1), one, f"{units} is counted for one value {where}")
    else:
        k, options = figure.k or 1, len(figure.candidates)
        why = f"{has}, each of which counts for one candidate in each of {k} choices"
        yield _Wanted(
            "choices", rows, Decimal(1), one, why, numbers=False, options=options, times=k
        )


def _moments(figure: Statistic, rows: int, has: str) -> Iterator[_Wanted]:
    """Yield the sums that a mean or a variance is made of, around the middle of the bounds."""
    low, high = figure.ends
    width, step = high - low, figure.grid or Decimal(1)
    share = Fraction(1, 2 if figure.function == "mean" else 3)
    why = f"{has}, each at most {_steps(width, step / 2)} from the middle of the bounds"
    yield _Wanted("sum", rows * width, step / 2, share, why)
    if figure.function == "variance":
        square = step * step / 8
        why = f"{has}, the square of each at most {_steps(width * width, square)} from the middle"
        yield _Wanted("squares", rows * width * width, square, share, why)
    yield _Wanted("rows", rows, Decimal(1), share, has)


_OF_CHOICES, _OF_PAIRS = Fraction(1, 5), Fraction(3, 5)
"""The shares that pairs of columns have of the epsilon of a synthetic table: pairs have most of the
counts, and their choice is among few."""


def _pairs_wanted(aggregation: Aggregation) -> Iterator[_Wanted]:
    """Yield what a synthetic table needs besides its columns: a tree of pairs of columns, chosen
    one after another, and their counts (McKenna, Miklau and Sheldon: Winning the NIST Contest,
    Journal of Privacy and Confidentiality 11(3), 2021).

    The score of a pair is the sum of the distances of its counts from whole numbers, which follow
    from the noisy counts of both columns: a unit more changes one count by one.
    """
    if not aggregation.is_synthetic:
        return
    times, step = len(aggregation.figures) - 1, Decimal(1)
    changes = "in one choice" if times == 1 else f"in each of {times} choices"
    why = f"one {aggregation.unit} changes the score of each pair of columns by 1, {changes}"
    options = len(aggregation.pairs)
    yield _Wanted(
        *("pair choices", 1, step, _OF_CHOICES, why), numbers=False, options=options, times=times
    )
    pairs = "in the pair of columns" if times == 1 else f"in each of {times} pairs of columns"
    why = f"one {aggregation.unit} is counted once {pairs}"
    yield _Wanted("pair counts", 1, step, _OF_PAIRS, why, times=times)


def _keys(share: Fraction, aggregation: Aggregation) -> _Wanted:
    groups = format_count(aggregation.max_groups, "group")
    why = f"one {aggregation.unit} is in at most {groups}"
    return _Wanted("keys", 1, Decimal(1), share, why, numbers=False)


def _steps(number: int, step: Decimal) -> str:
    return f"{(number * step).normalize():f}"


def _half_width(one: _Wanted, part: NoisyPart, scale: Fraction) -> float:
    if part.mechanism == "discrete-laplace":
        return laplace_half_width(scale) * float(one.step)
    if part.mechanism == "discrete-gaussian":
        return gaussian_half_width(scale) * float(one.step)
    return score_half_width(scale, one.options) * float(one.step)


def _is_nearly(delta: Decimal | Fraction, other: Fraction) -> bool:
    """Tell whether a delta is another one, but for rounding."""
    return math.isclose(delta, other, rel_tol=1e-9)


def _rounded_delta(delta: Fraction) -> Decimal:
    return _LEAST.divide(*map(Decimal, delta.as_integer_ratio()))


def _half_width_times_n(figure: Statistic) -> float | None:
    """Return by how much n times a mean, or a variance, of n rows is off; None for other figures.

    All its noises decide that together: half-widths of single ones do not.
    """
    if figure.function not in OF_RATIOS:
        return None
    noises = [DrawnNoise(one.mechanism, one.exact_scale, float(one.step)) for one in figure.noise]
    reach = float(((figure.upper or 0) - (figure.lower or 0)) / 2)
    if figure.function == "mean":
        [total, count] = noises
        return mean_half_width(total, count, reach)
    [total, squares, count] = noises
    return variance_half_width(squares, total, count, reach)


def _rounded_up(cost: Fraction) -> Decimal:
    return _COST.divide(Decimal(cost.numerator), Decimal(cost.denominator))


def noise_problems(aggregation: Aggregation) -> Iterator[str]:
    """Yield how the noise of statistics is not what their terms and their epsilon need."""
    needs_keys = bool(aggregation.group_by) and not aggregation.has_public_keys
    wanted = [one for figure in aggregation.figures for one in _wanted(figure, aggregation)]
    wanted += _pairs_wanted(aggregation)
    wanted += [_keys(Fraction(1, 2), aggregation)] if needs_keys else []
    noises = [*aggregation.noises()]
    if [*map(_terms, noises)] != [_wanted_terms(one, aggregation) for one in wanted]:
        yield "Its noise is not that of its statistics."
        return
    epsilon, delta = Fraction(aggregation.epsilon), Fraction(aggregation.delta_spent)
    if aggregation.neighbours == "change-one":
        epsilon, delta = _of_one_change(epsilon, delta)
    share = Fraction(1, len(noises))
    parts = [_noisy_part(one.mechanism, share, one.cells, one) for one in noises]
    of_keys = Fraction(aggregation.key_selection.delta) if aggregation.key_selection else Fraction()
    try:
        loss = proven(parts, [one.exact_scale for one in noises], delta, of_keys, epsilon)
    except (ValueError, ZeroDivisionError) as error:
        yield f"Its noise has no epsilon. {error}"
        return
    if loss.epsilon > epsilon or loss.delta > delta:
        yield f"Its noise loses {float(loss.epsilon):.6g}, more than its epsilon."
    if of_keys and not any(_is_nearly(of_keys, part) for part in (delta, delta / 2)):
        yield "Its keys are selected at another delta."
    if loss.accountant != aggregation.accountant:
        yield f"Its noise is proved by {loss.accountant}."
    yield from _ratio_problems(aggregation)
    times = _steps_of_a_change(aggregation)
    for one, part, noise in zip(wanted, parts, noises, strict=True):
        yield from _part_problems(one, part, noise, times, (delta - of_keys, of_keys))


def _part_problems(
    one: _Wanted,
    part: NoisyPart,
    noise: AddedNoise,
    times: int,
    deltas: tuple[Fraction, Fraction],
) -> Iterator[str]:
    """Yield what is not true of one part, given the deltas of noise and of the keys."""
    of_noise, of_keys = deltas
    alone = _epsilon_alone(part, noise.exact_scale, of_noise)
    half_width = _half_width(one, part, noise.exact_scale)
    if not math.isclose(half_width, noise.half_width, rel_tol=1e-9):
        yield f"The error of its {noise.quantity} is {half_width:g}."
    if noise.epsilon != _rounded_up(times * alone):
        yield f"Its {noise.quantity} cost another epsilon by themselves."
    delta = of_noise if part.is_gaussian else of_keys if one.quantity == "keys" else Fraction()
    if not _is_nearly(noise.delta, delta):
        yield f"Its {noise.quantity} cost another delta by themselves."


def _ratio_problems(aggregation: Aggregation) -> Iterator[str]:
    for figure in aggregation.figures:
        needed, stated = _half_width_times_n(figure), figure.half_width_times_n
        if (needed is None) != (stated is None) or (
            needed is not None and not math.isclose(needed, stated or 0, rel_tol=1e-9)
        ):
            yield f"The error of its {figure.function} is not that of its noise."


def _epsilon_alone(part: NoisyPart, scale: Fraction, delta: Fraction) -> Fraction:
    """Return the epsilon of one part, Gaussian noise at a delta."""
    strength = part.strength(scale)
    return zcdp_epsilon(part.rho(strength), delta) if part.is_gaussian else part.cells * strength


def _wanted_terms(one: _Wanted, aggregation: Aggregation) -> tuple[object, ...]:
    cells = aggregation.max_groups * one.times
    kind = "keys" if one.quantity == "keys" else "numbers" if one.numbers else "choices"
    return one.quantity, kind, one.sensitivity, one.step, one.derivation, cells


def _terms(noise: AddedNoise) -> tuple[object, ...]:
    kind = _KINDS.get(noise.mechanism, "keys")
    return noise.quantity, kind, noise.sensitivity, noise.step, noise.derivation, noise.cells


_KINDS = dict.fromkeys(get_args(NoiseMechanism), "numbers")
_KINDS |= dict.fromkeys(get_args(SelectionMechanism), "choices")
