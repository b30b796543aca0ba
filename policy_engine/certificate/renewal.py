"""Whether a release still is what its policy says, in everything that its output does not show.

An output shows its columns and cells. It does not show what it was made from, whether its
pseudonyms belong to one release or to many, whether a number is a value or the mean of several, or
how many rows were left out. Those facts come from the certificate with which the release was
published.
"""

from collections.abc import Iterator

from policy_engine.certificate.certificate import Certificate, check_digest
from policy_engine.certificate.record import Record
from policy_engine.certificate.shortcomings import MAKE_HINT, MAKING_UNKNOWN
from policy_engine.data.storage import Location
from policy_engine.engines.engine import StoredData
from policy_engine.errors import CertificateError, Problem
from policy_engine.methods.columns import Columns, QuasiIdentifier
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize

_TYPE_DEFAULTS = (None, "range", "set")
"""Generalisations that a column may take by its type, which its cells show."""


def with_change(
    error: CertificateError, earlier: Certificate | None, output: StoredData
) -> CertificateError:
    """Return the error of an output; if it is not the certified one, the error says so, too."""
    try:
        if earlier and all(one.code != "V004" for one in error.problems):
            check_digest(earlier, output)
    except CertificateError as changed:
        source = error.source or changed.source
        return CertificateError(*error.problems, *changed.problems, source=source)
    return error


def check_making(
    earlier: Certificate, plan: Plan, record: Record | None, output: Location, *, renews: bool
) -> None:
    """Raise CertificateError (V014) if a release was made differently from what a plan says.

    `earlier` is the certificate beside it, and `record` the one that opened its commitment. If it
    `renews` that certificate, the policy must have the same uid, however it was changed. A
    certificate that says nothing about the making is not used, and not renewed (V016).
    """
    if not earlier.tells_making:
        if renews:
            raise CertificateError.of("V016", MAKING_UNKNOWN, MAKE_HINT, str(output))
        return
    wanted, earlier_step = plan.anonymize, earlier.plan.anonymize
    problems = [*_provenance_changes(earlier.plan, plan, renews=renews)]
    if wanted is not None and earlier_step is not None:
        problems += _column_changes(earlier_step.columns, wanted.columns)
        problems += _suppression_changes(earlier_step, wanted, record)
        problems += _masking_changes(earlier.plan, plan)
        problems += _sample_changes(earlier.plan, plan)
    elif wanted is not None:
        problems.append("It was not anonymised.")
    if problems:
        hint = "Make the release again: policy-engine apply."
        raise CertificateError(
            *(Problem("V014", one, hint) for one in problems), source=str(output)
        )


def is_renewable(earlier: Certificate, plan: Plan, record: Record | None) -> bool:
    """Return whether an output is known to be made as a plan says, so that it can be renewed.

    It is by the certificate of its making for this policy, once `check_making` found nothing; and
    if models were attacked, by the `record` that says from which data. Otherwise only the
    measurements can be certified.
    """
    is_of_policy = earlier.tells_making and earlier.plan.policy == plan.policy
    return is_of_policy and (not plan.audits or record is not None)


def _provenance_changes(made: Plan, plan: Plan, *, renews: bool) -> Iterator[str]:
    """Yield that an output is another one, made from something else, or for another policy."""
    if made.publish.asset != plan.publish.asset:
        yield f"It is certified as {made.publish.asset}, but the policy makes {plan.publish.asset}."
    before, now = ([step.asset for step in one.reads] for one in (made, plan))
    if before != now:
        sources_before, sources_now = " and ".join(before), " and ".join(now)
        yield f"It was made from {sources_before}, but the policy reads {sources_now}."
    elif _join_columns(made) != _join_columns(plan):
        yield "Its inputs were not joined in the way that the policy asks for."
    if renews and made.policy != plan.policy:
        yield f"It was made for the policy {made.policy}, but the given policy is {plan.policy}."


def _join_columns(plan: Plan) -> list[tuple[str, str, set[str]]]:
    """Return the columns on which inputs are joined, and those of each that are in the table."""
    return [(one.asset, one.on, {*one.columns}) for one in (plan.join.inputs if plan.join else ())]


def _column_changes(made: Columns, wanted: Columns) -> Iterator[str]:
    before = {one.name: one for one in made.quasi_identifier}
    now = {one.name: one for one in wanted.quasi_identifier}
    hidden = (*made.pseudonymize, *made.redact)
    for name, one in now.items():
        if name in hidden:
            yield f"The column {name!r} was masked, but the policy takes its cells for values."
        elif name in before and not _has_same_meaning(before[name], one):
            yield (
                f"The column {name!r} was generalised by {_format_generalization(before[name])}, "
                f"but the policy asks for {_format_generalization(one)}."
            )
    for name in before:
        if name not in now and name in wanted.released:
            yield f"The column {name!r} was generalised, but the policy takes its cells for values."
    for name in wanted.pseudonymize:
        if name not in made.pseudonymize:
            yield f"The column {name!r} has no pseudonyms."
    if wanted.pseudonymize and made.pseudonymize and made.pseudonym_scope != wanted.pseudonym_scope:
        yield (
            f"Its pseudonyms have {_format_scope(made)}, but the policy asks for "
            f"{_format_scope(wanted)}."
        )


def _sample_changes(made: Plan, wanted: Plan) -> Iterator[str]:
    """Yield that other rows were sampled than a plan samples."""
    before, now = (one.sample.policy_part() if one.sample else None for one in (made, wanted))
    if before != now:
        was, is_now = (f"a sample ({one})" if one else "all rows" for one in (before, now))
        yield f"It was made of {was}, but the policy asks for {is_now}."


def _masking_changes(made: Plan, wanted: Plan) -> Iterator[str]:
    """Yield the columns whose cells are values for one plan and masked for the other."""
    before, now = (
        {one.name: one for one in plan.mask.columns} if plan.mask else {} for plan in (made, wanted)
    )
    for name in dict.fromkeys((*before, *now)):
        earlier, required = before.get(name), now.get(name)
        if earlier != required and (
            name in made.publish.columns and name in wanted.publish.columns
        ):
            was, is_now = (one.how if one else "no masking" for one in (earlier, required))
            yield f"The column {name!r} was made with {was}, but the policy asks for {is_now}."


def _has_same_meaning(made: QuasiIdentifier, wanted: QuasiIdentifier) -> bool:
    """Return whether the cells of a column mean the same under two policies."""
    ignored = {"weight", "order", "max_suppression"}
    if made.generalization in _TYPE_DEFAULTS and wanted.generalization in _TYPE_DEFAULTS:
        ignored.add("generalization")
    return made.model_dump(exclude=ignored) == wanted.model_dump(exclude=ignored)


def _format_generalization(column: QuasiIdentifier) -> str:
    """Return how a column is generalised, with its parameters."""
    settings = column.model_dump(
        exclude={"name", "generalization", "weight", "order", "max_suppression"},
        exclude_defaults=True,
    )
    listed = ", ".join(f"{name} {value}" for name, value in settings.items())
    kind = column.generalization or "its type"
    return f"{kind} ({listed})" if listed else kind


def _format_scope(columns: Columns) -> str:
    return (
        f"the scope {columns.pseudonym_scope!r}" if columns.pseudonym_scope else "their own scope"
    )


def _suppression_changes(
    made: Anonymize, wanted: Anonymize, record: Record | None
) -> Iterator[str]:
    """Yield that more rows or cells were, or may have been, suppressed than a policy allows."""
    allowed = wanted.recoding.max_suppression
    if record is not None:
        if record.suppressed > allowed * record.rows_used:
            count = record.suppressed
            yield f"{count} rows were suppressed, but the policy allows {allowed:g} of all rows."
    elif made.recoding.max_suppression > allowed:
        yield (
            f"Up to {made.recoding.max_suppression:g} of all rows may be suppressed, but the "
            f"policy allows {allowed:g}. Only its record says how many were."
        )
    yield from _cell_suppression_changes(made, wanted, record)


def _cell_suppression_changes(
    made: Anonymize, wanted: Anonymize, record: Record | None
) -> Iterator[str]:
    """Yield the columns of which more cells were, or may have been, suppressed than a policy
    allows."""
    before = {one.name: one for one in made.columns.quasi_identifier}
    for column in wanted.columns.quasi_identifier:
        name, allowed = column.name, _cap(column)
        if record is not None:
            cells = record.suppressed_cells.get(name, 0)
            if cells > column.most_suppressed(record.rows_used):
                yield (
                    f"{cells} cells of {name!r} were suppressed, but the policy allows "
                    f"{allowed:g} of all."
                )
        elif name in before and _cap(before[name]) > allowed:
            yield (
                f"Up to {_cap(before[name]):g} of the cells of {name!r} may be suppressed, but "
                f"the policy allows {allowed:g}. Only its record says how many were."
            )


def _cap(column: QuasiIdentifier) -> float:
    """Return the share of a column's cells that may be suppressed."""
    return 1.0 if column.max_suppression is None else column.max_suppression
