"""Contradictions in a certificate: combinations that no release can have."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from policy_engine import terms
from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.class_figures import class_contradictions
from policy_engine.certificate.composed import composition_contradictions
from policy_engine.certificate.label_figures import label_contradictions
from policy_engine.certificate.lowered_loss import lowered_contradictions
from policy_engine.certificate.masking_consistency import masking_contradictions
from policy_engine.certificate.randomised import randomised_contradictions
from policy_engine.certificate.risk_arithmetic import impossible_figures
from policy_engine.certificate.secret_figures import secret_contradictions
from policy_engine.certificate.statistics_consistency import statistics_contradictions
from policy_engine.certificate.suppressed_shares import cap_contradictions
from policy_engine.certificate.synthetic import (
    synthetic_contradictions,
)
from policy_engine.certificate.synthetic_figures import synthetic_attack_contradictions
from policy_engine.certificate.unique_figures import unique_contradictions
from policy_engine.certificate.unmade_attacks import applies_always, may_not_apply
from policy_engine.certificate.wording import wording_contradictions
from policy_engine.data.bucket_tables import TABLES
from policy_engine.data.storage import manifest_digest
from policy_engine.data.table_files import FORMATS, match_format
from policy_engine.engines.samples import SampleFigures
from policy_engine.kernels.binomial import can_be_interval, is_plausible
from policy_engine.kernels.estimates import Estimate
from policy_engine.methods import Measurement
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.audits.membership_inference import AttackMeasurement
from policy_engine.methods.audits.record_linkage import RecordLinkage
from policy_engine.methods.buckets import BOUNDS, ROWS, VALUES
from policy_engine.methods.disclosure import (
    DisclosureBound,
    DisclosureMeasurement,
    InferenceMeasurement,
)
from policy_engine.methods.generative import GenerativeMeasurement
from policy_engine.methods.permutation import LINK_PROBABILITY
from policy_engine.plan.steps import Sample

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.plan.plan import Plan

_CLOCK_TOLERANCE = timedelta(days=1)
"""How far another machine's clock may be ahead, including mistakes in the time zone."""
_ROUNDING = 1e-9
_COUNTS = ("k", "l", "entropy-l", *BOUNDS)
"""The bounds that count rows or values of a class, at most the number of rows."""

_WHOLE = ("k", ROWS, VALUES)
"""Those that are whole numbers."""


def contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield what no release can have, a sentence each.

    Whether the bounds hold is not checked: those of a true certificate may fall short.
    """
    if certificate.time.tzinfo is None:
        yield "Its time has no time zone."
    elif certificate.time > datetime.now(UTC) + _CLOCK_TOLERANCE:
        yield f"It was made in the future, at {certificate.time.isoformat()}."
    yield from _attack_contradictions(certificate)
    yield from _attempt_contradictions(certificate)
    yield from _file_contradictions(certificate)
    yield from synthetic_attack_contradictions(certificate)
    yield from secret_contradictions(certificate)
    yield from wording_contradictions(certificate)
    if not certificate.output_digest:
        if certificate != certificate.as_refusal():
            yield "It has no output, but has measurements of one."
        return
    if certificate.rows_out < 1 and not certificate.plan.aggregate:
        yield "Its output has no rows."
        return
    if certificate.plan.aggregate is not None:
        yield from statistics_contradictions(certificate, certificate.plan.aggregate)
    elif certificate.uncovered:
        yield "It lists releases that no epsilon covers, and has no epsilon."
    yield from composition_contradictions(certificate)
    yield from randomised_contradictions(certificate)
    yield from synthetic_contradictions(certificate)
    yield from _column_contradictions(certificate)
    yield from _table_contradictions(certificate)
    yield from _measurement_contradictions(certificate)
    yield from _sample_contradictions(certificate)
    yield from masking_contradictions(certificate)
    yield from _disclosure_contradictions(certificate)
    yield from class_contradictions(certificate)
    yield from label_contradictions(certificate)
    yield from cap_contradictions(certificate)
    yield from unique_contradictions(certificate)
    if isinstance(certificate.utility, Utility):
        yield from _utility_contradictions(certificate.utility, certificate)
    elif certificate.plan.makes_rows and not certificate.warning:
        yield "It does not say how much information was lost."


def _attack_contradictions(certificate: "Certificate") -> Iterator[str]:
    planned = [
        (name, bound)
        for step in certificate.plan.audits
        for name in step.method.attacks_run
        for bound in step.method.bounds
    ]
    measured = [(one.attack, one.bound) for one in certificate.attacks]
    if not set(measured) <= set(planned):
        yield "It has figures of attacks that its plan does not run."
    if any(measured.count(one) > planned.count(one) for one in measured):
        yield "It has several figures for one bound on an attack."


def _disclosure_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield figures of attacks on the table that are not planned, or not of its rows."""
    planned = [
        (name, step.method.bound, {*step.method.known})
        for step in certificate.plan.disclosures
        if isinstance(step.method, RecordLinkage)
        for name in step.method.attacks
    ]
    before: list[tuple[str, DisclosureBound]] = []
    for one in certificate.disclosures:
        if not isinstance(one, DisclosureMeasurement):
            continue
        planned_names = [k for name, bound, k in planned if (name, bound) == one.key]
        # Where several duties ask the same of an attack, figures are in the order of the plan.
        own_names = planned_names[before.count(one.key) :][:1]
        before.append(one.key)
        if planned_names and not own_names:
            yield "It has several figures for one bound on an attack on the table."
        elif not any({*one.known} <= names for names in own_names):
            yield "It has figures of attacks on the table that its plan does not make."
        if one.records != certificate.rows_out or not _is_close(one.baseline, 1 / one.records):
            yield "Its figures of attacks on the table are not of its rows."
        yield from _impossible_reach(one, own_names, certificate)
    yield from _risk_contradictions(certificate)


def _impossible_reach(
    one: DisclosureMeasurement, own_names: Sequence[set[str]], certificate: "Certificate"
) -> Iterator[str]:
    """Yield that an attack cannot have reached what is told, or that it must have been made.

    `own_names` has the columns known to the intruder it is planned for, and nothing if it is not.
    """
    if isinstance(one.reached, Estimate):
        if not one.known:
            yield f"It does not say by which columns {one.attack} reached its figure."
        yield from _narrow_interval(one.reached, one.records, one.last_digit, one.attack)
        return
    why = one.reached.reason
    for names in own_names:
        if applies_always(one.attack, one.records, len(names)):
            yield f"It says that {one.attack} does not apply, and it always does."
        elif not may_not_apply(one.attack, why, one.records, names, certificate):
            yield f"It says that {one.attack} does not apply since {why}, and that is not so."


def _narrow_interval(
    reached: Estimate, records: int, last_digit: float, name: str
) -> Iterator[str]:
    """Yield that an interval is too narrow for a share of so many records, rounded as it is."""
    least, most = (
        min(max(reached.value + change, 0.0), 1.0) * records for change in (-last_digit, last_digit)
    )
    if not can_be_interval(reached.low, reached.high, least, most, records):
        interval = f"from {reached.low:g} to {reached.high:g}"
        yield f"{records:,} records give no interval of {name} {interval} around {reached.value:g}."


def _risk_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield figures of risk, and of what is learned, that are not planned, or not of the rows."""
    methods = [step.method for step in certificate.plan.disclosures]
    disclosures = certificate.disclosures
    planned = [key for m in methods if not isinstance(m, RecordLinkage) for key in m.keys]
    measured = [one for one in disclosures if not isinstance(one, DisclosureMeasurement)]
    keys = [one.key for one in measured]
    inferred = [one for one in measured if isinstance(one, InferenceMeasurement)]
    learners = [one for one in methods if isinstance(one, AttributeInference)]
    are_known = all(
        any(one.key in other.keys and {*one.known} <= {*other.known} for other in learners)
        for one in inferred
    )
    if not are_known or not set(keys) <= set(planned):
        yield "It has figures of risk that its plan does not bound."
    if any(keys.count(one) > planned.count(one) for one in keys):
        yield "It has several figures for one bound on the risk of the table."
    if any(one.records != certificate.rows_out for one in measured):
        yield "Its figures of risk are not of its rows."
    for one in inferred:
        if isinstance(one.reached, Estimate):
            yield from _narrow_interval(one.reached, one.records, one.last_digit, one.name)
    yield from impossible_figures(certificate)


def _attempt_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield contradictions between the number of attempts and the figures of attacks."""
    has_audits = bool(certificate.plan.audits)
    is_attacked = has_audits or bool(certificate.plan.synthetic_audits)
    attacks: list[AttackMeasurement | GenerativeMeasurement] = [*certificate.attacks]
    attacks += certificate.synthetic_attacks
    if is_attacked != bool(certificate.attempts) or has_audits < bool(certificate.models):
        yield "It gives no number of attempts, or gives one although nothing is attacked."
    if has_audits and certificate.output_digest and not certificate.models:
        yield "It does not give the accuracy of the attacked model."
    is_pooled = certificate.attempts > 1
    if any((one.pooled is not None) != (is_pooled and _is_figure(one)) for one in attacks):
        yield "Its figures do not match its number of attempts."


def _is_figure(one: AttackMeasurement | GenerativeMeasurement) -> bool:
    return isinstance(one.reached, Estimate)


def _file_contradictions(certificate: "Certificate") -> Iterator[str]:
    if certificate.files and certificate.files.asked != certificate.plan.file_bounds:
        yield "It has figures of a model's files that its plan does not ask for."
    if certificate.snapshot and (certificate.file or certificate.plan.engine != "spark"):
        yield "It names the version of a table, and is not of one of Spark's catalog."


def _column_contradictions(certificate: "Certificate") -> Iterator[str]:
    anonymize, columns = certificate.plan.anonymize, certificate.approximated
    if certificate.ended and not _can_end(certificate.plan, certificate.ended.stage):
        yield "It says that a search was stopped early, but its plan has no such search."
    yield from lowered_contradictions(certificate)
    quasi = anonymize.columns.quasi_names if anonymize else ()
    if not set(columns) <= set(quasi) or len(set(columns)) < len(columns):
        yield "It lists approximated columns that are not quasi-identifiers."


def _is_in_buckets(certificate: "Certificate") -> bool:
    anonymize = certificate.plan.anonymize
    return anonymize is not None and anonymize.is_in_buckets


def _table_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield that the tables of a release by buckets are not those that its digest is of."""
    tables = {**certificate.tables}
    if not _is_in_buckets(certificate):
        if tables:
            yield "It has the digests of several tables, and its plan makes one."
        return
    kind = match_format(certificate.file, FORMATS)
    names = {f"{name}.{kind}" if certificate.file else name for name in TABLES}
    if {*tables} != names or manifest_digest(tables) != certificate.output_digest:
        yield "The digests of its tables are not those of its output."


def _can_end(plan: "Plan", stage: str) -> bool:
    """Return whether a plan has a stage of its search that a time limit can end."""
    if plan.anonymize is None or plan.train or plan.audits or plan.engine != "local":
        return False
    recoding = plan.anonymize.recoding
    if recoding.algorithm not in ("mondrian", "full-domain"):
        return False
    is_lattice = recoding.algorithm == "full-domain"
    if stage == "leaving rows out":
        return not is_lattice and bool(recoding.max_suppression)
    return is_lattice == (stage == "searching the lattice") and (
        recoding.polish or stage != "polishing"
    )


def _sample_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield that a sample is not that of the plan, or not one of the rows of the output."""
    step, sample = certificate.plan.sample, certificate.sample
    if sample is None:
        if step is not None and certificate.tells_making:
            yield "It does not say how many rows were sampled."
        return
    if step is None or sample.units != step.units:
        yield "It has a sample that its plan does not ask for."
        return
    plan = certificate.plan
    published = sample.published(is_whole=not plan.most_suppressed, shows_strata=plan.shows_strata)
    if published != sample:
        yield "It tells more of its sample than the output shows."
    elif not plan.most_suppressed:
        yield from _figure_contradictions(certificate, step, sample)


def _figure_contradictions(
    certificate: "Certificate", step: Sample, sample: SampleFigures
) -> Iterator[str]:
    """Yield that the figures of a sample of which all rows are released are none of the output."""
    rows, sampled, share = certificate.rows_out, sample.sampled, sample.share
    shows_strata = certificate.plan.shows_strata
    if sampled is None or share is None or (sample.strata is None) == shows_strata:
        yield "It does not say how many rows were sampled."
        return
    strata = sample.strata or 1
    is_size = step.size is None or sampled == step.size
    is_whole = sampled == rows if step.units == "rows" else sampled <= rows
    if not (is_size and is_whole and sample.rows == rows and strata <= sampled):
        yield f"{rows} rows are not of a sample of {sampled} {sample.units} ({sample.rows} rows)."
    elif not _can_be_sampled(step, sampled, share, sample.strata):
        share_text = f"{share:g}" + (f", in {strata} strata" if sample.strata else "")
        yield f"{sampled} {sample.units} are not a sample with the share {share_text}."


def _can_be_sampled(step: Sample, sampled: int, share: float, strata: int | None) -> bool:
    """Return whether a sample can have its share and its strata, of which each has a unit of it."""
    total = round(sampled / share)
    if sampled / total != share or (not step.stratified_by and strata != 1):
        return False
    if step.share is None:
        return True
    if not step.is_exact:
        return is_plausible(sampled, total, step.share)
    # Every stratum gives its share, rounded to a whole number.
    most = (0.5 + _ROUNDING) * (strata or sampled) + _ROUNDING * total
    return abs(sampled - step.share * total) <= most


def _measurement_contradictions(certificate: "Certificate") -> Iterator[str]:
    bounds, measurements = certificate.plan.bounds(), certificate.measurements
    measured_bounds = sorted((m.bound, m.column, m.sense, m.asked) for m in measurements)
    if measured_bounds != sorted((one.name, one.column, one.sense, one.asked) for one in bounds):
        yield "It does not have exactly one measurement for each bound of its plan."
    rows_of_bucket = [one.achieved for one in measurements if one.bound == ROWS]
    for one in measurements:
        if one.bound in BOUNDS and one.achieved > min(rows_of_bucket, default=math.inf):
            rows = f"{rows_of_bucket[0]:g} rows"
            yield f"{one.bound} cannot be {one.achieved:g} in buckets of {rows}."
        elif not _is_possible(one, certificate.rows_out):
            yield f"{one.bound} cannot be {one.achieved:g} in {certificate.rows_out} rows."


def _is_possible(measured: Measurement, rows: int) -> bool:
    """Return whether a table of this many rows can have a figure; a figure below 0 means none."""
    of_cells = (*terms.maskings(), *terms.randomisers())
    is_count = measured.bound in (*_COUNTS, *of_cells)
    if measured.bound in (*_WHOLE, *of_cells) and measured.achieved % 1:
        return False
    if measured.bound == LINK_PROBABILITY:
        least = _fewest_rows(measured)
        return 1 <= round(min(least, rows + 1)) <= rows and _is_close(least, round(least))
    most = rows * (1 + _ROUNDING) if is_count else math.inf
    return -_ROUNDING <= measured.achieved <= most


def _utility_contradictions(utility: Utility, certificate: "Certificate") -> Iterator[str]:
    """Yield loss figures that cannot belong to these rows in these classes."""
    anonymize, rows = certificate.plan.anonymize, certificate.rows_out
    if anonymize is None or not anonymize.models:
        yield "It reports an information loss, but nothing was generalised."
        return
    if not 1 <= utility.classes <= rows:
        yield f"{rows} rows cannot form {utility.classes} classes."
        return
    # The smallest class has at least as many rows as it has persons, or values.
    least = max(map(_fewest_rows, certificate.measurements), default=1)
    is_apart = not anonymize.recoding.has_overlapping_classes
    if is_apart and utility.classes * least > rows * (1 + _ROUNDING):
        yield f"{rows} rows cannot form {utility.classes} classes of {least:g} or more."
    size = rows / utility.classes
    if not _is_close(utility.average_class_size, size):
        yield f"The average class size must be {size:g}: {rows} rows in {utility.classes} classes."
    if not _is_close(utility.average_class_ratio, size / anonymize.k):
        yield f"The average class size must be {size / anonymize.k:g} times k."
    if not rows * size * (1 - _ROUNDING) <= utility.discernability <= rows * rows:
        yield f"The discernability of {utility.classes} classes cannot be {utility.discernability}."
    yield from _penalty_contradictions(utility, anonymize.columns.quasi_names)


def _fewest_rows(measured: Measurement) -> float:
    """Return how many rows every class has at least, by what was measured of it."""
    if measured.bound == LINK_PROBABILITY:
        return 1 / measured.achieved if measured.achieved else math.inf
    return measured.achieved if measured.bound in _COUNTS else 1


def _penalty_contradictions(utility: Utility, quasi: tuple[str, ...]) -> Iterator[str]:
    columns = (*utility.column_losses, *utility.perturbed)
    if sorted(columns) != sorted(set(quasi)):
        yield "It does not give exactly one loss for each quasi-identifier."
    losses = list(utility.column_losses.values())
    if any(not -_ROUNDING <= one <= 1 + _ROUNDING for one in losses):
        yield "The loss of a column is not between 0 and 1."
    mean = sum(losses) / len(losses) if losses else None
    penalty = utility.global_certainty_penalty
    if (mean is None) != (penalty is None) or not _is_close(penalty or 0, mean or 0):
        yield "Its certainty penalty is not the mean of its columns' losses."


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
