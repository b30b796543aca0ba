"""What a release was made from, back to inputs without a certificate, and who made it."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from policy_engine.errors import CertificateError

_Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Generalised(BaseModel):
    """A column of a release whose cells stand for several values, and how they were made.

    Its type decided how where `generalization` is empty. The taxonomy has the name that the policy
    of the release gives it; `unlisted` says where values are put that it lacks; `mask` is the
    character that replaces the ends of texts under a prefix.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    generalization: str = ""
    taxonomy: str = ""
    unlisted: Literal["refuse", "root"] = "refuse"
    mask: str = ""

    @property
    def how(self) -> str:
        """Return `" by 'METHOD'"`, empty where its type decided."""
        return f" by {self.generalization!r}" if self.generalization else ""


class Upstream(BaseModel):
    """A certified release that another one was made from, as its certificate described it.

    The digests are sha-256: that of the output, which identifies the release, that of its
    certificate's text, and that of the policy it was made for. `inputs` are the assets that it
    was made from, empty where nobody said; `generalised` are its columns whose cells stand for
    several values. `upstream` are those of the inputs that are certified releases themselves.
    PROV-O calls the relation `prov:wasDerivedFrom`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    asset: str
    output_digest: _Digest
    certificate_digest: _Digest
    policy: str
    policy_digest: str
    inputs: tuple[str, ...] = ()
    generalised: tuple[Generalised, ...] = ()
    upstream: tuple["Upstream", ...] = ()

    @model_serializer(mode="wrap")
    def _omit_unknown(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `inputs` where they are not known, as in what earlier versions certified."""
        values: dict[str, Any] = serialize(self)
        return values if self.inputs else {k: v for k, v in values.items() if k != "inputs"}

    @property
    def derivations(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a release and of what it was made from: this one, and all before it."""
        origins = (*self.inputs, *(one.asset for one in self.upstream))
        own = dict.fromkeys((self.asset, one) for one in origins)
        return (*own, *(pair for one in self.upstream for pair in one.derivations))


class Maker(BaseModel):
    """The party who made a release, its purpose, and the rules that permitted it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    party: str
    purpose: str = ""
    rules: tuple[str, ...]


class Consented(BaseModel):
    """The rule by which the owner of an input let it be anonymised, with what that asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    asset: str
    policy: str
    rule: str
    bounds: tuple[str, ...] = ()


MadeBy = Maker | Literal["owner"] | None
"""Who made a release: a party that was permitted to, or the owner, whom nobody asks for a
permission; None where that is not known."""


def check_read(upstream: Sequence[Upstream], digest: str, location: str) -> None:
    """Raise CertificateError (V013) where what was read is not what its certificate is of."""
    for one in upstream:
        if one.output_digest != digest:
            message = (
                f"The input is not the {one.asset} that was certified: its sha-256 is {digest}, "
                f"the certified one {one.output_digest}."
            )
            hint = "Read the release as it was published, or make it again."
            raise CertificateError.of("V013", message, hint, location)
