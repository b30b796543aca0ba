"""What people read on a terminal: plans, certificates, decisions, methods."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from policy_engine import terms
from policy_engine.certificate import Certificate
from policy_engine.decision import Decision
from policy_engine.plan import Plan


def plan_table(plan: Plan) -> Table:
    """Return what will be done, a row a step."""
    table = _table(f"Plan for {plan.publish.asset}", "step", "what", "how")
    method = plan.anonymize.method
    location = plan.read.location or "wherever it lies"
    columns = f"{escape(location)}: {_list(plan.read.columns)}"
    table.add_row("read", escape(plan.read.asset), columns)
    table.add_row("drop", "identifiers", _list(plan.drop.identifiers))
    table.add_row("", "not mentioned", _list(plan.drop.unmentioned))
    bounds = ", ".join(dict.fromkeys(f"{b.name} = {b.least}" for b in method.bounds()))
    table.add_row(
        "anonymize",
        f"{plan.anonymize.notation}, {bounds}",
        f"{plan.anonymize.algorithm}, {plan.engine}",
    )
    table.add_row("", "generalise", _list(method.quasi_identifier))
    table.add_row("", "keep", _list((*method.sensitive, *method.insensitive)))
    table.add_row(
        "publish", escape(plan.publish.asset), "once every bound is measured on what was written"
    )
    readers = _list(plan.assignees) if plan.assignees else "anybody"
    purposes = _list(tuple(map(terms.compact, plan.purposes))) if plan.purposes else "any purpose"
    table.add_row("", "for", f"{readers}, {purposes}")
    return table


def certificate_table(certificate: Certificate) -> Table:
    """Return what was asked and what was measured, a row a bound; then the loss."""
    table = _table("Certificate", "measure", "asked", "achieved", "")
    for m in certificate.measurements:
        name = f"{m.bound} of {m.column}" if m.column else m.bound
        verdict = "[green]holds[/]" if m.holds else "[red]broken[/]"
        table.add_row(escape(name), str(m.asked), str(m.achieved), verdict)
    table.add_section()
    for name, value in _figures(certificate):
        table.add_row(name, "", value, "")
    return table


def rows_table(title: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Table:
    """Return the rows of a table, missing values empty."""
    table = _table(title, *map(escape, columns))
    for row in rows:
        table.add_row(*("" if value is None else escape(str(value)) for value in row))
    return table


def methods_table(method: terms.Term, parameters: list[dict[str, Any]]) -> Table:
    """Return the parameters of a method, a row each."""
    table = _table(
        f"{method.facts['notation']}: {method.definition}", "parameter", "type", "default", ""
    )
    for one in parameters:
        table.add_row(one["name"], one["type"], one["default"], one["definition"])
    return table


def decision_lines(decision: Decision) -> Iterator[str]:
    """Yield the answer, then how it was derived."""
    colour = "green" if decision.permitted else "red"
    yield f"[bold {colour}]{decision.effect}[/]: {escape(decision.reason)}"
    yield from (f"  - {escape(line)}" for line in decision.derivation)


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, and wide enough for tables when piped."""
    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=120)


def _figures(certificate: Certificate) -> Iterator[tuple[str, str]]:
    utility = certificate.utility
    rows = f"{certificate.rows_out:,}"
    if certificate.rows_in is not None:
        rows += f" of {certificate.rows_in:,}"
    yield "rows", rows
    yield "classes", f"{utility.classes:,}"
    yield "average class size", f"{utility.average_class_size:.2f}"
    yield "global certainty penalty", f"{utility.global_certainty_penalty:.4f}"
    yield "discernability", f"{utility.discernability:,}"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=escape(title), title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _list(names: tuple[str, ...]) -> str:
    return escape(", ".join(names)) or "-"
