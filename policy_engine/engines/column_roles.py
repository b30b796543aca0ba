"""What a column is in a policy, and which role its name and its values propose."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from policy_engine.engines.column_words import (
    AMBIGUOUS,
    MEASURES,
    is_count,
    is_identifier_word,
    is_in_other_script,
    is_number_of_subject,
    is_number_word,
    is_person_word,
    is_quasi_identifier_word,
    is_sensitive_word,
    is_subject_word,
    is_weak_word,
    tokens_in,
)

if TYPE_CHECKING:
    from policy_engine.engines.column_evidence import ColumnEvidence


class ColumnRole(StrEnum):
    """What a column is in a policy: dropped, generalised, kept diverse, or none of these."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    OTHER = "other"


class Telling(IntEnum):
    """How well the values of a column tell persons apart who have several rows, from not at all."""

    NO = 0
    PERHAPS = 1
    LIKELY = 2
    SURELY = 3


@dataclass(frozen=True)
class ProposedRole:
    """A role for a person to confirm, and in a sentence why.

    `telling` says whether the rows of one value are those of one person: there may be several.
    `is_doubtful` says that a column of which nothing is known may tell who somebody is.
    """

    role: ColumnRole
    reason: str
    telling: Telling = Telling.NO
    is_doubtful: bool = False


_SMALL, _FEW, _MANY, _FLAG = 20, 10, 1_000, 3
"""With fewer rows, values that are all different say little of a column."""
_WIDEST = 100
"""Whole numbers that are few and not farther apart may be counts or codes."""
_UNIQUE = 0.95
_PLAIN_DATES = ("date", "date and time")
_REASONS = {
    ColumnRole.IDENTIFIER: "Its name has {!r}, which names a person.",
    ColumnRole.QUASI_IDENTIFIER: "Its name has {!r}, which others may know of a person.",
    ColumnRole.SENSITIVE: "Its name has {!r}, which nobody should learn about a person.",
}
_WHEN = "When something happened is often known of a person."
_UNKNOWN = "Neither its name nor its values say that it tells who somebody is."
_DOUBT = (
    "Nothing is known of it, and its values may tell who somebody is: say what it is if it is "
    "needed."
)
_NAMES = "Its name may be of parties, and it has more texts than there are: they may be names."
_KNOWN_STATUS = frozenset(("civil", "marital", "personal", "employment", "household", "familien"))
"""With these before it, a status is one that others know."""


def propose_role(evidence: "ColumnEvidence") -> ProposedRole:
    """Return the role that a column's values and name propose, the most careful one first."""
    words = tokens_in(evidence.name)
    proposed = _identifier(evidence, words) or _named_identifier(evidence, words)
    if proposed is not None:
        return proposed
    if evidence.kind in _PLAIN_DATES:
        return ProposedRole(ColumnRole.QUASI_IDENTIFIER, _WHEN)
    return _known(evidence, words) or _unknown(evidence, words)


def _identifier(evidence: "ColumnEvidence", words: list[str]) -> ProposedRole | None:
    """Return that the values of a column name persons, and how it is known; None where not."""
    telling, reason = _telling(evidence, words), ""
    if evidence.identifies:
        reason = f"Nearly all of its values are {evidence.identifies}."
    elif telling is Telling.SURELY:
        reason = "Its name is that of a number of somebody, and several rows have the same one."
    elif _is_unique(evidence):
        reason = "Nearly every row has a value of its own."
    elif evidence.kind == "text" and evidence.distinct > max(_SMALL, evidence.present / 2):
        reason = "Most rows have a text of their own."
    elif _is_number(words) and evidence.distinct > min(_MANY, evidence.present / 2):
        reason = "Its name is that of a number of somebody."
    elif _is_repeated_number(evidence, words):
        reason = "Its name is that of a number, and there are many of them."
    return ProposedRole(ColumnRole.IDENTIFIER, reason, telling) if reason else None


def _named_identifier(evidence: "ColumnEvidence", words: list[str]) -> ProposedRole | None:
    """Return that the name of a column says that it names persons; None where it does not."""
    is_flag = 1 < evidence.distinct <= _FEW and evidence.present > _FEW * evidence.distinct
    named = next((one for one in words if is_identifier_word(one)), "")
    if is_count(words) and evidence.kind != "text":
        return None
    head = next((one for one in reversed(words) if not is_number_word(one)), "")
    is_other = any(is_quasi_identifier_word(one) for one in words)
    is_of_texts = evidence.kind == "text" or (evidence.kind == "integer" and not is_other)
    word = named or (head if is_person_word(head) and is_of_texts else "")
    is_constant = evidence.distinct <= 1 and not named
    if not word or is_constant or evidence.kind == "truth value":
        return None
    if is_flag and not (evidence.distinct > 3 and (is_weak_word(word) or is_person_word(word))):
        return None
    reason = _REASONS[ColumnRole.IDENTIFIER].format(word)
    return ProposedRole(ColumnRole.IDENTIFIER, reason, _telling(evidence, words))


def _known(evidence: "ColumnEvidence", words: list[str]) -> ProposedRole | None:
    """Return the role that the last word with one gives: the others say more of it."""
    if not evidence.present:
        return None
    if _KNOWN_STATUS & {*words[:-1]} and words[-1] == "status":
        reason = _REASONS[ColumnRole.QUASI_IDENTIFIER].format(words[-2])
        return ProposedRole(ColumnRole.QUASI_IDENTIFIER, reason)
    for word in reversed(words):
        if is_quasi_identifier_word(word):
            reason = _REASONS[ColumnRole.QUASI_IDENTIFIER].format(word)
            return ProposedRole(ColumnRole.QUASI_IDENTIFIER, reason)
        if word in AMBIGUOUS and evidence.kind == "text" and evidence.distinct > _FEW:
            return ProposedRole(ColumnRole.OTHER, _NAMES, is_doubtful=True)
        if is_sensitive_word(word) and not (evidence.kind == "integer" and is_count(words)):
            return ProposedRole(ColumnRole.SENSITIVE, _REASONS[ColumnRole.SENSITIVE].format(word))
    return None


def _unknown(evidence: "ColumnEvidence", words: list[str]) -> ProposedRole:
    """Return that nothing is known, and whether the values are such as may tell persons apart."""
    is_measure = bool(MEASURES & {*words}) or is_count(words)
    whole = _whole_numbers(evidence)
    if evidence.kind == "text":
        is_doubtful = _may_name(evidence, words) and not _are_fractions(evidence)
    else:
        is_narrow = evidence.distinct <= _SMALL and _span(whole) <= _WIDEST
        is_doubtful = bool(whole) and not (is_measure or is_narrow)
    reason = _DOUBT if is_doubtful else _UNKNOWN
    return ProposedRole(ColumnRole.OTHER, reason, is_doubtful=is_doubtful)


def _may_name(evidence: "ColumnEvidence", words: list[str]) -> bool:
    """Tell whether texts of which nothing is known may be names of persons: they are many, or few
    rows share one, or their column is named in a script of which no word is known."""
    if evidence.distinct > _FEW or is_in_other_script("".join(words)):
        return True
    return evidence.distinct > _FLAG and evidence.present < _FEW * evidence.distinct


def _telling(evidence: "ColumnEvidence", words: list[str]) -> Telling:
    """Return how well a column tells persons apart who have several rows."""
    is_repeated = evidence.distinct > 1 and evidence.distinction < _UNIQUE
    if evidence.kind not in ("text", "integer") or evidence.present < _SMALL or not is_repeated:
        return Telling.NO
    if evidence.identifies == "free text":
        return Telling.NO
    if _is_number_of_subject(words):
        return Telling.SURELY if evidence.distinct > _FEW else Telling.PERHAPS
    strong = [one for one in words if is_identifier_word(one) and not is_weak_word(one)]
    is_of_another = any(is_person_word(one) and not is_subject_word(one) for one in words)
    is_likely = bool(strong or evidence.identifies) and not is_of_another
    return Telling.LIKELY if is_likely else Telling.PERHAPS


def _is_number_of_subject(words: list[str]) -> bool:
    is_apart = any(map(is_number_word, words)) and any(map(is_subject_word, words))
    return is_apart or any(map(is_number_of_subject, [*words, "".join(words)]))


def _is_unique(evidence: "ColumnEvidence") -> bool:
    is_long = evidence.present >= _SMALL and evidence.distinction >= _UNIQUE
    return is_long and evidence.kind in ("text", "integer")


def _is_number(words: list[str]) -> bool:
    return any(map(is_number_word, words)) and not is_count(words)


def _is_repeated_number(evidence: "ColumnEvidence", words: list[str]) -> bool:
    """Tell whether nothing but a number is named, and so many differ that it may be a person's."""
    is_known = any(is_quasi_identifier_word(one) or is_sensitive_word(one) for one in words)
    ends = bool(words) and (is_number_word(words[-1]) or is_number_word(words[0]))
    is_textual = evidence.kind in ("text", "integer")
    is_numbered = ends and not is_known and not is_count(words) and not MEASURES & {*words}
    return is_textual and is_numbered and evidence.distinct > _SMALL


def _whole_numbers(evidence: "ColumnEvidence") -> tuple[float, ...]:
    """Return the numbers among the examples, empty where they are not all whole."""
    if evidence.kind not in ("integer", "number"):
        return ()
    numbers = tuple(float(text) for text in evidence.examples)
    return numbers if all(one.is_integer() for one in numbers) else ()


def _span(numbers: tuple[float, ...]) -> float:
    return max(numbers) - min(numbers) if numbers else 0.0


def _are_fractions(evidence: "ColumnEvidence") -> bool:
    """Tell whether texts are numbers of which some are not whole."""
    try:
        numbers = [float(text) for text in evidence.examples]
    except ValueError:
        return False
    return any(not one.is_integer() for one in numbers)
