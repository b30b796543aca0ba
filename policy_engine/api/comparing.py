"""Compares a release with its original: what was lost, and how useful it still is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from policy_engine.api.acting import read_making_policy
from policy_engine.api.deciding import TrustSource
from policy_engine.api.outputs import open_record, output_product, published_output
from policy_engine.audits.utility.categories import Transitions
from policy_engine.audits.utility.comparing import ComparisonSettings, Sampled, compare
from policy_engine.audits.utility.masking import Masked
from policy_engine.audits.utility.prediction import Task
from policy_engine.certificate.beside import (
    certificate_names,
    check_readable,
    find_certificate,
    single_output,
    stored_output,
)
from policy_engine.certificate.certificate import check_digest
from policy_engine.certificate.record import load_record
from policy_engine.certificate.vouching import check_vouched
from policy_engine.data import storage
from policy_engine.data.bucket_tables import QUASI_IDENTIFIERS, is_in_buckets, table_paths
from policy_engine.data.catalog import Catalog, find_taxonomies, parse_location
from policy_engine.data.table_files import missing_file
from policy_engine.engines.engine import Progress, silent
from policy_engine.engines.launching import Launcher
from policy_engine.errors import (
    CertificateError,
    DataError,
    PlanError,
    PolicyEngineError,
    join_names,
)
from policy_engine.methods.perturbation import Perturbation
from policy_engine.plan.making import plan_of
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import AggregateStep, Anonymize, Mask, Sample, Synthesise
from policy_engine.policy import Policy, Reading, ReadingOptions, Source
from policy_engine.release.guiding import guide_rows
from policy_engine.trust.trust_file import load_trust

if TYPE_CHECKING:
    from policy_engine.audits.utility.estimating import EstimatedRelease
    from policy_engine.audits.utility.model import Comparison
    from policy_engine.audits.utility.synthetic import SyntheticComparison
    from policy_engine.certificate.certificate import Certificate, MaskedColumn
    from policy_engine.certificate.record import Record


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
    trust: TrustSource | None = None,
    **reading: Unpack[ReadingOptions],
) -> "Comparison | EstimatedRelease | SyntheticComparison":
    """Return what a release lost compared with its original, and how useful it still is.

    The columns and their roles come from the certificate beside the release, or else from the
    policy; for several outputs, as in `certify_output`. `target` is the column that a classifier
    predicts, by default the first suitable sensitive one; none if `classifier` is False. A
    comparison reveals how often values of the original occur, so it is for the owner alone; a
    `shareable` one contains only what anybody with the release can find out. The `record` shows
    whether the release was made from this original. The release is hashed: it has to be what the
    certificate beside it names, if there is one. Under a trust file (`trust`), the release, its
    certificate and the policy have to be covered by it. Of a release by buckets, the table of
    quasi-identifiers is compared, as one that is masked alone. Of records that were randomised,
    estimates are compared with the truth; of a synthetic table, how often columns have their values
    together and, without differential privacy, what a classifier learns from rows that are made up
    of a part of the original. Raises DataError if a table cannot
    be read or a taxonomy is missing (C012), PlanError for a target without a classifier (M004),
    CertificateError if the release cannot have been made from this original, or the record does
    not open its certificate.
    """
    if target and not classifier:
        message = f"The target is {target!r}, and no classifier is trained to predict it."
        raise PlanError.of("M004", message, "Leave out one of the two.")
    path = Path(single_output(Path(release)))
    with published_output(path):
        check_readable(path)
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
        own_policies = () if source_policy is None else (source_policy,)
        _check_trusted(own_policies, certificate, path, trust)
        plan.check_one_input("compared with")
        if plan.train_generator is not None:
            message = "A generator is released, and no rows that could be compared."
            raise PlanError.of("M007", message, "Draw some: policy-engine generate.")
        if not (plan.makes_rows or plan.train):
            task = _Learning(target, seed, is_asked=classifier)
            return _compared_records(plan, path, Path(original), task, shareable=shareable)
        if plan.sample and not (certificate and certificate.sample):
            raise _unknown_sample_error("Put its certificate beside the release.")
        anonymize, table = plan.require_anonymize(), path
        _check_classes(anonymize)
        apart: tuple[str, ...] = ()
        if anonymize.is_in_buckets:
            table, apart = _compared_table(plan, path), anonymize.columns.sensitive_names
            anonymize = anonymize.without_buckets()
        folder = (
            Path(source_policy.source).parent
            if source_policy is not None and source_policy.source
            else path.parent
        )
        taxonomy_files = find_taxonomies(anonymize.columns.taxonomies, taxonomies or {}, folder)
        catalog = Catalog(taxonomies=taxonomy_files)
        _check_taxonomies(catalog, anonymize)
        engine = Launcher().engine(catalog, key=key)

        # Classes and queries do not use columns that are masked value by value.
        output = plan.publish.model_copy(update={"columns": anonymize.columns.released})

        def anonymized(part: Any) -> Any:
            guided = guide_rows(anonymize, output, engine, part)
            return engine.anonymize(guided, anonymize, output).table

        settings = ComparisonSettings(
            queries=queries,
            task=Task(anonymized if classifier else None, target=target),
            seed=seed,
        )
        owner_record = None
        if record is not None:
            owner_record = open_record(
                load_record(parse_location(record)), certificate, path, str(record)
            )
        return compare(
            Path(original),
            table,
            anonymize,
            taxonomy_files,
            masked=_masked(plan.mask, certificate),
            sampled=_sampled(plan.sample, certificate, owner_record),
            measured=certificate.measurements if certificate else (),
            input_digest=owner_record.input.digest if owner_record else "",
            settings=settings,
            shareable=shareable,
            apart=apart,
            progress=progress,
        )


def _check_trusted(
    policies: Sequence[Policy],
    certificate: "Certificate | None",
    release: Path,
    trust: TrustSource | None,
) -> None:
    """Raise CertificateError for what a trust file, if there is one, does not cover, and (V004) for
    another output than the certified one, with a trust file or without."""
    if trust is None and certificate is not None:
        check_digest(certificate, stored_output(certificate, release))
    elif trust is not None:
        check_vouched(policies, certificate, release, load_trust(trust))


class _Learning(NamedTuple):
    """What a classifier is to predict, by which seed, and whether one is asked for."""

    target: str
    seed: int
    is_asked: bool


def _compared_records(
    plan: Plan, release: Path, original: Path, learning: _Learning, *, shareable: bool
) -> "EstimatedRelease | SyntheticComparison":
    """Return what is told of what is released in the place of rows, compared with the original.

    Raises PlanError as `_compared_synthetic` and `_compared_rows` do.
    """
    if plan.randomise is not None:
        from policy_engine.audits.utility.estimating import estimate_release  # noqa: PLC0415

        return estimate_release(release, plan.randomise, None if shareable else original)
    if plan.aggregate is not None:
        return _compared_synthetic(release, original, plan.aggregate, shareable=shareable)
    step = plan.require_synthesise()
    return _compared_rows(release, original, step, _task(step, learning), shareable=shareable)


def _compared_synthetic(
    release: Path, original: Path, step: AggregateStep, *, shareable: bool
) -> "SyntheticComparison":
    """Return how far a synthetic table is from its original. Raises PlanError (M004) for other
    statistics, and for what can be shared."""
    from policy_engine.audits.utility.synthetic import compare_synthetic  # noqa: PLC0415 (slow to import)

    if not step.is_synthetic:
        message = "The release has statistics, and no rows to compare. Its certificate says how "
        raise PlanError.of("M004", f"{message}exact they are.")
    if shareable:
        message = "How far a synthetic table is from its original was not paid for with epsilon."
        raise PlanError.of("M004", message, "The comparison is for the owner alone.")
    return compare_synthetic(release, original, step)


def _compared_rows(
    release: Path, original: Path, step: Synthesise, task: Task, *, shareable: bool
) -> "SyntheticComparison":
    """Return how far made-up rows are from the original. Raises PlanError (M004) for what can be
    shared."""
    from policy_engine.audits.utility.synthetic_rows import compare_synthetic_rows  # noqa: PLC0415

    if shareable:
        message = "How far made-up rows are from the original follows from the original."
        raise PlanError.of("M004", message, "The comparison is for the owner alone.")
    return compare_synthetic_rows(release, original, step, task)


def _task(step: Synthesise, learning: _Learning) -> Task:
    """Return what a classifier is to learn from rows made up as a step says. Raises PlanError
    (M004) for a target that is not released."""
    from policy_engine.engines.synthesising.tables import synthetic_table  # noqa: PLC0415

    target, seed, is_asked = learning
    if target and target not in step.columns:
        message = f"The target is {target!r}, which is not released. The columns are "
        raise PlanError.of("M004", f"{message}{join_names(step.columns)}.")

    def made_up(part: Any) -> Any:
        names = list(step.columns)
        return synthetic_table(part.select(names), step.synthesiser, step.rows, seed)

    return Task(made_up if is_asked else None, target=target, seed=seed)


def _check_classes(step: Anonymize) -> None:
    """Raise PlanError (M004) for classes that a release does not show."""
    if step.is_permuted:
        message = "Values are permuted within classes that the release does not show: each column "
        message += "is as it was, and how far columns still go together is not compared."
        hint = "Train a model on both tables, or explore: it tells how many classes there are."
        raise PlanError.of("M004", message, hint)


def _compared_table(plan: Plan, release: Path) -> Path:
    """Return the table of quasi-identifiers of a release by buckets, which has what is masked.

    Raises PlanError (M004) where nothing in it differs from the input, CertificateError (V002)
    where it is not such a release.
    """
    if plan.mask is None and plan.sample is None:
        message = "The release is by buckets, and masks no column: what it has of a row is exact."
        raise PlanError.of("M004", message, "Compare a release by classes, or one that masks.")
    if not is_in_buckets(release):
        message = "The output does not have the two tables of a release by buckets."
        raise CertificateError.of("V002", message, source=str(release))
    return table_paths(release)[QUASI_IDENTIFIERS]


def _missing_certificate_error(original: str | Path, release: Path) -> PolicyEngineError:
    """Return the error for a release without certificate and policy, or that is missing, or for two
    swapped tables."""
    if not release.exists():
        return missing_file(release)
    message = f"There is no certificate beside {str(release)!r}, and no policy was given."
    hint = "Give policy=POLICY."
    with storage.read_errors(original):
        is_release = any(map(certificate_names, (Path(original), Path(original).parent)))
    if is_release:
        message = f"The certificate is beside {str(original)!r}, not beside {str(release)!r}."
        hint = "The original comes first, then its release."
    return DataError.of("C002", message, hint)


def _masked(mask: Mask | None, certificate: "Certificate | None") -> Masked:
    """Return the masked columns, those that were drawn with the matrices of the certificate."""
    columns = mask.columns if mask else ()
    drawn_by_column = (
        {one.column: one for one in certificate.maskings if one.matrix} if certificate else {}
    )
    drawn = [one for one in columns if isinstance(one, Perturbation) and one.takes == "categories"]
    return Masked(columns, {one.name: _transitions(one, drawn_by_column) for one in drawn})


def _transitions(
    masking: Perturbation, drawn_by_column: "Mapping[str, MaskedColumn]"
) -> Transitions | None:
    """Return how a column was drawn by what the certificate tells, None where it does not."""
    one = drawn_by_column.get(masking.name)
    if one is None:
        return None
    return Transitions(one.categories, one.matrix, masking.keeps_counts)


def _unknown_sample_error(hint: str) -> PolicyEngineError:
    message = "The release is a sample, and how many rows were sampled is not known."
    return PlanError.of("M004", message, hint)


def _sampled(
    sample: Sample | None, certificate: "Certificate | None", record: "Record | None"
) -> Sampled | None:
    """Return how many rows were sampled. Raises PlanError (M004) where only the record tells."""
    if sample is None or certificate is None or certificate.sample is None:
        return None
    rows = certificate.sample.rows or (record.sampled if record else None)
    if rows is None:
        hint = "Rows may have been suppressed, so only the record tells: record=FILE."
        raise _unknown_sample_error(hint)
    return Sampled(rows, sample.weight_column)


def _check_taxonomies(catalog: Catalog, anonymize: Anonymize) -> None:
    """Raise DataError (C012) with the taxonomies that a comparison lacks."""
    try:
        catalog.taxonomy_digests(anonymize.columns.taxonomies)
    except DataError as error:
        hint = "Give taxonomies={NAME: FILE}, or policy=POLICY if their files are beside it."
        raise DataError(*(replace(one, hint=hint) for one in error.problems)) from None
