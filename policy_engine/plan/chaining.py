"""Columns of an input that an earlier release generalised: what may be done with their cells."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policy_engine import terms
from policy_engine.data import cells
from policy_engine.errors import NOWHERE, Place, PlanError, Problem
from policy_engine.plan.anonymization import Transformation
from policy_engine.plan.joins import Joined
from policy_engine.plan.lineage import Generalised, Upstream
from policy_engine.plan.reading_parameters import column_places
from policy_engine.plan.training import Modelling
from policy_engine.policy import Policy

_BESIDE = "released beside the columns of another table"
_PREDICTED, _LEARNT, _KEY = "predicted", "learnt from", "joined on"
_CUT_FOR, _CUT_BY = "what classes are cut for", "what classes are cut by"


def check_read_as_meant(
    policy: Policy,
    transformation: Transformation | None,
    learnt: Sequence[Modelling],
    upstream: Sequence[Upstream],
) -> tuple[Generalised, ...]:
    """Return the columns of the input whose cells stand for several values.

    Raises PlanError (M015) where a plan would use such cells as values.

    A range, a set or a node of a taxonomy is not a value: two that overlap would count as
    different ones, and the loss would be measured on the cells alone, not on what they were made
    from. A model can learn from them, except from the periods of calendars and masked values.
    """
    joined = transformation.joined if transformation else ()
    keys = [*_joined_on(joined, upstream)]
    upstream = _used_of(upstream, joined)
    cells_by_name = {one.name: one for each in upstream for one in each.generalised}
    places = dict(column_places(transformation)) if transformation else {}
    uses = (*_uses(transformation), *_released_columns(transformation)) if transformation else ()
    used = dict.fromkeys((*uses, *_learnt_from(learnt, cells_by_name)))
    problems = [
        _problem(cells_by_name[name], use, upstream, places, is_joined=bool(joined))
        for name, use in used
        if name in cells_by_name
    ]
    problems += [_problem(column, _KEY, [of], places, is_joined=True) for column, of in keys]
    if problems:
        raise PlanError(*problems, source=policy.source)
    return tuple(cells_by_name.values())


def _released_columns(transformation: Transformation) -> Iterator[tuple[str, str]]:
    """Yield the columns that a join keeps as they are: no class is formed by what they tell of
    rows beside the columns of other tables."""
    columns = transformation.anonymization.columns
    for name in (*columns.sensitive_names, *columns.insensitive) if transformation.joined else ():
        yield name, _BESIDE


def _joined_on(
    joined: Sequence[Joined], upstream: Sequence[Upstream]
) -> Iterator[tuple[Generalised, Upstream]]:
    """Yield the generalised columns that releases are joined on."""
    keys = {one.asset: one.on for one in joined}
    for of in upstream:
        yield from ((one, of) for one in of.generalised if one.name == keys.get(of.asset))


def _used_of(upstream: Sequence[Upstream], joined: Sequence[Joined]) -> Sequence[Upstream]:
    """Return releases with those of their generalised columns that are in the joined table."""
    used = {one.asset: one.columns for one in joined}
    return [
        _restrict_columns(one, used[one.asset]) if one.asset in used else one for one in upstream
    ]


def _restrict_columns(release: Upstream, names: Sequence[str]) -> Upstream:
    columns = tuple(one for one in release.generalised if one.name in names)
    return release.model_copy(update={"generalised": columns})


def looks_generalised(texts: Iterable[str]) -> bool:
    """Tell whether many of a column's texts are ranges or sets, as releases have them."""
    are_sets = [_is_several(text) for text in texts if text]
    return bool(are_sets) and sum(are_sets) >= _MANY * len(are_sets)


_MANY = 0.2


def _is_several(text: str) -> bool:
    if text[0] not in "[{":
        return False
    try:
        return len(cells.read_cell(text).values) > 1
    except ValueError:
        return False


def _learnt_from(
    learnt: Sequence[Modelling], cells_by_name: Mapping[str, Generalised]
) -> Iterator[tuple[str, str]]:
    """Yield the columns whose cells a model would use as they are written."""
    unlearnt = ("calendar", *terms.maskings())
    periods = [name for name, one in cells_by_name.items() if one.generalization in unlearnt]
    for one in learnt:
        yield one.label, _PREDICTED
        yield from ((name, _LEARNT) for name in one.features if name in periods)


def _uses(transformation: Transformation) -> Iterator[tuple[str, str]]:
    """Yield the columns whose values a transformation goes by, and what it does with them."""
    anonymization, columns = transformation.anonymization, transformation.anonymization.columns
    yield from ((name, "generalised again") for name in columns.quasi_names)
    yield from ((one.name, "masked") for one in transformation.maskings)
    if any(model.is_about_values for model in anonymization.models):
        yield from ((name, "counted as values") for name in columns.sensitive_names)
    if columns.privacy_unit:
        yield columns.privacy_unit, "taken for persons"
    guide = anonymization.recoding.guide
    if guide is not None:
        yield guide.label, _CUT_FOR
        yield guide.column, _CUT_BY


def _problem(
    column: Generalised,
    use: str,
    upstream: Sequence[Upstream],
    places: Mapping[str, Place],
    *,
    is_joined: bool,
) -> Problem:
    of = next(one.asset for one in upstream if column in one.generalised)
    change = "masked" if column.generalization in terms.maskings() else "generalised"
    message = (
        f"The column {column.name!r} of {of} was {change}{column.how}: its cells stand for "
        f"several values, and are not to be {use}."
    )
    hint = _hint(column, use, is_joined=is_joined)
    return Problem("M015", message, hint, places.get(column.name, NOWHERE))


def _hint(column: Generalised, use: str, *, is_joined: bool) -> str:
    """Return what else can be done: beside another table's columns, a column is not kept."""
    if use in (_PREDICTED, _LEARNT) and column.generalization not in terms.maskings():
        return "Train in the policy that anonymises the data, or leave the column out."
    if use == _BESIDE:
        return "Leave the column out, or redact it."
    is_masked = column.generalization in terms.maskings()
    made = "Use the data that it was made from"
    made = made if is_masked else "Anonymise the data that it was made from anew"
    if use in (_KEY, _CUT_FOR, _CUT_BY):
        return f"{made}."
    if is_joined:
        return f"{made}, leave the column out, or redact it."
    if is_masked:
        return f"{made}, name it as insensitive, or leave it out."
    return f"{made}, or name the column as insensitive."
