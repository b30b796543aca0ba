"""The commands that list and propose: methods, samples, taxonomies."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine import terms
from policy_engine.api.suggesting import suggest_hierarchy
from policy_engine.cli.answers import print_json
from policy_engine.cli.options import Format, FormatOption, Kind, OverwriteOption, SampleKind
from policy_engine.cli.parsing import usage_error
from policy_engine.cli.table_options import with_table_options
from policy_engine.data import samples
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import did_you_mean, join_names

if TYPE_CHECKING:
    from policy_engine.methods.reference import Parameter

hierarchies = typer.Typer(
    help="Taxonomies: draft one for a column, to be edited by hand.",
    no_args_is_help=True,
)


def methods(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The one method, masking or audit to show.")
    ] = "",
    output_format: FormatOption = Format.TEXT,
) -> None:
    """List what a policy can ask for: methods, shared parameters, column settings, maskings,
    trainings, audits."""
    from policy_engine.methods import reference  # noqa: PLC0415 (slow to import)
    from policy_engine.plan.training import (  # noqa: PLC0415 (slow to import)
        audit_parameters,
        training_parameters,
    )

    methods_of_tables = {
        name: (term, reference.method_parameters(name)) for name, term in terms.methods().items()
    }
    audits = {name: (term, audit_parameters(name)) for name, term in terms.audit_methods().items()}
    trainings = {"train": (terms.vocabulary()[f"{terms.PE}train"], training_parameters())}
    maskings = {
        name: (term, reference.masking_parameters(name)) for name, term in terms.maskings().items()
    }
    if name:
        _print_one(name, methods_of_tables | maskings | trainings | audits, output_format)
        return
    shared, columns = reference.shared_parameters(), reference.column_parameters()
    of_models = reference.model_parameters()
    if output_format is Format.JSON:
        settings = {
            role: [one._asdict() for one in parameters] for role, parameters in columns.items()
        }
        print_json(
            {
                "methods": _listing(methods_of_tables),
                "shared": [
                    {**one._asdict(), "of": f"every {kind}"}
                    for kind, some in (("method", shared), ("privacy model", of_models))
                    for one in some
                ],
                "columns": settings,
                "maskings": _listing(maskings),
                "trainings": _listing(trainings),
                "audits": _listing(audits),
            }
        )
        return
    from policy_engine.cli.tables.methods import parameters_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    for one, (term, parameters_) in methods_of_tables.items():
        title = f"{one}: {term.definition}"
        print_fitting(console(), parameters_table(title, parameters_, of_method=True))
    print_fitting(console(), parameters_table("Every method", shared))
    print_fitting(console(), parameters_table("Every privacy model", of_models))
    for role, parameters in columns.items():
        print_fitting(console(), parameters_table(f"A column under {role}", parameters))
    for one, (term, parameters_) in maskings.items():
        title = f"{one}, a masking of a column: {term.definition}"
        print_fitting(console(), parameters_table(title, parameters_))
    for one, (term, parameters_) in trainings.items():
        title = f"pe:{one}, an action of a permission: {term.definition}"
        print_fitting(console(), parameters_table(title, parameters_, with_engines=False))
    for one, (term, parameters_) in audits.items():
        title = f"{one}, by a duty to audit: {term.definition}"
        print_fitting(console(), parameters_table(title, parameters_, with_engines=False))


def _print_one(
    name: str, methods: Mapping[str, tuple[terms.Term, list["Parameter"]]], output_format: Format
) -> None:
    """Print what one method takes. Raises RequestError (U001) for a name that none has."""
    from policy_engine.cli.tables.methods import parameters_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    if name not in methods:
        hint = did_you_mean(name, methods) or f"There are {join_names(methods)}."
        raise usage_error(f"There is no method {name!r}. {hint}")
    if output_format is Format.JSON:
        print_json(_listing({name: methods[name]}))
        return
    term, parameters = methods[name]
    title, of_method = f"{name}: {term.definition}", name in terms.methods()
    print_fitting(console(), parameters_table(title, parameters, of_method=of_method))


def _listing(methods: Mapping[str, tuple[terms.Term, list["Parameter"]]]) -> dict[str, Any]:
    return {
        name: {
            "definition": term.definition,
            "engines": term.texts("engine"),
            "parameters": [one._asdict() for one in own],
        }
        for name, (term, own) in methods.items()
    }


def sample(
    dataset: Annotated[SampleKind, typer.Argument(help="Which sample to generate.")],
    rows: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many rows.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same file.")] = 1,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file instead of printing.")
    ] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Generate sample data to try policies on."""
    text = getattr(samples, dataset.value)(rows, seed)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_file(output, text, overwrite=overwrite)


@hierarchies.command()
@with_table_options("table")
def suggest(
    table: Annotated[Path, typer.Argument(metavar="DATA", help="CSV, CSV.gz, Parquet or npz.")],
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="The column.")],
    kind: Annotated[
        Kind | None, typer.Option(help="What the taxonomy goes by. Default: chosen by the values.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file instead of printing.")
    ] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Propose a taxonomy for a column as CSV: one row for each value, from narrow to wide."""
    suggestion = suggest_hierarchy(table, column, kind.value if kind else None)
    if output is None:
        typer.echo(suggestion.to_csv(), nl=False)
    else:
        write_file(output, suggestion.to_csv(), table, overwrite=overwrite)
    typer.echo(f"{suggestion.kind}: {suggestion.reason}", err=True)
