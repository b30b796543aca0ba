"""The command that reads policies strictly."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import plain, print_json
from policy_engine.cli.hints import with_options
from policy_engine.cli.options import (
    DataOption,
    OwnersOption,
    PoliciesArgument,
    ProblemFormat,
    paths_of,
    reads_policies,
)
from policy_engine.errors import Problem, locate

if TYPE_CHECKING:
    from policy_engine.policy import Reading


@reads_policies()
def validate(
    policies: PoliciesArgument,
    output_format: Annotated[
        ProblemFormat, typer.Option("--format", help="How to print.")
    ] = ProblemFormat.TEXT,
    data: DataOption = [],  # noqa: B006
    owners: OwnersOption = None,
    *,
    reading: "Reading",
) -> None:
    """Read policies strictly: exit 0, or 1 with every problem and its place, 2 if it cannot run.

    Several are a set: their outputs have to be their own to name. Of a folder or a registry, the
    policies that are in force now are read. With --data, the columns that they name have to be
    there; with --owners, the rules that do not count are told.
    """
    from policy_engine.authoring.validating import check_files  # noqa: PLC0415

    checked = check_files(policies, reading, paths_of(data), owners)
    if output_format is ProblemFormat.SARIF:
        from policy_engine.authoring.sarif import sarif_log  # noqa: PLC0415

        found = {
            str(one.path): [*map(with_options, (*one.problems, *one.hints))] for one in checked
        }
        print_json(sarif_log(found))
    elif output_format is ProblemFormat.JSON:
        print_json([_as_json(one) for one in checked])
    else:
        for one in checked:
            _print(one)
    raise typer.Exit(max(one.exit_code for one in checked))


def _as_json(one: Any) -> dict[str, Any]:
    return {
        "file": str(one.path),
        "valid": not one.problems,
        "problems": [*map(plain, one.problems)],
        "hints": [*map(plain, one.hints)],
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
