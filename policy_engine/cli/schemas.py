"""The commands about formats: the JSON Schema of policies."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.shared_options import with_reading_options
from policy_engine.data.atomic_file import write_file

if TYPE_CHECKING:
    from policy_engine.policy import Reading


@with_reading_options("parent")
def schema(
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file instead of printing.")
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="The schema of policies in the short form, in YAML.")
    ] = False,
    *,
    reading: "Reading",
) -> None:
    """Print the JSON Schema of policies, for editors that check and complete while you type."""
    from policy_engine.authoring.schema import (  # noqa: PLC0415 (slow to import)
        policy_schema,
        short_policy_schema,
    )

    document = short_policy_schema() if short else policy_schema(reading.vocabularies)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_file(output, text)
