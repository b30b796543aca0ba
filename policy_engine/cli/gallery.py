"""The command that writes a policy of the gallery, with its data."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json
from policy_engine.cli.options import Format, FormatOption, OverwriteOption
from policy_engine.cli.parsing import parse_folder

if TYPE_CHECKING:
    from policy_engine.cli.gallery_examples import GalleryExample


def example(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Which one. Without a name, all are listed.")
    ] = "",
    output: Annotated[
        str, typer.Option("--output", metavar="DIR", help="Default: a folder of that name.")
    ] = "",
    rows: Annotated[
        int, typer.Option(min=100, max=10_000_000, help="The number of rows of generated data.")
    ] = 10_000,
    overwrite: OverwriteOption = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Write a policy to start from, with its data or how to get them, and say what to do next."""
    from policy_engine.cli.gallery_examples import (  # noqa: PLC0415 (slow to import)
        GALLERY,
        example_named,
        write_example,
    )

    if not name:
        _list(GALLERY, output_format)
        return
    chosen = example_named(name)
    written = write_example(chosen, parse_folder(output or name), rows, overwrite=overwrite)
    if output_format is Format.JSON:
        print_json({**_as_json(chosen), "files": [str(path) for path in written]})
        return
    for path in written:
        typer.echo(f"written: {path}")
    typer.echo(f"next, in {written[0].parent}:")
    if chosen.extra:
        typer.echo(f"  pip install 'policy-engine[{chosen.extra}]'")
    for command in ([chosen.fetch] if chosen.fetch else []) + list(chosen.commands):
        typer.echo(f"  {command}")


def _list(examples: "tuple[GalleryExample, ...]", output_format: Format) -> None:
    if output_format is Format.JSON:
        print_json([_as_json(one) for one in examples])
        return
    from policy_engine.cli.tables.tables import (  # noqa: PLC0415
        console,
        new_table,
        print_fitting,
    )

    table = new_table("Policies to start from", "name", "what it shows", "data")
    for one in examples:
        table.add_row(one.name, one.title, "made up" if one.make else "fetched by a command")
    print_fitting(console(), table)


def _as_json(example: "GalleryExample") -> dict[str, Any]:
    return {
        "name": example.name,
        "title": example.title,
        "dataset": example.dataset,
        "data": example.data,
        "fetch": example.fetch or None,
        "extra": example.extra or None,
        "commands": list(example.commands),
    }
