"""Warnings about texts of the input that look like something else than they are read as."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policy_engine.data.notations import Notation, other_notation
from policy_engine.engines.engine import Engine
from policy_engine.errors import join_names
from policy_engine.plan.chaining import looks_generalised
from policy_engine.plan.plan import Plan

_TAKE_TEXTS = ("prefix", "taxonomy", "suppression")
"""The generalizations that take texts as they are, whatever they look like."""


def text_warnings(plan: Plan, engine: Engine, table: Any) -> Iterator[str]:
    """Yield warnings about columns that look generalised but have no certificate, and about those
    that look like numbers or dates but are generalised or ranked as texts."""
    generalised_columns = {one.name for one in plan.generalised}
    names = [name for name in plan.values_read if name not in generalised_columns]
    texts = engine.texts(table, names)
    yield from _generalised_warnings(texts)
    ordered_names = _ordered_names(plan)
    yield from _notation_warnings({name: texts[name] for name in names if name in ordered_names})


def _generalised_warnings(texts: Mapping[str, Sequence[str]]) -> Iterator[str]:
    names = [name for name, values in texts.items() if looks_generalised(values)]
    if names:
        yield (
            f"Many cells of {join_names(names)} are ranges or sets, as in an earlier release. "
            "Each of them is treated as a single value, also where information loss is measured. "
            "Give the certificate of that release to have them treated as ranges and sets."
        )


def _ordered_names(plan: Plan) -> set[str]:
    """Return the columns to whose classes or ranks an order of their values matters."""
    quasi = plan.anonymize.columns.quasi_identifier if plan.anonymize else ()
    masked = plan.mask.columns if plan.mask else ()
    names = {one.name for one in quasi if one.generalization not in _TAKE_TEXTS}
    return names | {one.name for one in masked if getattr(one, "order", None)}


def _notation_warnings(texts: Mapping[str, Sequence[str]]) -> Iterator[str]:
    notations = {name: other_notation(values) for name, values in texts.items()}
    for notation, (look, example, correction) in _LOOKS.items():
        names = [name for name, one in notations.items() if one == notation]
        if names:
            yield (
                f"The cells of {join_names(names)} look like {look}. They are read as texts, and "
                f"generalised or ranked as such: {example}. Write {correction} to have them read "
                f"as {notation}."
            )


_LOOKS: Mapping[Notation, tuple[str, str, str]] = {
    "numbers": (
        "numbers with a decimal comma, or marks between thousands",
        "1000,00 comes before 99,00",
        "1000.00",
    ),
    "dates": ("dates", "01.12.2023 comes before 02.01.2023", "2023-12-01"),
}
