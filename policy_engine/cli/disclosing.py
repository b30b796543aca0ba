"""The command that attacks a released table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from policy_engine.cli.answers import print_json, print_unsigned, progress_bar
from policy_engine.cli.options import (
    ConfOption,
    EngineChoice,
    EngineOption,
    Format,
    FormatOption,
    MasterOption,
    TaxonomyOption,
    TrustOption,
)
from policy_engine.cli.parsing import make_engine, parse_paths
from policy_engine.cli.shared_options import with_quiet_option
from policy_engine.cli.table_options import with_table_options

if TYPE_CHECKING:
    from policy_engine.audits.disclosure.result import Agreement


@with_table_options("original", "population", "holdout")
@with_quiet_option
def disclosure(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The file that the release was made from.")
    ],
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="The release, of any tool: a file, or the folder of an output."
        ),
    ],
    known: Annotated[
        list[str],
        typer.Option(
            "--known",
            metavar="COLUMN",
            help="A column that the intruder knows. Can be repeated.",
        ),
    ] = [],  # noqa: B006
    match: Annotated[
        list[str],
        typer.Option(
            "--match",
            metavar="COLUMN",
            help="A column that identifies the rows of both tables. Can be repeated.",
        ),
    ] = [],  # noqa: B006
    same_order: Annotated[
        bool,
        typer.Option(
            "--same-order",
            metavar="",
            help="The rows of all tables are in the same order.",
        ),
    ] = False,
    attack: Annotated[
        list[str],
        typer.Option(
            "--attack",
            metavar="NAME",
            help="Make only this attack, in full and also on larger files. Can be repeated.",
        ),
    ] = [],  # noqa: B006
    seconds: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="The time for each family of learned distances."),
    ] = 10.0,
    agreement: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="When numbers agree (probabilistic-linkage): in the same of N bins, or equal.",
        ),
    ] = "10",
    sensitive: Annotated[
        list[str],
        typer.Option(
            "--sensitive",
            metavar="COLUMN",
            help="A column that nobody should learn of a person, repeated. [default: the policy's]",
        ),
    ] = [],  # noqa: B006
    population: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The whole population from which the release was drawn, with the known columns.",
        ),
    ] = None,
    weights: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="The column of how many persons each released row stands for."
        ),
    ] = "",
    threshold: Annotated[
        float,
        typer.Option(metavar="RISK", help="Tell the share of records with a risk above this one."),
    ] = 0.2,
    holdout: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="People who were never in the original, with the same columns."
        ),
    ] = None,
    also: Annotated[
        list[Path],
        typer.Option(
            metavar="RELEASE",
            help="Another release of the same original, to see what it adds. Can be repeated.",
        ),
    ] = [],  # noqa: B006
    answered: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="SQL queries that were answered on the original, to see what they add.",
        ),
    ] = None,
    engine: EngineOption = EngineChoice.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    taxonomy: TaxonomyOption = [],  # noqa: B006
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write disclosure.json and disclosure.html there."),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the most exposed rows there, readable by you alone."
        ),
    ] = None,
    trust: TrustOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Tell what an intruder can still do to a released table: who is found, and what is learned.

    With the release's certificate the intruder knows how it was made, too.
    """
    from policy_engine.api.disclosing import audit_disclosure  # noqa: PLC0415
    from policy_engine.api.trusting import believed_beside  # noqa: PLC0415

    with progress_bar() as progress:
        audit = audit_disclosure(
            original,
            release,
            known=known,
            match=match,
            same_order=same_order,
            attacks=attack,
            seconds=seconds,
            agreement=cast("Agreement", int(agreement) if agreement.isdecimal() else agreement),
            sensitive=sensitive,
            population=population,
            weights=weights,
            threshold=threshold,
            engine=make_engine(engine, master, conf),
            taxonomies=parse_paths(taxonomy, "--taxonomy"),
            holdout=holdout,
            also=also,
            answered=answered,
            out=out,
            records=records,
            progress=progress,
            trust=trust,
        )
        if engine is not EngineChoice.LOCAL or believed_beside(release):
            print_unsigned(trust, is_data=output_format is Format.JSON)
    if output_format is Format.JSON:
        print_json(audit.model_dump(mode="json"))
        return
    from policy_engine.cli.tables.disclosures import print_disclosure  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console  # noqa: PLC0415

    print_disclosure(audit)
    if out is not None:
        files = f"{out / 'disclosure.json'} and {out / 'disclosure.html'}"
        console().print(f"written: {files}", markup=False)
    if records is not None:
        console().print(f"written, for its owner alone: {records}", markup=False)
