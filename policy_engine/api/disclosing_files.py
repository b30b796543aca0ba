"""What an intruder can do to a release whose rows are matched, in figures."""

from typing import TYPE_CHECKING

from policy_engine.api.attacked_files import AttackedFiles, AuditQuestion
from policy_engine.api.disclosure_inputs import risk_inputs
from policy_engine.audits.disclosure.result import DisclosureAudit
from policy_engine.audits.disclosure.settings import AttackSettings
from policy_engine.engines.engine import Progress
from policy_engine.errors import join_names

if TYPE_CHECKING:
    from policy_engine.audits.disclosure.auditing import Attacks


def audit_files(
    read: AttackedFiles, question: AuditQuestion, settings: AttackSettings, progress: Progress
) -> "tuple[DisclosureAudit, Attacks]":
    """Return every figure of a release, and the attacks with their links.

    Raises DataError where the population does not contain the release (A024), or weights are not
    numbers above 0 (A025).
    """
    from policy_engine.audits.disclosure.risks.measuring import measure_risks  # noqa: PLC0415

    disclosed = read.given
    inputs = risk_inputs(
        disclosed, read.files, read.secret, question.weights, question.threshold, read.taxonomies
    )
    risks = measure_risks(read.files, inputs, progress)
    attacks = attack_files(read, settings, progress)
    audit = DisclosureAudit(
        original=disclosed.original.name,
        release=disclosed.path.name,
        rows=disclosed.before.num_rows,
        released=disclosed.after.num_rows,
        paired=int((read.files.own >= 0).sum()),
        matched_by=read.matching,
        known=tuple(dict.fromkeys((*attacks.order, *read.files.names))),
        methods=read.methods(),
        attacks=attacks.linkages,
        not_run=attacks.not_run,
        unread=(*read.unread, *read.files.unreadable),
        risks=risks.risks,
        risks_not_run=risks.not_run,
        distributions=risks.distributions,
        holdout=question.holdout.name if question.holdout else None,
        absent=read.outside.absent if read.outside else 0,
        alike=read.likeness.known,
        equal=read.likeness.shared,
        same_order=question.same_order,
        lacking=disclosed.lacking,
        missing_marks=disclosed.missing_marks,
        joined_by=disclosed.joined_by,
    )
    return audit, attacks


def attack_files(read: AttackedFiles, settings: AttackSettings, progress: Progress) -> "Attacks":
    """Return what every attack reaches, or that none was made, and why."""
    from policy_engine.audits.disclosure.auditing import (  # noqa: PLC0415 (compiled)
        attack_each,
        without_attacks,
    )

    if read.unmatched:
        return without_attacks(read.unmatched, settings)
    files = read.files.readable()
    outside = read.outside.readable() if read.outside else None
    if not files.columns:
        labelled = join_names(read.files.unreadable)
        reason = f"cells of {labelled} are labels that the original lacks, and no taxonomy is given"
        return without_attacks(reason, settings)
    return attack_each(files, outside, progress, settings)
