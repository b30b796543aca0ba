"""The command that packs what happened to data for an authority, and verifies it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.answers import print_json, print_unsigned
from policy_engine.cli.chains import printable
from policy_engine.cli.options import (
    CertificateOption,
    ContextOption,
    Format,
    FormatOption,
    LimitOption,
    OverwriteOption,
    ParentOption,
    PolicyOption,
    StatusOption,
    VocabularyOption,
)
from policy_engine.cli.parsing import exit_with_two, parse_limits, parse_paths, usage_error
from policy_engine.errors import PolicyEngineError

if TYPE_CHECKING:
    from policy_engine.decision.audit_trail import TrailReport

_PACKED = (
    "unsigned: signatures were checked by the trust files in the trail alone; to check them by "
    "yours, give --trust FILE"
)
_WORDS = {"holds": "holds", "fails": "FAILS", "unchecked": "not checked"}


def audit_trail(
    export: Annotated[Path, typer.Argument(metavar="EXPORT", help="The file of the audit trail.")],
    verify: Annotated[
        bool,
        typer.Option("--verify", metavar="", help="Verify the file that is there, offline."),
    ] = False,
    policy: PolicyOption = [],  # noqa: B006
    certificate: CertificateOption = [],  # noqa: B006
    log: Annotated[
        list[Path], typer.Option(metavar="FILE", help="A decision log. Repeat it for several.")
    ] = [],  # noqa: B006
    ledger: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="A ledger of any kind. Repeat it for several."),
    ] = [],  # noqa: B006
    key: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="A key of the logs and ledgers. It is not packed."),
    ] = [],  # noqa: B006
    sign: Annotated[
        str | None, typer.Option(metavar="KEY", help="Sign the trail with this private key.")
    ] = None,
    digest: Annotated[
        str, typer.Option(metavar="SHA256", help="With --verify: the digest that it must have.")
    ] = "",
    expect: Annotated[
        list[str],
        typer.Option(
            metavar="HEAD",
            help="With --verify: a head that was kept elsewhere, and that a log or ledger must "
            "contain. Repeat it for several.",
        ),
    ] = [],  # noqa: B006
    signer: Annotated[
        str | None,
        typer.Option(metavar="DID", help="With --verify: the key that must have signed the trail."),
    ] = None,
    trust: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="A trust file that was decided by, which is packed; with --verify, your own. It "
            "must cover every policy and certificate.",
        ),
    ] = [],  # noqa: B006
    status: StatusOption = [],  # noqa: B006
    context: ContextOption = [],  # noqa: B006
    vocabulary: VocabularyOption = [],  # noqa: B006
    parent: ParentOption = [],  # noqa: B006
    limit: LimitOption = [],  # noqa: B006
    overwrite: OverwriteOption = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Pack policies, certificates, decision logs and ledgers into one file for an authority, or
    verify such a file: exit 0 where nothing in it fails, 1 with everything that does. What could
    not be checked is said, and fails nothing.

    Of ledgers the entries are packed, not what is kept beside them. Who asked for what is in the
    decision log: give the file to nobody else.
    """
    from policy_engine.api.audit_trails import (  # noqa: PLC0415 (slow to import)
        pack_audit_trail,
        verify_audit_trail,
    )

    with exit_with_two(PolicyEngineError):
        limits = parse_limits(limit)
        if verify:
            if policy or certificate or log or ledger or status or sign:
                words = "--verify takes the file alone, with --key, --digest, --expect, --signer, "
                raise usage_error(f"{words}--trust.")
            if len(trust) > 1:
                raise usage_error("--verify takes one trust file, which is yours.")
            report = verify_audit_trail(
                export,
                keys=key,
                digest=digest,
                expect=expect,
                signer=signer,
                trust=trust[0] if trust else None,
                limits=limits,
            )
        else:
            if digest or expect or signer is not None:
                raise usage_error("--digest, --expect and --signer are for --verify.")
            if not policy:
                raise usage_error("Give the policies with --policy POLICY, or --verify the file.")
            report = pack_audit_trail(
                export,
                policy,
                certificate,
                logs=log,
                ledgers=ledger,
                contexts=parse_paths(context, "--context"),
                parents=parent,
                vocabularies=vocabulary,
                status=status,
                trusts=trust,
                sign=sign,
                keys=key,
                limits=limits,
                overwrite=overwrite,
            )
    is_data = output_format is Format.JSON
    if report.signatures == "unsigned":
        print_unsigned(None, is_data=is_data)
    elif verify and report.signatures == "packed":
        typer.echo(f"{'note: ' if is_data else ''}{_PACKED}", err=is_data)
    if is_data:
        print_json(report.as_json())
    else:
        _print(report, export)
    raise typer.Exit(0 if report.holds else 1)


def _print(report: "TrailReport", export: Path) -> None:
    typer.echo(f"{export}: sha-256 {report.digest}")
    for one in report.checks:
        typer.echo(printable(f"  {_WORDS[one.state]:11}  {one.about}: {one.sentence}"))
    if report.holds:
        unchecked = sum(one.state == "unchecked" for one in report.checks)
        but = f", {unchecked} not checked" if unchecked else ""
        typer.echo(f"Nothing fails{but}.")
