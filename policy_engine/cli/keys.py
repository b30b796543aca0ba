"""The commands of keys, of signatures, and of whoever verifies them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.answers import print_json
from policy_engine.cli.options import (
    Format,
    FormatOption,
    KeyArgument,
    OverwriteOption,
    PoliciesArgument,
    TrustOption,
)
from policy_engine.cli.parsing import exit_with_two
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.errors import PolicyEngineError

if TYPE_CHECKING:
    from policy_engine.policy import Reading

keys = typer.Typer(no_args_is_help=True, help="Keys that sign certificates and policies.")
_NewOption = Annotated[
    Path, typer.Option(metavar="KEY", help="The file of the new key, for its owner alone.")
]


@keys.command("new")
def new_key(output: _NewOption) -> None:
    """Make a private key, in a file that its owner alone can read, and print the public one."""
    from policy_engine.trust.signers import PrivateKey  # noqa: PLC0415 (slow to import)

    with exit_with_two(PolicyEngineError):
        key = PrivateKey.new()
        key.write(output)
    typer.echo(key.public.did)


@keys.command("show")
def show_key(
    key: KeyArgument,
    public: Annotated[
        bool, typer.Option("--public", metavar="", help="Print the public key alone.")
    ] = False,
) -> None:
    """Print the public half of a key, as trust files name it. The private half is never shown."""
    from policy_engine.trust.signers import read_signer  # noqa: PLC0415 (slow to import)

    with exit_with_two(PolicyEngineError):
        signer = read_signer(key)
    typer.echo(signer.public.did)
    if not public:
        typer.echo(f"verification method: {signer.public.verification_method}")


@keys.command("rotate")
def rotate_key(
    key: KeyArgument,
    output: _NewOption,
    statement: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write there that the old key vouches for the new one, instead of printing it.",
        ),
    ] = None,
) -> None:
    """Make a key that the old one vouches for, and print the statement for trust files.

    Under `rotations` of a trust file, the new key may sign what the old one may; what the old one
    signed stays valid.
    """
    from policy_engine.data.atomic_file import check_free, write_file  # noqa: PLC0415
    from policy_engine.trust.rotations import sign_rotation  # noqa: PLC0415 (slow to import)
    from policy_engine.trust.signers import PrivateKey, read_signer  # noqa: PLC0415

    with exit_with_two(PolicyEngineError):
        old, new = read_signer(key), PrivateKey.new()
        text = json.dumps(sign_rotation(old, new.public), indent=2) + "\n"
        if statement is not None:
            check_free(statement)
        new.write(output)
        if statement is not None:
            write_file(statement, text, overwrite=False)
    typer.echo(text if statement is None else new.public.did, nl=statement is not None)


@with_reading_options()
def sign(
    policy: PoliciesArgument,
    key: Annotated[
        str,
        typer.Option(
            "--key",
            metavar="KEY",
            help="The private key: a file, env:NAME, fd:NUMBER, or the URI of a token.",
        ),
    ],
    overwrite: OverwriteOption = False,
    *,
    reading: "Reading",
) -> None:
    """Sign policies: what they mean, with everything that they are read with.

    The signature of a file is beside it, as FILE.signature, where decide --trust finds it.
    """
    from policy_engine.api.signing import sign_policy_files  # noqa: PLC0415 (slow to import)

    with exit_with_two(PolicyEngineError):
        signed = sign_policy_files(policy, key, overwrite=overwrite, **reading.keywords)
    for path, uids in signed.items():
        typer.echo(f"{path}: {', '.join(uids)}")


def verify(
    certificate: Annotated[
        Path | None, typer.Argument(metavar="CERTIFICATE", help="The signed certificate.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The output that it is for: a file or a folder."),
    ] = None,
    trust: TrustOption = None,
    script: Annotated[
        bool,
        typer.Option(
            "--script",
            metavar="",
            help="Print verify_certificate.py, which verifies without the engine.",
        ),
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Verify a signed certificate by a trust file, and its output: exit 0 or 1.

    It says what was checked, and what was not.
    """
    from policy_engine.certificate.verifying import verify_certificate  # noqa: PLC0415

    if script:
        from policy_engine.trust import verify_certificate as script_module  # noqa: PLC0415

        typer.echo(Path(script_module.__file__).read_text(encoding="utf-8"), nl=False)
        return
    if certificate is None:
        raise typer.BadParameter("Give the file of a certificate, or --script.")
    result = verify_certificate(certificate, output, trust)
    if output_format is Format.JSON:
        print_json(result.as_json())
    else:
        first = "refused" if not result.holds else "valid, but no output was seen"
        typer.echo("valid" if result.holds and output is not None else first)
        for problem in result.problems:
            typer.echo(f"refused: {problem}")
        for line in result.checked:
            typer.echo(f"checked: {line}")
        for line in result.unchecked:
            typer.echo(f"not checked: {line}")
    raise typer.Exit(0 if result.holds else 1)
