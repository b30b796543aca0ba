"""The command that withdraws a release."""

from pathlib import Path
from typing import Annotated

import typer

from policy_engine.cli.parsing import exit_with_two
from policy_engine.errors import PolicyEngineError


def withdraw(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE",
            help="A certificate, an output, or the folder that has both; or a table of a database.",
        ),
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why: everybody can read it.")],
    key: Annotated[
        str,
        typer.Option(
            "--key",
            metavar="KEY",
            help="The private key: a file, env:NAME, fd:NUMBER, or the URI of a token.",
        ),
    ],
    status_list: Annotated[
        Path | None,
        typer.Option(
            "--status-list",
            metavar="FILE",
            help="The status list that the certificate has an entry in. It is signed anew.",
        ),
    ] = None,
    statement: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write the statement; beside the certificate otherwise."
        ),
    ] = None,
) -> None:
    """Withdraw a release: sign a statement that nobody may read it any more, and since when.

    `decide`, `batch-decide` and `query` find it beside the certificate. Where they read a copy of
    that, give them the statement, or the status list: --status FILE.
    """
    from policy_engine.api.withdrawing import withdraw_release  # noqa: PLC0415 (slow to import)

    with exit_with_two(PolicyEngineError):
        done = withdraw_release(release, reason, key, status_list=status_list, statement=statement)
    typer.echo(f"{done.asset} is withdrawn: {done.statement}")
    if done.is_listed:
        typer.echo(f"Publish the status list again: {status_list}")
