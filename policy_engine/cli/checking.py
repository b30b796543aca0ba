"""The commands of output checking: `check TABLE...`, and what a checker does with a folder."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, print_unsigned
from policy_engine.cli.chains import printable
from policy_engine.cli.options import (
    CertificateOption,
    Format,
    FormatOption,
    HierarchyOption,
    LedgerKeyOption,
    NoiseKeyOption,
    OwnersOption,
    StatusOption,
    TrustOption,
)
from policy_engine.cli.parsing import exit_with_two, parse_names
from policy_engine.cli.reviewing import (
    AnswerDataOption,
    AnswerInputs,
    AnswerLedgerOption,
    AnswerPolicyOption,
    DecisionKeyOption,
    DecisionLogOption,
    LedgerHeadOption,
    OwnOption,
    accept_folder,
    is_answer,
    print_decided,
)
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.cli.table_options import with_table_options
from policy_engine.errors import PolicyEngineError

if TYPE_CHECKING:
    from policy_engine.api.checking_outputs import CheckedTables
    from policy_engine.policy import Reading
    from policy_engine.release.output_folder.steps import StepLog

checks = typer.Typer(
    help="Check results of analyses before they leave: `check TABLE...` judges finished tables, "
    "and a checker decides about folders of outputs.",
    no_args_is_help=True,
)
TABLES = "tables"
"""The command that `check TABLE...` is."""


class FigureKind(StrEnum):
    """What the figures of a finished table are."""

    COUNTS = "counts"
    TOTALS = "totals"
    MEANS = "means"


FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder that a session or `check --out` wrote.")
]
NameArgument = Annotated[str, typer.Argument(metavar="OUTPUT", help="The name of the output.")]
ReasonOption = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")]
ByOption = Annotated[str, typer.Option("--by", metavar="WHO", help="Who decides.")]
LogKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--log-key", metavar="FILE", help="The key that the folder's log is chained with."
    ),
]

ExpectOption = Annotated[
    str,
    typer.Option(
        metavar="HEAD",
        help="A head that the folder's log must still have: NUMBER:HASH, as each step prints it.",
    ),
]


@checks.command(TABLES)
@with_table_options("table", "counts", "data")
@with_reading_options()
def check_files(
    table: Annotated[
        list[Path],
        typer.Argument(metavar="TABLE...", help="Finished tables: CSV, Parquet or Excel."),
    ],
    policy: Annotated[
        Path | None,
        typer.Option("--policy", metavar="POLICY", help="A policy with an output check."),
    ] = None,
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="A profile: dwb-2015, sacro, abs, bundesbank ...")
    ] = "",
    kind: Annotated[
        FigureKind, typer.Option(help="The kind of figures. Say so if they are counts.")
    ] = FigureKind.TOTALS,
    counts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The number of units in each cell: a table with the same cells."
        ),
    ] = None,
    units: Annotated[
        bool,
        typer.Option("--units", metavar="", help="Counts are of units of privacy, not of rows."),
    ] = False,
    keys: Annotated[
        int, typer.Option(min=0, max=100, help="How many columns are labels; 0: those with words.")
    ] = 0,
    total: Annotated[str, typer.Option(metavar="LABEL", help="What totals are called.")] = "",
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The microdata, to compute the evidence from."),
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="COLUMNS", help="The columns that the table is grouped by.")
    ] = "",
    across: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="The column whose values are the columns of the table."
        ),
    ] = "",
    measure: Annotated[
        list[str],
        typer.Option(metavar="MEASURE", help="count, or an aggregate such as mean:income."),
    ] = [],  # noqa: B006
    unit: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column of the unit of privacy.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a folder for a checker to review.")
    ] = None,
    who: Annotated[str, typer.Option("--by-whom", metavar="WHO", help="Who asks.")] = "researcher",
    log_key: LogKeyOption = None,
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
) -> None:
    """Judge finished tables: exit 0 if all of each may leave, 1 otherwise.

    Without microdata, counts, totals and blank cells are judged; what needs more is for a person.
    With --data and --by, the evidence is computed. `check triage DIR` is also `check --triage DIR`.
    """
    from policy_engine.api.checking_outputs import TableRecipe, check_tables  # noqa: PLC0415

    has_recipe = bool(by or across or measure)
    with exit_with_two(PolicyEngineError):
        recipe = None
        if has_recipe:
            names = parse_names(by) if by else ()
            recipe = TableRecipe(names, tuple(measure) or ("count",), across)
        checked = check_tables(
            [*table],
            policy=policy,
            profile=profile,
            unit=unit,
            kind=kind.value,
            counts=counts,
            units=units,
            keys=keys,
            total=total,
            data=None if data is None else str(data),
            recipe=recipe,
            out=out,
            by=who,
            key=log_key,
            **reading.keywords,
        )
    _print_checked(checked, output_format)
    raise typer.Exit(0 if checked.is_released else 1)


def _print_checked(checked: "CheckedTables", output_format: Format) -> None:
    if output_format is Format.JSON:
        outputs = [
            {
                "name": one.name,
                "status": one.status,
                "whole": one.is_whole,
                "reasons": one.reasons,
                "suppressed": one.suppressed,
            }
            for one in checked.outputs
        ]
        released = {"profile": checked.profile, "released": checked.is_released}
        print_json({**released, "outputs": outputs})
        return
    for output in checked.outputs:
        typer.echo(printable_lines(str(output)))


def printable_lines(text: str) -> str:
    """Return a text whose lines a terminal shows as they are."""
    return "\n".join(map(printable, text.splitlines()))


@checks.command()
def review(
    folder: FolderArgument,
    log_key: LogKeyOption = None,
    expect: ExpectOption = "",
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Show where each output of a folder stands: exit 1 while one is open, 2 if it was changed."""
    from policy_engine.release.output_folder.folder import OutputFolder  # noqa: PLC0415

    with exit_with_two(PolicyEngineError):
        read = OutputFolder.read(folder, log_key, expect)
        read.check_files()
        standings = read.standings()
    if output_format is Format.JSON:
        print_json([_standing_json(one) for one in standings])
    else:
        for one in standings:
            typer.echo(printable(f"{one.output.name}: {one.word} ({_why(one)})"))
            for comment in one.output.comments:
                typer.echo(printable(f"  comment: {comment}"))
            if one.output.exception:
                typer.echo(printable(f"  exception asked for: {one.output.exception}"))
        typer.echo(f"the figures are on {folder / 'checker.html'}")
    _print_head(read.log, is_error=output_format is Format.JSON)
    raise typer.Exit(1 if any(one.word == "open" for one in standings) else 0)


def _print_head(log: "StepLog", *, is_error: bool = False) -> None:
    """Print the last step, to be kept elsewhere: it tells whether later ones were cut off."""
    typer.echo(f"head {log.head}", err=is_error)


def _why(one: Any) -> str:
    if one.decision is not None:
        return f"by {one.decision.by}: {one.decision.decided.reason}"
    codes = " ".join(one.output.verdict["reasons"])
    return f"{one.output.status} by the rules{': ' if codes else ''}{codes}"


def _standing_json(one: Any) -> dict[str, Any]:
    decision = one.decision
    return {
        "name": one.output.name,
        "standing": one.word,
        "status": one.output.status,
        "request": one.output.request,
        "reasons": dict(one.output.verdict["reasons"]),
        "comments": list(one.output.comments),
        "exception": one.output.exception,
        "decided": decision and {"by": decision.by, "reason": decision.decided.reason},
        "files": [file.path for file in one.files],
    }


@checks.command()
@with_table_options("data")
@with_reading_options()
def accept(
    folder: FolderArgument,
    output: NameArgument,
    reason: ReasonOption,
    by: ByOption,
    log_key: LogKeyOption = None,
    expect: ExpectOption = "",
    allow_own: OwnOption = False,
    policy: AnswerPolicyOption = [],  # noqa: B006
    data: AnswerDataOption = [],  # noqa: B006
    ledger: AnswerLedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    expect_ledger: LedgerHeadOption = "",
    noise_key: NoiseKeyOption = None,
    certificate: CertificateOption = [],  # noqa: B006
    hierarchy: HierarchyOption = [],  # noqa: B006
    owners: OwnersOption = None,
    decision_log: DecisionLogOption = None,
    decision_log_key: DecisionKeyOption = None,
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
    *,
    reading: "Reading",
) -> None:
    """Accept an output, with what the rules hold back for a person: it leaves with the others.

    The answer to a query is computed again, and entered in the ledger of earlier answers: it is
    refused, with a code, if it would tell with these what is withheld.
    """
    from policy_engine.release.output_folder.folder import OutputFolder  # noqa: PLC0415

    words = {"reason": reason, "by": by, "is_own_allowed": allow_own}
    with exit_with_two(PolicyEngineError):
        if not is_answer(folder, log_key, expect):
            _decide(folder, output, (log_key, expect), accepts=True, **words)
            return
        more = {
            "key": log_key,
            "expect": expect,
            "output_ledger_key": ledger_key,
            "output_ledger_head": expect_ledger,
            "noise_key": noise_key,
            "certificates": certificate,
            "hierarchy": reading.hierarchy(hierarchy),
            "owners": owners,
            "log": decision_log,
            "log_key": decision_log_key,
            "trust": trust,
            "status": status,
        }
        print_unsigned(trust, is_data=True)
        inputs = AnswerInputs(policy, data, ledger, more)
        print_decided(accept_folder(folder, inputs, reading, **words))
        _print_head(OutputFolder.read(folder, log_key).log)


@checks.command()
def reject(
    folder: FolderArgument,
    output: NameArgument,
    reason: ReasonOption,
    by: ByOption,
    log_key: LogKeyOption = None,
    expect: ExpectOption = "",
    allow_own: OwnOption = False,
) -> None:
    """Reject an output: it stays."""
    words = {"reason": reason, "by": by, "is_own_allowed": allow_own}
    with exit_with_two(PolicyEngineError):
        _decide(folder, output, (log_key, expect), accepts=False, **words)


def _decide(
    folder: Path, output: str, log: tuple[Path | None, str], *, accepts: bool, **words: Any
) -> None:
    from policy_engine.release.output_folder.folder import OutputFolder  # noqa: PLC0415

    read = OutputFolder.read(folder, *log)
    print_decided(read.decide(output, accepts=accepts, **words))
    _print_head(read.log)


@checks.command()
def release(
    folder: FolderArgument,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where to; it is made.")],
    by: ByOption = "checker",
    log_key: LogKeyOption = None,
    expect: ExpectOption = "",
) -> None:
    """Copy what is released or accepted to a new folder: all of it, or nothing."""
    from policy_engine.release.output_folder.folder import OutputFolder  # noqa: PLC0415

    with exit_with_two(PolicyEngineError):
        read = OutputFolder.read(folder, log_key, expect)
        released = read.release(to, by=by)
    for name in released:
        typer.echo(printable(f"{to / name}"))
    _print_head(read.log)


@checks.command()
def triage(
    folder: FolderArgument,
    past: Annotated[
        list[Path],
        typer.Option(metavar="DIR", help="Folders about which decisions were made, to learn from."),
    ] = [],  # noqa: B006
    log_key: LogKeyOption = None,
    expect: ExpectOption = "",
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Order what a person has to look at: what a look is worth most at is first.

    What is learnt orders the queue and decides nothing.
    """
    from policy_engine.api.ordering_outputs import order_folder  # noqa: PLC0415

    with exit_with_two(PolicyEngineError):
        queue = order_folder(folder, past, log_key, expect)
    if output_format is Format.JSON:
        print_json(
            {
                "learnt_from": queue.source,
                "outputs": [
                    {"name": one.name, "doubt": one.doubt, "novel": one.is_novel,
                     "reasons": [*one.reasons]}
                    for one in queue.places
                ],
            }
        )  # fmt: skip
        return
    typer.echo(f"learnt from {queue.source}")
    for number, one in enumerate(queue.places, 1):
        typer.echo(printable(f"{number}. {one.name}"))
        for reason in one.reasons:
            typer.echo(printable(f"   {reason}"))
