"""The command that answers SQL under policies."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import counted, plain, print_json, print_notes
from policy_engine.cli.options import (
    AssigneeOption,
    CertificateOption,
    DataOption,
    HierarchyOption,
    LogKeyOption,
    LogOption,
    OverwriteOption,
    OwnersOption,
    PolicyOption,
    PurposeOption,
    TimeOption,
    WorldOption,
    check_log,
    paths_of,
    reads_policies,
    unanswered,
)
from policy_engine.data.atomic_file import check_free
from policy_engine.errors import PolicyEngineError, join_names

if TYPE_CHECKING:
    from policy_engine.decision.query.model import QueryResult
    from policy_engine.policy import Reading


class RowFormat(StrEnum):
    """How to print rows."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"


@reads_policies()
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT, with WITH and UNION.")],
    policy: PolicyOption,
    assignee: AssigneeOption,
    data: DataOption,
    purpose: PurposeOption = "",
    dialect: Annotated[
        str, typer.Option(metavar="NAME", help="Whose SQL it is: spark, postgres, mysql ...")
    ] = "duckdb",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", metavar="", help="Print the query as it may run; run nothing."),
    ] = False,
    certificate: CertificateOption = [],  # noqa: B006
    hierarchy: HierarchyOption = [],  # noqa: B006
    owners: OwnersOption = None,
    log: LogOption = None,
    log_key: LogKeyOption = None,
    world: WorldOption = None,
    time: TimeOption = "",
    output_format: Annotated[
        RowFormat, typer.Option("--format", help="How to print.")
    ] = RowFormat.TEXT,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the rows go; else they are printed.")
    ] = None,
    overwrite: OverwriteOption = False,
    *,
    reading: "Reading",
) -> None:
    """Run a query on what one rule lets be read together, rows shuffled: exit 1 if denied."""
    from policy_engine.api.deciding import query_data, time_at, world_at  # noqa: PLC0415
    from policy_engine.data.table_files import file_format  # noqa: PLC0415

    check_log(log, log_key)
    paths = paths_of(data)
    with unanswered(PolicyEngineError):
        if output is not None:
            file_format(output)
            if not overwrite:
                check_free(output)
        policies = reading.in_force(*policy, time=time_at(world, time))
        print_notes(policies)
        result = query_data(
            sql,
            policies,
            assignee,
            paths,
            purpose,
            certificates=certificate,
            hierarchy=reading.hierarchy(hierarchy),
            world=world_at(world, time, policies),
            dialect=dialect,
            run=not dry_run,
            owners=owners,
            log=log,
            log_key=log_key,
            **reading.keywords,
        )
        if result.permitted:
            inputs = [Path(path) for path in paths.values()]
            _print_rows(result, output_format, output, inputs, overwrite=overwrite)
        else:
            _print_denial(result, output_format)
    raise typer.Exit(0 if result.permitted else 1)


def _print_rows(
    result: "QueryResult",
    output_format: RowFormat,
    output: Path | None,
    inputs: list[Path],
    *,
    overwrite: bool,
) -> None:
    from policy_engine.decision.query import rows  # noqa: PLC0415

    for reason in result.reasons:
        typer.echo(str(reason), err=True)
    if result.table is None:
        is_json = output_format is RowFormat.JSON
        print_json({"sql": result.sql}) if is_json else typer.echo(result.sql)
    elif output is not None:
        rows.write_rows(result.table, output, *inputs, overwrite=overwrite)
        typer.echo(f"{counted(result.table.num_rows, 'row')} written: {output}", err=True)
    elif output_format is RowFormat.JSON:
        print_json(rows.as_json(result.table))
    elif output_format is RowFormat.CSV:
        typer.echo(rows.as_csv(result.table).encode(), nl=False)
    else:
        _print_table(result.table)


def _print_table(table: Any) -> None:
    from policy_engine.cli.tables.tables import console, rows_table  # noqa: PLC0415
    from policy_engine.decision.query.rows import as_texts  # noqa: PLC0415

    title = counted(table.num_rows, "row")
    console().print(rows_table(title, tuple(table.column_names), list(as_texts(table))))


def _print_denial(result: "QueryResult", output_format: RowFormat) -> None:
    if output_format is RowFormat.JSON:
        denial = {
            "permitted": False,
            "reasons": [*map(plain, result.reasons)],
            "columns": result.columns,
            "allowed": result.allowed,
            "suggestion": result.suggestion,
            "decision": result.decision and result.decision.model_dump(mode="json"),
        }
        print_json(denial)
        return
    typer.echo("denied", err=True)
    for reason in result.reasons:
        typer.echo(f"  {reason}", err=True)
    for choice in result.allowed:
        some = (f"{join_names(names)} of {iri}" for iri, names in choice.items())
        together = " together" if sum(map(len, choice.values())) > 1 else ""
        typer.echo(f"  this may be read{together}: {', and '.join(some)}", err=True)
    if result.suggestion:
        typer.echo(f"  this may be asked: {result.suggestion}", err=True)
