"""The command that answers SQL under policies."""

import json
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, print_notes, print_unsigned, problem_json
from policy_engine.cli.options import (
    AssigneeOption,
    CertificateOption,
    DataOption,
    HierarchyOption,
    LedgerKeyOption,
    LogKeyOption,
    LogOption,
    NoiseKeyOption,
    OverwriteOption,
    OwnersOption,
    PolicyOption,
    PurposeOption,
    StatusOption,
    TaxonomyOption,
    TimeOption,
    TrustOption,
    WorldOption,
)
from policy_engine.cli.parsing import check_keys, exit_with_two, parse_paths
from policy_engine.cli.reviewing import (
    CommentOption,
    ExceptionOption,
    ReviewOption,
    asked_review,
    send_for_review,
)
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.cli.table_options import with_table_options
from policy_engine.data.atomic_file import check_destination, check_private, write_file
from policy_engine.errors import PolicyEngineError, RequestError, format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from policy_engine.audits.outputs.alternatives import MitigationComparison
    from policy_engine.decision.query.checking.checked_answer import CheckedAnswer
    from policy_engine.decision.query.model import QueryResult, StatisticsCost
    from policy_engine.policy import Reading


EpsilonOption = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="Ask for statistics under differential privacy that lose at most this: noise is "
        "drawn, and charged to the ledger.",
    ),
]
DeltaOption = Annotated[
    str, typer.Option(metavar="NUMBER", help="The delta for statistics, with --epsilon.")
]


QueryLedgerOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help="The ledger of earlier answers: what has to pass output checks is checked against "
        "them and recorded, and never answered without; with --epsilon, the ledger of budgets. It "
        "is made if there is none.",
    ),
]


ExpectOption = Annotated[
    str,
    typer.Option(
        metavar="HEAD",
        help="An earlier head that the ledger of answers must still contain, NUMBER:HASH: another "
        "ledger, such as a new one because of a mistyped path, is refused.",
    ),
]


AlternativesOption = Annotated[
    bool,
    typer.Option(
        "--alternatives",
        metavar="",
        help="For the owner, in place of an answer: what suppression, rounding, noise (under "
        "differential privacy, by --epsilon or 1) and coarser groups would cost of each figure on "
        "this table. It tells how many small cells there are, so it is never "
        "for the assignee.",
    ),
]


class RowFormat(StrEnum):
    """How to print rows."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"


@with_table_options("data")
@with_reading_options()
def query(
    sql: Annotated[
        str, typer.Argument(metavar="SQL", help="One SELECT statement; WITH and UNION are allowed.")
    ],
    policy: PolicyOption,
    assignee: AssigneeOption,
    data: DataOption,
    purpose: PurposeOption = "",
    dialect: Annotated[
        str,
        typer.Option(metavar="NAME", help="The SQL dialect: duckdb, spark, postgres, mysql ..."),
    ] = "duckdb",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            metavar="",
            help="Print the query as it would run, without running it; of statistics, what would "
            "be charged to the ledger; of an answer to be checked, by what.",
        ),
    ] = False,
    certificate: CertificateOption = [],  # noqa: B006
    hierarchy: HierarchyOption = [],  # noqa: B006
    owners: OwnersOption = None,
    log: LogOption = None,
    log_key: LogKeyOption = None,
    epsilon: EpsilonOption = "",
    delta: DeltaOption = "",
    ledger: QueryLedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    expect: ExpectOption = "",
    noise_key: NoiseKeyOption = None,
    alternatives: AlternativesOption = False,
    taxonomy: TaxonomyOption = [],  # noqa: B006
    world: WorldOption = None,
    time: TimeOption = "",
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
    output_format: Annotated[
        RowFormat, typer.Option("--format", help="The output format.")
    ] = RowFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rows to this file instead of printing them."),
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what the output checks know of each cell to this file, which its owner "
            "alone can read: it is not for who asked.",
        ),
    ] = None,
    review: ReviewOption = None,
    comment: CommentOption = "",
    exception: ExceptionOption = "",
    overwrite: OverwriteOption = False,
    memory: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="The memory that it may use, such as 2GB; by default half of what there is.",
        ),
    ] = "",
    seconds: Annotated[
        float | None,
        typer.Option(metavar="N", min=0.1, help="The time limit for the query."),
    ] = None,
    *,
    reading: "Reading",
) -> None:
    """Run a query on the rows and columns that a rule permits, shuffled: exit 1 if denied.

    Where a rule lets only what passes an output check be read, aggregates are answered cell by
    cell: exit 0 if any is released. With --epsilon, it asks for statistics under differential
    privacy, and is answered with noise.
    """
    from policy_engine.api.deciding import load_time, load_world, query_data  # noqa: PLC0415
    from policy_engine.data.table_files import file_format  # noqa: PLC0415
    from policy_engine.decision.query.query_limits import query_limits  # noqa: PLC0415

    check_keys(log, log_key)
    paths = parse_paths(data)
    with exit_with_two(PolicyEngineError), query_limits(memory, seconds):
        if output is not None and alternatives:
            message = "--alternatives prints its table. It cannot be written to a file by --output."
            raise RequestError.of("D003", message)
        if output is not None:
            file_format(output)
            # What cannot be written must not be paid for.
            check_destination(output, *map(Path, paths.values()), overwrite=overwrite)
        if evidence is not None:
            check_private(evidence, *map(Path, paths.values()), overwrite=overwrite)
        wanted = asked_review(review, comment, exception)
        print_unsigned(trust, is_data=True)
        policies = reading.policies_in_force(*policy, time=load_time(world, time))
        print_notes(policies)
        # A delta without an epsilon is refused there.
        is_noisy = bool(epsilon or delta)
        result = query_data(
            sql,
            policies,
            assignee,
            paths,
            purpose,
            certificates=certificate,
            hierarchy=reading.hierarchy(hierarchy),
            world=load_world(world, time, policies),
            dialect=dialect,
            run=not dry_run,
            owners=owners,
            log=log,
            log_key=log_key,
            epsilon=epsilon or None,
            delta=delta or 0,
            ledger=ledger if is_noisy else None,
            ledger_key=ledger_key if is_noisy else None,
            output_ledger=None if is_noisy else ledger,
            output_ledger_key=None if is_noisy else ledger_key,
            output_ledger_head=expect,
            noise_key=noise_key,
            alternatives=alternatives,
            review=wanted,
            taxonomies=parse_paths(taxonomy, "--taxonomy"),
            trust=trust,
            status=status,
            **reading.keywords,
        )
        if result.permitted or result.checked:
            inputs = [Path(path) for path in paths.values()]
            if evidence is not None:
                _write_evidence(result, sql, evidence, inputs, overwrite=overwrite)
            if review is not None:
                send_for_review(result, sql, review, (comment, exception), dialect)
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
    if result.comparisons:
        _print_comparisons(result.comparisons, output_format)
    elif result.checked is not None:
        _print_checked(result.checked, output_format, output, inputs, overwrite=overwrite)
    elif result.cost is not None:
        _print_statistics(result, result.cost, output_format, output, inputs, overwrite=overwrite)
    elif result.table is None:
        _print_text(result, output_format)
        if _NAN_AS_NULL.search(result.sql):
            typer.echo("note: CASE WHEN c <= 0 OR -c < 0 reads NaN as a missing value", err=True)
    elif output is not None:
        rows.write_rows(result.table, output, *inputs, overwrite=overwrite)
        typer.echo(f"{format_count(result.table.num_rows, 'row')} written: {output}", err=True)
    elif output_format is RowFormat.JSON:
        print_json(rows.as_json(result.table))
    elif output_format is RowFormat.CSV:
        typer.echo(rows.as_csv(result.table).encode(), nl=False)
    else:
        _print_table(result.table)


def _write_evidence(
    result: "QueryResult", sql: str, path: Path, inputs: list[Path], *, overwrite: bool
) -> None:
    """Write the evidence of a checked answer to a file that its owner alone can read."""
    if result.checked is None:
        typer.echo("note: no output was checked, so there is no evidence to write", err=True)
        return
    from policy_engine.decision.query.checking.answer_evidence import (  # noqa: PLC0415
        evidence_json,
    )

    document = evidence_json(result.checked, sql, result.decision)
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_file(path, text, *inputs, overwrite=overwrite, private=True)


def _print_text(result: "QueryResult", output_format: RowFormat) -> None:
    """Print a query that was not run, and the check that its answer would have to pass."""
    from policy_engine.cli.tables.checked_answers import check_json, check_line  # noqa: PLC0415

    if output_format is RowFormat.JSON:
        check = {"check": check_json(result.check)} if result.check else {}
        print_json({"sql": result.sql, **check})
        return
    typer.echo(result.sql)
    if result.check:
        typer.echo(check_line(result.check), err=True)


def _print_checked(
    checked: "CheckedAnswer",
    output_format: RowFormat,
    output: Path | None,
    inputs: list[Path],
    *,
    overwrite: bool,
) -> None:
    """Print the rows of a checked answer, and why some of its cells are not shown."""
    from policy_engine.cli.tables.checked_answers import (  # noqa: PLC0415
        begun_line,
        checked_lines,
        checked_texts,
    )
    from policy_engine.cli.tables.tables import console, print_fitting, rows_table  # noqa: PLC0415
    from policy_engine.decision.query import rows  # noqa: PLC0415
    from policy_engine.decision.query.checking.released_json import (  # noqa: PLC0415
        checked_json,
    )

    table = checked.table
    if checked.recorded.is_begun:
        typer.echo(begun_line(checked), err=True)
    if output is not None and checked.is_released:
        rows.write_rows(table, output, *inputs, overwrite=overwrite)
        typer.echo(f"{format_count(table.num_rows, 'row')} written: {output}", err=True)
    if output_format is RowFormat.JSON:
        print_json(checked_json(checked, with_rows=output is None))
        return
    if output is None and output_format is RowFormat.CSV:
        typer.echo(rows.as_csv(table).encode(), nl=False)
    elif output is None:
        texts = list(checked_texts(checked, _MOST_ROWS))
        title = format_count(table.num_rows, "row")
        print_fitting(console(), rows_table(title, tuple(table.column_names), texts))
    for line in checked_lines(checked):
        typer.echo(line, err=output_format is RowFormat.CSV)


def _print_comparisons(
    comparisons: "Sequence[MitigationComparison]", output_format: RowFormat
) -> None:
    """Print what each way of protecting the figures of an answer would cost."""
    from policy_engine.cli.tables.mitigation_costs import (  # noqa: PLC0415
        comparison_table,
        comparisons_json,
    )
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    if output_format is RowFormat.JSON:
        print_json(comparisons_json(comparisons))
        return
    for comparison in comparisons:
        print_fitting(console(), comparison_table(comparison))
        if comparison.suggestion:
            typer.echo(comparison.suggestion)
    typer.echo("for the owner: these figures tell how many small cells there are")


def _print_statistics(
    result: "QueryResult",
    cost: "StatisticsCost",
    output_format: RowFormat,
    output: Path | None,
    inputs: list[Path],
    *,
    overwrite: bool,
) -> None:
    """Print rows with noise, and what they cost; without rows, what they would cost."""
    from policy_engine.cli.tables.statistics import cost_json, cost_line  # noqa: PLC0415
    from policy_engine.decision.query import rows  # noqa: PLC0415

    table, is_json = result.table, output_format is RowFormat.JSON
    if output is not None and table is not None:
        rows.write_rows(table, output, *inputs, overwrite=overwrite)
        typer.echo(f"{format_count(table.num_rows, 'row')} written: {output}", err=True)
    if is_json:
        answer = {} if table is None or output else {"rows": rows.as_json(table)}
        print_json({**answer, **cost_json(cost, is_drawn=table is not None)})
        return
    if table is not None and output is None and output_format is RowFormat.CSV:
        typer.echo(rows.as_csv(table).encode(), nl=False)
    elif table is not None and output is None:
        _print_table(table)
    typer.echo(cost_line(cost, is_drawn=table is not None), err=output_format is RowFormat.CSV)


_NAN_AS_NULL = re.compile(r"CASE WHEN (\S+) <= 0 OR -\s*\1 < 0 THEN \1 END")


def _print_table(table: Any) -> None:
    from policy_engine.cli.tables.tables import console, print_fitting, rows_table  # noqa: PLC0415
    from policy_engine.decision.query.rows import as_texts  # noqa: PLC0415

    title = format_count(table.num_rows, "row")
    rows = list(as_texts(table.slice(0, _MOST_ROWS)))
    print_fitting(console(), rows_table(title, tuple(table.column_names), rows))
    if table.num_rows > _MOST_ROWS:
        more = f"and {format_count(table.num_rows - _MOST_ROWS, 'more row')}; "
        typer.echo(f"{more}--format csv or --output FILE gives all")


_MOST_ROWS = 1_000
"""As text, of which a terminal takes a millisecond for every row and column."""


def _print_denial(result: "QueryResult", output_format: RowFormat) -> None:
    if output_format is RowFormat.JSON:
        denial = {
            "permitted": False,
            "reasons": [*map(problem_json, result.reasons)],
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
