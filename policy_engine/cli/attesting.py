"""The command by which a person vouches for an output that no engine can certify."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.answers import print_json
from policy_engine.cli.options import Format, FormatOption, OverwriteOption, reads_policies

if TYPE_CHECKING:
    from policy_engine.policy import Reading


@reads_policies()
def attest(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy of the output.")],
    output: Annotated[
        Path, typer.Option(metavar="FILE_OR_DIR", help="The output; its sha-256 is attested.")
    ],
    by: Annotated[str, typer.Option(metavar="IRI", help="Who attests it.")],
    asset: Annotated[
        str, typer.Option(metavar="IRI", help="Which output it is, where the policy has several.")
    ] = "",
    evidence: Annotated[
        str, typer.Option(metavar="TEXT", help="By what: a report, a ticket, a review.")
    ] = "",
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where it goes; else OUTPUT.attestation.json."),
    ] = None,
    overwrite: OverwriteOption = False,
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
) -> None:
    """Vouch for the output of a derive or an aggregate, for --certificate of decide and query.

    What is anonymised or trained is certified when it is made, and never attested.
    """
    from policy_engine.api.deciding import attest_output  # noqa: PLC0415
    from policy_engine.certificate.attestation import ATTESTATION  # noqa: PLC0415

    file = to or output.with_name(f"{output.name}{ATTESTATION}")
    made = attest_output(
        policy,
        output,
        by,
        asset=asset,
        evidence=evidence,
        file=file,
        overwrite=overwrite,
        **reading.keywords,
    )
    if output_format is Format.JSON:
        print_json(made.model_dump(mode="json"))
    else:
        typer.echo(f"{made.asset}: {made.line()}")
        typer.echo(f"written: {file}")
