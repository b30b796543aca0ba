"""What a policy asks for, made of data, verified on the output, and published."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.acting import Acting, asked_by
from policy_engine.api.binding import (
    Given,
    all_products,
    product_of,
)
from policy_engine.api.deciding import (
    Proof,
    proofs,
)
from policy_engine.api.releasing import How, VerifiedRelease, released
from policy_engine.decision import World
from policy_engine.engines.engine import Progress, silent
from policy_engine.plan.plan import CellStyle, EngineName
from policy_engine.policy import (
    USUAL,
    Limits,
    Reading,
    Source,
    VocabularySource,
)
from policy_engine.policy.owners import OwnersSource

if TYPE_CHECKING:
    from policy_engine.engines.spark.engine import SparkEngine


def apply_policy(
    policy: Source,
    data: Mapping[str, Any],
    output: str | Path | None = None,
    *,
    overwrite: bool = False,
    wait: bool = False,
    progress: Progress = silent,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    cells: CellStyle = "text",
    engine: "EngineName | SparkEngine" = "local",
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    report: str | Path | None = None,
    seed: int | None = None,
    record: str | Path | None = None,
    attempts: str | Path | None = None,
    allow_pickle: bool = False,
    owners: OwnersSource | None = None,
    time_limit: float | None = None,
    certificates: Sequence[Proof] = (),
    party: str | None = None,
    purpose: str = "",
    policies: Sequence[Source] = (),
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
    asset: str = "",
) -> VerifiedRelease:
    """Make of data what a policy asks, prove it on the output, and release it.

    An anonymised table, or a model trained on one, or on the data themselves, once it is audited.
    Of several outputs it is the `asset`, by its IRI or short name; `apply_all` makes all.

    `data` maps dataset IRIs to paths or tables, `taxonomies` the names that the policy has for
    them to paths or `Taxonomy` values; those that lie beside the policy are found by
    themselves. `contexts`, `parents`, `limits` and `vocabularies` are as in `Reading`. `key`
    makes pseudonyms: bytes, or the path of a file that holds them. With an `output`, a file or a
    folder, the release is written there beside its certificate; else it stays in memory. One run
    at a time makes a release in a folder: a second is waited for with `wait`, else refused. The
    `engine` is "local", "spark" or a SparkEngine, which takes frames of Spark for tables, and
    locations wherever Spark reads and writes; its output is a folder of files. Into the folder
    `report` goes all that the audits of the policy found. A `seed` makes audits repeatable; it
    is then to be kept secret. The file `record`, for the owner alone, opens what the certificate
    commits to; else only the release that is returned can. Every model that is attacked is kept
    as an attempt, released or not, in the folder `attempts` (see `Ledger`), and judged with those
    before it; from a seed from which it was refused before it is not made again, unless all that
    was found is asked for in a `report`. A model of scikit-learn is written by skops or, with
    `allow_pickle`, by joblib, whose files run code when they are loaded. Where it is said who
    `owners` are (see `load_owners`), the policy's assigner has to own what it transforms.
    After a `time_limit` in seconds, the search for classes ends on the local engine with the best
    that was found by then; the certificate says so, and every bound holds all the same. Where
    the input is itself a release, its certificate is the one that lies beside it, or among
    `certificates`: the input has to be what it certifies, and the new certificate names it.
    The owner acts or, where one is named, a `party`, for a `purpose`: whether they may anonymize
    the input, or train on it, is then decided as reading is, by all that the policy's text holds
    and other `policies`, in a state of the `world`, and by what stands in a `log`, to which that
    is added before anything is made. DeniedError (D007) says why they may not.
    Raises a PolicyEngineError of the stage that found a problem; then nothing is written but,
    where an attack reached more than is allowed, the report and a certificate that says so.
    """
    reading = Reading(contexts, parents, limits, vocabularies)
    acting = Acting(party, purpose, policies, world, log, log_key)
    found = asked_by(policy, reading, owners, data, acting)
    given = Given(data, taxonomies, proofs(certificates), cells)
    how = How(
        overwrite=overwrite,
        wait=wait,
        progress=progress,
        key=key,
        report=report,
        seed=seed,
        record=record,
        attempts=attempts,
        allow_pickle=allow_pickle,
        time_limit=time_limit,
    )
    [made] = released(found, [product_of(found.policy, asset)], given, engine, output, how)
    return made


def apply_all(
    policy: Source,
    data: Mapping[str, Any],
    output: str | Path | None = None,
    *,
    overwrite: bool = False,
    wait: bool = False,
    progress: Progress = silent,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    cells: CellStyle = "text",
    engine: "EngineName | SparkEngine" = "local",
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    report: str | Path | None = None,
    seed: int | None = None,
    record: str | Path | None = None,
    attempts: str | Path | None = None,
    allow_pickle: bool = False,
    owners: OwnersSource | None = None,
    time_limit: float | None = None,
    certificates: Sequence[Proof] = (),
    party: str | None = None,
    purpose: str = "",
    policies: Sequence[Source] = (),
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
) -> tuple[VerifiedRelease, ...]:
    """Make all the outputs that a policy asks for, and release all of them or none.

    All is as for `apply_policy`. Several go into one folder, each beside a certificate of its own
    name, `FILE.certificate.jsonld`; all are verified before one of them is published, and all are
    published in one step. What is kept of each has its name: the record beside the one that is
    given, as `FILE.RECORD`, and the report in a folder of that name. Each has its own seed, which
    follows from the one that is given. A model does not go into a folder with others (O002): make
    that with `apply_policy(asset=IRI)`.
    """
    reading = Reading(contexts, parents, limits, vocabularies)
    acting = Acting(party, purpose, policies, world, log, log_key)
    found = asked_by(policy, reading, owners, data, acting)
    given = Given(data, taxonomies, proofs(certificates), cells)
    how = How(
        overwrite=overwrite,
        wait=wait,
        progress=progress,
        key=key,
        report=report,
        seed=seed,
        record=record,
        attempts=attempts,
        allow_pickle=allow_pickle,
        time_limit=time_limit,
    )
    return released(found, all_products(found.policy), given, engine, output, how)
