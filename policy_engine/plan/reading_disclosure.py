"""The attacks on a table that duties ask for, and the bounds on what they reach."""

from collections.abc import Collection, Iterator, Mapping

from policy_engine import terms
from policy_engine.data.column_names import column_name
from policy_engine.errors import Place, Problem, did_you_mean, join_names
from policy_engine.methods.audits.record_linkage import DEFAULT_ATTACKS, RecordLinkage
from policy_engine.methods.disclosure import DisclosureBound
from policy_engine.methods.masking import ImageMasking
from policy_engine.methods.maskings.rank_swapping import RankSwapping
from policy_engine.plan.anonymization import Transformation
from policy_engine.plan.audit_duties import METHODS, audit_duties, method_of
from policy_engine.plan.disclosure import Disclosure
from policy_engine.plan.training.refining import BELOW, OF_LINKAGE, Refinements
from policy_engine.policy import Action, Constraint, Policy, Rule

_Parts = Mapping[str, Constraint]
_INTERSECTION = "intersection-linkage"


def table_disclosures(
    policy: Policy, transformation: Transformation, outputs: Collection[str]
) -> tuple[tuple[Disclosure, ...], list[Problem]]:
    """Return the attacks on a table, and what is wrong with them."""
    refinements = Refinements(policy, transformation, (transformation,), outputs)
    reader = _Reader(refinements, transformation)
    return tuple(reader.disclosures()), refinements.problems


def of_models(policy: Policy, output: str) -> Iterator[Problem]:
    """Yield the attacks on tables that are asked for of a model."""
    for _, action in _asked(policy, output):
        message = f"Record linkage attacks a table, and {output} is a model."
        yield Problem("M013", message, "Ask for membership inference.", action.place)


def _asked(policy: Policy, output: str) -> Iterator[tuple[Rule, Action]]:
    for rule, duty in audit_duties(policy):
        if output in [target.iri for target in rule.targets]:
            yield from ((duty, a) for a in duty.actions if method_of(a) == RecordLinkage.notation)


class _Reader:
    """Reads the attacks on the table of a transformation."""

    def __init__(self, refinements: Refinements, transformation: Transformation) -> None:
        self.refinements = refinements
        self.transformation = transformation
        self.columns = transformation.anonymization.columns
        self.unread = {one.name for one in transformation.maskings if isinstance(one, ImageMasking)}

    def disclosures(self) -> Iterator[Disclosure]:
        """Yield the attacks."""
        output = self.transformation.rule.output
        for duty, action in _asked(self.refinements.policy, output):
            self._check_table(action)
            parts = self.refinements.constraints_by_name(action, ("method", *OF_LINKAGE))
            method = self._method(parts, action)
            if method is not None:
                yield Disclosure(duty=duty.label(), asset=output, method=method)

    def _check_table(self, action: Action) -> None:
        """Note a table whose rows are not what is linked."""
        if self.transformation.anonymization.is_in_buckets:
            message = "Record linkage attacks one table, and values are released by bucket."
            self._add(message, "Ask for classes: another pe:algorithm.", action.place)
        if self.columns.privacy_unit:
            message = "Record linkage counts rows, and the policy counts persons who have several."
            self._add(message, "Leave out pe:privacyUnit.", action.place)

    def _method(self, parts: _Parts, action: Action) -> RecordLinkage | None:
        before = len(self.refinements.problems)
        self._check_name(parts, action)
        bound, known = self._bound(parts, action), self._known(parts, action)
        attacks = tuple(self._attacks(parts["attack"], known)) if "attack" in parts else ()
        if bound is None or not known or len(self.refinements.problems) > before:
            return None
        return RecordLinkage(bound=bound, known=known, attacks=attacks or DEFAULT_ATTACKS)

    def _check_name(self, parts: _Parts, action: Action) -> None:
        """Note another method than that of the action."""
        named = METHODS.get(action.iri)
        if named and "method" in parts:
            given = str(parts["method"].right_operands[0].value).removeprefix(terms.PE)
            if given != named:
                message = f"{terms.compact(action.iri)} is not the method {given!r}."
                self._add(message, "Leave the method out.", parts["method"].place)

    def _bound(self, parts: _Parts, action: Action) -> DisclosureBound | None:
        if "linked" not in parts:
            if not any(terms.local_name(one.left_operand) == "linked" for one in _leaves(action)):
                message = "The audit bounds nothing. It bounds 'linked'."
                self._add(message, "Add a refinement such as pe:linked lteq 0.05.", action.place)
            return None
        part = parts["linked"]
        number = self.refinements.number(part)
        if number is None:
            return None
        sense = "below" if part.operator == BELOW else "at most"
        if not 0 < number < 1:
            why = "no share is above 1: that bounds nothing"
            why = why if number > 0 else "guessing links some records of every table"
            message = f"linked must be {sense} {number:g}, but {why}."
            hint = "Allowed is above 0 and below 1."
            self.refinements.add("M011", message, hint, part.place)
            return None
        return DisclosureBound(
            measure="linked", asked=number, sense="below" if sense == "below" else "at most"
        )

    def _known(self, parts: _Parts, action: Action) -> tuple[str, ...]:
        """Return the names of the columns that are known: all that are changed, if none is
        named."""
        if "known" in parts:
            return tuple(dict.fromkeys(self._named(parts["known"])))
        masked = (one.name for one in self.transformation.maskings)
        changed = (*self.columns.quasi_names, *(one for one in masked if one not in self.unread))
        if not changed:
            message = "No column is generalised or masked whose values an intruder could compare."
            self._add(message, "Name the known columns: pe:known.", action.place)
        return changed

    def _named(self, part: Constraint) -> Iterator[str]:
        """Yield the columns that a policy says are known; note those that no attack reads."""
        output = self.transformation.rule.output
        tables = [output, *(one.iri for one in self.transformation.rule.targets)]
        maskings = [one.name for one in self.transformation.maskings]
        compared = (*self.columns.quasi_names, *self.columns.sensitive_names)
        compared += (*self.columns.insensitive, *maskings)
        for value in part.right_operands:
            iri = terms.canonical(str(value.value))
            name = next((one for table in tables if (one := column_name(table, iri))), None)
            if name is None:
                message = f"{value.value!r} is not a column of the target. Its columns are "
                self._add(f"{message}{output}/...", "", value.place)
            elif name in self.unread:
                message = f"No attack reads {name!r}, whose cells are images."
                self._add(message, "Name other columns.", value.place)
            elif name not in compared:
                message = f"The values of {name!r} are not in the release, so nothing is compared "
                message += f"with them. There are {join_names(compared)}."
                self._add(message, did_you_mean(name, compared), value.place)
            else:
                yield name

    def _attacks(self, part: Constraint, known: Collection[str]) -> Iterator[str]:
        allowed = terms.linkage_attacks()
        by_iri = {term.iri: notation for notation, term in allowed.items()}
        names: set[str] = set()
        for value in part.right_operands:
            notation = by_iri.get(str(value.value), str(value.value))
            if notation not in allowed:
                message = f"The attack {notation!r} is not known. Known are {join_names(allowed)}."
                self._add(message, did_you_mean(notation, allowed), value.place)
            elif notation in names:
                self._add(f"The attack {notation!r} is asked for twice.", "", value.place)
            elif notation == _INTERSECTION and known and not self._swapped(known):
                message = f"The attack {notation!r} is on ranks, and no known column is masked by "
                self._add(f"{message}rank swapping.", "Leave the attack out.", value.place)
            else:
                yield notation
            names.add(notation)

    def _swapped(self, known: Collection[str]) -> bool:
        maskings = self.transformation.maskings
        return any(isinstance(one, RankSwapping) and one.name in known for one in maskings)

    def _add(self, message: str, hint: str, place: Place) -> None:
        self.refinements.add("M013", message, hint, place)


def _leaves(action: Action) -> Iterator[Constraint]:
    for part in action.refinements:
        yield from part.constraints()
