"""The risk of the classes of a release that are counted on a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.attacked_files import (
    default_known,
    method_words,
    sensitive_columns,
    taxonomies_of,
    unread_columns,
)
from policy_engine.api.disclosure_inputs import (
    Disclosed,
    certificate_of,
    risk_input_problems,
    risk_inputs,
)
from policy_engine.api.outputs import published_output
from policy_engine.audits.disclosure.files import TwoFiles, known_columns, unpaired
from policy_engine.audits.disclosure.result import DisclosureAudit
from policy_engine.audits.disclosure.risks.result import NoRisk
from policy_engine.audits.disclosure.settings import AttackSettings
from policy_engine.audits.reports.disclosure import write_disclosure
from policy_engine.certificate.beside import single_output
from policy_engine.engines.engine import Progress
from policy_engine.engines.launching import launch_engine
from policy_engine.errors import DataError, InternalError, PlanError, Problem

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.engines.launching import Launcher
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.engines.spark.row_counts import RowCounts
    from policy_engine.plan.plan import EngineName

_LOCAL = "the engine is Spark, which counts classes: run it on the local one"


def check_for_cluster(given: Mapping[str, object]) -> None:
    """Raise PlanError (M009) with the options given that the Spark engine does not have."""
    message = "The spark engine counts classes, and links nobody: it takes no "
    problems = [
        Problem("M009", f"{message}{name}.", "Run it on the local engine, or leave it out.")
        for name, value in given.items()
        if value
    ]
    if problems:
        raise PlanError(*problems)


def audit_classes(
    choice: "EngineName | SparkEngine",
    original: str | Path,
    release: str | Path,
    population: str | Path | None,
    *,
    known: Sequence[str],
    sensitive: Sequence[str],
    weights: str,
    threshold: float,
    taxonomies: Mapping[str, Any],
    out: str | Path | None,
    settings: AttackSettings,
    progress: Progress,
) -> DisclosureAudit:
    """Return what `audit_disclosure` does of classes, counted on the cluster of an engine.

    The figures are those of the local engine. The driver holds the distinct rows of the known
    columns. Raises what `audit_disclosure` does, and EngineError where an engine cannot be started.
    """
    from policy_engine.audits.disclosure.auditing import without_attacks  # noqa: PLC0415
    from policy_engine.audits.disclosure.risks.measuring import class_risks  # noqa: PLC0415

    with launch_engine(choice) as launcher:
        path = Path(single_output(Path(release)))
        with published_output(path):
            certificate = certificate_of(path, launcher.stored_data)
            progress("reading", 0, 0)
            secret = tuple(sensitive) or sensitive_columns(certificate)
            names = _names(launcher, original, path, certificate, known, secret)
            counted = _count(launcher, original, path, population, certificate, names, weights)
    (before, rows), (after, records), others = counted
    everybody = None if others is None else others.table
    where = Path(population) if population is not None else None
    given = Disclosed(Path(original), path, before, after, certificate, where, everybody)
    problems = risk_input_problems(given, names, weights, threshold)
    if problems:
        raise DataError(*problems)
    trees = taxonomies_of(certificate, taxonomies, path.parent, names)
    plan = certificate.plan if certificate else None
    columns = known_columns(before, after, names, plan, trees)
    own = unpaired(before.num_rows)
    files = TwoFiles(columns, own, after.num_rows, is_published=plan is not None)
    inputs = risk_inputs(given, files, (), weights, threshold, trees)
    persons = rows if others is None else others.counts
    found = class_risks(files, replace(inputs, records=records, persons=persons))
    learned = ("homogeneity", "attribute-inference", "interval-disclosure")
    audit = DisclosureAudit(
        original=Path(original).name,
        release=path.name,
        rows=int(rows.sum()),
        released=int(records.sum()),
        paired=0,
        matched_by=(),
        known=names,
        methods={name: method_words(name, certificate) for name in names},
        attacks=(),
        not_run=without_attacks(_LOCAL, settings).not_run,
        risks=found.risks,
        risks_not_run=(*found.not_run, *(NoRisk(measure=one, reason=_LOCAL) for one in learned)),
        distributions=found.distributions,
    )
    if out is not None:
        write_disclosure(audit, Path(out), *given.files)
    return audit


def _names(
    launcher: "Launcher",
    original: str | Path,
    release: Path,
    certificate: "Certificate | None",
    known: Sequence[str],
    sensitive: Sequence[str],
) -> tuple[str, ...]:
    """Return the known columns. Raises DataError (A023) where there is none."""
    if not known and certificate is None:
        message = "Which columns are known is not said, and no certificate tells."
        raise DataError(Problem("A023", message, "Name the known columns."))
    spark, unread = _spark(launcher), unread_columns(certificate)
    before, after = (spark.describe_dataset(str(one), str(one)) for one in (original, release))
    names = tuple(known) or default_known(before.columns, after.columns, certificate, sensitive)
    names = tuple(dict.fromkeys(name for name in names if name not in unread))
    if not names:
        message = "There is no column that both tables have and that could be known."
        raise DataError(Problem("A023", message, "Name the known columns."))
    return names


def _spark(launcher: "Launcher") -> "SparkEngine":
    if launcher.spark is None:
        raise InternalError.of("X001", "The engine is not one of a cluster.")
    return launcher.spark


def _count(
    launcher: "Launcher",
    original: str | Path,
    release: Path,
    population: str | Path | None,
    certificate: "Certificate | None",
    known: tuple[str, ...],
    weights: str,
) -> "tuple[RowCounts, RowCounts, RowCounts | None]":
    """Return the distinct rows of all tables in the known columns, those of the release with the
    weights. Raises DataError with all that have no rows (R001)."""
    from policy_engine.engines.spark.row_counts import count_rows  # noqa: PLC0415 (pyspark)

    sample = certificate.plan.sample if certificate else None
    weight = weights or (sample.weight_column if sample else "")
    released = tuple(dict.fromkeys((*known, *filter(None, [weight]))))
    spark = _spark(launcher)
    before = count_rows(spark, str(original), known)
    after = count_rows(spark, str(release), released)
    others = None if population is None else count_rows(spark, str(population), known)
    for one, location in ((before, original), (after, release), (others, population)):
        if one is not None and not one.table.num_rows:
            raise DataError.of("R001", "The table has no rows.", source=str(location))
    return before, after, others
