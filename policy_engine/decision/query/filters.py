"""The readable rows of a table as one SQL condition."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from types import MappingProxyType

import pyarrow as pa
from sqlglot import exp

from policy_engine import terms
from policy_engine.data.catalog import Dataset
from policy_engine.data.column_names import column_name
from policy_engine.decision.conditions import State, Verdict
from policy_engine.decision.model import Grant, RowAccess
from policy_engine.decision.query import logic
from policy_engine.decision.query.logic import NotUnderstood
from policy_engine.decision.query.operands import comparison
from policy_engine.errors import QueryError
from policy_engine.policy.model import Action, Asset, Constraint, Party, Rule
from policy_engine.policy.wording import rule_name

_CONSTANTS: Mapping[State, Callable[[], exp.Expr]] = MappingProxyType(
    {"satisfied": logic.true, "unsatisfied": logic.false, "unknown": exp.null}
)


@dataclass(frozen=True)
class Filter:
    """The readable rows: `condition` is never NULL, `notes` name rules that were not understood."""

    condition: exp.Expr
    not_understood: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether the condition is the constant FALSE: no row may be read."""
        return logic.is_false(self.condition)

    @property
    def is_everything(self) -> bool:
        """Whether the condition is the constant TRUE: every row may be read."""
        return logic.is_true(self.condition)


@dataclass(frozen=True)
class RowTable:
    """The table whose rows are filtered: its name in SQL, and the types of its columns.

    `others` are the other datasets of the catalog: a row of this table has none of their columns.
    """

    dataset: Dataset
    name: str
    types: Mapping[str, pa.DataType]
    others: tuple[str, ...]
    zone: tzinfo


def filter_columns(access: RowAccess, dataset: Dataset) -> tuple[str, ...]:
    """Return the columns of a dataset that the rules on its rows use."""
    verdicts: list[Verdict] = []
    for grant in (*access.permissions, *access.prohibitions):
        with suppress(NotUnderstood):
            verdicts += _conditions(access, grant)
    operands = {leaf.left_operand for one in verdicts for leaf in one.condition.constraints()}
    names = (column_name(dataset.iri, terms.canonical(operand)) for operand in operands)
    columns = {dataset.find_column(name) for name in names if name is not None}
    return tuple(name for name in dataset.columns if name in columns)


def row_filter(access: RowAccess, table: RowTable) -> Filter:
    """Return the rows that a permission permits and no prohibition prohibits.

    A permission applies to a row if its conditions are satisfied; a prohibition if its conditions
    are satisfied or unknown, but in a policy with the conflict strategy `perm` it yields to the
    policy's own permissions (ODRL Information Model 2.2, section 2.10). A permission that is not
    understood permits nothing; such a prohibition prohibits every row. Conditions that are not
    about rows keep the result of the decision. Raises QueryError (Q007) for a literal that is not a
    value of its column, and for more rules than can be run.
    """
    notes: list[str] = []
    try:
        return Filter(_readable(access, table, notes), tuple(notes))
    except NotUnderstood as why:
        message = f"The rules on the rows of {table.dataset.iri} cannot be run together: {why}."
        raise QueryError.of("Q007", message) from None


def _readable(access: RowAccess, table: RowTable, notes: list[str]) -> exp.Expr:
    permits = [(one, _permits(access, one, table, notes)) for one in access.permissions]
    parts = [logic.disjunction([permitted for _, permitted in permits])]
    for grant in access.prohibitions:
        prohibited = _prohibits(access, grant, table, notes)
        if grant.conflict == "perm":
            own_permissions = [
                permitted.copy() for one, permitted in permits if one.policy == grant.policy
            ]
            prohibited = logic.conjunction(
                [prohibited, logic.negation(logic.disjunction(own_permissions))]
            )
        parts.append(logic.negation(prohibited))
    return logic.conjunction(parts)


def _permits(access: RowAccess, grant: Grant, table: RowTable, notes: list[str]) -> exp.Expr:
    try:
        return logic.coalesce(_joined(_conditions(access, grant), table), logic.false())
    except NotUnderstood as why:
        notes.append(f"{rule_name(grant.rule.label(), grant.policy)} permits no row: {why}.")
        return logic.false()


def _prohibits(access: RowAccess, grant: Grant, table: RowTable, notes: list[str]) -> exp.Expr:
    try:
        _check_undivided(grant.rule)
        return logic.coalesce(_joined(_conditions(access, grant), table), logic.true())
    except NotUnderstood as why:
        notes.append(f"{rule_name(grant.rule.label(), grant.policy)} prohibits every row: {why}.")
        return logic.true()


def _check_undivided(rule: Rule) -> None:
    """Refuse a prohibition that stands for several, some with conditions that others lack."""
    for members in _members(rule):
        if len(members) > 1 and any(member.refinements for member in members):
            raise NotUnderstood("it has several targets, assignees or actions, and refines some")


def _members(rule: Rule) -> tuple[tuple[Party | Asset | Action, ...], ...]:
    return rule.targets, rule.assignees, rule.actions


def _conditions(access: RowAccess, grant: Grant) -> list[Verdict]:
    """Return the results of a rule's constraints, and of the refinements that count for it.

    Inherited rules may share a label.
    """
    rule = grant.rule
    evaluated = [
        match.conditions
        for match in access.decision.matches
        if (match.policy, match.rule, match.kind) == (grant.policy, rule.label(), rule.kind)
        and tuple(v.condition for v in match.conditions)[: len(rule.constraints)]
        == rule.constraints
    ]
    is_bound = rule.constraints or any(m.refinements for part in _members(rule) for m in part)
    if (is_bound and not evaluated) or (len(evaluated) > 1 and any(evaluated)):
        raise NotUnderstood("what its conditions evaluated to is not known")
    return list(evaluated[0]) if evaluated else []


def _joined(verdicts: Iterable[Verdict], table: RowTable) -> exp.Expr:
    return logic.conjunction([_condition(one, table) for one in dict.fromkeys(verdicts)])


def _condition(verdict: Verdict, table: RowTable) -> exp.Expr:
    if isinstance(verdict.condition, Constraint):
        return _constraint(verdict.condition, verdict.state, table)
    operator = verdict.condition.operator.removeprefix(terms.ODRL)
    parts = [_condition(part, table) for part in verdict.parts]
    if not parts or len(parts) != len(verdict.condition.operands):
        raise NotUnderstood(f"{operator} without operands is not supported")
    if operator in ("and", "andSequence"):
        return logic.conjunction(parts)
    if operator == "or":
        return logic.disjunction(parts)
    if operator == "xone":
        return logic.exactly_one(parts)
    raise NotUnderstood(f"{terms.compact(verdict.condition.operator)} is not supported for rows")


def _constraint(constraint: Constraint, state: State, table: RowTable) -> exp.Expr:
    operand, dataset = terms.canonical(constraint.left_operand), table.dataset
    name = column_name(dataset.iri, operand)
    if name is None:
        if any(column_name(other, operand) is not None for other in table.others):
            message = f"{operand} is a column of another table"
            raise NotUnderstood(
                f"{message}; put a condition on its rows into a refinement of its target"
            )
        return _CONSTANTS[state]()
    spelled = dataset.find_column(name)
    if spelled is None:
        raise NotUnderstood(f"{dataset.iri} has no column {name!r}")
    column = exp.column(spelled, table=table.name, quoted=True)
    return comparison(column, constraint, table.types[spelled], table.zone)
