"""Which permissions ask for statistics under differential privacy, rather than for rows."""

from policy_engine import terms
from policy_engine.methods.sanitisations.differential_privacy import DifferentialPrivacy
from policy_engine.policy import Action, Constraint

_METHOD = f"{terms.MOSAICROWN}method"


def asks_for_statistics(action: Action) -> bool:
    """Tell whether an action to anonymise asks for statistics under differential privacy."""
    term = terms.methods()[DifferentialPrivacy.notation]
    return any(
        str(value.value) in (term.iri, DifferentialPrivacy.notation)
        for part in action.refinements
        if isinstance(part, Constraint) and part.left_operand == _METHOD
        for value in part.right_operands
    )
