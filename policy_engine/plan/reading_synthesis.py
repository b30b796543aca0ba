"""The tables that a policy has made up row by row, checked as far as can be without data."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from policy_engine import terms
from policy_engine.errors import Place, PlanError, Problem, did_you_mean, join_names, place_order
from policy_engine.methods.columns import IDENTIFIERS
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.sanitisations.synthetic_data import SyntheticData
from policy_engine.methods.synthesiser import SynthesisedColumn, Synthesiser, synthesiser_class
from policy_engine.plan.column_settings import read_settings, to_plain
from policy_engine.plan.reading_parameters import as_settings
from policy_engine.plan.reading_records import RecordsReader
from policy_engine.plan.synthesis import Synthesis
from policy_engine.policy import Action, Policy, Rule, Value

NOTATION = SyntheticData.notation
SYNTHESISED, SYNTHESISER, ROWS = "synthesised", "synthesiser", "syntheticRows"
UNIT = "privacyUnit"
IDENTIFIER = IDENTIFIERS[0]


class SyntheticTable(NamedTuple):
    """A permission to anonymise a dataset by made-up rows, what it asks for, and the action that
    asks for it.

    `identifiers` are columns that it names to leave them out; `places` has the place of each
    column that it names, by its name.
    """

    rule: Rule
    action: Action
    synthesis: Synthesis
    identifiers: tuple[str, ...]
    places: Mapping[str, Place]

    @property
    def columns_used(self) -> tuple[str, ...]:
        """The columns whose values it depends on."""
        return self.synthesis.columns_used

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that are named and not released."""
        unit = self.synthesis.unit
        return tuple(dict.fromkeys((*self.identifiers, *filter(None, [unit]))))


def read_synthetic(policy: Policy, rule: Rule, action: Action) -> SyntheticTable:
    """Return what an action asks for. Raises PlanError with every problem of it."""
    reader = _Reader(rule, action)
    synthesis = reader.read()
    if synthesis is None:
        problems = sorted(dict.fromkeys(reader.problems), key=place_order)
        raise PlanError(*problems, source=policy.source)
    return SyntheticTable(rule, action, synthesis, reader.identifiers, reader.places)


class GenerationReader(RecordsReader):
    """Reads which columns a generator learns, and which one that is."""

    identifiers: tuple[str, ...] = ()

    def columns(self) -> tuple[str, ...]:
        """Return the columns in the order in which they are drawn, without those that are wrong."""
        columns = [one for one in map(self._synthesised, self.values(SYNTHESISED)) if one]
        self._check_names(columns)
        columns.sort(key=lambda one: (one.position is None, one.position, one.name))
        return tuple(one.name for one in columns)

    def unit(self, names: tuple[str, ...]) -> str:
        """Return the column that tells persons apart, empty where none is named; `names` are those
        that are made up."""
        unit = ""
        for value in self.values(UNIT)[:1]:
            unit = self.column(value) or ""
        if unit in names:
            message = f"{unit!r} is both synthesised and privacyUnit. Persons are not published."
            self.add("M005", message, UNIT)
        return unit

    def _synthesised(self, value: Value) -> SynthesisedColumn | None:
        name = self.column(value)
        if name is None:
            return None
        settings = read_settings(value, SynthesisedColumn)
        findings = parameter_findings(SynthesisedColumn, {"name": name, **settings}, SYNTHESISED)
        for finding in findings:
            place = value.settings.get(finding.parameter, value).place
            message = f"{name!r}: {as_settings(finding)}"
            self.problems.append(Problem(finding.code, message, "", place))
        return None if findings else SynthesisedColumn(name=name, **settings)

    def _check_names(self, columns: list[SynthesisedColumn]) -> None:
        names = [one.name for one in columns]
        self.check_named_once(names, SYNTHESISED)
        for name in dict.fromkeys(one for one in self.identifiers if one in names):
            message = f"{name!r} is both synthesised and identifier. Identifiers are left out."
            self.add("M005", message, IDENTIFIER)
        positions = [one.position for one in columns if one.position is not None]
        for one in sorted({one for one in positions if positions.count(one) > 1}):
            self.add("M003", f"Several columns have the position {one}.", SYNTHESISED)

    def synthesiser(self) -> Synthesiser | None:
        """Return the generator with its settings, None where something is wrong with it."""
        for value in self.values(SYNTHESISER)[:1]:
            notations = terms.synthesisers()
            if value.value not in notations:
                message = f"{SYNTHESISER} is not allowed to be {value.value!r}. Allowed is "
                message += f"{join_names(notations, 'or')}."
                hint = did_you_mean(str(value.value), notations)
                self.problems.append(Problem("M003", message, hint, value.place))
                return None
            return self._with_settings(synthesiser_class(str(value.value)))
        return None

    def _with_settings(self, kind: type[Synthesiser]) -> Synthesiser | None:
        others = (SYNTHESISED, SYNTHESISER, ROWS, IDENTIFIER, UNIT)
        settings: dict[str, Any] = {}
        for name in self.allowed:
            part = self.parts.get(name)
            if part and name not in others:
                settings[name] = to_plain(part.right_operands[0].value)
        findings = parameter_findings(kind, settings, kind.notation)
        for finding in findings:
            self.add(finding.code, finding.message, finding.parameter)
        return None if findings else kind(**settings)


class _Reader(GenerationReader):
    """Reads the refinements of one action, and gathers what is wrong with them."""

    notation = NOTATION
    allowed = (
        *(SYNTHESISED, SYNTHESISER, ROWS),
        *(name for name in map(terms.local_name, terms.methods()[NOTATION].iris("allows"))),
    )
    needed = (SYNTHESISED, SYNTHESISER, ROWS)
    made = "The rows that are made up are all that is released."

    def read(self) -> Synthesis | None:
        """Return what is asked for, None where something is wrong with it."""
        self.check_alone()
        self.identifiers = tuple(filter(None, map(self.column, self.values(IDENTIFIER))))
        names, rows, synthesiser = self.columns(), self._rows(), self.synthesiser()
        unit = self.unit(names)
        if self.problems or synthesiser is None or rows is None:
            return None
        return Synthesis(columns=names, synthesiser=synthesiser, rows=rows, unit=unit)

    def _rows(self) -> int | None:
        for value in self.values(ROWS)[:1]:
            given_rows = {ROWS: to_plain(value.value)}
            findings = parameter_findings(SyntheticData, given_rows, NOTATION)
            for finding in findings:
                self.problems.append(Problem(finding.code, finding.message, "", value.place))
            return None if findings else SyntheticData(**given_rows).rows
        return None
