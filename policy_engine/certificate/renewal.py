"""Whether a release is still what a policy says that it is, where its output does not tell.

Who looks at an output sees its columns and cells. Not what it was made from, whether its pseudonyms
are those of one release or of many, whether a number is a value or the mean of several, how many
rows were left out. That is taken from the certificate that the release was published with.
"""

from collections.abc import Iterator

from policy_engine.certificate.certificate import MAKE, UNMADE, Certificate, check_digest
from policy_engine.certificate.record import Record
from policy_engine.data.storage import Place
from policy_engine.engines.engine import Stored
from policy_engine.errors import CertificateError, Problem
from policy_engine.methods.columns import Columns, QuasiIdentifier
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize

_BY_TYPE = (None, "range", "set")
"""Generalisations that a column may take by its type, which its cells show."""


def with_change(
    error: CertificateError, earlier: Certificate | None, output: Stored
) -> CertificateError:
    """Return what is wrong with an output and, where it is so, that it is not the certified one."""
    try:
        if earlier and all(one.code != "V004" for one in error.problems):
            check_digest(earlier, output)
    except CertificateError as changed:
        source = error.source or changed.source
        return CertificateError(*error.problems, *changed.problems, source=source)
    return error


def check_made_so(
    earlier: Certificate, plan: Plan, record: Record | None, output: Place, *, renews: bool
) -> None:
    """Raise CertificateError (V014) where a release was made otherwise than a plan says.

    `earlier` is the certificate beside it, and `record` what opened that. Where it `renews`
    that certificate, the policy is to be the same one, however it was changed. One that tells
    nothing of the making is not asked, and not renewed (V016).
    """
    if not earlier.tells_making:
        if renews:
            raise CertificateError.of("V016", UNMADE, MAKE, str(output))
        return
    asked, made = plan.anonymize, earlier.plan.anonymize
    problems = [*_from_elsewhere(earlier.plan, plan, renews=renews)]
    if asked is not None and made is not None:
        problems += _columns(made.columns, asked.columns)
        problems += _suppressed(made, asked, record)
        problems += _masked(earlier.plan, plan)
    elif asked is not None:
        problems.append("It was not anonymised.")
    if problems:
        hint = "Make the release again: policy-engine apply."
        raise CertificateError(
            *(Problem("V014", one, hint) for one in problems), source=str(output)
        )


def is_known(earlier: Certificate, plan: Plan, record: Record | None) -> bool:
    """Tell whether an output is known to be made as a plan says: whether it could be renewed.

    By the certificate of its making, for this policy, once `check_made_so` found nothing; and
    where models were attacked, by the `record` that says from which data. Without, what is
    certified is what was measured alone.
    """
    is_of_policy = earlier.tells_making and earlier.plan.policy == plan.policy
    return is_of_policy and (not plan.audits or record is not None)


def _from_elsewhere(made: Plan, plan: Plan, *, renews: bool) -> Iterator[str]:
    """Yield that an output is another one, made from something else, or for another policy."""
    if made.publish.asset != plan.publish.asset:
        yield f"It is certified as {made.publish.asset}, and the policy makes {plan.publish.asset}."
    before, now = ([step.asset for step in one.reads] for one in (made, plan))
    if before != now:
        was, are = " and ".join(before), " and ".join(now)
        yield f"It was made from {was}, and the policy reads {are}."
    elif _joined(made) != _joined(plan):
        yield "Its inputs were joined otherwise than the policy joins them."
    if renews and made.policy != plan.policy:
        yield f"It was made for the policy {made.policy}, and the one given is {plan.policy}."


def _joined(plan: Plan) -> list[tuple[str, str, set[str]]]:
    """Return by which columns inputs are joined, and which of theirs are in the table."""
    return [(one.asset, one.on, {*one.columns}) for one in (plan.join.inputs if plan.join else ())]


def _columns(made: Columns, asked: Columns) -> Iterator[str]:
    before = {one.name: one for one in made.quasi_identifier}
    now = {one.name: one for one in asked.quasi_identifier}
    hidden = (*made.pseudonymize, *made.redact)
    for name, one in now.items():
        if name in hidden:
            yield f"The column {name!r} was made unreadable, and its cells are read as values."
        elif name in before and not _reads_alike(before[name], one):
            yield (
                f"The column {name!r} was generalised by {_way(before[name])}, and the policy asks "
                f"for {_way(one)}."
            )
    for name in before:
        if name not in now and name in asked.released:
            yield f"The column {name!r} was generalised, and the policy takes its cells for values."
    for name in asked.pseudonymize:
        if name not in made.pseudonymize:
            yield f"The column {name!r} was given no pseudonyms."
    if asked.pseudonymize and made.pseudonymize and made.pseudonym_scope != asked.pseudonym_scope:
        yield (f"Its pseudonyms are {_scope(made)}, and the policy asks for some {_scope(asked)}.")


def _masked(made: Plan, asked: Plan) -> Iterator[str]:
    """Yield the columns whose cells are values to the one plan and masked ones to the other."""
    before, now = (
        {one.name: one for one in plan.mask.columns} if plan.mask else {} for plan in (made, asked)
    )
    for name in dict.fromkeys((*before, *now)):
        was, is_ = before.get(name), now.get(name)
        if was != is_ and (name in made.publish.columns and name in asked.publish.columns):
            given, wanted = (str(one) if one else "no masking" for one in (was, is_))
            yield f"The column {name!r} was made with {given}, and the policy asks for {wanted}."


def _reads_alike(made: QuasiIdentifier, asked: QuasiIdentifier) -> bool:
    """Tell whether the cells of a column mean the same by two policies."""
    unlike = {"weight", "order"}
    if made.generalization in _BY_TYPE and asked.generalization in _BY_TYPE:
        unlike.add("generalization")
    return made.model_dump(exclude=unlike) == asked.model_dump(exclude=unlike)


def _way(column: QuasiIdentifier) -> str:
    """Return how a column is generalised, with what was said of it."""
    said = column.model_dump(
        exclude={"name", "generalization", "weight", "order"}, exclude_defaults=True
    )
    told = ", ".join(f"{name} {value}" for name, value in said.items())
    kind = column.generalization or "its type"
    return f"{kind} ({told})" if told else kind


def _scope(columns: Columns) -> str:
    return f"of the scope {columns.pseudonym_scope!r}" if columns.pseudonym_scope else "of its own"


def _suppressed(made: Anonymize, asked: Anonymize, record: Record | None) -> Iterator[str]:
    """Yield that more rows may have been left out than a policy allows, or that more were."""
    most = asked.recoding.max_suppression
    if record is not None:
        if record.suppressed > most * record.input.rows:
            yield f"{record.suppressed} rows were left out, and the policy allows {most:g} of all."
    elif made.recoding.max_suppression > most:
        yield (
            f"Of all rows {made.recoding.max_suppression:g} might be left out, and the policy "
            f"allows {most:g}. How many were is told by its record alone."
        )
