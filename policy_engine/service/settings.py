"""The settings of a service."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from policy_engine.errors import ServiceError
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.service.files.storage_urls import check_storage
from policy_engine.service.identity.providers import CALLBACK, IdentityProvider, is_safe_address
from policy_engine.service.runs.clusters import LEAST_MEMORY, MASTERS, Cluster, is_master

PORT = 8642
_ADDRESS = re.compile(r"https?://([\w.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?/?", re.ASCII)
_VALUES_A_RULE = 25
"""So many values may each of as many rules have as a policy may."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class ServiceSettings(BaseModel):
    """What a service is started with.

    All that it keeps is in the `folder`, but for what is in the `database`: that of a URL, or else
    a file of SQLite in the folder. `public_url` is where people reach it, if that is not where it
    listens. With `two_persons`, a policy is published once another owner has approved of it. With
    `stewards_for_all`, stewards work for all owners, and else for those who name them. With
    `own_reviews`, who submitted outputs may decide about them, where they are their dataset's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = PORT
    database: str = ""
    storage: str = ""
    """Where complete files of datasets and models are, by a URL that Arrow reads."""
    public_url: str = ""
    two_persons: bool = False
    stewards_for_all: bool = False
    own_reviews: bool = False
    trust: Path | None = None
    """The trust file: what it does not cover permits nothing."""
    sign: str = ""
    """The private key that signs what runs release: its file, or the URI of a token."""
    workers: Annotated[int, Field(ge=1)] = 1
    """How many processes answer calls."""
    runs_at_once: Annotated[int, Field(ge=0)] = 2
    lease: Annotated[float, Field(gt=0)] = 30.0
    """Seconds after which a run without a sign of life is given to another process."""
    run_attempts: Annotated[int, Field(ge=1)] = 3
    """How often a run is tried whose process ends without an answer."""
    run_memory: Annotated[int, Field(gt=0)] = 8 * 2**30
    """Bytes that each process of a run writes to."""
    run_file: Annotated[int, Field(gt=0)] = 20 * 2**30
    """Bytes of the largest file of a run."""
    run_seconds: Annotated[float, Field(gt=0)] = 6 * 3600.0
    engine: Literal["local", "spark"] = "local"
    """What carries out runs that either can; `master` is where Spark does so."""
    master: str = ""
    query_memory: Annotated[int, Field(ge=0)] = 0
    """Bytes that all queries at once use; 0 for half of what there is when the first is asked."""
    query_seconds: Annotated[float, Field(gt=0)] = 60.0
    policy_rules: Annotated[int, Field(gt=0)] = 2_000
    """Rules of a policy that is written, checked or published, which take time with each."""
    rules_in_force: Annotated[int, Field(gt=0)] = 20_000
    """Rules of all policies in force at once."""
    largest_body: Annotated[int, Field(gt=0)] = 2 * 2**20
    """Bytes of a call that is not an upload."""
    largest_upload: Annotated[int, Field(gt=0)] = 20 * 2**30
    calls_a_minute: Annotated[int, Field(gt=0)] = 60_000
    """Calls of one caller that are answered; of costly ones a hundredth."""

    oidc_issuer: str = ""
    """Who vouches for people, by OpenID Connect; `oidc_client` is what it knows the service as."""
    oidc_client: str = ""
    oidc_secret: Path | None = None
    """The file of what the service proves that by; none where the provider asks for none."""
    oidc_claim: Literal["sub", "email"] = "sub"

    @model_validator(mode="after")
    def _has_safe_address(self) -> Self:
        if self.public_url and not _ADDRESS.fullmatch(self.public_url):
            message = "A public address is https:// or http://, a host, and its port if need be: "
            message += "without a name of a user or a path."
            raise ServiceError.of("N012", message)  # a password may be in what was given
        return self

    @model_validator(mode="after")
    def _has_safe_storage(self) -> Self:
        if self.storage:
            check_storage(self.storage)
        return self

    @model_validator(mode="after")
    def _has_lasting_key(self) -> Self:
        if self.sign.startswith(("env:", "fd:")):
            message = "The key that signs releases is a file or in a token: no process that signs "
            message += "has the environment or the descriptors of the one that starts it."
            raise ServiceError.of("N012", message)
        return self

    @model_validator(mode="after")
    def _has_known_master(self) -> Self:
        if self.engine == "local":
            if self.master:
                raise ServiceError.of("N012", "A master is for the engine 'spark': engine='spark'.")
            return self
        if not is_master(self.master):
            message = f"The engine 'spark' has a master, of {MASTERS}. Given: {self.master!r:.80}."
            raise ServiceError.of("N012", message)
        if self.run_memory < LEAST_MEMORY:
            message = (
                f"With Spark, the memory of a run is at least {LEAST_MEMORY:,} bytes. "
                f"Given: {self.run_memory:,}."
            )
            raise ServiceError.of("N012", message)
        return self

    @model_validator(mode="after")
    def _has_safe_provider(self) -> Self:
        if self.oidc_issuer and not (is_safe_address(self.oidc_issuer) and self.oidc_client):
            message = (
                "A provider of identities has an address that begins with https://, and a name "
                f"for this service. Given: {self.oidc_issuer!r} and {self.oidc_client!r}."
            )
            raise ServiceError.of("N012", message)
        return self

    def provider(self) -> IdentityProvider | None:
        """Return who vouches for people, if anybody does. Raises ServiceError (N012) where the file
        of the secret cannot be read."""
        if not self.oidc_issuer:
            return None
        try:
            secret = self.oidc_secret.read_text("utf-8").strip() if self.oidc_secret else ""
        except (OSError, UnicodeDecodeError):
            message = f"The file {str(self.oidc_secret)!r} of the secret cannot be read."
            raise ServiceError.of("N012", message) from None
        redirect = f"{self.address}{CALLBACK}"
        names = self.oidc_issuer, self.oidc_client
        return IdentityProvider(*names, secret, redirect, self.oidc_claim)

    @property
    def text_limits(self) -> Limits:
        """How large the text of a policy may be that is written, checked or published."""
        rules = self.policy_rules
        return DEFAULT_LIMITS._replace(rules=rules, values=_VALUES_A_RULE * rules)

    @property
    def cluster(self) -> Cluster | None:
        """Where runs are carried out that can be, if not here."""
        return Cluster.of(self.master, self.run_memory) if self.engine == "spark" else None

    @property
    def database_url(self) -> str:
        """The URL of the database, as SQLAlchemy reads it."""
        if not self.database:
            return f"sqlite:///{self.folder / 'service.db'}"
        for short in ("postgresql://", "postgres://"):
            if self.database.startswith(short):
                return f"postgresql+psycopg://{self.database.removeprefix(short)}"
        message = "A database is given as postgresql://USER@HOST/NAME."
        raise ServiceError.of("N012", f"{message} Given: one of another kind.")

    @property
    def address(self) -> str:
        """Where people reach the service, without a slash at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url.rstrip("/") or f"http://{host}:{self.port}"

    @property
    def is_secure(self) -> bool:
        """Whether people reach the service by https, so that cookies may be for that alone."""
        return self.address.startswith("https://")
