"""What permissions to read ask of answers: read off their refinements, once for everybody."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from policy_engine import terms
from policy_engine.data.column_names import column_name
from policy_engine.errors import PlanError, Problem, did_you_mean, join_names, place_order
from policy_engine.methods.output_checks.parameters import (
    AT_LEAST,
    AT_MOST,
    HANDLING,
    NESTED,
    OUTPUT_CHECK,
    PARAMETERS,
    THRESHOLDS,
    OutputCheck,
    OwnThresholds,
)
from policy_engine.methods.output_checks.profiles import PROFILES
from policy_engine.policy import Action, Constraint, Policy, Rule
from policy_engine.policy.model import READ

CHECKED_OPERANDS = frozenset(f"{terms.PE}{name}" for name in PARAMETERS)
"""What refines reading and only a check of the answer can satisfy, by IRI."""
_EQ, _AT_LEAST, _AT_MOST, _ALL = (
    f"{terms.ODRL}{name}" for name in ("eq", "gteq", "lteq", "isAllOf")
)
_PAIR = 2


@dataclass(frozen=True)
class RuleCheck:
    """A permission to read what an answer shows once it has passed the check."""

    rule: Rule
    action: Action
    check: OutputCheck


def output_checks(policy: Policy) -> tuple[RuleCheck, ...]:
    """Return the permissions of a policy to read what passes a check, each with its check.

    Raises PlanError (M001 to M006) with all that is wrong with them, each with its place.
    """
    reader = _Reader()
    checks = tuple(reader.checks(policy))
    if reader.problems:
        raise PlanError(*sorted(reader.problems, key=place_order), source=policy.source)
    return checks


def unit_hints(policy: Policy) -> Iterator[Problem]:
    """Yield a hint (H002) for each check of a policy that names no unit of privacy: rows count."""
    for one in output_checks(policy):
        if not one.check.unit:
            message = "Its output check counts each row as a person: no unit of privacy is named."
            hint = "If persons have several rows, name the column that tells them apart as "
            yield Problem("H002", message, f"{hint}pe:privacyUnit.", one.action.place)


@dataclass
class _Reader:
    problems: list[Problem] = field(default_factory=list)

    def checks(self, policy: Policy) -> Iterator[RuleCheck]:
        """Yield the checks of a policy, and note what is wrong with those that are not yielded."""
        for rule in policy.permissions:
            for action in rule.actions:
                if any(map(self._is_about_checks, action.refinements)):
                    check = self._check(rule, action)
                    if check:
                        yield RuleCheck(rule, action, check)

    @staticmethod
    def _is_about_checks(condition: Any) -> bool:
        return any(leaf.left_operand in CHECKED_OPERANDS for leaf in condition.constraints())

    def _check(self, rule: Rule, action: Action) -> OutputCheck | None:
        if action.iri != READ:
            if any(
                leaf.left_operand == f"{terms.PE}{OUTPUT_CHECK}"
                for one in action.refinements
                for leaf in one.constraints()
            ):
                message = f"pe:outputCheck refines odrl:read. Given: {terms.compact(action.iri)}."
                self._add("M004", message, "", action)
            return None
        before = len(self.problems)
        parts = self._parts(action)
        profile = self._profile(parts, action)
        own = self._own(parts)
        unit = self._unit(parts, rule)
        nested = tuple(filter(None, (self._nested(one, rule) for one in self._lists(action))))
        if profile is None or own is None or len(self.problems) > before:
            return None
        changes = {THRESHOLDS[name]: own[name] for name in THRESHOLDS if name in own}
        changes = {
            name: _stricter(parts[_NAMES[name]], getattr(PROFILES[profile], name), value)
            for name, value in changes.items()
        }
        handling = {HANDLING[name]: own[name] for name in HANDLING if name in own}
        return OutputCheck(
            profile=PROFILES[profile].model_copy(update=changes),
            unit=unit,
            nested=nested,
            **handling,
        )

    def _parts(self, action: Action) -> Mapping[str, Constraint]:
        """Return the refinements about checks by their local name, but for nested columns; others
        are conditions."""
        parts: dict[str, Constraint] = {}
        for one in action.refinements:
            if not self._is_about_checks(one):
                continue
            if not isinstance(one, Constraint):
                message = "What an output check asks for applies together; it cannot be joined."
                self._add("M003", message, "", action)
                continue
            name = terms.local_name(one.left_operand)
            if name == NESTED:
                continue
            if name in parts:
                self._add("M003", f"pe:{name} is given twice.", "", one)
            elif self._takes(name, one):
                parts[name] = one
        return parts

    def _takes(self, name: str, part: Constraint) -> bool:
        stricter = (_AT_LEAST,) if name in AT_LEAST else (_AT_MOST,) if name in AT_MOST else ()
        allowed = (_EQ, *stricter)
        if part.operator in allowed and len(part.right_operands) == 1:
            return True
        words = join_names(map(terms.local_name, allowed), "or")
        message = f"pe:{name} takes the operator {words} and one value. Given: "
        message += f"{terms.local_name(part.operator)!r} and {len(part.right_operands)}."
        self._add("M003", message, "", part)
        return False

    def _profile(self, parts: Mapping[str, Constraint], action: Action) -> str | None:
        part = parts.get(OUTPUT_CHECK)
        if part is None:
            if not any(
                one.left_operand == f"{terms.PE}{OUTPUT_CHECK}"
                for one in action.refinements
                if isinstance(one, Constraint)
            ):
                own = [*parts, *(NESTED for _ in self._lists(action))]
                names = join_names(f"pe:{name}" for name in dict.fromkeys(own))
                message = f"{names} is of an output check, and no pe:outputCheck names one."
                hint = f"Add a refinement with the leftOperand pe:outputCheck: {_allowed()}."
                self._add("M002", message, hint, action)
            return None
        name = str(part.right_operands[0].value).removeprefix(terms.PE)
        if name in PROFILES:
            return name
        message = f"There is no profile of output checks {name!r}. Allowed is {_allowed()}."
        self._add("M001", message, did_you_mean(name, PROFILES), part)
        return None

    def _own(self, parts: Mapping[str, Constraint]) -> Mapping[str, Any] | None:
        """Return what the policy sets, by its names; None where some of it is out of range."""
        values = {
            name: _plain(part.right_operands[0].value)
            for name, part in parts.items()
            if name not in (OUTPUT_CHECK, "privacyUnit")
        }
        try:
            own = OwnThresholds.model_validate(values)
        except ValidationError as error:
            for one in error.errors(include_url=False):
                name = str(one["loc"][0])
                message = f"pe:{name}: {_lower(one['msg'])}. Given: {values[name]!r:.40}."
                self._add("M003", message, "", parts[name])
            return None
        fields = type(own).model_fields.items()
        settings = {info.alias or field: getattr(own, field) for field, info in fields}
        return {name: value for name, value in settings.items() if value is not None}

    def _unit(self, parts: Mapping[str, Constraint], rule: Rule) -> str:
        """Return the column of the unit of privacy, by its IRI; empty where none is named."""
        part = parts.get("privacyUnit")
        if part is None:
            return ""
        iri = terms.canonical(str(part.right_operands[0].value))
        tables = [target.iri for target in rule.targets]
        if not tables or any(column_name(table, iri) for table in tables):
            return iri
        message = f"pe:privacyUnit is a column of what is read. Given: {iri!r}."
        self._add("M006", message, f"Its columns are {tables[0]}/...", part)
        return ""

    @staticmethod
    def _lists(action: Action) -> Iterator[Constraint]:
        """Yield the refinements about nested columns: one for each hierarchy."""
        for one in action.refinements:
            if isinstance(one, Constraint) and one.left_operand == f"{terms.PE}{NESTED}":
                yield one

    def _nested(self, part: Constraint, rule: Rule) -> tuple[str, ...]:
        """Return nested columns by their IRIs; none where it is not said of two columns of what is
        read."""
        iris = [terms.canonical(str(one.value)) for one in part.right_operands]
        columns = tuple(dict.fromkeys(iris))
        if part.operator != _ALL or len(columns) < _PAIR:
            message = "pe:nestedColumns takes the operator isAllOf and two columns or more. Given: "
            message += f"{terms.local_name(part.operator)!r} and {len(columns)}."
            self._add("M003", message, "", part)
            return ()
        tables = [target.iri for target in rule.targets]
        others = [one for one in columns if not any(column_name(table, one) for table in tables)]
        if tables and others:
            message = f"pe:nestedColumns are columns of what is read. Given: {others[0]!r}."
            self._add("M006", message, f"Its columns are {tables[0]}/...", part)
            return ()
        return columns

    def _add(self, code: str, message: str, hint: str, part: Action | Constraint) -> None:
        self.problems.append(Problem(code, message, hint, part.place))


_NAMES = {field: name for name, field in THRESHOLDS.items()}


def _stricter(part: Constraint, profile: Any, own: Any) -> Any:
    """Return the threshold that holds: what `eq` says, or the stricter of a bound and the
    profile's."""
    if part.operator == _EQ or profile is None:
        return own
    return max(profile, own) if part.operator == _AT_LEAST else min(profile, own)


def _plain(value: Any) -> Any:
    return float(value) if type(value).__name__ == "Decimal" else value


def _allowed() -> str:
    return join_names(PROFILES, "or")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def checks_of(policies: Sequence[Policy]) -> tuple[OutputCheck, ...]:
    """Return the distinct checks that permissions ask for, in the order of the policies."""
    checks = (one.check for policy in policies for one in output_checks(policy))
    return tuple(dict.fromkeys(checks))
