"""The command that prints a compliance report."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from policy_engine.cli.answers import print_json
from policy_engine.cli.options import ContextOption, contexts_of, unanswered
from policy_engine.errors import PolicyEngineError


class ReportFormat(StrEnum):
    """How to print a compliance report."""

    TURTLE = "turtle"
    JSON = "json"


_FORMATS = "Turtle, N-Triples, RDF/XML or JSON-LD."


def evaluate(
    policy: Annotated[Path, typer.Option(metavar="FILE", help=f"A policy: {_FORMATS}")],
    request: Annotated[Path, typer.Option(metavar="FILE", help=f"A request: {_FORMATS}")],
    world: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"The state of the world: {_FORMATS}"),
    ] = None,
    output_format: Annotated[
        ReportFormat, typer.Option("--format", help="How to print.")
    ] = ReportFormat.TURTLE,
    context: ContextOption = [],  # noqa: B006
) -> None:
    """Print what each rule of a policy comes to for a request: an ODRL compliance report."""
    from policy_engine.compliance import compliance_report  # noqa: PLC0415 (slow to import)

    contexts = contexts_of(context)
    with unanswered(PolicyEngineError):
        report = compliance_report(policy, request, world, contexts)
    if report.by_clock:
        typer.echo(
            "Neither the request nor the world tells the time: the clock's is used.", err=True
        )
    if output_format is ReportFormat.JSON:
        print_json(report.to_json())
    else:
        typer.echo(report.to_turtle(), nl=False)
