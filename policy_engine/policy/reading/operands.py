"""Which left operands constraints, refinements and parameters have, and the literals they take."""

from decimal import Decimal
from functools import cache
from typing import Any

from policy_engine import terms
from policy_engine.policy.vocabulary import NONE, Vocabulary
from policy_engine.policy.xsd.literals import (
    NUMERIC_TYPES,
    TEXT_TYPES,
    check_time,
    lexical,
    read_literal,
)
from policy_engine.policy.xsd.values import Literals

_ODRL = terms.ODRL
_NUMBERS = frozenset(f"{terms.XSD}{name}" for name in NUMERIC_TYPES)
_DOUBLES = (f"{terms.XSD}double", f"{terms.XSD}float")


@cache
def operands() -> dict[str, terms.Term]:
    """Return the left operands that constraints have: those of ODRL."""
    left_operands = terms.instances(f"{_ODRL}LeftOperand").items()
    return {
        iri: term for iri, term in left_operands if not {"operator", "refines"} & term.facts.keys()
    }


@cache
def refining_operands() -> dict[str, terms.Term]:
    """Return the left operands that refinements have but those of `anonymize`.

    Beside the ones of constraints they are those that refine other actions, such as audits.
    """
    left_operands = terms.instances(f"{_ODRL}LeftOperand").items()
    return {
        iri: term for iri, term in left_operands if iri in operands() or "refines" in term.facts
    }


@cache
def parameters() -> dict[str, terms.Term]:
    """Return the left operands that refine `anonymize`: those that say which operator they take."""
    operands = terms.instances(f"{_ODRL}LeftOperand").items()
    return {iri: term for iri, term in operands if "operator" in term.facts}


def typed_number(number: Any, datatype: str) -> Any:
    """Return a number of JSON that names its type as the literal that it is in RDF.

    So `5` of the type `xsd:decimal` is read as `"5"` is (JSON-LD 1.1 API, section 8.6).
    """
    if isinstance(number, bool) or not isinstance(number, int | float):
        return number
    is_text = datatype == f"{terms.XSD}decimal" or (
        isinstance(number, int) and datatype in _DOUBLES
    )
    return lexical(Decimal(repr(number))) if is_text else number


def read_operand(
    raw: Any,
    datatype: str,
    operand: str,
    vocabulary: Vocabulary = NONE,
    *,
    names_type: bool = False,
) -> Literals:
    """Return a right operand as a literal of its `datatype` and of a type that its `operand` takes.

    The left operand is one of the language or of the vocabulary; an integer that itself
    `names_type` stays one where decimals are taken. Raises ValueError with a sentence for what is
    not a value of these types.
    """
    if datatype not in TEXT_TYPES:
        check_time(raw)
    value = read_literal(raw, datatype)
    is_integer = names_type and type(value) is int
    term = terms.vocabulary().get(operand) or vocabulary.operands.get(operand)
    takes = term.iris("takes") if term else ()
    if datatype == f"{terms.XSD}double" and f"{terms.XSD}decimal" in takes:
        return value  # what 0.5 in JSON becomes in other syntaxes
    for kind in (*({datatype} & set(takes)), *takes):
        try:
            return read_literal(value if is_integer and kind in _NUMBERS else raw, kind)
        except ValueError:
            continue
    if takes:
        kinds = " or ".join(map(terms.compact, takes))
        raise ValueError(f"{terms.compact(operand)} takes {kinds}. Given: {raw!r:.80}")
    return value
