"""Certificates by which all that their policies ask for holds, made without any data."""

import hashlib
from datetime import UTC, datetime

from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.sources import as_upstream
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.audits.membership_inference import AttackMeasurement
from policy_engine.plan.making import make_plan
from policy_engine.plan.training import FilesMeasured


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def certified(policy, *before, **changes):
    """Return the certificate of what a policy makes, of releases by their certificates before."""
    plan = make_plan(policy)
    bounds = plan.anonymize.bounds() if plan.anonymize else ()
    reached, files = Estimate(value=0.5, low=0.45, high=0.55), plan.file_bounds
    found = files and FilesMeasured(asked=files, smallest_leaf=files.smallest_leaf, rare_values=0)
    made = Certificate(
        plan=plan.public(),
        output_digest=sha256(plan.publish.asset),
        rows_out=100,
        measurements=tuple(
            Measurement(bound=one.name, column=one.column, asked=one.asked, achieved=one.asked)
            for one in bounds
        ),
        attacks=tuple(
            AttackMeasurement(attack=name, bound=bound, reached=reached)
            for audit in plan.audits
            for name in audit.method.attacks_run
            for bound in audit.method.bounds
        ),
        attempts=len(plan.audits),
        files=found,
        utility=NotApplicable(reason="nothing was generalised"),
        upstream=tuple(map(as_upstream, before)),
        made_by="owner",
        time=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return made.model_copy(update=changes)
