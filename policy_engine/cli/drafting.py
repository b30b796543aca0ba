"""The command that writes a first policy for a table."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, progress_bar
from policy_engine.cli.options import Format, FormatOption, OverwriteOption
from policy_engine.cli.parsing import usage_error
from policy_engine.cli.shared_options import with_quiet_option
from policy_engine.cli.table_options import with_table_options

if TYPE_CHECKING:
    from policy_engine.api.drafting import DraftedPolicy
    from policy_engine.authoring.first_policy import PolicyNames


@with_table_options("data")
@with_quiet_option
def init(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="The table: a file, or a folder of files.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the policy: .yaml for the short form, .jsonld or another ending "
            "for ODRL. Default: the name of the data, in the current folder.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Take every proposal, and ask no questions.")
    ] = False,
    k: Annotated[
        int | None, typer.Option(min=2, help="At least this many rows share what they release.")
    ] = None,
    namespace: Annotated[
        str,
        typer.Option(
            metavar="IRI", help="The beginning of the IRIs of the policy's own parties and assets."
        ),
    ] = "http://example.com/",
    assignee: Annotated[
        str, typer.Option(metavar="NAME", help="Who may read the release: an IRI, or a name.")
    ] = "researchers",
    purpose: Annotated[
        str, typer.Option(metavar="NAME", help="For which purpose: an IRI, or a name.")
    ] = "dpv:ResearchAndDevelopment",
    overwrite: OverwriteOption = False,
    output_format: FormatOption = Format.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Look at a table, and write a first policy, its taxonomies and tests; nothing leaves the
    machine.

    On a terminal, each proposal is a question; --yes takes all of them.
    """
    from policy_engine.api.drafting import draft_policy  # noqa: PLC0415 (slow to import)
    from policy_engine.authoring.first_policy import PolicyNames  # noqa: PLC0415

    is_json = as_json or output_format is Format.JSON
    names = PolicyNames(namespace, "", assignee, purpose)
    parts: dict[str, str] = {}
    if not yes:
        if is_json or not _is_terminal():
            message = "Questions are asked on a terminal. Without one, give --yes."
            raise usage_error(message)
        parts, names = _answers(data, names)
    with progress_bar() as progress:
        stem = output.name.partition(".")[0] if output else ""
        drafted = draft_policy(data, name=stem, names=names, parts=parts, k=k, progress=progress)
    path = output or Path(f"{drafted.name}.yaml")
    written = drafted.write(path, Path(data), overwrite=overwrite)
    if is_json:
        print_json(_as_json(drafted, written))
    else:
        _print(drafted, written, data)


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _answers(data: str, names: "PolicyNames") -> "tuple[dict[str, str], PolicyNames]":
    """Return what a person says of the columns and of who may read them, proposals first."""
    from policy_engine.api.drafting import propose_parts  # noqa: PLC0415
    from policy_engine.cli.questions import ask_names, ask_parts  # noqa: PLC0415

    return ask_parts(propose_parts(data)), ask_names(names)


def _as_json(drafted: "DraftedPolicy", written: tuple[Path, ...]) -> dict[str, Any]:
    columns = [
        {
            "name": one.name,
            "part": one.part,
            "reason": one.reason,
            "figures": one.figures,
            "generalization": one.generalization or None,
            "tells_persons": one.tells_persons,
            "warning": one.warning or None,
        }
        for one in drafted.policy.columns
    ]
    return {
        "policy": str(written[0]),
        "files": [str(path) for path in written],
        "columns": columns,
        "k": drafted.chosen_k,
        "tried_rows": drafted.tried_rows,
        "unique_kept": drafted.unique_kept,
        "warnings": list(drafted.warnings),
        "settings": [run.model_dump(mode="json") for run in drafted.runs],
    }


def _print(drafted: "DraftedPolicy", written: tuple[Path, ...], data: str) -> None:
    from policy_engine.cli.tables.comparisons import runs_tables  # noqa: PLC0415
    from policy_engine.cli.tables.drafts import columns_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415
    from policy_engine.data.places.copies import origin_of  # noqa: PLC0415
    from policy_engine.data.places.spelling import redacted  # noqa: PLC0415

    print_fitting(console(), columns_table(drafted.policy.columns))
    for table in runs_tables(drafted.runs):
        print_fitting(console(), table)
    place = shlex.quote(redacted(origin_of(data)))
    left_out = [
        one.name.strip() or "(no name)" for one in drafted.policy.columns if one.part == "left out"
    ]
    lines = [f"left out, not released: {', '.join(left_out)}"] if left_out else []
    lines += [f"look at this: {one}" for one in drafted.warnings]
    kept = ", ".join(one.name for one in drafted.policy.columns if one.part == "sensitive")
    if kept:
        lines.append(f"kept exact: {kept}; {drafted.unique_kept:,} rows are unique on that")
    lines += [f"tried on {drafted.tried_rows:,} rows; k = {drafted.chosen_k} is proposed"]
    lines += [f"written: {path}" for path in written]
    lines += [
        "next:",
        f"  policy-engine apply {written[0]} --data {place} --output release",
        f"  policy-engine test {written[1]}",
    ]
    for line in lines:
        console().print(line, markup=False, soft_wrap=True)
