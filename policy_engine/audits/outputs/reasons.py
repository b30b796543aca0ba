"""Why a cell is not released: one code for each rule, and what follows from it."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class CheckOutcome(StrEnum):
    """What is decided about a cell or a table, from the worst to the best."""

    REFUSED = "refused"
    SUPPRESSED = "suppressed"
    REVIEW = "review"
    RELEASED = "released"


class Reason(StrEnum):
    """The code of a rule that a cell breaks."""

    FEW_UNITS = "K002"
    GROUP_DISCLOSURE = "K003"
    LARGEST_DOMINATES = "K004"
    TWO_LARGEST_DOMINATE = "K005"
    LARGEST_CAN_BE_ESTIMATED = "K006"
    NEGATIVE_VALUES = "K007"
    EXTREME = "K008"
    FEW_UNITS_BEYOND = "K009"
    FEW_DEGREES_OF_FREEDOM = "K010"
    EXACT_CORRELATION = "K011"
    COMMON_MODE = "K012"
    IMPLICIT_TABLE = "K013"
    COMPLEMENTARY = "K014"
    DENIED_WITH_OTHERS = "K015"
    EVIDENCE_MISSING = "K016"
    NO_THRESHOLD = "K020"
    NEEDS_CHECKER = "K021"
    FEW_IN_POPULATION = "K040"
    DIFFERS_FROM_EARLIER = "K041"
    DIFFERS_WITHIN_ANSWER = "K042"
    FEW_BY_COMBINATION = "K043"
    REVEALS_SUPPRESSED = "K044"
    BOUNDED_CLOSELY = "K045"
    BEYOND_LEDGER = "K046"
    OTHER_DATA = "K047"
    BOUNDS_UNKNOWN = "K048"
    WITHHELD = "K049"
    OTHER_OF_PAIR = "K050"

    @property
    def bit(self) -> int:
        """The reason as one bit of a mask."""
        return 1 << _ORDER.index(self)


_ORDER = tuple(Reason)
SENTENCES: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.FEW_UNITS: "Too few persons or other units of privacy are in the cell.",
        Reason.GROUP_DISCLOSURE: "The cell says what nearly everyone in a group is, or is not.",
        Reason.LARGEST_DOMINATES: "One unit contributes too much of the total.",
        Reason.TWO_LARGEST_DOMINATE: "Two units contribute too much of the total.",
        Reason.LARGEST_CAN_BE_ESTIMATED: "The largest contribution could be estimated too closely.",
        Reason.NEGATIVE_VALUES: "There are negative contributions, of which no rule tells who "
        "dominates a total; a person has to decide.",
        Reason.EXTREME: "A smallest or largest value is that of somebody.",
        Reason.FEW_UNITS_BEYOND: "Too few units have the percentile or the mode, or are beyond it.",
        Reason.FEW_DEGREES_OF_FREEDOM: "There are too few degrees of freedom.",
        Reason.EXACT_CORRELATION: "A correlation of exactly -1, 0 or 1 tells single values.",
        Reason.COMMON_MODE: "Nearly all units have the most common value.",
        Reason.IMPLICIT_TABLE: "The coefficients are a table of means of small groups in disguise.",
        Reason.COMPLEMENTARY: "Other cells of the table would reveal one that is suppressed.",
        Reason.DENIED_WITH_OTHERS: "The policy releases the whole table or nothing of it.",
        Reason.EVIDENCE_MISSING: "What the rule needs to know of the cell is not known.",
        Reason.NO_THRESHOLD: "The profile has no threshold for statistics of this kind.",
        Reason.FEW_IN_POPULATION: "Too few persons or other units of privacy are in the cell.",
        Reason.DIFFERS_FROM_EARLIER: "Too few units tell the cell from one released before.",
        Reason.DIFFERS_WITHIN_ANSWER: "Too few units tell the cell from another one of the answer.",
        Reason.FEW_BY_COMBINATION: "With what was released, the cell tells of too few units.",
        Reason.REVEALS_SUPPRESSED: "With what was released, the cell tells a suppressed one.",
        Reason.BOUNDED_CLOSELY: "With what was released, the cell nearly tells a suppressed one or "
        "the value of few units.",
        Reason.BEYOND_LEDGER: "The answer is beyond what the ledger of released answers decides; "
        "a person has to.",
        Reason.OTHER_DATA: "Earlier answers were about other data of the dataset; a person has to "
        "decide.",
        Reason.BOUNDS_UNKNOWN: "What the answer tells, alone or with earlier ones, could not be "
        "computed; a person has to decide.",
        Reason.NEEDS_CHECKER: "No rule judges statistics of this kind; a person has to decide.",
        Reason.WITHHELD: "The cell is withheld, for itself or for what it would tell of others.",
        Reason.OTHER_OF_PAIR: "Another statistic of the same columns is released.",
    }
)
"""What each reason says to those who may not see the figures."""

_REFUSALS = (Reason.EXTREME, Reason.IMPLICIT_TABLE, Reason.NO_THRESHOLD, Reason.EVIDENCE_MISSING)
_REVIEWS = (
    *(Reason.NEGATIVE_VALUES, Reason.NEEDS_CHECKER),
    *(Reason.BEYOND_LEDGER, Reason.OTHER_DATA, Reason.BOUNDS_UNKNOWN),
)
WHOLE_ANSWER = (Reason.BEYOND_LEDGER, Reason.OTHER_DATA, Reason.BOUNDS_UNKNOWN)
"""Reasons for which a person has to decide about all of an answer."""
_TOLD = (Reason.EXTREME, Reason.NO_THRESHOLD, *WHOLE_ANSWER)
LEDGER_REASONS: Mapping[str, Reason] = MappingProxyType(
    {reason.value: reason for reason in Reason if reason.value >= Reason.FEW_IN_POPULATION.value}
)
"""The reasons of the ledger of released answers, by its codes."""


def reasons_in(mask: int) -> tuple[Reason, ...]:
    """Return the reasons in a mask of bits, in the order of their codes."""
    return tuple(reason for reason in _ORDER if mask & reason.bit)


def public_reason(mask: int) -> Reason:
    """Return the one reason for a mask that who asked may learn.

    Which rule suppresses a cell would tell of it: that it has few units, say, and another one of
    the table has enough but would reveal it. So all suppressed cells have one reason. Only what
    follows from the query has its own, what is said of the whole answer, and what is for a person.
    """
    reasons = reasons_in(mask)
    first = [reason for reason in _TOLD if reason in reasons]
    if not first and outcome_of(mask) is CheckOutcome.REVIEW:
        first = [reason for reason in reasons if reason in _REVIEWS]
    return first[0] if first else Reason.WITHHELD


def outcome_of(mask: int) -> CheckOutcome:
    """Return what follows from the reasons in a mask: the worst that any of them asks for."""
    outcomes = {_outcome(reason) for reason in reasons_in(mask)} or {CheckOutcome.RELEASED}
    return min(outcomes, key=list(CheckOutcome).index)


def _outcome(reason: Reason) -> CheckOutcome:
    if reason in _REFUSALS:
        return CheckOutcome.REFUSED
    return CheckOutcome.REVIEW if reason in _REVIEWS else CheckOutcome.SUPPRESSED
