"""Questions on a terminal, each with a proposed answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import typer

from policy_engine.authoring.first_policy import PolicyNames
from policy_engine.engines.column_proposals import ProposedColumn

_PARTS = (
    ("identifier", "Which columns name a person? They are dropped."),
    ("quasi-identifier", "Which could others know of a person? They are generalised."),
    ("sensitive", "Which should nobody learn about a person? They are kept, and diverse."),
)


def ask_parts(columns: Sequence[ProposedColumn]) -> dict[str, str]:
    """Return what a person says each column is, by its name: what is chosen nowhere is left out.

    Ends the command (130) where a question is not answered.
    """
    parts: dict[str, str] = {}
    for part, question in _PARTS:
        open_columns = [one for one in columns if one.name not in parts]
        for name in _chosen(question, open_columns, part):
            parts[name] = part
    return {one.name: parts.get(one.name, "left out") for one in columns}


def ask_names(names: PolicyNames) -> PolicyNames:
    """Return who may read a release, for which purpose, as a person says."""
    assignee = _text("Who may read the release?", names.assignee)
    purpose = _text("For which purpose?", names.purpose)
    namespace = _text("What do names of yours begin with?", names.namespace)
    return replace(names, assignee=assignee, purpose=purpose, namespace=namespace)


def _chosen(question: str, columns: Sequence[ProposedColumn], part: str) -> list[str]:
    import questionary  # noqa: PLC0415 (only on a terminal)

    choices = [
        questionary.Choice(
            f"{one.name}  ({one.figures}) {one.reason}", value=one.name, checked=one.part == part
        )
        for one in columns
    ]
    if not choices:
        return []
    return [str(name) for name in _answered(questionary.checkbox(question, choices=choices).ask())]


def _text(question: str, proposed: str) -> str:
    import questionary  # noqa: PLC0415

    return str(_answered(questionary.text(question, default=proposed).ask()))


def _answered(answer: Any) -> Any:
    """Return an answer; end the command where a person ended the questions."""
    if answer is None:
        raise typer.Exit(130)
    return answer
