"""Refinements that give columns a role, such as `mosaicrown:quasi-identifier`."""

from policy_engine import terms
from policy_engine.policy.model import Value


def is_role(parameter: str) -> bool:
    """Tell whether the right operands of a parameter are columns."""
    term = terms.vocabulary().get(parameter)
    return term is not None and term.iris("range") == (f"{terms.ODRL}Asset",)


def column_of(value: Value) -> str:
    """Return the IRI of the column that a right operand names, be it as a text or as a name."""
    return terms.canonical(str(value.value))
