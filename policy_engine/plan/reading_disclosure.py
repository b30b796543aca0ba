"""What duties ask for of a table: attacks on it, its risk, and the bounds on these."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from policy_engine import terms
from policy_engine.data.column_names import column_name
from policy_engine.errors import Place, Problem, did_you_mean, join_names
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.audits.record_linkage import DEFAULT_ATTACKS, RecordLinkage
from policy_engine.methods.disclosure import RISKS, DisclosureBound, InferenceBound, RiskBound
from policy_engine.methods.masking import ImageMasking
from policy_engine.methods.maskings.rank_swapping import RankSwapping
from policy_engine.plan.anonymization import Transformation
from policy_engine.plan.audit_duties import METHODS, audit_duties, method_of
from policy_engine.plan.disclosure import Disclosure, TableAudit
from policy_engine.plan.training.refining import (
    BELOW,
    OF_INFERENCE,
    OF_LINKAGE,
    OF_RISK,
    RISK_MEASURES,
    Refinements,
)
from policy_engine.policy import Action, Constraint, Policy, Rule

_Parts = Mapping[str, Constraint]
_INTERSECTION = "intersection-linkage"


def table_disclosures(
    policy: Policy, transformation: Transformation, outputs: Collection[str]
) -> tuple[tuple[Disclosure, ...], list[Problem]]:
    """Return the attacks on a table and the risks that are bounded, and what is wrong with them."""
    refinements = Refinements(policy, transformation, (transformation,), outputs)
    reader = _Reader(refinements, transformation)
    return tuple(reader.disclosures()), refinements.problems


def model_requirements(policy: Policy, output: str) -> Iterator[Problem]:
    """Yield what is asked for of a model and is about tables."""
    for _, action in _asked(policy, output):
        if method_of(action) == AttributeInference.notation:
            continue  # that of a model is about its features (see reading_secret_audits)
        message = f"{_ABOUT[method_of(action)]} a table, and {output} is a model."
        yield Problem("M013", message, "Ask for membership inference.", action.place)


def _asked(policy: Policy, output: str) -> Iterator[tuple[Rule, Action]]:
    for rule, duty in audit_duties(policy):
        if output in [target.iri for target in rule.targets]:
            yield from ((duty, action) for action in duty.actions if method_of(action) in _TAKES)


_TAKES = {
    RecordLinkage.notation: OF_LINKAGE,
    PopulationRisk.notation: OF_RISK,
    AttributeInference.notation: OF_INFERENCE,
}
"""What refines each of the methods that are about tables."""
_ABOUT = {
    RecordLinkage.notation: "Record linkage attacks",
    PopulationRisk.notation: "Population risk is that of",
    AttributeInference.notation: "Attribute inference attacks",
}


class _Reader:
    """Reads what is asked for of the table of a transformation."""

    def __init__(self, refinements: Refinements, transformation: Transformation) -> None:
        self.refinements = refinements
        self.transformation = transformation
        self.columns = transformation.anonymization.columns
        self._readers: Mapping[str, Callable[[_Parts, Action], TableAudit | None]] = {
            RecordLinkage.notation: self._linkage,
            PopulationRisk.notation: self._risk,
            AttributeInference.notation: self._inference,
        }
        self.unread = {one.name for one in transformation.maskings if isinstance(one, ImageMasking)}

    def disclosures(self) -> Iterator[Disclosure]:
        """Yield the attacks, and the risks that are bounded."""
        output = self.transformation.rule.output
        for duty, action in _asked(self.refinements.policy, output):
            self._check_table(action)
            notation = method_of(action)
            parts = self.refinements.constraints_by_name(action, ("method", *_TAKES[notation]))
            before = len(self.refinements.problems)
            self._check_name(parts, action)
            method = self._readers[notation](parts, action)
            if method is not None and len(self.refinements.problems) == before:
                yield Disclosure(duty=duty.label(), asset=output, method=method)

    def _check_table(self, action: Action) -> None:
        """Note a table whose rows are not what is linked."""
        if self.transformation.anonymization.is_in_buckets:
            about = _ABOUT[method_of(action)]
            message = f"{about} one table, and values are released by bucket."
            self._add(message, "Ask for classes: another pe:algorithm.", action.place)
        is_risk = method_of(action) == PopulationRisk.notation
        if is_risk and self.transformation.anonymization.is_permuted:
            message = "Population risk counts rows that are alike, and where values are permuted "
            message += "within classes rows are not what persons have."
            self._add(message, "Ask for pe:recordLinkage, or for classes.", action.place)
        if self.columns.privacy_unit:
            name = method_of(action).replace("-", " ").capitalize()
            message = f"{name} counts rows, and the policy counts persons who have several."
            self._add(message, "Leave out pe:privacyUnit.", action.place)

    def _linkage(self, parts: _Parts, action: Action) -> RecordLinkage | None:
        bound = next(iter(self._bounds(parts, action, ("linked",))), None)
        names = self._known(parts, action)
        attacks = tuple(self._attacks(parts["attack"], names)) if "attack" in parts else ()
        if bound is None or not names:
            return None
        linked_bound = DisclosureBound(measure="linked", asked=bound.asked, sense=bound.sense)
        return RecordLinkage(bound=linked_bound, known=names, attacks=attacks or DEFAULT_ATTACKS)

    def _inference(self, parts: _Parts, action: Action) -> AttributeInference | None:
        bound = next(iter(self._bounds(parts, action, ("inferred",))), None)
        learned = self._learned(parts, action)
        changed = self._known(parts, action)
        names = changed if "known" in parts else tuple(n for n in changed if n not in learned)
        for name in learned:
            if name in names:
                message = f"{name!r} is known, so nothing is learned of it."
                self._add(message, "Name other columns.", parts["known"].place)
        if learned and changed and not names:
            message = "No other column is generalised or masked that an intruder could know."
            self._add(message, "Name the known columns: pe:known.", action.place)
        if bound is None or not names or not learned or {*names} & {*learned}:
            return None
        inferred_bound = InferenceBound(measure="inferred", asked=bound.asked, sense=bound.sense)
        return AttributeInference(bound=inferred_bound, known=names, learned=learned)

    def _learned(self, parts: _Parts, action: Action) -> tuple[str, ...]:
        """Return the columns that are to be learned: those that are sensitive, if none is named."""
        if "learned" in parts:
            return tuple(dict.fromkeys(self._named(parts["learned"], ())))
        if not self.columns.sensitive_names:
            message = "No column is sensitive that an intruder could learn."
            self._add(message, "Name those to learn: pe:learned.", action.place)
        return self.columns.sensitive_names

    def _risk(self, parts: _Parts, action: Action) -> PopulationRisk | None:
        bounds = self._bounds(parts, action, RISK_MEASURES)
        names = self._known(parts, action, random=False)
        population = self._population(parts["population"]) if "population" in parts else ""
        for bound in bounds:
            self._check_measurable(bound.name, parts[bound.name], "population" in parts)
        if not bounds or not names or population is None:
            return None
        stated_bounds = tuple(
            RiskBound.model_validate({"measure": b.name, "asked": b.asked, "sense": b.sense})
            for b in bounds
        )
        if any(not RISKS[one.measure][bool(population)] for one in stated_bounds):
            return None
        return PopulationRisk(bounds=stated_bounds, known=names, population=population)

    def _population(self, part: Constraint) -> str | None:
        """Return the dataset that is counted, None and a problem where it is not one."""
        iri = terms.canonical(str(part.right_operands[0].value))
        if ":" not in iri:
            message = f"The population is a dataset, named by an IRI. Given: {iri!r}."
            self._add(message, "", part.place)
            return None
        if iri in self.refinements.outputs:
            message = f"The population {iri!r} is made by this policy, not given."
            self._add(message, "Name a dataset of which the release is a part.", part.place)
            return None
        return iri

    def _check_measurable(self, name: str, part: Constraint, is_counted: bool) -> None:
        """Note a bound on what is not known with, or without, a population."""
        sampling = self.transformation.sampling
        if name == "presence" and not is_counted:
            message = "presence is the share of a population that is in the table: it needs one."
            self._add(message, "Name one: pe:population.", part.place)
        elif name == "populationUniques" and is_counted:
            message = "populationUniques is an estimate, and the population is counted."
            self._add(message, "Bound pe:uniques instead.", part.place)
        elif name == "populationUniques" and not (
            sampling and (sampling.share or sampling.weight_column)
        ):
            message = "How large the population is that populationUniques estimates is not known."
            hint = "Ask for pe:sampleShare or pe:weightColumn, or count one: pe:population."
            self._add(message, hint, part.place)

    def _check_name(self, parts: _Parts, action: Action) -> None:
        """Note another method than that of the action."""
        named = METHODS.get(action.iri)
        if named and "method" in parts:
            method = str(parts["method"].right_operands[0].value).removeprefix(terms.PE)
            if method != named:
                message = f"{terms.compact(action.iri)} is not the method {method!r}."
                self._add(message, "Leave the method out.", parts["method"].place)

    def _bounds(
        self, parts: _Parts, action: Action, measures: Sequence[str]
    ) -> list["_AskedBound"]:
        """Return the bounds on these measures, and note those that bound nothing."""
        leaves = {terms.local_name(one.left_operand) for one in _leaves(action)}
        if not leaves & {*measures}:
            example = f"pe:{measures[-1 if len(measures) == 1 else 2]} lteq {0.05:g}"
            message = f"The audit bounds nothing. It bounds {join_names(measures, 'or')}."
            self._add(message, f"Add a refinement such as {example}.", action.place)
        bounds = (self._bound(name, parts[name]) for name in measures if name in parts)
        return [one for one in bounds if one is not None]

    def _bound(self, name: str, part: Constraint) -> "_AskedBound | None":
        number = self.refinements.number(part)
        if number is None:
            return None
        sense: Literal["below", "at most"] = "below" if part.operator == BELOW else "at most"
        least = name in _CAN_BE_NONE and sense == "at most"
        if 0 < number < 1 or (least and number == 0):
            return _AskedBound(name, number, sense)
        why = "no share is above 1: that bounds nothing"
        why = why if number > 0 else _NEVER_NONE.get(name, "no share is below 0")
        message = f"{name} must be {sense} {number:g}, but {why}."
        hint = "Allowed is from 0 on, below 1." if least else "Allowed is above 0 and below 1."
        self.refinements.add("M011", message, hint, part.place)
        return None

    def _known(self, parts: _Parts, action: Action, *, random: bool = True) -> tuple[str, ...]:
        """Return the names of the columns that are known: all that are changed, if none is
        named. Without `random`, none that are masked at random, of which nobody knows the cells."""
        maskings = self.transformation.maskings
        drawn = {one.name for one in maskings if one.is_perturbation and not random}
        if "known" in parts:
            return tuple(dict.fromkeys(self._named(parts["known"], drawn)))
        masked = (one.name for one in maskings if one.name not in drawn)
        changed = (*self.columns.quasi_names, *(one for one in masked if one not in self.unread))
        if not changed:
            message = "No column is generalised or masked whose values an intruder could compare."
            self._add(message, "Name the known columns: pe:known.", action.place)
        return changed

    def _named(self, part: Constraint, drawn: Collection[str]) -> Iterator[str]:
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
            elif name in drawn:
                message = f"{name!r} is masked at random: who knows a value does not know the "
                hint = "Leave it out, and bound what attacks reach: pe:recordLinkage."
                self._add(f"{message}cell, so it makes no classes.", hint, value.place)
            elif name not in compared:
                message = f"The values of {name!r} are not in the release, so nothing is compared "
                message += f"with them. There are {join_names(compared)}."
                self._add(message, did_you_mean(name, compared), value.place)
            else:
                yield name

    def _attacks(self, part: Constraint, known_names: Collection[str]) -> Iterator[str]:
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
            elif notation == _INTERSECTION and known_names and not self._swapped(known_names):
                message = f"The attack {notation!r} is on ranks, and no known column is masked by "
                self._add(f"{message}rank swapping.", "Leave the attack out.", value.place)
            else:
                yield notation
            names.add(notation)

    def _swapped(self, names: Collection[str]) -> bool:
        maskings = self.transformation.maskings
        return any(isinstance(one, RankSwapping) and one.name in names for one in maskings)

    def _add(self, message: str, hint: str, place: Place) -> None:
        self.refinements.add("M013", message, hint, place)


class _AskedBound(NamedTuple):
    """A bound on a measure, by its name, as it was asked for."""

    name: str
    asked: float
    sense: Literal["at most", "below"]


_CAN_BE_NONE = ("uniques", "populationUniques")
"""The shares that can be 0."""
_NEVER_NONE = {
    "linked": "guessing links some records of every table",
    "inferred": "every interval reaches above what the commonest value gives",
    "meanRisk": "every record has a risk",
    "largestRisk": "every record has a risk",
    "presence": "whoever is in the table may be",
}


def _leaves(action: Action) -> Iterator[Constraint]:
    for part in action.refinements:
        yield from part.constraints()
