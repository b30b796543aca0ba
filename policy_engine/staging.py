"""What lies beside a release until it is published, and how a reader tells that it is not yet."""

from policy_engine import storage
from policy_engine.errors import CertificateError
from policy_engine.storage import Place

PREFIX = ".policy-engine."
STAGE = f"{PREFIX}stage."
"""What the folder begins with in which an output is written and verified; a random text ends it."""
LOCK = f"{PREFIX}lock"
"""The file that a run holds locked while it is at work in a folder."""
CLAIM = f"{PREFIX}claim."
"""What the file begins with that stands for the lock where files cannot be locked."""
JOURNAL = f"{PREFIX}publishing"
"""The file that is there from the first step of a publication to the last."""


def check_settled(folder: Place) -> None:
    """Raise CertificateError (V010) where a release is half published into a folder.

    Its certificate may then stand without its output. Whoever next makes a release there brings
    the publication to its end, where the run that began it was killed.
    """
    if storage.is_taken(storage.join(folder, JOURNAL)):
        message = f"A release is being published into {str(folder)!r}, or its run was killed then."
        hint = "Try again; if that run has ended, policy-engine apply into this folder mends it."
        raise CertificateError.of("V010", message, hint)
