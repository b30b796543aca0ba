"""The check that outputs have to pass: that of a policy, or of a profile alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from policy_engine import terms
from policy_engine.data.column_names import column_name
from policy_engine.errors import PlanError, RequestError, did_you_mean, join_names
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES
from policy_engine.plan.output_checks import RuleCheck, output_checks
from policy_engine.policy import ReadingOptions, Source, load_policy

_UNNAMED = "the data"


@dataclass(frozen=True)
class ChosenCheck:
    """A check, the digest of the policy that asks for it (empty for a profile alone), the IRI of
    the dataset, the column of the unit (empty for rows), and the data as it was handed in."""

    check: OutputCheck
    policy: str
    dataset: str
    unit: str
    data: Any

    @property
    def hierarchies(self) -> tuple[tuple[str, ...], ...]:
        """The columns of the dataset that are levels of one hierarchy, for each of the check's."""
        named = ([column_name(self.dataset, iri) for iri in one] for one in self.check.nested)
        return tuple(tuple(name for name in names if name) for names in named)

    def scopes(self, *, is_shared: bool) -> tuple[str, ...]:
        """Return under which scope outputs count: that of the dataset.

        Raises RequestError (K025) where a shared ledger needs to know of whom: of which assignee,
        organisation or project.
        """
        scope = self.check.ledger_scope
        if is_shared and scope != "dataset":
            message = f"The policy's ledger is one for each {scope}, and which it is, is not said."
            raise RequestError.of("K025", message, f"Give scopes=('{scope}:IRI',).")
        return (f"dataset:{self.dataset}",)


def choose_check(
    policy: Source | None, profile: str, unit: str, data: Any, **reading: Unpack[ReadingOptions]
) -> ChosenCheck:
    """Return the check that a policy asks for, the one by a profile where it has several.

    Raises PlanError (M001, M002) for an unknown profile, or a policy without a check, RequestError
    (K025) where nothing says which of several applies, or the unit is not the policy's.
    """
    if profile and profile not in PROFILES:
        message = f"There is no profile of output checks {profile!r}. "
        message += f"Allowed is {join_names(PROFILES, 'or')}."
        raise PlanError.of("M001", message, did_you_mean(profile, PROFILES))
    if policy is None:
        if not profile:
            message = "Outputs are checked by a policy or by a profile, and there is neither."
            raise RequestError.of("K025", message, f"Profiles: {join_names(PROFILES)}.")
        dataset, frame = _dataset(data, ())
        return ChosenCheck(
            OutputCheck(profile=PROFILES[profile], unit=unit), "", dataset, unit, frame
        )
    read = load_policy(policy, **reading)
    one = _single(
        [some for some in output_checks(read) if profile in ("", some.check.profile.notation)]
    )
    targets = tuple(target.iri for target in one.rule.targets)
    dataset, frame = _dataset(data, targets)
    column = _column(one.check.unit, targets, unit)
    check = _answerable(one.check)
    return ChosenCheck(check, read.digest, dataset, column, frame)


def _single(checks: list[RuleCheck]) -> RuleCheck:
    if not checks:
        message = "The policy asks for no output check."
        hint = "Refine odrl:read by pe:outputCheck, or name a profile alone."
        raise PlanError.of("M002", message, hint)
    if len({one.check for one in checks}) > 1:
        names = {one.check.profile.notation for one in checks}
        message = "The policy asks for several output checks, and which applies is not said."
        raise RequestError.of(
            "K025", message, f"Name a profile: {join_names(sorted(names), 'or')}."
        )
    return checks[0]


def _answerable(check: OutputCheck) -> OutputCheck:
    if check.is_changing_figures:
        message = (
            f"Outputs of sessions and finished tables are not protected by {check.mitigation!r}."
        )
        hint = "Allowed is deny, suppress or review."
        raise RequestError.of("K025", message, hint)
    return check


def _dataset(data: Any, targets: tuple[str, ...]) -> tuple[str, Any]:
    """Return the IRI of the dataset that the data is of, and the data."""
    if isinstance(data, Mapping) and not hasattr(data, "__arrow_c_stream__"):
        if len(data) != 1:
            message = f"A session has the data of one dataset. Given: {len(data)}."
            raise RequestError.of("K025", message)
        [(iri, frame)] = data.items()
        return terms.canonical(str(iri)), frame
    return (targets[0] if targets else _UNNAMED), data


def _column(iri: str, targets: tuple[str, ...], unit: str) -> str:
    """Return the name of the column of the unit of privacy."""
    names = [column_name(target, iri) for target in targets] if iri else []
    name = next((one for one in names if one), iri.rpartition("/")[2])
    if unit and name and unit != name:
        message = f"The policy's unit of privacy is {name!r}. Given: {unit!r}."
        raise RequestError.of("K025", message)
    return name or unit
