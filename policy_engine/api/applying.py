"""What a policy asks for, made of data, verified on the output, and published."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

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

if TYPE_CHECKING:
    pass


def apply_policy(
    policy: Source,
    data: Mapping[str, Any],
    output: str | Path | None = None,
    *,
    asset: str = "",
    **options: Unpack[ApplyOptions],
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
    Raises a PolicyEngineError where anything is wrong; then nothing is written but,
    where an attack reached more than is allowed, the report and a certificate that says so.
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

    All is as for `apply_policy`. Several go into one folder, each beside a certificate of its own
    name, `FILE.certificate.jsonld`; all are verified before one of them is published, and all are
    published in one step. What is kept of each has its name: the record beside the one that is
    given, as `FILE.RECORD`, and the report in a folder of that name. Each has its own seed, which
    follows from the one that is given. A model does not go into a folder with others (O002): make
    that with `apply_policy(asset=IRI)`.
    """
    making, inputs, release_options = _prepare(policy, data, options)
    return release_outputs(making, all_products(making.policy), inputs, output, release_options)


def _prepare(
    policy: Source, data: Mapping[str, Any], options: ApplyOptions
) -> tuple[MakingRequest, Inputs, ReleaseOptions]:
    """Return the policy that asks, what it is bound to, and how its outputs are made."""
    remaining: dict[str, Any] = {**options}
    release_options = ReleaseOptions(
        **{
            field.name: remaining.pop(field.name)
            for field in fields(ReleaseOptions)
            if field.name in remaining
        }
    )
    inputs = Inputs(data, **remaining)
    return inputs.making_request(policy), inputs, release_options
