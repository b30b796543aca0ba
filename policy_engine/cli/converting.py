"""The command that writes a policy in another syntax of RDF."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from policy_engine.cli.options import ContextOption, contexts_of
from policy_engine.writing import write_whole


class Syntax(StrEnum):
    """How to write statements of RDF."""

    JSON_LD = "json-ld"
    TURTLE = "turtle"
    N_TRIPLES = "n-triples"
    RDF_XML = "rdf-xml"


def convert(
    policy: Annotated[
        Path, typer.Argument(metavar="INPUT", help="JSON-LD, Turtle, N-Triples or RDF/XML.")
    ],
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Else printed.")] = None,
    to: Annotated[Syntax | None, typer.Option(help="Else what --output ends in.")] = None,
    context: ContextOption = [],  # noqa: B006
) -> None:
    """Write a policy in another syntax: JSON-LD where neither --to nor --output says which."""
    from policy_engine.policy import read_file  # noqa: PLC0415
    from policy_engine.policy.rdf import convert_text, syntax_of  # noqa: PLC0415
    from policy_engine.policy.syntax import syntax_of as syntax_by_ending  # noqa: PLC0415

    contexts = contexts_of(context)
    text = read_file(policy)
    wanted = to.value if to else syntax_by_ending(output.name if output else "")
    found = convert_text(text, syntax_of(policy, text), wanted, str(policy), contexts)
    if output is None:
        typer.echo(found.encode(), nl=False)
    else:
        write_whole(output, found, policy)
