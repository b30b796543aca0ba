"""The command by which a person vouches for an output that no engine can certify."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.answers import print_json
from policy_engine.cli.options import Format, FormatOption, OverwriteOption, SignOption
from policy_engine.cli.shared_options import with_reading_options

if TYPE_CHECKING:
    from policy_engine.policy import Reading


@with_reading_options()
def attest(
    policy: Annotated[
        Path, typer.Argument(metavar="POLICY", help="The policy that asks for the output.")
    ],
    output: Annotated[
        Path, typer.Option(metavar="FILE_OR_DIR", help="The output; its SHA-256 is attested.")
    ],
    by: Annotated[str, typer.Option(metavar="IRI", help="Who vouches for it.")],
    asset: Annotated[
        str, typer.Option(metavar="IRI", help="Which output, if the policy has several.")
    ] = "",
    evidence: Annotated[
        str, typer.Option(metavar="TEXT", help="What it is based on: a report, a ticket, a review.")
    ] = "",
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write the attestation. Default: OUTPUT.attestation.json."
        ),
    ] = None,
    sign: SignOption = None,
    overwrite: OverwriteOption = False,
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
) -> None:
    """Vouch for an output of derive or aggregate, to be given to decide and query as --certificate.

    Outputs that are anonymised or trained are certified when they are made, never attested.
    """
    from policy_engine.api.deciding import attest_output  # noqa: PLC0415
    from policy_engine.certificate.attestation import ATTESTATION  # noqa: PLC0415

    file = to or output.with_name(f"{output.name}{ATTESTATION}")
    attestation = attest_output(
        policy,
        output,
        by,
        asset=asset,
        evidence=evidence,
        file=file,
        overwrite=overwrite,
        sign=sign,
        **reading.keywords,
    )
    if output_format is Format.JSON:
        print_json(attestation.model_dump(mode="json"))
    else:
        typer.echo(f"{attestation.asset}: {attestation.summary()}")
        typer.echo(f"written: {file}")
