"""What happened to data, for an authority: logs, ledgers, certificates and policies in one file.

`trail` is that file, `chains` are the logs and ledgers in it, `checking` verifies all of it without
anything else: `signers` who signed it and its policies, `crossing` what its parts say of one
another, `withdrawn` what was permitted after it was withdrawn. `checks` are what is found.
"""

from policy_engine.decision.audit_trail.checking import TrailReport, check_trail
from policy_engine.decision.audit_trail.checks import TrailCheck
from policy_engine.decision.audit_trail.trail import AuditTrail

__all__ = ["AuditTrail", "TrailCheck", "TrailReport", "check_trail"]
