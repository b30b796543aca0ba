"""Audits of what a model gives away about a column of those it was trained on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from policy_engine.api.auditing import Cancel, Model, model_learner
from policy_engine.audits.attribute.auditing import (
    AuditedColumns,
    audit_fitted_secrets,
    audit_trained,
)
from policy_engine.audits.attribute.result import AttributeAudit
from policy_engine.audits.attribute.secret import BINS
from policy_engine.audits.attribute.settings import SecretSettings
from policy_engine.audits.membership.fitted.target import FittedModel
from policy_engine.audits.membership.manifest import cancellable
from policy_engine.audits.membership.records import source_table
from policy_engine.audits.reports.attribute import write_attribute
from policy_engine.audits.reports.audit_folder import check_output
from policy_engine.data.places.spelling import source_name
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError
from policy_engine.plan.lineage import MadeBy


def audit_attribute(
    data: Any,
    label: str,
    secret: str,
    model: Model = None,
    *,
    attacks: str | Sequence[str] = (),
    bins: int = BINS,
    targets: int = 1,
    seed: int = 0,
    members: str = "",
    fitted: Any = None,
    out: str | Path | None = None,
    progress: Progress = silent,
    cancel: Cancel | None = None,
    made_by: MadeBy = "owner",
) -> AttributeAudit:
    """Train a model on a part of some records, and measure how well their secrets are guessed.

    `data` is a table: a file (CSV, CSV.gz, Parquet) or a frame; `label` is the column of the
    classes, by default the last one, and `secret` one of the others, which nobody should learn of a
    person. `model`, `members` and `fitted` are as for `audit_membership`, and the model is trained
    on the same part for the same `seed`.

    Every attack is compared with guesses at the same records by somebody who never saw the model,
    and members with records that it was not trained on. All `attacks` are made that the model
    allows, or those named. A secret column of numbers is divided into `bins`. With several
    `targets`, as many models are trained and attacked, and there are means over them. With `out`,
    the figures (`attribute.json`) and a page (`attribute.html`) are written there, for the owner
    alone.

    Raises AuditError and DataError for problems of the input, before anything is trained (A035
    for those of the secret), and OutputError if nothing can be written.
    """
    names = (attacks,) if isinstance(attacks, str) else tuple(attacks)
    settings = SecretSettings(
        attacks=tuple(filter(None, names)), bins=bins, targets=targets, seed=seed
    )
    folder = None if out is None else Path(out)
    columns, reporting = AuditedColumns(label, secret, members), cancellable(cancel, progress)
    _check_table(data)
    check_output(folder, None)
    if fitted is not None:
        if model is not None:
            message = "A fitted model is attacked as it is: no other is trained."
            raise AuditError.of("A014", message, "Leave the description of a model out.")
        target = fitted if isinstance(fitted, FittedModel) else FittedModel(fitted)
        audit = audit_fitted_secrets(data, columns, target, settings, reporting)
    else:
        learner, architecture = model_learner(model)
        audit = audit_trained(
            source_table(data),
            columns,
            learner,
            settings,
            architecture=architecture,
            name=source_name(data) if isinstance(data, str | Path) else "a table in memory",
            progress=reporting,
        )
    audit = audit.model_copy(update={"made_by": made_by})
    if folder is not None:
        sources = (data, model, getattr(fitted, "model", fitted))
        write_attribute(audit, folder, *(Path(s) for s in sources if isinstance(s, str | Path)))
    return audit


def _check_table(data: Any) -> None:
    """Raise AuditError (A035) for arrays, whose columns have no names."""
    is_file = isinstance(data, str | Path) and str(data).lower().endswith(".npz")
    if is_file or isinstance(data, tuple):
        message = "A secret is a column that has a name, and the records are arrays."
        raise AuditError.of("A035", message, "Give a table: CSV, Parquet or a frame.")
