"""Which permissions ask for statistics under differential privacy, for answers or for synthetic
rows, not for rows; and which for a generator, not for a classifier."""

from policy_engine import terms
from policy_engine.methods.sanitisations.differential_privacy import DifferentialPrivacy
from policy_engine.policy import Action, Constraint

_METHOD = f"{terms.MOSAICROWN}method"


def asks_for_statistics(action: Action) -> bool:
    """Tell whether an action to anonymise asks for statistics under differential privacy."""
    return _names(action, DifferentialPrivacy.notation)


LOCAL = "local-differential-privacy"
"""The method of `methods/sanitisations/local_differential_privacy.py`, which loads only if asked
for."""


def asks_for_answers(action: Action) -> bool:
    """Tell whether an action to anonymise asks for records randomised one by one."""
    return _names(action, LOCAL)


SYNTHETIC = "synthetic-data"
"""The method of `methods/sanitisations/synthetic_data.py`, likewise."""


def asks_for_synthetic_rows(action: Action) -> bool:
    """Tell whether an action to anonymise asks for rows that are made up."""
    return _names(action, SYNTHETIC)


def asks_for_rows(action: Action) -> bool:
    """Tell whether an action to anonymise asks for rows of the input, and nothing in their
    place."""
    others = asks_for_statistics, asks_for_answers, asks_for_synthetic_rows
    return not any(one(action) for one in others)


def asks_for_generator(action: Action) -> bool:
    """Tell whether an action to train asks for a generator of rows, be it wrong or right."""
    leaves = (leaf for part in action.refinements for leaf in part.constraints())
    return any(leaf.left_operand in _OF_GENERATORS for leaf in leaves)


_OF_GENERATORS = {f"{terms.PE}{name}" for name in ("synthesised", "synthesiser")}


def _names(action: Action, notation: str) -> bool:
    """Tell whether an action names a method, alone or with others."""
    term = terms.methods()[notation]
    return any(
        str(value.value) in (term.iri, notation)
        for part in action.refinements
        if isinstance(part, Constraint) and part.left_operand == _METHOD
        for value in part.right_operands
    )
