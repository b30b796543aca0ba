"""The model and the audits of a policy: what is wrong with them is told at once."""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.errors import PlanError, by_place
from policy_engine.modelling.auditing import AuditReader
from policy_engine.modelling.model import Audit, Training
from policy_engine.modelling.refining import MEMBERSHIP, is_audit
from policy_engine.policy import Action, Policy, Rule
from policy_engine.policy.model import TRAIN
from policy_engine.transformation import (
    bounds_on_rows,
    forbidden,
    permitting,
    transformation,
    transforms,
)


def check_plannable(policy: Policy) -> None:
    """Raise PlanError with all that keeps what a policy asks for from being planned.

    A policy that asks for nothing to be made is fine.
    """
    if asks_for_data(policy):
        modelling(policy)


def asks_for_data(policy: Policy) -> bool:
    """Tell whether a policy asks for something to be made of data."""
    return bool(transforms(policy) or trainings(policy))


def trainings(policy: Policy) -> tuple[tuple[Rule, Action], ...]:
    """Return the permissions of a policy to train a model, with their actions."""
    return permitting(policy, TRAIN)


def modelling(policy: Policy) -> tuple[Rule | None, Training | None, tuple[Audit, ...]]:
    """Return the permission to train that a policy gives, if any, its model, and the audits.

    Raises PlanError with every problem that shows without data, each with its place.
    """
    asked = transformation(policy) if transforms(policy) else None
    reader = AuditReader(policy, asked)
    rule, training = _training(policy, reader)
    made = rule.output if rule else asked[0].output if asked else ""
    audits = reader.audits(made, training, of_model=rule is not None) if made else ()
    if rule and training and not asked and not _is_audited(policy, made):
        message = "A model of data that nobody sanitised needs an audit. No duty asks for one."
        hint = f"Add a duty {terms.compact(MEMBERSHIP)} to the permission on {made}."
        reader.add("M012", message, hint, rule.place)
    if reader.problems:
        problems = sorted(dict.fromkeys(reader.problems), key=by_place)
        raise PlanError(*problems, source=policy.source)
    return rule, training, audits


def _training(policy: Policy, reader: AuditReader) -> tuple[Rule | None, Training | None]:
    """Return the one permission to train and what it asks for; nothing where there is none."""
    found = trainings(policy)
    if not found:
        return None, None
    rule, action = found[0]
    if len(found) > 1:
        message = f"A plan trains one model. The policy has {len(found)} permissions to train."
        reader.add("M012", message, "", found[1][1].place)
    reader.problems += [*forbidden(policy, rule), *bounds_on_rows(rule, "learnt from")]
    return rule, reader.training(rule, action)


def certified_duties(policy: Policy, asset: str) -> Iterator[Rule]:
    """Yield the duties to audit an output, which a valid certificate of it shows fulfilled."""
    for rule in policy.permissions:
        if asset in [target.iri for target in rule.targets]:
            yield from (duty for duty in rule.duties if any(map(is_audit, duty.actions)))


def _is_audited(policy: Policy, made: str) -> bool:
    return any(True for _ in certified_duties(policy, made))
