"""The command that prints a compliance report."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.answers import print_json
from policy_engine.cli.options import OwnersOption
from policy_engine.cli.parsing import exit_with_two
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.errors import PolicyEngineError

if TYPE_CHECKING:
    from policy_engine.policy import Reading


class ReportFormat(StrEnum):
    """How to print a compliance report."""

    TURTLE = "turtle"
    JSON = "json"


_FORMATS = "Turtle, N-Triples, RDF/XML or JSON-LD."


@with_reading_options("parent")
def evaluate(
    policy: Annotated[Path, typer.Option(metavar="FILE", help=f"A policy: {_FORMATS}")],
    request: Annotated[Path, typer.Option(metavar="FILE", help=f"A request: {_FORMATS}")],
    world: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"The state of the world: {_FORMATS}"),
    ] = None,
    owners: OwnersOption = None,
    output_format: Annotated[
        ReportFormat, typer.Option("--format", help="The output format.")
    ] = ReportFormat.TURTLE,
    *,
    reading: "Reading",
) -> None:
    """Print what each rule of a policy evaluates to for a request: an ODRL compliance report."""
    from policy_engine.decision.compliance import compliance_report  # noqa: PLC0415 (slow to import)

    with exit_with_two(PolicyEngineError):
        report = compliance_report(
            policy, request, world, reading.contexts, reading.limits, reading.vocabularies, owners
        )
    if report.by_clock:
        typer.echo(
            "Neither the request nor the world tells the time: the clock's is used.", err=True
        )
    if output_format is ReportFormat.JSON:
        print_json(report.to_json())
    else:
        typer.echo(report.to_turtle(), nl=False)
