"""Conditions evaluated: satisfied, unsatisfied or unknown, and never a guess."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Protocol, TypeAlias

from policy_engine import terms
from policy_engine.decision.verdict import State, Verdict
from policy_engine.policy.model import IRI, Condition, Constraint, LogicalConstraint, Value
from policy_engine.policy.xsd.literals import Literals, equal, order, read_literal, type_of

__all__ = ["Facts", "State", "Verdict", "evaluate"]


class Facts(Protocol):
    """What a condition is evaluated against."""

    zone: tzinfo
    """The time zone of dates and times that name none (XPath: the implicit time zone)."""

    def values(self, left_operand: str) -> tuple[Literals, ...] | None:
        """Return what a left operand is now; several where it is a set; None: not known.

        Where a constraint names a unit, whoever gives the values vouches that they are in it.
        """

    def referenced(self, iri: str) -> tuple[Literals, ...] | None:
        """Return the values that a rightOperandReference stands for; None: not known."""

    def includes(self, left_operand: str, narrow: str, wide: str) -> "Truth":
        """Tell whether one IRI is included in another, in what is known of the operand's kind.

        None where only those say so whose word may make the outcome unknown, and no more.
        """


Truth: TypeAlias = bool | None
"""Kleene's three values; None is unknown."""
_Pair: TypeAlias = Callable[[Literals, Value, Constraint, Facts], Truth]
_Rights: TypeAlias = Sequence[Value | None]
"""Right operands; None is one that is not known."""

_ODRL, _XSD = terms.ODRL, terms.XSD
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_MOST_PAIRS = 250_000
_NUMBERS = (f"{_XSD}decimal", f"{_XSD}double")
_ALSO: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {f"{_XSD}{name}": _NUMBERS for name in ("integer", "double", "decimal")}
    | {f"{_XSD}{name}": (f"{_XSD}dateTime", f"{_XSD}date") for name in ("dateTime", "date")}
)
"""How a text is read, too, beside a value of a type: as what compares with it."""


def evaluate(condition: Condition, facts: Facts) -> Verdict:
    """Return what a condition evaluates to (ODRL Information Model 2.2, sections 2.5.1 and 2.5.2).

    Names are compared through what includes what: `eq`, `isA` and `isPartOf` hold of a value
    that the right operand includes, and are unknown of one that includes the right operand,
    since that may or may not be meant. `isAnyOf` is `eq` to one right operand, `isAllOf` that
    every right operand is `eq` to some value, `hasPart` that a value includes it. `neq` and
    `isNoneOf` deny `eq` and `isAnyOf`. A text beside a typed literal is read by its type, and
    beside a number of any type as a number of any.

    A left operand of several values, or several right operands where one is meant, has two
    readings: all of them and any of them. Where these differ the outcome is unknown; so is it
    where values cannot be compared, and where there is nothing to compare, or more than 250,000
    pairs. An unknown satisfies no permission and lifts no prohibition.

    What is included in what by the word of others than the rule's own policy is neither so nor
    not so (`Facts.includes`). Each comparison is then as it is by the policy's own word and by
    everybody's where these agree, and unknown where they differ. More edges make a comparison of
    names go from unsatisfied by unknown to satisfied and never back, and all that follows from
    comparisons is Kleene's: so what is unsatisfied here is so by the word of any of the others,
    whoever of them is heard.

    Logical constraints are those of Kleene. `andSequence` is read as `and`: at one moment it
    cannot be seen in which order its parts came to be satisfied.
    """
    if isinstance(condition, LogicalConstraint):
        parts = tuple([evaluate(operand, facts) for operand in condition.operands])
        joined = _JOINED.get(condition.operator)
        truth = joined([_TRUTHS[part.state] for part in parts]) if joined and parts else None
        return Verdict(condition, _STATES[truth], None, parts)
    values = facts.values(condition.left_operand)
    truth = _truth(condition, values, facts) if values else None
    return Verdict(condition, _STATES[truth], values)


_STATES: Mapping[Truth, State] = MappingProxyType(
    {True: "satisfied", False: "unsatisfied", None: "unknown"}
)
_TRUTHS: Mapping[State, Truth] = MappingProxyType({state: at for at, state in _STATES.items()})


def _truth(constraint: Constraint, lefts: tuple[Literals, ...], facts: Facts) -> Truth:
    rights: _Rights = constraint.right_operands
    if constraint.references:
        rights = [*rights, *_referenced(constraint, facts)]
    operator = _OPERATORS.get(constraint.operator)
    if operator is None or not rights or len(lefts) * len(rights) > _MOST_PAIRS:
        return None
    reading, pair, denied = operator
    if len(lefts) == len(rights) == 1 and rights[0] is not None:
        truth = pair(lefts[0], rights[0], constraint, facts)
    else:
        truth = reading(lefts, rights, partial(_compare_known, pair, constraint, facts))
    return _not(truth) if denied else truth


def _referenced(constraint: Constraint, facts: Facts) -> Iterable[Value | None]:
    for iri in constraint.references:
        values = facts.referenced(iri)
        yield from (None,) if values is None else map(Value, values)


def _compare_known(
    pair: _Pair, constraint: Constraint, facts: Facts, left: Literals, right: Value | None
) -> Truth:
    return None if right is None else pair(left, right, constraint, facts)


# -- one value beside another -----------------------------------------------------------------


def _is(left: Literals, right: Value, constraint: Constraint, facts: Facts) -> Truth:
    """Tell whether a value is the right operand or, of names, one that it includes."""
    names = _names(left, right)
    if names is None:
        return _equal(left, right, constraint, facts)
    narrow, wide = names
    included = narrow == wide or facts.includes(constraint.left_operand, narrow, wide)
    if included is not False:
        return included
    may_be = facts.includes(constraint.left_operand, wide, narrow) is not False
    return None if may_be or _one_is_no_name(*names) else False


def _has_part(left: Literals, right: Value, constraint: Constraint, facts: Facts) -> Truth:
    names = _names(left, right)
    if names is None:
        return _equal(left, right, constraint, facts)
    wide, narrow = names
    included = narrow == wide or facts.includes(constraint.left_operand, narrow, wide)
    if included is not False:
        return included
    return None if _one_is_no_name(*names) else False


def _equal(left: Literals, right: Value, constraint: Constraint, facts: Facts) -> Truth:
    read = _read_as_right(left, right, constraint)
    return None if read is None else equal(read, right.value, facts.zone)


def _ordered(
    holds: tuple[int, ...], left: Literals, right: Value, constraint: Constraint, facts: Facts
) -> Truth:
    read = _read_as_right(left, right, constraint)
    compared = None if read is None else order(read, right.value, facts.zone)
    return None if compared is None else compared in holds


def _names(left: Literals, right: Value) -> tuple[str, str] | None:
    """Return two names in one spelling each, or nothing where these are no names."""
    if not isinstance(left, str) or not isinstance(right.value, str):
        return None
    # In JSON-LD a name is easily written as a text; a text that is one is compared as one.
    if right.type == IRI or _is_absolute(left) or _is_absolute(right.value):
        return _name(left), _name(right.value)
    return None


def _one_is_no_name(left: str, right: str) -> bool:
    return _is_absolute(left) != _is_absolute(right)


@lru_cache(maxsize=65_536)
def _is_absolute(text: str) -> bool:
    return _ABSOLUTE.fullmatch(text) is not None


@lru_cache(maxsize=65_536)
def _name(text: str) -> str:
    return terms.canonical(terms.expand(text))


def _read_as_right(left: Literals, right: Value, constraint: Constraint) -> Literals | None:
    """Return a value, a text read as what the right operand is; None where it is no such."""
    if not isinstance(left, str) or isinstance(right.value, str):
        return left
    own = type_of(right.value)
    return _read(left, right.type or constraint.data_type or own, own)


@lru_cache(maxsize=4_096)
def _read(text: str, declared: str, own: str) -> Literals | None:
    for kind in (declared, *_ALSO.get(own, ())):
        try:
            return read_literal(text, kind)
        except ValueError:
            continue
    return None


# -- several values ---------------------------------------------------------------------------

_Compare: TypeAlias = Callable[[Literals, Value | None], Truth]


def _each(lefts: tuple[Literals, ...], rights: _Rights, compare: _Compare) -> Truth:
    return _undivided(compare(left, right) for left in lefts for right in rights)


def _any_of(lefts: tuple[Literals, ...], rights: _Rights, compare: _Compare) -> Truth:
    return _undivided(_or([compare(left, right) for right in rights]) for left in lefts)


def _all_of(lefts: tuple[Literals, ...], rights: _Rights, compare: _Compare) -> Truth:
    return _and([_or([compare(left, right) for left in lefts]) for right in rights])


def _parts_of(lefts: tuple[Literals, ...], rights: _Rights, compare: _Compare) -> Truth:
    return _undivided(_or([compare(left, right) for left in lefts]) for right in rights)


def _undivided(truths: Iterable[Truth]) -> Truth:
    """Return what both all of several and any of several evaluate to; None where these differ."""
    every = set(truths)
    return every.pop() if len(every) == 1 else None


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _and(truths: Sequence[Truth]) -> Truth:
    return False if False in truths else None if None in truths else True


def _or(truths: Sequence[Truth]) -> Truth:
    return True if True in truths else None if None in truths else False


def _xone(truths: Sequence[Truth]) -> Truth:
    """Tell whether exactly one holds: two are one too many whatever the unknown ones are."""
    holding = truths.count(True)
    if holding > 1:
        return False
    return None if None in truths else holding == 1


_Reading: TypeAlias = Callable[[tuple[Literals, ...], _Rights, _Compare], Truth]
_OPERATORS: Mapping[str, tuple[_Reading, _Pair, bool]] = MappingProxyType(
    {
        f"{_ODRL}eq": (_each, _is, False),
        f"{_ODRL}neq": (_each, _is, True),
        f"{_ODRL}lt": (_each, partial(_ordered, (-1,)), False),
        f"{_ODRL}lteq": (_each, partial(_ordered, (-1, 0)), False),
        f"{_ODRL}gt": (_each, partial(_ordered, (1,)), False),
        f"{_ODRL}gteq": (_each, partial(_ordered, (1, 0)), False),
        f"{_ODRL}isA": (_each, _is, False),
        f"{_ODRL}isPartOf": (_each, _is, False),
        f"{_ODRL}hasPart": (_parts_of, _has_part, False),
        f"{_ODRL}isAllOf": (_all_of, _is, False),
        f"{_ODRL}isAnyOf": (_any_of, _is, False),
        f"{_ODRL}isNoneOf": (_any_of, _is, True),
    }
)
"""How an operator takes several values, how one beside another, and whether it denies that."""
_JOINED: Mapping[str, Callable[[Sequence[Truth]], Truth]] = MappingProxyType(
    {
        f"{_ODRL}and": _and,
        f"{_ODRL}andSequence": _and,
        f"{_ODRL}or": _or,
        f"{_ODRL}xone": _xone,
    }
)
