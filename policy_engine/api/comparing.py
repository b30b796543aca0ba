"""A release beside its original: what was lost, and what it is still good for."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from policy_engine.api.acting import read_making_policy
from policy_engine.api.outputs import open_record, output_product, published_output
from policy_engine.audits import utility
from policy_engine.certificate.beside import certificate_names, find_certificate, single_output
from policy_engine.certificate.record import load_record
from policy_engine.data import storage
from policy_engine.data.catalog import (
    Catalog,
    find_taxonomies,
    parse_location,
)
from policy_engine.engines.engine import Progress, silent
from policy_engine.engines.launching import Launcher
from policy_engine.errors import (
    DataError,
    PolicyEngineError,
)
from policy_engine.plan.plan import plan_of
from policy_engine.plan.steps import Anonymize
from policy_engine.policy import (
    Reading,
    ReadingOptions,
    Source,
)

if TYPE_CHECKING:
    from policy_engine.audits.utility import Comparison


def compare_release(
    original: str | Path,
    release: str | Path,
    *,
    policy: Source | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    target: str = "",
    queries: int = 1_000,
    seed: int = 0,
    progress: Progress = silent,
    record: str | Path | None = None,
    classifier: bool = True,
    shareable: bool = False,
    asset: str = "",
    **reading: Unpack[ReadingOptions],
) -> "Comparison":
    """Return what a release lost against its original, and what it is still good for.

    The columns and their roles are those of the certificate beside the release, else those of
    the policy and, of several outputs, as `certify_output` has it. `target` is the column that
    a classifier is to predict, by default the first sensitive one that it can; none is where
    `classifier` is False. A comparison tells how often the original's values occur, and is for
    its owner alone; one that is `shareable` holds only what whoever has the release finds out
    himself. Whether this is the original that the release was made from is told by its
    `record`. Raises DataError where a table cannot be read or a taxonomy is not given (C012),
    CertificateError where the release cannot have been made from this original, or the record
    does not open it.
    """
    path = Path(single_output(Path(release)))
    with published_output(path):
        adjacent = find_certificate(path)
        certificate = adjacent[1] if adjacent else None
        if policy is None and certificate is None:
            raise _missing_certificate_error(original, path)
        source_policy = (
            read_making_policy(policy, Reading(**reading)) if policy is not None else None
        )
        if source_policy is not None:
            plan = plan_of(source_policy, output_product(source_policy, asset, certificate))
        else:
            plan = certificate.plan  # type: ignore[union-attr]
        plan.check_one_input("compared with")
        anonymize = plan.anonymization()
        folder = (
            Path(source_policy.source).parent
            if source_policy is not None and source_policy.source
            else path.parent
        )
        taxonomy_files = find_taxonomies(anonymize.columns.taxonomies, taxonomies or {}, folder)
        catalog = Catalog(taxonomies=taxonomy_files)
        _check_taxonomies(catalog, anonymize)
        engine = Launcher().engine(catalog, key=key)

        # Of columns that are masked value by value, no class and no query is about.
        output = plan.publish.model_copy(update={"columns": anonymize.columns.released})

        def anonymized(part: Any) -> Any:
            return engine.anonymize(part, anonymize, output).table

        settings = utility.ComparisonSettings(
            queries=queries,
            task=utility.Task(anonymized if classifier else None, target=target),
            seed=seed,
        )
        owner_record = None
        if record is not None:
            owner_record = open_record(
                load_record(parse_location(record)), certificate, path, str(record)
            )
        return utility.compare(
            Path(original),
            path,
            anonymize,
            taxonomy_files,
            masked=tuple(one.name for one in plan.mask.columns) if plan.mask else (),
            measured=certificate.measurements if certificate else (),
            input_digest=owner_record.input.digest if owner_record else "",
            settings=settings,
            shareable=shareable,
            progress=progress,
        )


def _missing_certificate_error(original: str | Path, release: Path) -> PolicyEngineError:
    """Return the error of a release without certificate and policy, or of two tables swapped."""
    message = f"No certificate lies beside {str(release)!r}, and no policy is given."
    hint = "Give policy=POLICY."
    with storage.read_errors(original):
        is_release = any(map(certificate_names, (Path(original), Path(original).parent)))
    if is_release:
        message = f"No certificate lies beside {str(release)!r}, and one beside {str(original)!r}."
        hint = "The original comes first, then its release."
    return DataError.of("C002", message, hint)


def _check_taxonomies(catalog: Catalog, anonymize: Anonymize) -> None:
    """Raise DataError (C012) with the taxonomies that a comparison lacks."""
    try:
        catalog.taxonomy_digests(anonymize.columns.taxonomies)
    except DataError as error:
        hint = "Give taxonomies={NAME: FILE}, or policy=POLICY where its file lies beside it."
        raise DataError(*(replace(one, hint=hint) for one in error.problems)) from None
