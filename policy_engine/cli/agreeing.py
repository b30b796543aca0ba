"""The command by which a party accepts an offer."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.options import (
    HierarchyOption,
    OverwriteOption,
    PolicyArgument,
    reads_policies,
)
from policy_engine.writing import write_whole

if TYPE_CHECKING:
    from policy_engine.policy import Reading


@reads_policies("parent")
def agree(
    offer: PolicyArgument,
    party: Annotated[str, typer.Option("--as", metavar="IRI", help="Who accepts the offer.")],
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Else printed.")] = None,
    uid: Annotated[
        str, typer.Option(metavar="IRI", help="The agreement's own; else one is made.")
    ] = "",
    hierarchy: HierarchyOption = [],  # noqa: B006
    overwrite: OverwriteOption = False,
    *,
    reading: "Reading",
) -> None:
    """Accept an offer: write the Agreement that it describes; exit 1 where it is to others."""
    from policy_engine.policy.agreeing import agree as agreed  # noqa: PLC0415

    found = agreed(
        offer,
        party,
        uid=uid,
        hierarchy=reading.hierarchy(hierarchy),
        contexts=reading.contexts,
        limits=reading.limits,
        vocabularies=reading.vocabularies,
    )
    for asset in sorted({rule.output for one in reading.policies(found) for rule in one.rules}):
        if asset:
            note = f"note: {asset} is made by one policy alone: beside another agreement of this "
            typer.echo(f"{note}offer this one is refused (P019).", err=True)
    if output is None:
        typer.echo(found, nl=False)
    else:
        write_whole(output, found, offer, overwrite=overwrite)
