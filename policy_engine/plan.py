"""What will be done: typed steps, bound to data and an engine, printable and serialisable."""

import hashlib
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, field_validator

from policy_engine import terms
from policy_engine.catalog import Catalog, Dataset, column_name, missing_columns
from policy_engine.errors import DataError, Place, PlanError, Problem, did_you_mean, listed
from policy_engine.methods import Method, findings, method_class
from policy_engine.policy import Action, Policy, Refinement, Rule
from policy_engine.policy.clashes import overlap

ANONYMIZE = f"{terms.ODRL}anonymize"
EngineName = Literal["local"]
S = TypeVar("S", bound=BaseModel)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Read(_Frozen):
    """Read columns of an asset from where it lies; the location is empty until it is known."""

    step: Literal["read"] = "read"
    asset: str
    location: str = ""
    format: str = ""
    columns: tuple[str, ...]


class Drop(_Frozen):
    """Leave columns out: identifiers, and whatever the policy does not mention."""

    step: Literal["drop"] = "drop"
    identifiers: tuple[str, ...] = ()
    unmentioned: tuple[str, ...] = ()


class Anonymize(_Frozen):
    """Generalise the quasi-identifiers until the method's bounds hold in every class."""

    step: Literal["anonymize"] = "anonymize"
    algorithm: Literal["mondrian"] = "mondrian"
    notation: str
    method: SerializeAsAny[Method]

    @field_validator("method", mode="before")
    @classmethod
    def _of_its_class(cls, value: Any, info: Any) -> Any:
        if isinstance(value, dict):
            return method_class(info.data["notation"])(**value)
        return value


class Release(_Frozen):
    """Write the columns as the output, measure every bound on it, and only then publish."""

    step: Literal["release"] = "release"
    asset: str
    columns: tuple[str, ...]


Step = Annotated[Read | Drop | Anonymize | Release, Field(discriminator="step")]


class Plan(_Frozen):
    """The steps that carry out one permission of a policy, in order.

    `policy_digest` is the digest of the policy's text; assignees and purposes are those that
    the output is made for.
    """

    policy: str
    policy_digest: str
    rule: str
    assignees: tuple[str, ...]
    purposes: tuple[str, ...]
    engine: EngineName
    steps: tuple[Step, ...]

    @property
    def digest(self) -> str:
        """The sha-256 of the plan's JSON."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def read(self) -> Read:
        """The step that reads the input."""
        return self._only(Read)

    @property
    def drop(self) -> Drop:
        """The step that leaves columns out."""
        return self._only(Drop)

    @property
    def anonymize(self) -> Anonymize:
        """The step that generalises."""
        return self._only(Anonymize)

    @property
    def release(self) -> Release:
        """The step that writes the output."""
        return self._only(Release)

    def _only(self, kind: type[S]) -> S:
        [step] = [step for step in self.steps if isinstance(step, kind)]
        return step


def make_plan(
    policy: Policy, catalog: Catalog | None = None, *, engine: EngineName = "local"
) -> Plan:
    """Return the plan that carries out the policy's one permission to anonymise.

    With a catalog, the plan is bound to the data; without, it says what would be done to
    whatever lies there. Raises PlanError with every problem that shows without the data's
    values, and DataError where the data lacks a column.
    """
    rule, method = _checked(policy)
    target = rule.targets[0]
    dataset = catalog.dataset(target) if catalog is not None else None
    return Plan(
        policy=policy.uid,
        policy_digest=policy.digest,
        rule=rule.label(),
        assignees=rule.assignees,
        purposes=rule.purposes,
        engine=engine,
        steps=tuple(_steps(target, rule.output, method, dataset)),
    )


def check_plan(policy: Policy) -> None:
    """Raise what `make_plan` would, for a policy that asks for a transformation at all."""
    if transforms(policy):
        _checked(policy)


def transforms(policy: Policy) -> tuple[tuple[Rule, Action], ...]:
    """Return the permissions of a policy that ask for a transformation, with their actions."""
    return tuple(
        (rule, action)
        for rule in policy.permissions
        for action in rule.actions
        if action.iri == ANONYMIZE
    )


def _checked(policy: Policy) -> tuple[Rule, Method]:
    """Return the rule to carry out and its method, checked as far as can be without data."""
    rule, action = _transformation(policy)
    method = _method(policy, rule, action)
    problems = list(_forbidden(policy, rule))
    if problems:
        raise PlanError(*problems, source=policy.source)
    return rule, method


def _transformation(policy: Policy) -> tuple[Rule, Action]:
    found = transforms(policy)
    if len(found) != 1:
        message = f"A plan carries out one permission to anonymize. The policy has {len(found)}."
        raise PlanError(Problem("M007", message, "", policy.place), source=policy.source)
    rule, action = found[0]
    problems = []
    if len(rule.targets) != 1:
        message = f"One dataset is anonymised at a time. The rule has {len(rule.targets)} targets."
        problems.append(Problem("M007", message, "", rule.place))
    if not rule.output:
        message = "The permission to anonymize names no output."
        hint = 'Add "output": "http://...", the IRI of the result.'
        problems.append(Problem("M007", message, hint, rule.place))
    if rule.output in rule.targets:
        message = f"The output {rule.output!r} is the target itself; the result needs its own IRI."
        problems.append(Problem("M007", message, "", rule.place))
    if problems:
        raise PlanError(*problems, source=policy.source)
    return rule, action


def _method(policy: Policy, rule: Rule, action: Action) -> Method:
    """Return the method that an action asks for, its columns by name."""
    given = {terms.local_name(part.parameter): part for part in action.refinements}
    kind = _kind(given.pop("method", None), action, policy)
    problems: list[Problem] = []
    values = {name: _bound(part) for name, part in given.items()}
    for name, part in given.items():
        if _is_columns(part):
            values[name] = tuple(_columns(part, rule.targets[0], problems))
    for finding in findings(kind, values):
        place = given[finding.parameter].place if finding.parameter in given else action.place
        problems.append(Problem(finding.code, finding.message, "", place))
    if problems:
        raise PlanError(*sorted(problems, key=_by_place), source=policy.source)
    return kind(**values)


def _kind(part: Refinement | None, action: Action, policy: Policy) -> type[Method]:
    known = terms.methods()
    if part is None:
        message = f"The action names no method. Known are {listed(known)}."
        hint = "Add a refinement with the leftOperand mosaicrown:method."
        raise PlanError(Problem("M002", message, hint, action.place), source=policy.source)
    notation = str(part.values[0].value).removeprefix(terms.PE)
    if notation not in known:
        message = f"The method {notation!r} is not known. Known are {listed(known)}."
        hint = did_you_mean(notation, known)
        raise PlanError(Problem("M001", message, hint, part.place), source=policy.source)
    return method_class(notation)


def _bound(part: Refinement) -> Any:
    """Return a bound as an integer, where its text is one."""
    value = part.values[0].value
    if isinstance(value, str) and value.lstrip("+-").isascii() and value.lstrip("+-").isdigit():
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_columns(part: Refinement) -> bool:
    return terms.vocabulary()[part.parameter].iris("range") == (f"{terms.ODRL}Asset",)


def _columns(part: Refinement, target: str, problems: list[Problem]) -> Iterator[str]:
    for value in part.values:
        name = column_name(target, str(value.value))
        if name is None:
            message = f"{value.value!r} is not a column of the target. Its columns are {target}/..."
            problems.append(Problem("M006", message, "", value.place))
        else:
            yield name


def _forbidden(policy: Policy, rule: Rule) -> Iterator[Problem]:
    """Yield the prohibitions that speak against carrying the rule out."""
    for prohibition in policy.prohibitions if policy.conflict != "perm" else ():
        if overlap(rule, prohibition, policy.hierarchy):
            message = f"{prohibition.label()} prohibits what {rule.label()} permits."
            yield Problem("M008", message, "", prohibition.place)


def _steps(target: str, output: str, method: Method, dataset: Dataset | None) -> Iterator[Step]:
    kept = (*method.quasi_identifier, *method.sensitive, *method.insensitive)
    unmentioned: tuple[str, ...] = ()
    if dataset:
        problems = list(missing_columns((*method.identifier, *kept), dataset))
        if problems:
            raise DataError(*problems, source=dataset.location)
        mentioned = {*method.identifier, *kept}
        unmentioned = tuple(name for name in dataset.columns if name not in mentioned)
        kept = tuple(name for name in dataset.columns if name in set(kept))
    yield Read(
        asset=target,
        location=dataset.location if dataset else "",
        format=dataset.format if dataset else "",
        columns=kept,
    )
    yield Drop(identifiers=method.identifier, unmentioned=unmentioned)
    yield Anonymize(notation=method.notation, method=method)
    yield Release(asset=output, columns=kept)


def _by_place(problem: Problem) -> tuple[int, int]:
    place: Place = problem.place
    return place.line, place.column
