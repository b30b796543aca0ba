"""The command that reads policies strictly."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, problem_json
from policy_engine.cli.hints import with_options
from policy_engine.cli.options import DataOption, OwnersOption, PoliciesArgument, ProblemFormat
from policy_engine.cli.parsing import parse_paths
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.cli.table_options import with_table_options
from policy_engine.errors import Problem, locate

if TYPE_CHECKING:
    from policy_engine.policy import Reading


@with_table_options("data")
@with_reading_options()
def validate(
    policies: PoliciesArgument,
    output_format: Annotated[
        ProblemFormat, typer.Option("--format", help="The output format.")
    ] = ProblemFormat.TEXT,
    data: DataOption = [],  # noqa: B006
    owners: OwnersOption = None,
    *,
    reading: "Reading",
) -> None:
    """Check policies: exit 0 if they are valid, 1 with every problem and its place, else 2.

    Several policies are checked as one set; of a folder or a registry, those in force now. With
    --data, also check that the columns they name exist; with --owners, also list the rules that do
    not count.
    """
    if owners is None:
        from policy_engine.authoring.validating import check_files  # noqa: PLC0415

        checked = check_files(policies, reading, parse_paths(data))
    else:
        from policy_engine.authoring.ownership import check_owned_files  # noqa: PLC0415

        checked = check_owned_files(policies, reading, owners, parse_paths(data))
    if output_format is ProblemFormat.SARIF:
        from policy_engine.authoring.sarif import sarif_log  # noqa: PLC0415

        problems = {
            str(one.path): [*map(with_options, (*one.problems, *one.hints))] for one in checked
        }
        print_json(sarif_log(problems))
    elif output_format is ProblemFormat.JSON:
        print_json([_file_json(one) for one in checked])
    else:
        for one in checked:
            _print(one)
    raise typer.Exit(max(one.exit_code for one in checked))


def _file_json(one: Any) -> dict[str, Any]:
    return {
        "file": str(one.path),
        "valid": not one.problems,
        "problems": [*map(problem_json, one.problems)],
        "hints": [*map(problem_json, one.hints)],
        **({"notes": one.notes} if one.notes else {}),
    }


def _print(one: Any) -> None:
    name = str(one.path)
    for problem in one.problems:
        typer.echo(_line(problem, name))
    for hint in one.hints:
        typer.echo(_line(hint, name), err=True)
    for note in one.notes:
        typer.echo(f"note: {note}", err=True)
    if not one.problems:
        typer.echo(f"{name}: valid{one.what}")


def _line(problem: Problem, name: str) -> str:
    """Return a problem on a line, with the section of the specification that it is about."""
    return locate(with_options(problem), name) + (
        f" [{problem.section}]" if problem.section else ""
    )
