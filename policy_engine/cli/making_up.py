"""The command that draws rows from a generator that was released."""

import io
from pathlib import Path
from typing import Annotated

import typer

from policy_engine.cli.answers import print_unsigned
from policy_engine.cli.options import OverwriteOption, StatusOption, TrustOption


def generate(
    generator: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="The released generator, or the folder it lies in."),
    ],
    rows: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many rows.")] = 1_000,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="NUMBER", help="The same seed gives the same rows. [default: drawn]"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write CSV, Parquet, Arrow or JSON lines to this file instead of printing CSV.",
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
) -> None:
    """Draw rows from a generator that was released, once its files are the certified ones."""
    from policy_engine.api.loading_generators import (  # noqa: PLC0415 (as used)
        UNCERTIFIED,
        check_outside_release,
        load_generator,
    )
    from policy_engine.data.atomic_file import write_file  # noqa: PLC0415
    from policy_engine.data.table_files import ARRAY_FORMATS, FORMATS, file_format  # noqa: PLC0415
    from policy_engine.engines.tables import write_to  # noqa: PLC0415

    tables = tuple(one for one in FORMATS if one not in ARRAY_FORMATS)
    kind = "csv" if output is None else file_format(output, tables)
    if output is not None:
        check_outside_release(output, "The rows")
    opened = load_generator(generator, trust=trust, status=status)
    if opened.is_certified:
        print_unsigned(trust, is_data=output is None)
    else:
        typer.echo(f"note: {UNCERTIFIED}", err=True)
    table = opened.sample(rows, seed=seed)
    file = io.BytesIO()
    write_to(file, table, kind)
    if output is None:
        typer.echo(file.getvalue(), nl=False)
    else:
        write_file(output, file.getvalue(), overwrite=overwrite)
