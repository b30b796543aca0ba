"""Signs policies, as files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from policy_engine.api.arguments import check_arguments
from policy_engine.data.atomic_file import check_destination, write_file
from policy_engine.errors import ArgumentError
from policy_engine.policy import Reading, ReadingOptions
from policy_engine.policy.model import Policy
from policy_engine.policy.signing import sign_policies, signature_path
from policy_engine.trust.signers import KeySource, read_signer


@check_arguments
def sign_policy_files(
    policies: Sequence[str | Path],
    key: KeySource,
    *,
    overwrite: bool = False,
    **reading: Unpack[ReadingOptions],
) -> dict[Path, tuple[str, ...]]:
    """Sign the policies of files, folders and registries that are in force, and return the
    signatures that were written, each with the uids of its policies.

    Signed is what the policies mean (their digests), with everything they are read with. The
    signature of a file is beside it, with the ending `.signature`. Raises TrustError for a key that
    cannot be used (Y001, Y002), OutputError (O001) for a signature that is there and means
    something else, without `overwrite`, and as reading policies does.
    """
    signer = read_signer(key)
    by_source: dict[str, list[Policy]] = {}
    for policy in Reading(**reading).policies_in_force(*map(Path, policies)):
        by_source.setdefault(policy.source, []).append(policy)
    if not all(source and Path(source).is_file() for source in by_source):
        message = "Policies are signed in their files: a text from standard input has none."
        raise ArgumentError.of("U002", message)
    places = {signature_path(Path(source)): some for source, some in by_source.items()}
    for place in places:
        check_destination(place, overwrite=overwrite)
    for place, some in places.items():
        write_file(place, sign_policies(some, signer), overwrite=overwrite)
    return {place: tuple(one.uid for one in some) for place, some in places.items()}
