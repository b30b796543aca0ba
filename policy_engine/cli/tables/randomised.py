"""Records that are randomised, and what is estimated of them, on a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from policy_engine.cli.tables.losses import loss_text
from policy_engine.cli.tables.tables import new_table
from policy_engine.errors import format_count
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.randomiser import CategoryRandomiser, NumberRandomiser, Randomiser
from policy_engine.methods.randomisers.private_pixelation import PrivatePixelation
from policy_engine.plan.randomisation import Randomisation

if TYPE_CHECKING:
    from policy_engine.audits.utility.estimating import EstimatedRelease
    from policy_engine.certificate.certificate import Certificate

_MOST_FIGURES = 40
_OF_CATEGORIES = (
    "told with probability {ownProbability:.4g}, another one with {otherProbability:.4g}; the "
    "variance of a frequency is {variance:.4g} / n, or {largestVariance:.4g} / n of a large one, "
    "for n answers{of_column}"
)
_OF_NUMBERS = (
    "each answer has a probability of {otherProbability:.4g} to {ownProbability:.4g}; the "
    "variance of a mean is at most {largestVariance:.4g} / n, for n answers{of_column}"
)
_OF_IMAGES = "noise of scale {scale:.4g} on the mean of each block"


def add_randomised(table: Table, step: Randomisation) -> None:
    """Add to the table of a plan what is randomised, and how exact that leaves estimates."""
    table.add_row("randomise", escape(promise(step)), escape(_composed(step)))
    for one in step.columns:
        table.add_row("", escape(one.name), escape(describe(one, step)))
    if step.unit:
        table.add_row("", "of each person", escape(of_persons(step)))


def promise(step: Randomisation) -> str:
    """Return what a table that is randomised promises, in words."""
    images = [one for one in step.columns if isinstance(one, PrivatePixelation)]
    others = len(step.columns) - len(images)
    held = f"the records of a {step.unit} hold" if step.unit else "a record holds"
    parts = [f"epsilon {loss_text(step.epsilon)}"]
    if others:
        parts.append(f"whatever {'else ' if images else ''}{held}")
    if images:
        several = len(step.columns) > 1
        pixels = [
            format_count(one.pixels_changed, "pixel") + (f" of {one.name}" if several else "")
            for one in images
        ]
        parts.append(f"for images that differ in at most {' and '.join(pixels)}")
    return ", ".join(parts)


def of_persons(step: Randomisation) -> str:
    """Return what is answered for of each person, and when it is answered alike again, in words."""
    return (
        f"one record of a {step.unit}, by the key; the same value of a {step.unit} has the same "
        "answer in every release"
    )


def _composed(step: Randomisation) -> str:
    who = step.unit or "record"
    if step.is_sampled:
        return f"each {who} answers for one of {len(step.columns)} columns, drawn for it"
    return f"each {who} answers for every column" if len(step.columns) > 1 else f"each {who}"


def describe(one: Randomiser, step: Randomisation) -> str:
    """Return how a column is randomised, and what that means for estimates, in words."""
    epsilon = step.epsilon_of(one)
    text = _OF_IMAGES
    if isinstance(one, CategoryRandomiser):
        text = f"{len(one.values)} values, {_OF_CATEGORIES}"
    elif isinstance(one, NumberRandomiser):
        text = f"{one.lower:g} to {one.upper:g} in steps of {one.grid:g}, {_OF_NUMBERS}"
    of_column = " to this column alone" if step.is_sampled else ""
    figures = text.format(**one.figures(epsilon), of_column=of_column)
    return f"{one.randomiser}, epsilon {float(epsilon):.4g}: {figures}"


def randomised_rows(certificate: "Certificate") -> Iterator[tuple[str, str]]:
    """Yield what a certificate says of records that were randomised, a name and a text a row."""
    step = certificate.plan.randomise
    if step is None:
        return
    yield "promised", escape(promise(step))
    if step.unit:
        yield "of each person", escape(of_persons(step))
    for one in step.columns:
        yield escape(one.name), escape(describe(one, step))


def estimate_tables(estimates: "EstimatedRelease") -> Iterator[Table]:
    """Yield the estimates of a randomised table, a table a column."""
    for column in estimates.columns:
        if isinstance(column, NotApplicable):
            table = new_table(estimates.title, "not estimated")
            table.add_row(escape(column.reason))
            yield table
            continue
        about = f"{column.kind} of {column.name}, from {column.answers:,} answers"
        names = ["value", "estimate", "95 % interval"]
        names += ["truth"] if estimates.original else []
        table = new_table(f"{estimates.title}: {about}", *names)
        for figure in column.figures[:_MOST_FIGURES]:
            row = [escape(figure.label), f"{figure.estimate:.4g}"]
            row.append(f"{figure.low:.4g} to {figure.high:.4g}")
            row += [f"{figure.truth:.4g}"] if figure.truth is not None else []
            table.add_row(*row)
        if len(column.figures) > _MOST_FIGURES:
            table.add_row(
                f"and {len(column.figures) - _MOST_FIGURES:,} more", *[""] * (len(names) - 1)
            )
        yield table
