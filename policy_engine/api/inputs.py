"""Options shared by several verbs, besides a policy and data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.acting import ActingParty, MakingRequest, making_request
from policy_engine.api.deciding import (
    ProofSource,
    StatusSource,
    TrustSource,
)
from policy_engine.api.trusting import check_policies, counting, trusted_proofs
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.sources import Proof
from policy_engine.certificate.vouching import Vouched
from policy_engine.data.keys import Key
from policy_engine.data.places.spelling import is_place
from policy_engine.decision import World
from policy_engine.engines.engine import Progress
from policy_engine.plan.plan import EngineName
from policy_engine.plan.steps import CellStyle
from policy_engine.policy import (
    DEFAULT_LIMITS,
    Limits,
    Reading,
    ReadingOptions,
    Source,
    VocabularySource,
)
from policy_engine.policy.owners import OwnersSource
from policy_engine.trust.signers import KeySource

if TYPE_CHECKING:
    from policy_engine.engines.spark.engine import SparkEngine


class InputOptions(ReadingOptions, total=False):
    """The options that bind a policy to data, and decide who may make something of it.

    `taxonomies` maps the policy's names for them to paths or `Taxonomy` values; those beside the
    policy are found without it. The `engine` is "local", "spark" or a SparkEngine. `owners` say who
    owns which asset (`load_owners`), `certificates` are those of inputs that are releases
    themselves. The owner acts or, if one is named, a `party`, for a `purpose`: the policy and the
    other `policies` then decide whether they may, in a state of the `world`, and with a `log`,
    whose entries are chained with the key `log_key`. Under a trust file (`trust`, see
    `load_trust`), policies and certificates that it does not cover are refused (CertificateError),
    given ones and those beside data; so is what a `status` (see `decide_request`), or a statement
    beside it, says was withdrawn.
    """

    taxonomies: Mapping[str, Any] | None
    engine: "EngineName | SparkEngine"
    owners: OwnersSource | None
    certificates: Sequence[ProofSource]
    party: str | None
    purpose: str
    policies: Sequence[Source]
    world: World | None
    log: str | Path | None
    log_key: str | Path | bytes | None
    trust: TrustSource | None
    status: Sequence[StatusSource]


class ApplyOptions(InputOptions, total=False):
    """The options for making and releasing outputs: see `apply_policy`."""

    overwrite: bool
    wait: bool
    progress: Progress
    key: str | Path | bytes | None
    cells: CellStyle
    report: str | Path | None
    seed: int | None
    record: str | Path | None
    attempts: str | Path | None
    ledger: str | Path | None
    ledger_key: Key
    allow_pickle: bool
    time_limit: float | None
    sign: KeySource | None
    status_list: str | Path | None


@dataclass(frozen=True)
class Inputs:
    """Data, and everything that binds a policy to it: see `InputOptions`."""

    data: Mapping[str, Any] | None = None
    contexts: Mapping[str, Any] | None = None
    parents: Sequence[Source] = ()
    limits: Limits = DEFAULT_LIMITS
    vocabularies: Sequence[VocabularySource] = ()
    taxonomies: Mapping[str, Any] | None = None
    engine: "EngineName | SparkEngine" = "local"
    owners: OwnersSource | None = None
    certificates: Sequence[ProofSource] = ()
    party: str | None = None
    purpose: str = ""
    policies: Sequence[Source] = ()
    world: World | None = None
    log: str | Path | None = None
    log_key: str | Path | bytes | None = None
    trust: TrustSource | None = None
    status: Sequence[StatusSource] = ()

    @property
    def reading(self) -> Reading:
        """The options for reading policies."""
        return Reading(self.contexts, self.parents, self.limits, self.vocabularies)

    @cached_property
    def proofs(self) -> Sequence[Proof]:
        """The certificates and attestations of the data, all of which count.

        Raises CertificateError for those that the trust file does not cover, or that were
        withdrawn, and as `trusted_proofs` does.
        """
        places = [one for one in (self.data or {}).values() if not is_place(one)]
        return trusted_proofs(
            self.certificates, self.trust, self.status, time=self._time, data=places
        )

    def with_proofs(self, beside: Iterable[Certificate]) -> Sequence[Proof]:
        """Return the proofs of the data, and certificates that were found beside it, all of which
        count. Raises as `proofs` does."""
        own, more = self.proofs, list(beside)
        if isinstance(own, Vouched):
            return counting(own.joined(more))
        return [*own, *more]

    @property
    def _time(self) -> datetime | None:
        return self.world.time if self.world else None

    def making_request(
        self,
        policy: Source,
        *,
        ledger: str | Path | None = None,
        ledger_key: Key = None,
        is_trial: bool = False,
    ) -> MakingRequest:
        """Return a policy that asks for something to be made, with what decides whether it may be.

        A budget `ledger`, chained with `ledger_key`, says what was spent. Raises as
        `acting.making_request` does, and CertificateError for policies that the trust file does not
        cover.
        """
        acting = ActingParty(
            self.party,
            self.purpose,
            self.policies,
            self.world,
            self.log,
            self.log_key,
            ledger,
            ledger_key,
            is_trial=is_trial,
        )
        making = making_request(policy, self.reading, self.owners, self.data, acting)
        check_policies(making.policies_in_force, self.trust, self._time)
        return making
