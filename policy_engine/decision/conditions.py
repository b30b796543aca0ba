"""Evaluates conditions as satisfied, unsatisfied or unknown, without guessing."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Protocol, TypeAlias

from policy_engine import terms
from policy_engine.decision.verdict import State, Verdict
from policy_engine.policy.model import IRI, SPENT, Condition, Constraint, LogicalConstraint, Value
from policy_engine.policy.xsd.literals import (
    TEXT_OF_A_LANGUAGE,
    Literals,
    equal,
    order,
    read_literal,
    type_of,
)

__all__ = ["Facts", "State", "Verdict", "evaluate"]


class Facts(Protocol):
    """The facts that a condition is evaluated against."""

    zone: tzinfo
    """The time zone of dates and times that name none (XPath: the implicit time zone)."""

    def values(self, left_operand: str) -> tuple[Literals, ...] | None:
        """Return the current value of a left operand; several if it is a set; None if unknown.

        If a constraint names a unit, whoever gives the values vouches that they are in it.
        """

    def spent(self, left_operand: str, unit: str) -> tuple[Literals, ...] | None:
        """Return what was spent of a budget, by a ledger; None if there is none."""

    def referenced(self, iri: str) -> tuple[Literals, ...] | None:
        """Return the values that a rightOperandReference stands for; None if unknown."""

    def includes(self, left_operand: str, narrow: str, wide: str) -> "Truth":
        """Return whether one IRI is included in another, among IRIs of the operand's kind.

        None if only parties say so that can make a result unknown, but not more.
        """


Truth: TypeAlias = bool | None
"""Kleene's three truth values; None is unknown."""
_Pair: TypeAlias = Callable[[Literals, Value, Constraint, Facts], Truth]
_Rights: TypeAlias = Sequence[Value | None]
"""Right operands; None is an unknown one."""

_ODRL, _XSD = terms.ODRL, terms.XSD
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20]+")
_MOST_PAIRS = 250_000
_NUMBERS = (f"{_XSD}decimal", f"{_XSD}double")
_ALSO: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {f"{_XSD}{name}": _NUMBERS for name in ("integer", "double", "decimal")}
    | {f"{_XSD}{name}": (f"{_XSD}dateTime", f"{_XSD}date") for name in ("dateTime", "date")}
)
"""The other types as which a text is read when it is compared with a value of a type."""


def evaluate(condition: Condition, facts: Facts) -> Verdict:
    """Return the result of a condition (ODRL Information Model 2.2, sections 2.5.1 and 2.5.2).

    Names are compared by inclusion: `eq`, `isA` and `isPartOf` hold for a value that the right
    operand includes, and are unknown for one that includes the right operand, since that may or may
    not be meant. `isAnyOf` is `eq` to one right operand, `isAllOf` means that every right operand
    is `eq` to some value, `hasPart` that a value includes it. `neq` and `isNoneOf` negate `eq` and
    `isAnyOf`. A text beside a typed literal is read as that type, and beside a number of any type
    as a number.

    A left operand with several values, or several right operands where one is expected, can be read
    as all of them or as any of them. If these differ, the result is unknown; so it is if values
    cannot be compared, if there is nothing to compare, or if there are more than 250,000 pairs. An
    unknown satisfies no permission and lifts no prohibition.

    Inclusion that only others than the rule's own policy state is neither true nor false
    (`Facts.includes`). A comparison then has the result that both the policy's own statements and
    those of everybody give, and is unknown if they differ. Adding edges moves a comparison of names
    only from unsatisfied to unknown to satisfied, and everything built on comparisons is Kleene's
    logic: whatever is unsatisfied here is unsatisfied with the edges of any of the others.

    Logical constraints use Kleene's logic. `andSequence` is read as `and`: at a single moment, the
    order in which its parts became satisfied is not visible.
    """
    if isinstance(condition, LogicalConstraint):
        parts = tuple([evaluate(operand, facts) for operand in condition.operands])
        joined = _JOINED.get(condition.operator)
        truth = joined([_TRUTHS[part.state] for part in parts]) if joined and parts else None
        return Verdict(condition, _STATES[truth], None, parts)
    if condition.left_operand in SPENT:
        amounts = facts.spent(condition.left_operand, condition.unit)
        if amounts is not None:
            # How much others were charged is not for everybody who is told of a decision.
            return Verdict(condition, _STATES[_truth(condition, amounts, facts)])
    values = facts.values(condition.left_operand)
    truth = _truth(condition, values, facts) if values else None
    return Verdict(condition, _STATES[truth], values)


_STATES: Mapping[Truth, State] = MappingProxyType(
    {True: "satisfied", False: "unsatisfied", None: "unknown"}
)
_TRUTHS: Mapping[State, Truth] = MappingProxyType({state: at for at, state in _STATES.items()})


def _truth(constraint: Constraint, lefts: tuple[Literals, ...], facts: Facts) -> Truth:
    rights: _Rights = [
        None if one.type == TEXT_OF_A_LANGUAGE else one for one in constraint.right_operands
    ]
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
        yield from map(Value, values) if values else (None,)


def _compare_known(
    pair: _Pair, constraint: Constraint, facts: Facts, left: Literals, right: Value | None
) -> Truth:
    return None if right is None else pair(left, right, constraint, facts)


# -- one value beside another -----------------------------------------------------------------


def _is(left: Literals, right: Value, constraint: Constraint, facts: Facts) -> Truth:
    """Return whether a value is the right operand or, for names, is included in it."""
    names = _names(left, right)
    if names is None:
        return _equal(left, right, constraint, facts)
    narrow, wide = names
    included = narrow == wide or facts.includes(constraint.left_operand, narrow, wide)
    if included is not False:
        return included
    may_be = facts.includes(constraint.left_operand, wide, narrow) is not False
    return None if may_be or _is_one_no_name(narrow, wide, right) else False


def _has_part(left: Literals, right: Value, constraint: Constraint, facts: Facts) -> Truth:
    names = _names(left, right)
    if names is None:
        return _equal(left, right, constraint, facts)
    wide, narrow = names
    included = narrow == wide or facts.includes(constraint.left_operand, narrow, wide)
    if included is not False:
        return included
    return None if _is_one_no_name(wide, narrow, right) else False


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
    """Return two names in one spelling each, or nothing if they are not names."""
    if not isinstance(left, str) or not isinstance(right.value, str):
        return None
    # In JSON-LD a name is easily written as a text, so a text that is a name is compared as one.
    if right.type == IRI or _is_absolute(left) or _is_absolute(right.value):
        return compared_name(left), compared_name(right.value)
    return None


def _is_one_no_name(left: str, name: str, right: Value) -> bool:
    """Return whether one of two sides is a text that names nothing, `name` being the right one's.

    A text such as `ex:EU` may be a name with a prefix that nobody expanded.
    """
    is_right_name = right.type == IRI if _is_absolute(name) else False
    return _is_whole(left) != (is_right_name or _is_whole(name))


@lru_cache(maxsize=65_536)
def _is_whole(text: str) -> bool:
    return _is_absolute(text) and terms.has_known_scheme(text)


@lru_cache(maxsize=65_536)
def _is_absolute(text: str) -> bool:
    return _ABSOLUTE.fullmatch(text) is not None


@lru_cache(maxsize=65_536)
def compared_name(text: str) -> str:
    """Return the one spelling of a name, or of a text that is one, by which names are compared."""
    return terms.canonical(terms.expand(text))


def _read_as_right(left: Literals, right: Value, constraint: Constraint) -> Literals | None:
    """Return a value, a text read as the right operand's type; None if it cannot be."""
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
    """Return the common result of all and any of several truth values; None if they differ."""
    every = set(truths)
    return every.pop() if len(every) == 1 else None


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _and(truths: Sequence[Truth]) -> Truth:
    return False if False in truths else None if None in truths else True


def _or(truths: Sequence[Truth]) -> Truth:
    return True if True in truths else None if None in truths else False


def _xone(truths: Sequence[Truth]) -> Truth:
    """Return whether exactly one holds: two are too many whatever the unknown ones are."""
    true_count = truths.count(True)
    if true_count > 1:
        return False
    return None if None in truths else true_count == 1


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
"""How an operator combines several values, compares two, and whether it negates the result."""
_JOINED: Mapping[str, Callable[[Sequence[Truth]], Truth]] = MappingProxyType(
    {
        f"{_ODRL}and": _and,
        f"{_ODRL}andSequence": _and,
        f"{_ODRL}or": _or,
        f"{_ODRL}xone": _xone,
    }
)
