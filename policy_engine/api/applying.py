"""Makes the outputs of a policy, verifies them, and publishes them."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Unpack

from policy_engine.api.acting import MakingRequest
from policy_engine.api.binding import (
    all_products,
    choose_product,
)
from policy_engine.api.inputs import ApplyOptions, Inputs
from policy_engine.api.releasing import ReleaseOptions, release_outputs
from policy_engine.api.verified_release import VerifiedRelease
from policy_engine.policy import (
    Source,
)


def apply_policy(
    policy: Source,
    data: Mapping[str, Any],
    output: str | Path | None = None,
    *,
    asset: str = "",
    **options: Unpack[ApplyOptions],
) -> VerifiedRelease:
    """Make what a policy asks for from data, verify it on the output, and release it.

    The output is an anonymised table, or a model trained on one or on the data itself, once it has
    been audited. If there are several, `asset` selects one by its IRI or short name; `apply_all`
    makes all of them.

    `data` maps dataset IRIs to paths or tables, `taxonomies` the policy's names for them to paths
    or `Taxonomy` values; those beside the policy are found without it. `contexts`, `parents`,
    `limits` and `vocabularies` are as in `Reading`. `key` makes pseudonyms: bytes, or the path of a
    file with them. With an `output`, a file or a folder, the release is written there beside its
    certificate; otherwise it stays in memory. One run at a time makes a release in a folder: a
    second one waits with `wait`, and is refused without. The `engine` is "local", "spark" or a
    SparkEngine, which accepts Spark frames as tables, and locations wherever Spark reads and
    writes; its output is a folder of files. With a `time_limit` in seconds, the local engine's
    search for classes ends with the best result found by then; the certificate says so, and every
    bound still holds.

    The folder `report` gets all results of the policy's audits. A `seed` makes audits repeatable,
    and must then be kept secret. The file `record`, for the owner alone, opens the certificate's
    commitment; without it, only the returned release can. Every attacked model is kept as an
    attempt, released or not, in the folder `attempts` (see `Ledger`), and judged with those before
    it; a model that was refused is not made again from the same seed, unless a `report` asks for
    all results. With `sign`, the file of a private key (or `env:NAME`, `fd:NUMBER`, `pkcs11:...`),
    the certificate is a Verifiable Credential of its holder; with a `status_list`, `FILE` or
    `IRI=FILE`, it has an entry there by which it can be withdrawn. A scikit-learn model is written
    by skops or, with `allow_pickle`, by joblib, whose files run code when they are loaded.

    If `owners` are given (see `load_owners`), the policy's assigner must own what it transforms. If
    the input is a release itself, its certificate is the one beside it, or among `certificates`:
    the input must be what it certifies, and the new certificate names it. The owner acts or, if one
    is named, a `party`, for a `purpose`: whether they may anonymize the input, or train on it, is
    then decided like reading, by everything in the policy's text and other `policies`, in a state
    of the `world`, and with a `log`, to which the decision is added before anything is made.
    DeniedError (D007) says why they may not.

    Raises a PolicyEngineError if anything is wrong; then nothing is written except, if an attack
    exceeded its bound, the report and a certificate that says so.
    """
    making, inputs, release_options = _prepare(policy, data, options)
    [release] = release_outputs(
        making, [choose_product(making.policy, asset)], inputs, output, release_options
    )
    return release


def apply_all(
    policy: Source,
    data: Mapping[str, Any],
    output: str | Path | None = None,
    **options: Unpack[ApplyOptions],
) -> tuple[VerifiedRelease, ...]:
    """Make all the outputs that a policy asks for, and release all of them or none.

    Everything is as for `apply_policy`. Several outputs go into one folder, each beside its own
    certificate, `FILE.certificate.jsonld`; all are verified before any is published, and all are
    published in one step. What is kept about each has its name: the record beside the given one, as
    `FILE.RECORD`, and the report in a folder of that name. Each has its own seed, derived from the
    given one. A model does not share a folder (O002): make it with `apply_policy(asset=IRI)`.
    """
    making, inputs, release_options = _prepare(policy, data, options)
    return release_outputs(making, all_products(making.policy), inputs, output, release_options)


def _prepare(
    policy: Source, data: Mapping[str, Any], options: ApplyOptions
) -> tuple[MakingRequest, Inputs, ReleaseOptions]:
    """Return the policy that asks, its inputs, and the options for its outputs."""
    remaining: dict[str, Any] = {**options}
    release_options = ReleaseOptions(
        **{
            field.name: remaining.pop(field.name)
            for field in fields(ReleaseOptions)
            if field.name in remaining
        }
    )
    inputs = Inputs(data, **remaining)
    making = inputs.making_request(
        policy, ledger=release_options.ledger, ledger_key=release_options.ledger_key
    )
    return making, inputs, release_options
