"""Whether a plan can only be carried out with a ledger of what was released before."""

from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.plan.plan import Plan


def ledger_needed(plan: Plan) -> PolicyEngineError | None:
    """Return the error (B014) of a plan that bounds releases together, if no ledger is given."""
    composition = plan.anonymize.recoding.composition if plan.anonymize else None
    if composition in (None, "independent"):
        return None
    message = f"The policy bounds what {plan.publish.asset!r} tells together with earlier "
    hint = "Give the ledger that every release of these data is recorded in: --ledger FILE."
    return LedgerError.of("B014", f"{message}releases, and no ledger of them is given.", hint)
