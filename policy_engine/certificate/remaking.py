"""Whether an output is the release that its data give again."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from policy_engine.certificate.certificate import Certificate, check_digest
from policy_engine.engines.engine import StoredData
from policy_engine.errors import CertificateError, DataError, join_names
from policy_engine.plan.plan import Plan

_HINT = "Give the data that it was made from, and the key, if it was made with one."


def is_made_again(plan: Plan, *, has_key: bool, is_matched: bool = False) -> bool:
    """Tell whether a release is made again: to count persons, to know within which classes values
    were permuted, or since the owner's key draws rows, masked columns, buckets and cells to
    suppress as they were drawn; or to know whose row each is, unless the rows are matched by what
    is published as it is.

    Raises DataError (V006) for a sample whose rows have to be known, without the key.
    """
    counted = bool(plan.anonymize and plan.anonymize.columns.privacy_unit)
    counted |= bool(plan.anonymize and plan.anonymize.is_permuted)
    counted |= bool(plan.disclosures and not is_matched)
    perturbed = bool(plan.mask and plan.mask.needs_input)
    if plan.sample and not has_key and (counted or perturbed):
        message = "Which rows of the input were sampled follows from the key of the release."
        raise DataError.of("V006", message, "Give the key that it was made with.")
    drawn = perturbed or plan.sample is not None
    if has_cells_of_input(plan) and not plan.require_anonymize().columns.has_own_pseudonyms:
        # Buckets of equal quasi-identifiers are the same whatever the key, of the same rows.
        is_distinct = plan.require_anonymize().recoding.buckets == "distinct-l"
        is_keyless = is_distinct and not (drawn_by_key(plan) or plan.sample)
        drawn, counted = True, counted or is_keyless
    return counted or (has_key and drawn)


def has_cells_of_input(plan: Plan) -> bool:
    """Tell whether the cells of quasi-identifiers are those of the input, or missing."""
    step = plan.require_anonymize()
    return step.is_in_buckets or step.recoding.algorithm == "local-suppression"


def check_same(
    again: Certificate, stored: StoredData, earlier: Certificate | None, *, has_key: bool
) -> None:
    """Raise CertificateError (V004) where a release differs from the one made again, or from its
    `earlier` certificate, DataError (V006) where that can be since the key is not given."""
    if again.output_digest == stored.digest:
        return
    if earlier is not None:
        check_digest(earlier, stored)
    _check_key(again.plan, has_key=has_key)
    key = "the data and the key" if has_key else "the data"
    message = f"The output is not the one that {key} give: its sha-256 is {stored.digest}, "
    message += f"that of the release made again {again.output_digest}."
    raise CertificateError.of("V004", message, _HINT, stored.location)


@contextmanager
def other_rows(plan: Plan, *, has_key: bool) -> Iterator[None]:
    """Say of rows that are not those made again (V003) what they may come from.

    Raises as `check_same` where the key is not given.
    """
    try:
        yield
    except CertificateError as error:
        if any(one.code != "V003" for one in error.problems):
            raise
        _check_key(plan, has_key=has_key)
        problems = [replace(one, hint=_HINT) for one in error.problems]
        raise CertificateError(*problems, source=error.source) from None


@contextmanager
def other_draws(plan: Plan, *, has_key: bool) -> Iterator[None]:
    """Say that a release cannot be made again without its key (V006), where what is drawn instead
    does not fit the values (R013): by chance, noise may change none of a few."""
    try:
        yield
    except DataError as error:
        if all(one.code == "R013" for one in error.problems):
            _check_key(plan, has_key=has_key)
        raise


def _check_key(plan: Plan, *, has_key: bool) -> None:
    """Raise DataError (V006) where a release cannot be made again identically without its key."""
    drawn = "" if has_key else drawn_by_key(plan)
    if drawn:
        message = f"{drawn} follows from the key of the release, so it cannot be made again "
        hint = "Give the key that it was made with. Without one, its draws cannot be repeated."
        raise DataError.of("V006", f"{message}identically.", hint)


def drawn_by_key(plan: Plan) -> str:
    """Return what the key of a release decides, empty for nothing."""
    if not plan.makes_rows:
        return ""
    if plan.mask and plan.mask.groups:
        names = [one.name for group in plan.mask.groups for one in group]
        return f"How {join_names(names)} {'was' if len(names) == 1 else 'were'} masked"
    if plan.require_anonymize().is_permuted:
        return "How quasi-identifiers were permuted"
    if plan.require_anonymize().recoding.algorithm == "microaggregation":
        return "Which of the rows with equal quasi-identifiers are in which class"
    return ""
