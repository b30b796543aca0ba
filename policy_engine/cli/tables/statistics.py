"""Statistics under differential privacy on a terminal: what each costs, and how exact it is."""

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from policy_engine.cli.tables.losses import loss_text, part_text
from policy_engine.errors import format_count
from policy_engine.plan.aggregates.countable_numbers import plain
from policy_engine.plan.aggregates.model import OF_NUMBERS, AddedNoise, Aggregation, Statistic

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.decision.query.model import StatisticsCost
    from policy_engine.release.budget.receipts import Receipt


def add_statistics(table: Table, step: Aggregation) -> None:
    """Add to the table of a plan what is released, and the noise of each figure."""
    made = "synthesize" if step.is_synthetic else "aggregate"
    table.add_row(made, escape(_promise(step)), escape(_bounded(step)))
    if step.group_by:
        table.add_row("", "group by", escape(f"{', '.join(step.group_names)}: {_keys(step)}"))
    for figure in step.figures:
        table.add_row("", escape(figure.name), escape(describe_figure(figure)))
        if figure.half_width_times_n is not None:
            table.add_row("", "", escape(_ratio_error(figure)))
        for one in figure.noise:
            table.add_row("", "", escape(describe_noise(one, step)))
    for one in step.pair_noise:
        table.add_row("", "pairs of columns", escape(describe_noise(one, step)))
    if step.key_selection is not None:
        table.add_row("", "keys", escape(_selected(step.key_selection)))
    if step.rows is not None:
        table.add_row("", "rows", f"{step.rows:,}, made up of these figures alone")
    table.add_row("", "together", escape(f"proved by {_accountant(step)}"))
    if any(one.function in OF_NUMBERS for one in step.figures):
        table.add_row("", "limits", "sums beyond 2^62 steps of their grid stay there")


_ACCOUNTANTS = {
    "sequential": "the sum of the epsilons",
    "zcdp": "zero-concentrated differential privacy",
    "pld": "the distributions of the privacy losses",
}
"""What proves the loss of all noise together, in words."""


def _accountant(step: Aggregation) -> str:
    return _ACCOUNTANTS.get(step.accountant, step.accountant)


def _promise(step: Aggregation) -> str:
    neighbours = "is there or not" if step.neighbours == "add-or-remove" else "is any other"
    delta = f", delta {loss_text(step.delta)}" if step.delta else ""
    return f"epsilon {loss_text(step.epsilon)}{delta}, whether a {step.unit} {neighbours}"


def _bounded(step: Aggregation) -> str:
    rows = format_count(step.max_rows, "row")
    groups = f" in each of {format_count(step.max_groups, 'group')}" if step.group_by else ""
    return f"of each {step.unit} at most {rows}{groups}"


def _keys(step: Aggregation) -> str:
    if step.key_table:
        return f"the keys of {step.key_table}"
    return "public keys" if step.has_public_keys else "keys that enough units have"


def describe_figure(figure: Statistic) -> str:
    """Return what a figure is, in words."""
    of = f" of {figure.of}" if figure.of else ""
    if figure.function == "quantile":
        first, step, count = figure.candidate_grid
        last = first + step * (count - 1)
        candidates = f"{plain(first)} to {plain(last)} in steps of {plain(step)}"
        return f"quantile at {figure.at}{of}, one of {candidates}"
    if figure.is_synthetic and figure.candidates:
        return f"made up{of}: {format_count(len(figure.candidates), 'value')}"
    if figure.lower is not None and figure.upper is not None and figure.grid is not None:
        between = f"{plain(figure.lower)} to {plain(figure.upper)}"
        bounds = f"moved into {between}, in steps of {plain(figure.grid)}"
        made = "made up" if figure.is_synthetic else figure.function
        return f"{made}{of}, {bounds}"
    if figure.candidates:
        number = format_count(len(figure.candidates), "candidate")
        most = f"the {figure.k} most frequent of " if figure.k else ""
        return f"{figure.function}{of}: {most}{number}"
    return f"{figure.function}{of}"


def describe_noise(noise: AddedNoise, step: Aggregation) -> str:
    """Return the noise of a quantity: its mechanism, its scale, why, and the error to expect."""
    scale = float(noise.exact_scale) * float(noise.step)
    error = _error(noise)
    cost = f"costs epsilon {part_text(noise.epsilon)} by itself"
    return (
        f"{noise.quantity}: {noise.mechanism}, {_total_sensitivity(noise, step)} "
        f"({noise.derivation}), scale {scale:.6g}; {error}; {cost}"
    )


def _total_sensitivity(noise: AddedNoise, step: Aggregation) -> str:
    """Return by how much neighbours change all numbers of a quantity, in the units of the column,
    with the norm; scores of choices count twice, unless a unit more lowers none of them.

    But for Gaussian noise, the scale is this divided by epsilon.
    """
    one = noise.sensitivity * noise.step * (2 if step.neighbours == "change-one" else 1)
    if noise.mechanism == "discrete-gaussian":
        return f"L2 sensitivity {math.sqrt(noise.cells) * float(one):.6g}"
    if noise.mechanism == "discrete-laplace":
        return f"L1 sensitivity {plain(one * noise.cells)}"
    times = noise.cells * (1 if noise.quantity == "choices" else 2)
    return f"sensitivity of all scores {plain(one * times)}"


def _error(noise: AddedNoise) -> str:
    width = f"{noise.half_width:.4g}"
    if noise.quantity == "ranks":
        return f"at most {width} rows from the quantile with 95 %"
    if noise.quantity == "choices":
        return f"at most {width} rows fewer than the most frequent with 95 %"
    if noise.quantity == "pair choices":
        return f"at most {width} rows nearer to independence than the farthest with 95 %"
    return f"+- {width} with 95 %"


def _ratio_error(figure: Statistic) -> str:
    """Return how far a mean or a variance is off, by all its noise together."""
    return f"at most {figure.half_width_times_n:.4g} / n off with 95 %, for n rows"


def _figure_errors(figure: Statistic) -> str:
    """Return how far a figure is off, in words."""
    if figure.half_width_times_n is not None:
        return _ratio_error(figure)
    return ", ".join(f"{one.quantity} {_error(one)}" for one in figure.noise)


def _selected(noise: AddedNoise) -> str:
    return (
        f"a key is released with a probability by its units ({noise.mechanism}): "
        f"costs epsilon {part_text(noise.epsilon)} and delta {part_text(noise.delta)}"
    )


def statistics_rows(certificate: "Certificate") -> Iterator[tuple[str, str]]:
    """Yield what a certificate says of statistics, a name and a text for each row."""
    step = certificate.plan.aggregate
    if step is None:
        return
    yield "promised", escape(_promise(step))
    yield "used", escape(_bounded(step))
    for figure in step.figures:
        if figure.half_width_times_n is not None:
            yield escape(figure.name), escape(f"{figure.function}: {_ratio_error(figure)}")
        for one in figure.noise:
            yield escape(figure.name), escape(describe_noise(one, step))
    for one in step.pair_noise:
        yield "pairs of columns", escape(describe_noise(one, step))
    yield "proved together by", escape(_accountant(step))
    uncovered = ", ".join(certificate.uncovered)
    yield "epsilon does not cover", escape(uncovered) or "no other release that is known"


def cost_line(cost: "StatisticsCost", *, is_drawn: bool) -> str:
    """Return in a line what an answer cost, and how exact its figures are."""
    charged = f"{'charged' if is_drawn else 'would be charged'}: "
    charged += _charged(cost.epsilon, cost.delta, is_charged=cost.is_charged)
    errors = (f"{name}: {_figure_errors(figure)}" for name, figure in cost.figures.items())
    return "; ".join([charged, *errors])


def receipt_lines(receipt: "Receipt") -> Iterator[str]:
    """Yield what a release was charged and, for the owner, what remains of each budget."""
    again = "" if receipt.is_new or not receipt.is_charged else ", to whom the answer is new"
    yield f"charged: {_charged(*receipt.amount, is_charged=receipt.is_charged)}{again}"
    for dataset, left in receipt.remaining.items():
        yield f"remaining of the budget of {dataset}: {_loss(*left)}"


def _charged(epsilon: Decimal, delta: Decimal, *, is_charged: bool) -> str:
    loss = _loss(epsilon, delta)
    return loss if is_charged else f"nothing, as it was answered before for {loss}"


def _loss(epsilon: Decimal, delta: Decimal) -> str:
    """Return a loss in words, a delta of 0 without it."""
    more = f" and delta {loss_text(delta)}" if delta else ""
    return f"epsilon {loss_text(epsilon)}{more}"


def cost_json(cost: "StatisticsCost", *, is_drawn: bool) -> dict[str, Any]:
    """Return what an answer cost, and the noise of each figure, as JSON."""
    return {
        "cost": {
            "epsilon": f"{cost.epsilon:f}",
            "delta": f"{cost.delta:f}",
            "charged": cost.is_charged and is_drawn,
            **({} if is_drawn else {"would_be_charged": cost.is_charged}),
        },
        "figures": {
            name: {
                "function": figure.function,
                "noise": [
                    {
                        "quantity": one.quantity,
                        "mechanism": one.mechanism,
                        "half_width": one.half_width,
                    }
                    for one in figure.noise
                ],
                **_ratio_json(figure),
            }
            for name, figure in cost.figures.items()
        },
    }


def _ratio_json(figure: Statistic) -> dict[str, float]:
    if figure.half_width_times_n is None:
        return {}
    return {"half_width_times_n": figure.half_width_times_n}
