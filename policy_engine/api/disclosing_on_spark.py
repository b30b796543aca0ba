"""Audits of released tables that a cluster reads."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.api.attacked_files import AuditQuestion
from policy_engine.api.binding import published_certificate
from policy_engine.api.cluster_classes import audit_classes, count_classes
from policy_engine.api.cluster_files import ClusterFiles, needed_rows
from policy_engine.api.deciding import TrustSource
from policy_engine.api.disclosing_files import audit_files
from policy_engine.api.disclosure_inputs import check_attacked
from policy_engine.api.outputs import published_output
from policy_engine.api.trusting import trusted_proofs
from policy_engine.audits.disclosure.records import check_outside
from policy_engine.audits.disclosure.result import DisclosureAudit
from policy_engine.audits.disclosure.settings import AttackSettings
from policy_engine.audits.reports.disclosure import write_disclosure
from policy_engine.certificate.beside import single_output
from policy_engine.data.catalog import parse_location
from policy_engine.engines.engine import Progress
from policy_engine.engines.launching import launch_engine
from policy_engine.errors import InternalError, PlanError, Problem

if TYPE_CHECKING:
    from policy_engine.engines.launching import Launcher
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.plan.plan import EngineName


def check_for_cluster(options: Mapping[str, object]) -> None:
    """Raise PlanError (M009) with the options given that the Spark engine does not have."""
    problems = [
        Problem("M009", f"The spark engine takes no {name}.", _RUN_LOCALLY)
        for name, value in options.items()
        if value
    ]
    if problems:
        raise PlanError(*problems)


_RUN_LOCALLY = "Run it on the local engine, or leave it out."


def audit_on_cluster(
    choice: "EngineName | SparkEngine",
    tables: tuple[str | Path, str | Path, str | Path | None],
    question: AuditQuestion,
    settings: AttackSettings,
    out: str | Path | None,
    progress: Progress,
    trust: TrustSource | None = None,
) -> DisclosureAudit:
    """Return what `audit_disclosure` does, of tables that the cluster of an engine reads: the
    original, the release and, if there is one, the population.

    The figures are those of the local engine. The driver holds the rows of the columns that are
    read where all tables together have at most `most_linked`; where they have more, classes are
    counted, and nobody is linked. Raises what `audit_disclosure` does, and EngineError where an
    engine cannot be started.
    """
    original, release, population = tables
    place = single_output(parse_location(release))
    if out is not None and isinstance(place, Path):
        check_outside(Path(out), [place])
    with launch_engine(choice) as launcher:
        spark, read, counted = _spark(launcher), None, None
        with published_output(place):
            certificate = published_certificate(launcher, place)
            if certificate is not None:
                check_attacked(certificate, lambda: launcher.stored_data(place))
                if trust is not None:
                    trusted_proofs([certificate], trust)
            files = ClusterFiles(spark, original, place, certificate, population)
            progress("reading", 0, 0)
            needed = needed_rows(files, question)
            rows = needed.count()
            if rows <= spark.most_linked:
                read = needed.match(question)
            else:
                counted = count_classes(files, question)
        if read is not None:
            audit, _ = audit_files(read, question, _searching(settings, spark), progress)
    if counted is not None:
        reason = f"the tables have {rows:,} rows, and the driver holds {spark.most_linked:,}"
        audit = audit_classes(counted, question, settings, reason)
    # Of the columns, only those that are read were gathered.
    audit = audit.model_copy(update={"lacking": needed.lacking})
    if out is not None:
        write_disclosure(audit, Path(out), *files.paths)
    return audit


def _searching(settings: AttackSettings, spark: "SparkEngine") -> AttackSettings:
    from policy_engine.engines.spark.linking import search_on_cluster  # noqa: PLC0415 (pyspark)

    return replace(settings, search=search_on_cluster(spark))


def _spark(launcher: "Launcher") -> "SparkEngine":
    if launcher.spark is None:
        raise InternalError.of("X001", "The engine is not one of a cluster.")
    return launcher.spark
