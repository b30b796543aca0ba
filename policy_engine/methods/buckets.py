"""What bucketization can be asked for, and what holds of the buckets that are published."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policy_engine.errors import join_names
from policy_engine.methods.findings import Finding
from policy_engine.methods.privacy_model import Bound
from policy_engine.methods.recoding import Buckets

BUCKET = "bucket"
"""The column of both published tables that has the number of each row's bucket."""
COUNT = "count"
"""The column that says how many rows of the bucket have the sensitive value."""
ADDED = (BUCKET, COUNT)
MODEL = "l-diversity"
METHODS = (MODEL, "masking")
"""The methods that bucketization goes with: others speak of classes of generalised rows."""
ROWS, VALUES, ANATOMY = "bucket-k", "bucket-l", "anatomy-l"
"""The bounds that are measured of every bucket: its rows, its distinct values, and the greatest l
so that no value, a missing one included, has more than 1/l of it."""
BOUNDS = (ROWS, VALUES, ANATOMY)


def bucket_bounds(buckets: Buckets, k: int, l: int, column: str) -> tuple[Bound, ...]:  # noqa: E741
    """Return what must hold of every bucket, for one sensitive column.

    No value may have more than 1/l of a bucket in Anatomy (Xiao and Tao, VLDB 2006, definition 2).
    """
    bounds = (Bound(ROWS, "", k), Bound(VALUES, column, l))
    return (*bounds, Bound(ANATOMY, column, l)) if buckets == "anatomy" else bounds


def bucket_conflicts(
    algorithm: object,
    notations: Collection[str],
    roles: Mapping[str, Collection[str]],
    unit: str = "",
    added: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield what cannot be asked for together with bucketization (M003).

    `roles` are the names of the columns by role, `unit` is the column of the unit of privacy, and
    `added` are the columns of the output that are not columns of the input.
    """
    if algorithm != "bucketization":
        return
    others = [one for one in notations if one not in METHODS]
    if others or MODEL not in notations:
        message = "The algorithm 'bucketization' publishes quasi-identifiers as they are, and holds"
        message += f" {MODEL!r} by bucket. Asked for: {join_names(notations)}."
        yield Finding("M003", "method", message)
    if len(roles.get("sensitive", ())) > 1:
        message = "The algorithm 'bucketization' publishes one sensitive column by bucket. Given: "
        yield Finding("M003", "sensitive", f"{message}{join_names(roles['sensitive'])}.")
    if unit:
        message = f"The algorithm 'bucketization' counts rows, and persons are told by {unit!r}: "
        yield Finding("M003", "privacyUnit", f"{message}buckets with a person's rows intersect.")
    if roles.get("pseudonymize"):
        message = "The algorithm 'bucketization' has no pseudonyms: with one in several rows, the "
        yield Finding("M003", "pseudonymize", f"{message}values of their buckets intersect.")
    yield from _names_taken(roles, added)


def _names_taken(roles: Mapping[str, Collection[str]], added: Collection[str]) -> Iterator[Finding]:
    released = [(name, role) for role in roles if role != "identifier" for name in roles[role]]
    released += [(name, "weightColumn") for name in added]
    for name, role in released:
        if name.lower() in ADDED:
            message = f"{name!r} is the name of a column that the algorithm 'bucketization' adds, "
            yield Finding("M003", role, f"{message}{join_names(ADDED)}. Rename it.")


def exact_conflicts(settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the settings of a quasi-identifier that bucketization publishes as it is (M003)."""
    for name in settings:
        message = f"{name} is about generalising. The algorithm 'bucketization' publishes "
        yield Finding("M003", name, f"{message}quasi-identifiers as they are.")
