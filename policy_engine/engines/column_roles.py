"""What a column is in a policy, and which role its name and its values propose."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policy_engine.engines.column_evidence import ColumnEvidence


class ColumnRole(StrEnum):
    """What a column is in a policy: dropped, generalised, kept diverse, or none of these."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    OTHER = "other"


@dataclass(frozen=True)
class ProposedRole:
    """A role for a person to confirm, and in a sentence why.

    `tells_persons` says that the rows of one value are those of one person: there may be several.
    """

    role: ColumnRole
    reason: str
    tells_persons: bool = False


_SMALL, _FEW, _MANY = 20, 10, 1_000
"""With fewer rows, values that are all different say little of a column."""
_UNIQUE = 0.95
_REPEATED = 0.05
"""Where persons have several rows, there are at least this many of them for a row."""
_WORDS = {
    ColumnRole.IDENTIFIER: "name firstname lastname surname forename email mail phone telephone "
    "mobile fax ssn iban passport license licence uuid guid address street account login username "
    "url ip patient mrn nhs",
    ColumnRole.QUASI_IDENTIFIER: "age birth birthday birthdate dob born sex gender zip zipcode "
    "postcode postal plz city town village county region state country district commune "
    "municipality area province race ethnicity nationality citizenship marital married education "
    "school degree occupation profession job employer employment emp title language admission "
    "discharge personal relation household housing home ownership dependents children residence "
    "foreign latitude longitude vehicle veh make brand",
    ColumnRole.SENSITIVE: "diagnosis diagnoses diag disease icd illness condition symptom drug "
    "medication treatment therapy hiv salary income wage wages debt credit loan religion politics "
    "party vote sexuality offence crime result grade score claim claims outcome default class "
    "label target churn readmitted status",
}
_ROLE_WORDS = {role: frozenset(words.split()) for role, words in _WORDS.items()}
_REASONS = {
    ColumnRole.IDENTIFIER: "Its name has {!r}, which names a person.",
    ColumnRole.QUASI_IDENTIFIER: "Its name has {!r}, which others may know of a person.",
    ColumnRole.SENSITIVE: "Its name has {!r}, which nobody should learn about a person.",
}
_NUMBER_WORDS = frozenset(("id", "no", "nr", "nbr", "number", "key"))
_PERSONS = """patient person client customer member insured policyholder employee student user
subject respondent household"""
_PERSON_WORDS = frozenset(_PERSONS.split())
_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def propose_role(evidence: "ColumnEvidence") -> ProposedRole:
    """Return the role that a column's values and name propose, the most careful one first."""
    tokens = tokens_of(evidence.name)
    proposed = _identifier(evidence, tokens)
    if proposed is not None:
        return proposed
    for role, words in _ROLE_WORDS.items():
        common = sorted(tokens & words)
        is_flag = 1 < evidence.distinct <= _FEW and evidence.present > _FEW * evidence.distinct
        if common and not (is_flag and role is ColumnRole.IDENTIFIER):
            return ProposedRole(role, _REASONS[role].format(common[0]))
    if evidence.kind in ("date", "date and time"):
        reason = "When something happened is often known of a person."
        return ProposedRole(ColumnRole.QUASI_IDENTIFIER, reason)
    reason = "Neither its name nor its values say that it tells who somebody is."
    return ProposedRole(ColumnRole.OTHER, reason)


def _identifier(evidence: "ColumnEvidence", tokens: set[str]) -> ProposedRole | None:
    """Return that a column names persons, and how it is known; None where nothing says so."""
    tells_persons, reason = _tells_persons(evidence, tokens), ""
    is_number = bool(tokens & _NUMBER_WORDS)
    if evidence.identifies:
        reason = f"Nearly all of its values are {evidence.identifies}."
    elif tells_persons:
        reason = "Its name is that of a number of somebody, and several rows have the same one."
    elif _is_unique(evidence):
        reason = "Nearly every row has a value of its own."
    elif evidence.kind == "text" and evidence.distinct > max(_SMALL, evidence.present / 2):
        reason = "Most rows have a text of their own."
    elif is_number and evidence.distinct > min(_MANY, evidence.present / 2):
        reason = "Its name is that of a number of somebody."
    return ProposedRole(ColumnRole.IDENTIFIER, reason, tells_persons) if reason else None


def tokens_of(name: str) -> set[str]:
    """Return the words in the name of a column, in lower case, and the name without what parts
    them."""
    tokens = {one.lower() for one in _TOKEN.findall(name)}
    return tokens | {name.lower(), "".join(_TOKEN.findall(name)).lower()}


def _is_unique(evidence: "ColumnEvidence") -> bool:
    is_long = evidence.present >= _SMALL and evidence.distinction >= _UNIQUE
    return is_long and evidence.kind in ("text", "integer")


def _tells_persons(evidence: "ColumnEvidence", tokens: set[str]) -> bool:
    """Tell whether a column looks like the number of a person who may have several rows."""
    is_number = bool(tokens & _NUMBER_WORDS) and bool(tokens & _PERSON_WORDS)
    is_number |= bool(
        tokens & {f"{one}{end}" for one in _PERSON_WORDS for end in ("id", "nbr", "no")}
    )
    is_repeated = _REPEATED <= evidence.distinction < _UNIQUE
    return is_number and is_repeated and evidence.present >= _SMALL
