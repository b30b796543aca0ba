"""An audit of a model that is fitted already, as it is."""

from typing import Any

from policy_engine.audits.membership.auditing import audit_predictions
from policy_engine.audits.membership.fitted.answers import Spoken, numbers_of, spoken
from policy_engine.audits.membership.fitted.questions import Questions
from policy_engine.audits.membership.fitted.target import FittedModel, aligned, opened_target
from policy_engine.audits.membership.predictions import Predictions, doubts_of
from policy_engine.audits.membership.result import FittedTarget, MembershipAudit
from policy_engine.audits.membership.settings import Settings
from policy_engine.engines.engine import Progress, silent


def audit_fitted(
    questions: Questions,
    fitted: FittedModel,
    settings: Settings,
    progress: Progress = silent,
) -> MembershipAudit:
    """Attack a fitted model with what it says of members of its training data and of others.

    Raises AuditError for what is wrong with the model or its answers, for attacks that need
    more than it gives (A005) or shadow models (A007); DataError for files, columns to slice by
    (C005) and packages (C011).
    """
    with opened_target(fitted) as (target, described):
        given = aligned(questions.given, target.about)
        said = spoken(target.ask, target.about, given, questions.labels, fitted.reading, progress)
        predictions = _predictions(questions, said)
        found = audit_predictions(predictions, settings, progress)
    return found.model_copy(update=_about(questions, described, said))


def _predictions(questions: Questions, said: Spoken) -> Predictions:
    return Predictions(
        logits=said.logits,
        labels=numbers_of(questions.labels, said.classes),
        is_member=questions.is_member,
        classes=said.classes,
        columns=questions.columns,
        gives=said.gives,
        name=questions.name,
        digest=questions.digest,
        warnings=doubts_of(questions.is_member),
    )


def _about(questions: Questions, described: FittedTarget, said: Spoken) -> dict[str, Any]:
    """Return the fields by which an audit says what was attacked."""
    return {
        "architecture": described.text,
        "features": questions.width,
        "fitted": described.model_copy(update={"gives": tuple(sorted(said.gives))}),
    }
