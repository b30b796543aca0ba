"""The risk of the classes of a release that are counted on a cluster."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.api.attacked_files import (
    AuditQuestion,
    default_known,
    method_words,
    no_known_column,
    sensitive_columns,
    taxonomies_of,
    unread_columns,
)
from policy_engine.api.cluster_files import ClusterFiles
from policy_engine.api.disclosure_inputs import Disclosed, risk_input_problems, risk_inputs
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.pairing import unpaired
from policy_engine.audits.disclosure.result import DisclosureAudit
from policy_engine.audits.disclosure.risks.result import NoRisk
from policy_engine.audits.disclosure.settings import AttackSettings
from policy_engine.errors import DataError, Problem

if TYPE_CHECKING:
    from policy_engine.engines.spark.row_counts import RowCounts


@dataclass(frozen=True)
class CountedFiles:
    """The distinct rows of the tables in the `known` columns, and how many each stands for."""

    given: Disclosed
    known: tuple[str, ...]
    before: "RowCounts"
    after: "RowCounts"
    population: "RowCounts | None"


def count_classes(files: ClusterFiles, question: AuditQuestion) -> CountedFiles:
    """Return the distinct rows of all tables in the known columns, those of the release with the
    weights.

    Raises DataError where no column is known (A023), or the driver does not hold them (R011).
    """
    names = _names(files, question)
    before, after, others = _count(files, question, names)
    place = Path(files.population) if files.population is not None else None
    disclosed = Disclosed(
        Path(files.original),
        Path(files.release),
        before.table,
        after.table,
        files.certificate,
        place,
        others.table if others else None,
    )
    return CountedFiles(disclosed, names, before, after, others)


def audit_classes(
    counted: CountedFiles, question: AuditQuestion, settings: AttackSettings, reason: str
) -> DisclosureAudit:
    """Return what the classes of a release risk, with a reason for which nobody is linked.

    The figures are those of the local engine. Raises DataError as `audit_disclosure` does.
    """
    from policy_engine.audits.disclosure.auditing import without_attacks  # noqa: PLC0415
    from policy_engine.audits.disclosure.risks.measuring import class_risks  # noqa: PLC0415

    names = counted.known
    disclosed = counted.given.without_marks(names)
    problems = [*disclosed.cell_problems(names)]
    problems += risk_input_problems(disclosed, names, question.weights, question.threshold)
    if problems:
        raise DataError(*problems)
    trees = taxonomies_of(
        disclosed.certificate, question.taxonomies or {}, disclosed.path.parent, names
    )
    plan = disclosed.certificate.plan if disclosed.certificate else None
    columns = known_columns(disclosed.before, disclosed.after, names, plan, trees)
    own = unpaired(disclosed.before.num_rows)
    files = TwoFiles(columns, own, disclosed.after.num_rows, is_published=plan is not None)
    inputs = risk_inputs(disclosed, files, (), question.weights, question.threshold, trees)
    persons = (counted.population or counted.before).counts
    inputs = replace(inputs, records=counted.after.counts, persons=persons)
    risks = class_risks(files, inputs)
    learned = ("homogeneity", "attribute-inference", "interval-disclosure")
    return DisclosureAudit(
        original=disclosed.original.name,
        release=disclosed.path.name,
        rows=int(counted.before.counts.sum()),
        released=int(counted.after.counts.sum()),
        paired=0,
        matched_by=(),
        known=names,
        methods={name: method_words(name, disclosed.certificate) for name in names},
        attacks=(),
        not_run=without_attacks(reason, settings).not_run,
        risks=risks.risks,
        risks_not_run=(*risks.not_run, *(NoRisk(measure=one, reason=reason) for one in learned)),
        distributions=risks.distributions,
        missing_marks=disclosed.missing_marks,
    )


def _names(files: ClusterFiles, question: AuditQuestion) -> tuple[str, ...]:
    """Return the known columns. Raises DataError (A023) where there is none."""
    certificate = files.certificate
    if not question.known and certificate is None:
        message = "Which columns are known is not said, and no certificate tells."
        raise DataError(Problem("A023", message, "Name the known columns."))
    secret, unread = (
        question.sensitive or sensitive_columns(certificate),
        unread_columns(certificate),
    )
    before, after, *_ = (one.columns for one in files.described())
    names = tuple(question.known) or default_known(before, after, certificate, secret)
    names = tuple(dict.fromkeys(name for name in names if name not in unread))
    if not names:
        raise DataError(no_known_column(before, after, certificate))
    return names


def _count(
    files: ClusterFiles, question: AuditQuestion, names: tuple[str, ...]
) -> "tuple[RowCounts, RowCounts, RowCounts | None]":
    from policy_engine.engines.spark.row_counts import count_rows  # noqa: PLC0415 (pyspark)

    sample = files.certificate.plan.sample if files.certificate else None
    weight = question.weights or (sample.weight_column if sample else "")
    released = tuple(dict.fromkeys((*names, *filter(None, [weight]))))
    before = count_rows(files.spark, str(files.original), names)
    after = count_rows(files.spark, str(files.release), released)
    if files.population is None:
        return before, after, None
    return before, after, count_rows(files.spark, str(files.population), names)
