"""Which left operands constraints, refinements and parameters have, and the literals they take."""

from functools import cache
from typing import Any

from policy_engine import terms
from policy_engine.policy.vocabulary import NONE, Vocabulary
from policy_engine.policy.xsd.literals import read_literal
from policy_engine.policy.xsd.values import Literals

_ODRL = terms.ODRL


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


def read_operand(
    given: Any, datatype: str, operand: str, vocabulary: Vocabulary = NONE
) -> Literals:
    """Return a right operand as a literal of its `datatype` and of a type that its `operand` takes.

    The left operand is one of the language or of the vocabulary. Raises ValueError with a sentence
    for what is not a value of these types.
    """
    value = read_literal(given, datatype)
    term = terms.vocabulary().get(operand) or vocabulary.operands.get(operand)
    takes = term.iris("takes") if term else ()
    if datatype == f"{terms.XSD}double" and f"{terms.XSD}decimal" in takes:
        return value  # what 0.5 in JSON becomes in other syntaxes
    for kind in (*({datatype} & set(takes)), *takes):
        try:
            return read_literal(given, kind)
        except ValueError:
            continue
    if takes:
        kinds = " or ".join(map(terms.compact, takes))
        raise ValueError(f"{terms.compact(operand)} takes {kinds}. Given: {given!r:.80}")
    return value
