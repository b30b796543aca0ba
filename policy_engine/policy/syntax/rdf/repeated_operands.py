"""Constraints that a text in a syntax of RDF names again among the operands of a logical one."""

from policy_engine import terms
from policy_engine.data.rdf.statements import Statements
from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.structure import LOGICAL_PROPERTIES
from policy_engine.policy.syntax.limits import MAX_PROBLEMS
from policy_engine.policy.syntax.repetition import repetition_message


def refuse_repeated_operands(statements: Statements) -> None:
    """Raise PolicyError (P014) for constraints that a text in a syntax of RDF names again."""
    problems, earlier = [], set()
    for one in (*statements.items, *statements.repeated):
        prop = terms.canonical(one.predicate)
        if prop in LOGICAL_PROPERTIES and isinstance(one.value, str):
            operand = one.subject, prop, terms.canonical(one.value)
            if operand in earlier:
                message = repetition_message(prop, operand[2])
                problems.append(Problem("P014", message, place=Place("", *one.spot)))
            earlier.add(operand)
    if problems:
        raise PolicyError(*problems[:MAX_PROBLEMS], source=statements.source)
