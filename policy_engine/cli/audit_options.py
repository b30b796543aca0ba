"""The options of the commands that attack."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from policy_engine.cli.parsing import parse_folder


class Domain(StrEnum):
    """In which form the attacker has the records that he asks about."""

    ORIGINAL = "original"
    PERTURBED = "perturbed"


AuditedOption = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE", help="Records: CSV, CSV.gz, Parquet or npz."),
]


LabelOption = Annotated[
    str,
    typer.Option(
        "--label", metavar="COLUMN", help="The column with the classes. Default: the last one."
    ),
]


ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FILE",
        help="A description of the model in JSON. Default: a small network.",
    ),
]


ShadowsOption = Annotated[
    int, typer.Option("--shadows", min=0, max=10_000, help="How many shadow models to train.")
]


TargetsOption = Annotated[
    int,
    typer.Option(
        min=1, max=10_000, help="How many models to attack, each trained on a different half."
    ),
]


SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="The same seed gives the same figures.")
]


BinsOption = Annotated[
    int, typer.Option(help="Into how many ranges to divide numbers for a local epsilon.")
]


RangesOption = Annotated[
    list[str],
    typer.Option("--range", metavar="COLUMN=LOW:HIGH", help="The bounds of a column's ranges."),
]


TargetOption = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="IRI",
        help="With --as, which asset the records are. Default: the policies' only dataset.",
    ),
]


OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        parser=parse_folder,
        help="Write the figures, the report and the splits to this folder.",
    ),
]
