"""What it gained to leave outlying rows out, as certificates tell it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.engines.suppression_gain import STEPS, LoweredLoss
from policy_engine.errors import CertificateError
from policy_engine.plan.plan import Plan

if TYPE_CHECKING:  # a certificate is read without what makes one
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.certificate.record import Record
    from policy_engine.engines.engine import WrittenTable
    from policy_engine.release.release import Release


def measure_lowered_loss(release: "Release", written: "WrittenTable") -> LoweredLoss | None:
    """Return what leaving outlying rows out gained, None where it is not done, or where this run
    did not form the classes."""
    is_known = written.anonymized is not None and not release.sanitised
    return LoweredLoss.of(release.gain) if is_known and _leaves_rows_out(release.plan) else None


def check_lowered_loss(earlier: "Certificate", record: "Record") -> None:
    """Raise CertificateError (V018) where a certificate tells of another gain than the record that
    it commits to."""
    if earlier.lowered_loss and earlier.lowered_loss != LoweredLoss.of(record.gain):
        message = "The certificate says that leaving rows out lowered the loss "
        message += f"{earlier.lowered_loss}. By its record, it did {LoweredLoss.of(record.gain)}."
        raise CertificateError.of("V018", message)


def lowered_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield that a certificate tells of a gain that its plan cannot have, or more of it than
    everybody may know. Certificates made before this was told have none."""
    lowered = certificate.lowered_loss
    if lowered and not _leaves_rows_out(certificate.plan):
        yield "It says what leaving rows out gained, and its plan leaves none out."
    elif lowered and lowered.at_least not in STEPS:
        yield "It says more exactly than certificates do what leaving rows out gained."


def _leaves_rows_out(plan: Plan) -> bool:
    return plan.anonymize is not None and plan.anonymize.suppresses_outlying_rows
