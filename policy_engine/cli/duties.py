"""The commands of duties: `fulfil` records that one was done, `duties` lists the outstanding
ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.answers import print_json, print_notes
from policy_engine.cli.options import (
    Format,
    FormatOption,
    HierarchyOption,
    LogKeyOption,
    PolicyOption,
)
from policy_engine.cli.shared_options import with_reading_options

if TYPE_CHECKING:
    from policy_engine.policy import Reading

OfLogOption = Annotated[
    Path, typer.Option("--log", metavar="FILE", help="The decision log (.jsonl or .sqlite).")
]


@with_reading_options()
def fulfil(
    policy: PolicyOption,
    duty: Annotated[
        str, typer.Option(metavar="IRI", help="The duty's uid, or its label if it has none.")
    ],
    by: Annotated[str, typer.Option(metavar="IRI", help="Who fulfilled or violated it.")],
    log: OfLogOption,
    evidence: Annotated[
        str, typer.Option(metavar="TEXT", help="What proves it; stored in the log.")
    ] = "",
    violated: Annotated[
        bool,
        typer.Option(
            "--violated", metavar="", help="Record a violation; for a prohibition, an infringement."
        ),
    ] = False,
    of: Annotated[
        str, typer.Option(metavar="IRI", help="The policy, if several have a duty of that name.")
    ] = "",
    time: Annotated[
        str,
        typer.Option(metavar="TIME", help="When it was done (ISO 8601). Default: now."),
    ] = "",
    hierarchy: HierarchyOption = [],  # noqa: B006
    log_key: LogKeyOption = None,
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
) -> None:
    """Record in the log that a duty was fulfilled, or violated, and by whom."""
    from policy_engine.api.deciding import fulfil_duty, load_time  # noqa: PLC0415

    moment = load_time(time=time)
    policies = reading.policies_in_force(*policy, time=moment)
    entry = fulfil_duty(
        policies,
        duty,
        by,
        log,
        evidence=evidence,
        violated=violated,
        of=of,
        time=moment,
        log_key=log_key,
        hierarchy=reading.hierarchy(hierarchy),
    )
    if output_format is Format.JSON:
        print_json(entry.model_dump(mode="json", exclude_none=True))
    elif entry.deed:
        name, who = entry.deed.duty, entry.deed.by
        typer.echo(f"{name}: {entry.deed.state} by {who} (entry {entry.number} of {log})")


@with_reading_options()
def duties(
    policy: PolicyOption,
    log: OfLogOption,
    time: Annotated[
        str,
        typer.Option(metavar="TIME", help="List duties as of this time (ISO 8601). Default: now."),
    ] = "",
    hierarchy: HierarchyOption = [],  # noqa: B006
    log_key: LogKeyOption = None,
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
) -> None:
    """List duties: outstanding, violated and fulfilled, by whom and until when."""
    from policy_engine.api.deciding import list_duties, load_time  # noqa: PLC0415

    moment = load_time(time=time)
    policies = reading.policies_in_force(*policy, time=moment)
    print_notes(policies)
    dues = list_duties(
        policies,
        log,
        reading.hierarchy(hierarchy),
        time=moment,
        log_key=log_key,
    )
    if output_format is Format.JSON:
        print_json([one.model_dump(mode="json") for one in dues])
        return
    from policy_engine.cli.tables.duties import dues_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    print_fitting(console(), dues_table(dues))
