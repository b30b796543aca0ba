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
    *,
    reading: "Reading",
) -> None:
    """Print the JSON Schema of policies, for editors that check and complete while you type."""
    from policy_engine.authoring.schema import policy_schema  # noqa: PLC0415 (slow to import)

    text = json.dumps(policy_schema(reading.vocabularies), indent=1, ensure_ascii=False) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_file(output, text)
