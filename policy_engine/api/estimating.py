"""Estimates from releases whose records were randomised one by one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.outputs import published_output
from policy_engine.api.verified_release import VerifiedRelease
from policy_engine.certificate.beside import find_certificate, single_output
from policy_engine.certificate.certificate import Certificate, check_digest
from policy_engine.engines.engine import StoredData
from policy_engine.errors import CertificateError

if TYPE_CHECKING:
    from policy_engine.audits.utility.estimating import EstimatedRelease


def estimate_answers(
    release: VerifiedRelease | str | Path,
    *,
    original: str | Path | Any = None,
) -> "EstimatedRelease":
    """Return unbiased estimates of the values that a release under local differential privacy was
    drawn for: frequencies of categories and means of numbers, with variances and intervals.

    The release is what `apply_policy` returned, or a file with its certificate beside it. With the
    `original`, a file or an Arrow table, each estimate has the truth beside it: that is for the
    owner alone. Raises CertificateError (V004) if the file is not the certified one, (V006) without
    a certificate, PlanError (M007) for another kind of release, DataError for files that cannot be
    read.
    """
    from policy_engine.audits.utility.estimating import estimate_release  # noqa: PLC0415 (slow to import)

    truth = Path(original) if isinstance(original, str) else original
    if not isinstance(release, str | Path):
        table = release.table
        table = table.toArrow() if hasattr(table, "toArrow") else table
        return estimate_release(table, release.plan.require_randomise(), truth)
    path = Path(single_output(Path(release)))
    with published_output(path):
        certificate = _certificate_of(path)
        check_digest(certificate, StoredData.from_file(path))
        return estimate_release(path, certificate.plan.require_randomise(), truth)


def _certificate_of(path: Path) -> Certificate:
    adjacent = find_certificate(path)
    if adjacent is None:
        message = f"There is no certificate beside {str(path)!r}, which has its probabilities."
        raise CertificateError.of("V006", message, "Give the file that was released.")
    return adjacent[1]
