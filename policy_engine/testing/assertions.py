"""What holds of policies and releases, as assertions."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

if TYPE_CHECKING:
    from policy_engine.api.inputs import InputOptions
    from policy_engine.api.verified_release import VerifiedRelease
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.policy import Policy, ReadingOptions, Source


def assert_release_holds(
    release: "str | Path | VerifiedRelease",
    policy: "Source",
    data: Mapping[str, Any] | None = None,
    **options: "Unpack[InputOptions]",
) -> "Certificate":
    """Assert that a release satisfies a policy, measured on its rows; return what was measured.

    The release is an output, or the folder that it is in with its certificate, whose digest is
    compared. With `data` the rows are compared with those of the input. Everything else is as for
    `certify_output`. Raises AssertionError with every problem where the release does not hold, and
    PolicyEngineError where that cannot be told: there is no such file, the policy cannot be read.
    """
    __tracebackhide__ = True
    from policy_engine.api.certifying import certify_output  # noqa: PLC0415 (slow to import)
    from policy_engine.errors import CertificateError  # noqa: PLC0415

    location = _location(release)
    try:
        return certify_output(location, policy, data, **options)
    except CertificateError as error:
        message = f"{location} does not hold what its policy asks for:\n{error}"
        raise AssertionError(message) from None


def assert_valid(policy: "Source", **reading: "Unpack[ReadingOptions]") -> "Policy":
    """Assert that a policy is valid and can be carried out; return it.

    `reading` is as for `load_policy`. Raises AssertionError with every problem, each with its
    place.
    """
    __tracebackhide__ = True
    from policy_engine.api.planning import check_policy  # noqa: PLC0415
    from policy_engine.errors import PlanError, PolicyError  # noqa: PLC0415

    try:
        return check_policy(policy, **reading)
    except (PlanError, PolicyError) as error:
        message = f"The policy is not valid:\n{error}"
        raise AssertionError(message) from None


def _location(release: "str | Path | VerifiedRelease") -> str | Path:
    """Return where a release is. Raises AssertionError for one that was not written."""
    if isinstance(release, str | Path):
        return release
    if release.path is None:
        message = "The release is only in memory. Write it: apply_policy(..., output=FOLDER)."
        raise AssertionError(message)
    return release.path
