"""What refines a training or an audit, read one by one: operators, numbers, columns."""

from collections.abc import Collection, Sequence
from math import isfinite, nan
from typing import get_args

from policy_engine import terms
from policy_engine.data.column_names import column_name
from policy_engine.errors import Place, Problem, join_names
from policy_engine.methods.audits.membership_inference import Measure
from policy_engine.methods.disclosure import RiskMeasure
from policy_engine.plan.anonymization import Transformation
from policy_engine.policy import Action, Asset, Constraint, Policy

MEASURES: tuple[Measure, ...] = get_args(Measure)
OF_MODEL = ("label", "feature", "model", "trainingShare")
OF_TRAINING = (*OF_MODEL, "generators")
OF_GENERATOR = ("synthesised", "synthesiser", "leafSize", "privacyUnit")
"""What refines the training of a generator: its columns, its kind, the settings of that, and the
column of persons."""
OF_FILES = ("smallestLeaf", "rareValues")
OF_AUDIT = (*MEASURES, "fpr", "attack", "shadowModels", "attempts", *OF_FILES)
OF_GENERATORS = ("setPValue", "excessCopies", "holdoutShare")
OF_SYNTHETIC = ("auc", "tprAtFpr", "fpr", "attack", "attempts", *OF_GENERATORS)
OF_LINKAGE = ("linked", "known", "attack")
RISK_MEASURES: tuple[RiskMeasure, ...] = get_args(RiskMeasure)
OF_INFERENCE = ("inferred", "known", "learned")
OF_SECRETS = ("advantage", "learned")
OF_RISK = (*RISK_MEASURES, "known", "population")
BELOW = f"{terms.ODRL}lt"
DEFAULT_FPR = 0.001
_AT_MOST, _AT_LEAST = f"{terms.ODRL}lteq", f"{terms.ODRL}gteq"
_ABOVE = f"{terms.ODRL}gt"
_EQ, _ALL = f"{terms.ODRL}eq", f"{terms.ODRL}isAllOf"
_ANY = f"{terms.ODRL}isAnyOf"
_OPERATORS = {
    "smallestLeaf": [_AT_LEAST],
    "generators": [_AT_LEAST],
    "rareValues": [_AT_MOST],
    "setPValue": [_AT_LEAST, _ABOVE],
}
_BOUNDED = (*MEASURES, "excessCopies", "linked", "inferred", "advantage", *RISK_MEASURES)
_SEVERAL = ("attack", "feature", "known", "learned", "synthesised")


class Refinements:
    """Reads what refines the actions to train and to audit, and collects what is wrong.

    `transformation` is the permission to anonymise what is trained on or audited, if any, and what
    it asks for; `anonymised` are all that the policy has, and `outputs` what it releases.
    """

    def __init__(
        self,
        policy: Policy,
        transformation: Transformation | None,
        anonymised: Sequence[Transformation],
        outputs: Collection[str],
    ) -> None:
        self.policy = policy
        self.transformation = transformation
        self.anonymised = anonymised
        self.outputs = outputs
        self.problems: list[Problem] = []

    def add(self, code: str, message: str, hint: str, place: Place) -> None:
        """Note a problem."""
        self.problems.append(Problem(code, message, hint, place))

    def inputs(self) -> Sequence[Asset]:
        """Return what is anonymised."""
        return self.transformation.rule.targets if self.transformation else ()

    def constraints_by_name(self, action: Action, allowed: Sequence[str]) -> dict[str, Constraint]:
        """Return the refinements of an action by the local name of their operand."""
        constraints: dict[str, Constraint] = {}
        takes = [f"{terms.MOSAICROWN if name == 'method' else terms.PE}{name}" for name in allowed]
        for part in action.refinements:
            if not isinstance(part, Constraint):
                message = (
                    "Refinements of an audit or a training apply together; they cannot be joined."
                )
                self.add("M013", message, "", part.place)
                continue
            name, operand = terms.local_name(part.left_operand), terms.compact(part.left_operand)
            if part.left_operand not in takes:
                operands = join_names(map(terms.compact, takes))
                message = f"{terms.compact(action.iri)} takes no {operand}. It takes {operands}."
                self.add("M013", message, "", part.place)
            elif name in constraints:
                self.add("M013", f"{operand} is given twice.", "", part.place)
            elif self._takes_operator(name, part):
                constraints[name] = part
        return constraints

    def _takes_operator(self, name: str, part: Constraint) -> bool:
        allowed = [_AT_MOST, BELOW] if name in _BOUNDED else [_EQ]
        allowed += [_ALL] if name in _SEVERAL else []
        allowed += [_ANY] if name == "attack" else []
        allowed = _OPERATORS.get(name, allowed)
        if part.operator in allowed and part.right_operands:
            return True
        message = (
            f"{name} takes the operator {join_names(map(terms.local_name, allowed), 'or')} and "
        )
        message += f"a rightOperand. Given: {terms.local_name(part.operator)!r}"
        message += "." if part.right_operands else " and no rightOperand."
        self.add("M013", message, "", part.place)
        return False

    def number(self, part: Constraint) -> float | None:
        """Return the number on the right; None, and a problem, where it is none or infinite."""
        name, value = terms.local_name(part.left_operand), part.right_operands[0].value
        try:
            number = float(str(value))
        except ValueError:
            number = nan
        if isfinite(number):
            return number
        self.add("M013", f"{name} is a finite number. Given: {value!r:.80}.", "", part.place)
        return None

    def columns(self, part: Constraint, target: str) -> list[str]:
        """Return the columns named, of the target or of what the target is made from."""
        tables = [target, *(one.iri for one in self.inputs())]
        names: dict[str, None] = {}
        for value in part.right_operands:
            iri = terms.canonical(str(value.value))
            name = next((one for table in tables if (one := column_name(table, iri))), None)
            if name is None:
                message = f"{value.value!r} is not a column of the target. "
                message += f"Its columns are {target}/..."
                self.add("M012", message, "", value.place)
            else:
                names[name] = None
        return list(names)


def mentions(action: Action, *names: str) -> bool:
    """Tell whether some refinement of an action is about one of these, be it wrong or right."""
    leaves = (leaf for part in action.refinements for leaf in part.constraints())
    return any(leaf.left_operand == f"{terms.PE}{name}" for leaf in leaves for name in names)
