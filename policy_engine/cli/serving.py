"""The command that starts the service."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.options import EngineChoice
from policy_engine.errors import DataError

if TYPE_CHECKING:
    from policy_engine.service.settings import ServiceSettings


class OidcClaim(StrEnum):
    """What identifies somebody at a provider of identities."""

    SUB = "sub"
    EMAIL = "email"


def serve(
    folder: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="The folder for everything the service stores; created if it does not exist.",
        ),
    ] = Path("policy-engine-data"),
    port: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=65535, help="The port to listen on; 0 for any free one."
        ),
    ] = 8642,
    host: Annotated[
        str,
        typer.Option(
            metavar="HOST",
            help="The address to listen on; by default, only this machine can reach it.",
        ),
    ] = "127.0.0.1",
    public_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="The URL at which people reach the service, if it is behind a proxy.",
        ),
    ] = "",
    database: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="A PostgreSQL database, postgresql://USER@HOST/NAME, in place of a file.",
        ),
    ] = "",
    storage: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Where to store files of data and models, for example s3://BUCKET/FOLDER.",
        ),
    ] = "",
    oidc_issuer: Annotated[
        str,
        typer.Option(metavar="URL", help="The OpenID Connect provider that people sign in with."),
    ] = "",
    oidc_client: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="The client name under which the provider knows this service."
        ),
    ] = "",
    oidc_secret: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The client secret of the service, if it has one."),
    ] = None,
    oidc_claim: Annotated[
        OidcClaim, typer.Option(help="The claim that identifies a person.")
    ] = OidcClaim.SUB,
    two_persons: Annotated[
        bool,
        typer.Option(
            "--two-persons", metavar="", help="Publish policies once another owner approves."
        ),
    ] = False,
    stewards_for_all: Annotated[
        bool,
        typer.Option(
            "--stewards-for-all",
            metavar="",
            help="Let stewards work for all owners, not only for those who name them.",
        ),
    ] = False,
    own_reviews: Annotated[
        bool,
        typer.Option(
            "--own-reviews",
            metavar="",
            help="Let owners decide about outputs that they submitted themselves.",
        ),
    ] = False,
    trust: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Whose signatures count for what: decisions and queries deny what it does not "
            "cover, and no other policy can be published.",
        ),
    ] = None,
    sign: Annotated[
        str,
        typer.Option(
            metavar="KEY",
            help="Sign the certificates of releases with this private key: a file, or the URI of a "
            "token.",
        ),
    ] = "",
    runs: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="The number of runs at the same time; 0 for none."),
    ] = 2,
    workers: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=64, help="How many processes answer calls at once."),
    ] = 1,
    run_memory: Annotated[
        float, typer.Option(metavar="GIB", min=0.5, help="The memory limit for a run, in GiB.")
    ] = 8.0,
    run_hours: Annotated[
        float, typer.Option(metavar="HOURS", min=0.01, help="The time limit for a run, in hours.")
    ] = 6.0,
    engine: Annotated[
        EngineChoice,
        typer.Option(help="What carries out runs that sanitise or assess: this machine or Spark."),
    ] = EngineChoice.LOCAL,
    master: Annotated[
        str,
        typer.Option(
            metavar="MASTER",
            help="Where Spark does: local[N], without a network, or spark://HOST:PORT, yarn or "
            "k8s://URL, which runs reach by the network.",
        ),
    ] = "",
    backup: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Back up the folder to a tar file, and exit."),
    ] = None,
    query_memory: Annotated[
        float | None,
        typer.Option(
            metavar="GIB",
            min=0.0625,
            help="The memory that all queries at once may use; half of what there is by default.",
        ),
    ] = None,
    policy_rules: Annotated[
        int, typer.Option(metavar="N", min=1, help="The greatest number of rules in a policy.")
    ] = 2_000,
    rules_in_force: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="The greatest number of rules in all policies in force together.",
        ),
    ] = 20_000,
    query_seconds: Annotated[
        float, typer.Option(metavar="N", min=0.1, help="The time limit for a query.")
    ] = 60.0,
) -> None:
    """Start the service and its console; print the address and a link to sign in once.

    It answers until it is interrupted. Nothing needs to be set up: all is kept in the folder.
    """
    try:
        with _uncollected():
            from policy_engine.service.serving import serve as answer  # noqa: PLC0415
    except ImportError as error:
        if error.name in _OF_POSIX:
            message = "The service runs on Linux and macOS: it keeps runs apart by means of theirs."
            raise DataError.of("C011", message, "Everything else runs here as well.") from None
        message = f"The service needs the package {error.name!r}, which is not installed."
        raise DataError.of("C011", message, "pip install 'policy-engine[service]'") from None
    from policy_engine.service.settings import ServiceSettings  # noqa: PLC0415

    if backup is not None:
        from policy_engine.service.backing_up import back_up  # noqa: PLC0415

        back_up(folder.absolute(), backup.absolute())
        return
    settings = ServiceSettings(
        folder=folder.absolute(),
        host=host,
        port=port,
        public_url=public_url,
        database=database,
        storage=storage,
        oidc_issuer=oidc_issuer,
        oidc_client=oidc_client,
        oidc_secret=oidc_secret.absolute() if oidc_secret else None,
        oidc_claim=oidc_claim.value,
        two_persons=two_persons,
        stewards_for_all=stewards_for_all,
        own_reviews=own_reviews,
        trust=trust.absolute() if trust else None,
        sign=_whole_key(sign),
        workers=workers,
        runs_at_once=runs,
        run_memory=int(run_memory * 2**30),
        run_seconds=run_hours * 3600,
        engine=engine.value,
        master=master,
        query_memory=int((query_memory or 0) * 2**30),
        query_seconds=query_seconds,
        policy_rules=policy_rules,
        rules_in_force=rules_in_force,
    )
    answer(settings, partial(_announce, settings))


def _whole_key(key: str) -> str:
    """Return a key by its whole path, for processes that are elsewhere; no path as it is."""
    is_path = key and not key.startswith(("env:", "fd:", "pkcs11:"))
    return str(Path(key).absolute()) if is_path else key


_OF_POSIX = ("fcntl", "resource")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Import without looking for garbage again and again: modules stay, and there are many."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _announce(settings: "ServiceSettings", address: str, link: str) -> None:
    typer.echo(f"{address} - sign in once, within 15 minutes: {link}")
    if settings.cluster:
        typer.echo(settings.cluster.reach)
