"""Measures a release as it was written, and certifies the results."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.certificate import Certificate, MaskedColumn
from policy_engine.certificate.class_figures import ClassFigures, have_figures
from policy_engine.certificate.composed import ComposedReleases, asked_bound, with_stated
from policy_engine.certificate.label_figures import LabelFigures
from policy_engine.certificate.lowered_loss import measure_lowered_loss
from policy_engine.certificate.randomised import measure_answers, randomised_columns
from policy_engine.certificate.record import Input, Moves, Record, absolute_name
from policy_engine.certificate.shortcomings import lost_rows, shortcomings
from policy_engine.certificate.suppressed_shares import measure_caps
from policy_engine.certificate.synthetic import measure_synthetic
from policy_engine.certificate.unique_figures import measure_bound_of_unique, measure_unique_rows
from policy_engine.certificate.wording import (
    NETWORK_PACKAGES,
    NOT_RELEASED,
    PACKAGES,
    PRIVACY_PACKAGES,
    without_loss,
)
from policy_engine.data.catalog import MEMORY, TABLE
from policy_engine.data.column_names import column_name
from policy_engine.data.commitment import new_nonce
from policy_engine.data.places.spelling import is_database
from policy_engine.engines.engine import Engine, StoredData, TableMeasurements, WrittenTable
from policy_engine.engines.samples import SampleFigures, check_weights
from policy_engine.engines.versions import NOT_INSTALLED, version_of
from policy_engine.errors import (
    CertificateError,
    InternalError,
    Problem,
    join_names,
)
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.audits.classifier import Network
from policy_engine.methods.buckets import ADDED
from policy_engine.methods.disclosure import Measured
from policy_engine.plan.inputs import Read
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize
from policy_engine.release.composition.figures import Composition
from policy_engine.release.release import Release

if TYPE_CHECKING:
    from policy_engine.engines.masking.columns import ColumnJudgement
    from policy_engine.kernels.class_permutations import Unmoved


@dataclass(frozen=True)
class CertifiedRelease:
    """The results for a release: a certificate for everybody, and a record for its owner.

    The record is None if the input is unknown. `shortfalls` say why columns are masked less than
    their maskings mask, by what rows show that were matched with those of the input.
    """

    certificate: Certificate
    record: Record | None
    shortfalls: tuple[str, ...] = ()

    @property
    def known_record(self) -> Record:
        """The record of a release with a known input."""
        if self.record is None:
            raise InternalError.of("X001", "The input of a release is not known.")
        return self.record

    def with_composition(self, composition: Composition) -> "CertifiedRelease":
        """Return the results with what was found of earlier releases of the same persons: all of it
        in the record, and in the certificate the bound that holds, if one is asked for."""
        record = self.known_record.model_copy(update={"composition": composition})
        changes = {
            "composition": ComposedReleases.of(composition),
            "commitment": record.commitment,
        }
        return replace(self, certificate=self.certificate.model_copy(update=changes), record=record)

    def with_stated(self, earlier: Certificate | None) -> "CertifiedRelease":
        """Return the results of an output with what the certificate of its making says of earlier
        releases, which no output shows."""
        return replace(self, certificate=with_stated(self.certificate, earlier))

    def awaiting_composition(self) -> "CertifiedRelease":
        """Return the results as if all that is asked of several releases together held, which is
        found out last."""
        bound = asked_bound(self.certificate.plan)
        if not bound:
            return self
        awaited = ComposedReleases.model_validate({"bound": bound, "releases": 0})
        certificate = self.certificate.model_copy(update={"composition": awaited})
        return replace(self, certificate=certificate)

    @property
    def utility(self) -> Utility | NotApplicable:
        """The information loss, as far as known: only the record includes suppressed rows."""
        return self.record.utility if self.record else self.certificate.utility


def certify(
    release: Release, engine: Engine, location: str = "", written: WrittenTable | None = None
) -> CertifiedRelease:
    """Measure every bound of the plan on the release, read back from where it was written.

    For a model, on its training table; for a generator, on rows that it makes up. `location` is
    where the output will be, for the record; `written` is the engine's result, if it made the
    output (`run_plan`). Returns the certificate whether or not the bounds hold; `check_bounds`
    insists on them. Raises CertificateError if the output has other columns than the plan releases
    (V002).
    """
    plan, anonymize = release.plan, release.plan.anonymize
    written = written or WrittenTable(release.sanitised or release.output)
    measured = None
    if plan.aggregate is not None:
        _check_published(release, written, plan.aggregate.released, engine)
    answered: tuple[Measurement, ...] = ()
    if plan.randomise is not None:
        _check_published(release, written, plan.randomise.released, engine)
        answered = measure_answers(written, plan.randomise, engine)
    if plan.generation is not None:
        _check_published(release, written, plan.generation.released, engine)
        answered = measure_synthetic(written, plan.generation, engine)
    if anonymize is not None:
        _check_columns(release, written, anonymize, engine)
        measured = engine.measure(written, anonymize)
    if plan.sample and plan.sample.weight_column:
        evidence = written.anonymized.sample if written.anonymized else None
        expected = evidence.weights if evidence else None
        check_weights(engine.weights(written, plan.sample), expected, plan.sample.weight_column)
    judgements = engine.measure_maskings(written, plan.mask) if plan.mask else ()
    disclosures = _disclosures(plan, written, judgements, engine)
    maskings = tuple(
        Measurement(bound=bound.name, column=bound.column, sense=bound.sense, asked=0, achieved=one)
        for bound, one in ((one.masking.bound, one.broken) for one in judgements)
    )
    caps: tuple[Measurement, ...] = ()
    if measured and anonymize:
        caps = (*measure_caps(anonymize, measured, written, is_shown=not release.sanitised),)
    full_utility: Utility | NotApplicable = without_loss(plan)
    public_utility = full_utility
    if measured and measured.totals and anonymize and anonymize.models:
        full_utility = Utility.of(measured.totals, anonymize.k, release.suppressed)
        public_utility = Utility.of(measured.totals, anonymize.k)
    figures = _class_figures(written, measured) if have_figures(anonymize) and measured else None
    label = _label_figures(anonymize, measured)
    if release.sanitised and anonymize:
        figures, label, public_utility = None, None, NOT_RELEASED
    unique_rows = None
    if measured and anonymize and (not release.sanitised or anonymize.bounds_of_unique()):
        unique_rows = measure_unique_rows(plan, written, measured.rows, engine)
        caps += (*measure_bound_of_unique(anonymize, unique_rows),)
    moves = measured.moves if measured else None
    record = _record(release, full_utility, location, moves) if release.sources else None
    certificate = Certificate(
        plan=plan.public(),
        file=Path(release.output.location).name if _is_file(release) else "",
        output_digest=release.output.digest,
        commitment=record.commitment if record else None,
        tables=measured.tables if measured else {},
        snapshot=release.output.snapshot,
        rows_out=measured.rows if measured else written.stored.rows,
        uncovered=release.uncovered,
        approximated=release.approximated,
        ended=release.ended,
        lowered_loss=measure_lowered_loss(release, written),
        measurements=(*measured.measurements, *caps, *maskings)
        if measured
        else (*_by_noise(plan), *answered),
        sample=_published_sample(release),
        maskings=tuple(map(MaskedColumn.of, judgements)),
        class_figures=figures,
        label_figures=label,
        unique_rows=None if release.sanitised else unique_rows,
        disclosures=disclosures,
        attacks=release.attacks,
        attempts=max(
            len({one.made for one in release.attempts}),
            bool(release.attacks or release.synthetic_attacks),
        ),
        models=release.models,
        files=release.files,
        randomised=randomised_columns(plan.randomise) if plan.randomise else (),
        synthetic_attacks=release.synthetic_attacks,
        secret_attacks=release.secret_attacks,
        utility=public_utility,
        upstream=release.upstream,
        made_by=release.made_by,
        versions=_versions(plan),
        time=datetime.now(UTC).replace(microsecond=0),
    )
    return CertifiedRelease(certificate, record, tuple(_shortfalls(judgements)))


def _disclosures(
    plan: Plan, written: WrittenTable, judgements: Sequence["ColumnJudgement"], engine: Engine
) -> tuple[Measured, ...]:
    if not plan.disclosures:
        return ()
    from policy_engine.audits.disclosure.measuring import (  # noqa: PLC0415 (slow to import)
        measure_disclosures,
    )

    return tuple(measure_disclosures(plan, written, judgements, engine))


def _by_noise(plan: Plan) -> Iterator[Measurement]:
    """Yield epsilon and delta, which hold by the noise that was drawn, whatever the output says."""
    for one in plan.bounds() if plan.aggregate else ():
        yield Measurement(
            bound=one.name, column=one.column, sense=one.sense, asked=one.asked, achieved=one.asked
        )


def _shortfalls(judgements: Sequence["ColumnJudgement"]) -> Iterator[str]:
    for one in judgements:
        if one.shortfall:
            about = f"The column {one.masking.name!r} is masked less than, or otherwise than, by "
            yield f"{about}{one.masking.how}: {one.shortfall}."


def _class_figures(written: WrittenTable, measured: TableMeasurements) -> ClassFigures | None:
    """Return the figures of classes by microaggregation that were measured; None without classes.

    What was seen when classes were formed is true of the output if that has their cells. Raises
    CertificateError (V001) where the output of this run has others.
    """
    evidence = written.class_evidence
    if evidence is not None and evidence.mark != measured.mark:
        if written.anonymized is not None:
            message = "The classes of the output are not those that were formed."
            raise CertificateError.of("V001", message, source=written.stored.location)
        evidence = None
    return ClassFigures.of(measured.totals, evidence) if measured.totals else None


def _label_figures(
    anonymize: Anonymize | None, measured: TableMeasurements | None
) -> LabelFigures | NotApplicable | None:
    """Return what accuracy-guided classes disclose of their label, None for other classes."""
    guide = anonymize.recoding.guide if anonymize else None
    return LabelFigures.of(guide.label, measured.label) if guide and measured else None


def _published_sample(release: Release) -> SampleFigures | None:
    plan, sample = release.plan, release.sample
    if sample is None:
        return None
    return sample.published(is_whole=not plan.most_suppressed, shows_strata=plan.shows_strata)


def _record(
    release: Release,
    full_utility: Utility | NotApplicable,
    location: str,
    moves: "Unmoved | None",
) -> Record:
    plan, anonymize = release.plan, release.plan.anonymize
    first, *joined = (
        _input(plan, step, source) for step, source in zip(plan.reads, release.sources, strict=True)
    )
    return Record(
        nonce=new_nonce(),
        engine=plan.engine,
        release=release.output.digest,
        place=location,
        input=first,
        joined=tuple(joined),
        rows_joined=release.rows_in if joined else None,
        sampled=release.sample.rows if release.sample else None,
        suppressed=release.suppressed,
        gain=release.gain,
        suppressed_cells=release.suppressed_cells,
        held_out=release.held_out,
        moves=Moves(unmoved=moves.unmoved, expected=moves.expected) if moves else None,
        taxonomies=anonymize.taxonomies if anonymize else {},
        utility=full_utility,
        seed=release.seed,
        salt=release.salt,
        attempts=release.attempts,
    )


def _input(plan: Plan, step: Read, source: StoredData) -> Input:
    unmentioned = plan.drop.unmentioned
    if plan.join:
        names = (column_name(step.asset, iri) for iri in unmentioned)
        unmentioned = tuple(name for name in names if name is not None)
    return Input(
        asset=step.asset,
        location=absolute_name(source.location),
        format=step.format,
        digest=source.digest,
        rows=source.rows,
        unmentioned=unmentioned,
    )


def _is_file(release: Release) -> bool:
    location = release.output.location
    return location != MEMORY and not location.startswith(TABLE) and not is_database(location)


def _check_columns(
    release: Release, written: WrittenTable, step: Anonymize, engine: Engine
) -> None:
    expected, columns = set(release.plan.publish.columns), set(engine.columns(written))
    expected |= set(ADDED) if step.is_in_buckets else set()
    for name in set(step.columns.quasi_names) - columns:
        ends = {f"{name}_low", f"{name}_high"}
        if ends <= columns:
            columns = (columns - ends) | {name}
    _refuse_others(release, columns, expected)


def _check_published(
    release: Release, written: WrittenTable, names: Sequence[str], engine: Engine
) -> None:
    _refuse_others(release, {*engine.columns(written)}, {*names})


def _refuse_others(release: Release, columns: set[str], expected: set[str]) -> None:
    """Raise CertificateError (V002) where an output has other columns than those expected."""
    problems = []
    if columns - expected:
        extra = join_names(sorted(columns - expected))
        message = f"The output contains {extra}, which the policy does not release."
        problems.append(Problem("V002", message))
    if expected - columns:
        message = (
            f"The output lacks {join_names(sorted(expected - columns))}, which the policy releases."
        )
        problems.append(Problem("V002", message))
    if problems:
        raise CertificateError(*problems, source=release.output.location)


def _versions(plan: Plan) -> dict[str, str]:
    packages = [*PACKAGES]
    packages += ["pyspark"] * (plan.engine == "spark")
    packages += ["scikit-learn", *NETWORK_PACKAGES] * bool(plan.train or plan.audits)
    guide = plan.anonymize.recoding.guide if plan.anonymize else None
    is_trained = guide is not None and guide.is_trained
    packages += ["scikit-learn"] * bool(plan.generation or is_trained)
    packages += NETWORK_PACKAGES * bool(guide and isinstance(guide.architecture, Network))
    packages += PRIVACY_PACKAGES * bool(plan.aggregate)
    versions = {name: version_of(name) for name in packages}
    installed = {name: version for name, version in versions.items() if version != NOT_INSTALLED}
    return {**installed, "python": platform.python_version()}


def check_bounds(release: CertifiedRelease, source: str = "") -> None:
    """Raise CertificateError with every bound that falls short, and where it does.

    If there is a record, also with rows that were lost (V003).
    """
    problems = list(shortcomings(release.certificate))
    problems += [Problem("V001", one) for one in release.shortfalls]
    if release.record:
        problems += lost_rows(release.certificate, release.record)
    if problems:
        raise CertificateError(*problems, source=source)
