"""The command by which a party accepts an offer."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.options import HierarchyOption, OverwriteOption, PolicyArgument
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.data.atomic_file import write_file
from policy_engine.terms import compact

if TYPE_CHECKING:
    from policy_engine.policy import Policy, Reading


@with_reading_options("parent")
def agree(
    offer: PolicyArgument,
    party: Annotated[str, typer.Option("--as", metavar="IRI", help="Who accepts the offer.")],
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file instead of printing.")
    ] = None,
    uid: Annotated[
        str, typer.Option(metavar="IRI", help="The agreement's uid. Default: a generated one.")
    ] = "",
    hierarchy: HierarchyOption = [],  # noqa: B006
    overwrite: OverwriteOption = False,
    *,
    reading: "Reading",
) -> None:
    """Accept an offer and write the agreement: exit 1 if the offer is for others."""
    from policy_engine.policy.agreeing import agree as agreed  # noqa: PLC0415

    agreement_text = agreed(
        offer,
        party,
        uid=uid,
        hierarchy=reading.hierarchy(hierarchy),
        contexts=reading.contexts,
        limits=reading.limits,
        vocabularies=reading.vocabularies,
    )
    for line in _notes(reading.policy(agreement_text)):
        typer.echo(f"note: {line}", err=True)
    if output is None:
        typer.echo(agreement_text, nl=False)
    else:
        write_file(output, agreement_text, offer, overwrite=overwrite)


def _notes(agreement: "Policy") -> Iterator[str]:
    """Yield the notes on an agreement: its outputs, and the duties that it brings."""
    for asset in sorted({rule.output for rule in agreement.rules} - {""}):
        yield (
            f"{asset} is made by one policy alone: beside another agreement of this offer this "
            "one is refused (P019)."
        )
    duties = [
        *agreement.obligations,
        *(one for rule in agreement.permissions for one in rule.duties),
    ]
    for duty in duties:
        actions = " and ".join(compact(action.iri) for action in duty.actions)
        name = shlex.quote(duty.label())
        yield f"its {duty.kind} {actions} is to be fulfilled: fulfil --duty {name}"
