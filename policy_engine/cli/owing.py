"""The commands of duties: `fulfil` records that one was done, `duties` lists what is owed."""

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
    TimeOption,
    reads_policies,
)

if TYPE_CHECKING:
    from policy_engine.policy import Reading

OfLogOption = Annotated[
    Path, typer.Option("--log", metavar="FILE", help="The decision log: .jsonl or .sqlite.")
]


@reads_policies()
def fulfil(
    policy: PolicyOption,
    duty: Annotated[
        str, typer.Option(metavar="IRI", help="The duty's uid, or its label where it has none.")
    ],
    by: Annotated[str, typer.Option(metavar="IRI", help="Who did it.")],
    log: OfLogOption,
    evidence: Annotated[
        str, typer.Option(metavar="TEXT", help="What shows that; it is kept in the log.")
    ] = "",
    violated: Annotated[
        bool,
        typer.Option(
            "--violated", metavar="", help="It was violated; of a prohibition, it was infringed."
        ),
    ] = False,
    of: Annotated[
        str, typer.Option(metavar="IRI", help="The policy, where several have such a duty.")
    ] = "",
    time: TimeOption = "",
    hierarchy: HierarchyOption = [],  # noqa: B006
    log_key: LogKeyOption = None,
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
) -> None:
    """Record in the log that a duty was fulfilled, or violated, and by whom."""
    from policy_engine.api.deciding import fulfil_duty, time_at  # noqa: PLC0415

    moment = time_at(time=time)
    policies = reading.in_force(*policy, time=moment)
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


@reads_policies()
def duties(
    policy: PolicyOption,
    log: OfLogOption,
    time: TimeOption = "",
    hierarchy: HierarchyOption = [],  # noqa: B006
    log_key: LogKeyOption = None,
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
) -> None:
    """List what is owed by whom until when: outstanding, violated and fulfilled duties."""
    from policy_engine.api.deciding import list_duties, time_at  # noqa: PLC0415

    moment = time_at(time=time)
    policies = reading.in_force(*policy, time=moment)
    print_notes(policies)
    found = list_duties(
        policies,
        log,
        reading.hierarchy(hierarchy),
        time=moment,
        log_key=log_key,
    )
    if output_format is Format.JSON:
        print_json([one.model_dump(mode="json") for one in found])
        return
    from policy_engine.cli.tables.owing import dues_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console  # noqa: PLC0415

    console().print(dues_table(found))
