"""The training of a model and the audits of it, or of a table, read off their rules."""

from collections.abc import Collection, Sequence

from policy_engine import terms
from policy_engine.errors import Problem, join_names
from policy_engine.plan.anonymization import Transformation
from policy_engine.plan.audit_duties import MEMBERSHIP, certified_duties
from policy_engine.plan.reading_anonymization import forbidden, row_bound_problems
from policy_engine.plan.training.auditing import AuditReader
from policy_engine.plan.training.model import Audit, Training
from policy_engine.plan.training.refining import Refinements
from policy_engine.plan.training.training import TrainingReader
from policy_engine.policy import Action, Policy, Rule


def read_model(
    policy: Policy,
    rule: Rule,
    action: Action,
    transformation: Transformation | None,
    transformations: Sequence[Transformation],
    outputs: Collection[str],
) -> tuple[Training | None, tuple[Audit, ...], list[Problem]]:
    """Return how a model is trained, None where that is wrong, its audits, and what is wrong.

    `transformation` is that of the records it learns from, `transformations` are all of the policy.
    """
    refinements = Refinements(policy, transformation, transformations, outputs)
    refinements.problems += [*forbidden(policy, rule), *row_bound_problems(rule, "learnt from")]
    reader = TrainingReader(refinements)
    training = reader.training(rule, action)
    audits = AuditReader(reader).audits(rule.output, training, of_model=True) if rule.output else ()
    if training and not transformation and not any(certified_duties(policy, rule.output)):
        message = "A model of data that nobody sanitised needs an audit. No duty asks for one."
        hint = f"Add a duty {terms.compact(MEMBERSHIP)} to the permission on {rule.output}."
        refinements.add("M012", message, hint, rule.place)
    _check_one_input(transformation, refinements)
    _check_unmasked(transformation, refinements, "M012")
    _check_unsampled(transformation, refinements, "M012")
    _check_one_table(transformation, refinements, "M012")
    return training, audits, refinements.problems


def table_audits(
    policy: Policy, transformation: Transformation, outputs: Collection[str]
) -> tuple[tuple[Audit, ...], list[Problem]]:
    """Return the audits of a table, and what is wrong with them."""
    refinements = Refinements(policy, transformation, (transformation,), outputs)
    audits = AuditReader(TrainingReader(refinements)).audits(
        transformation.rule.output, None, of_model=False
    )
    if audits:
        _check_one_input(transformation, refinements)
        _check_unmasked(transformation, refinements, "M013")
        _check_unsampled(transformation, refinements, "M013")
        _check_one_table(transformation, refinements, "M013")
    return audits, refinements.problems


def _check_one_input(transformation: Transformation | None, refinements: Refinements) -> None:
    """Note a join whose table a model would learn from before it is released."""
    if transformation is not None and transformation.joined:
        message = "Models are not trained, nor tables audited, in the policy that joins datasets."
        hint = f"Train on {transformation.rule.output} in a policy of its own."
        refinements.add("M016", message, hint, transformation.rule.place)


def _check_unsampled(
    transformation: Transformation | None, refinements: Refinements, code: str
) -> None:
    """Note a sample: an audit attacks all records, and a model has a share of its own."""
    if transformation is not None and transformation.sampling:
        message = "Models are not trained, nor tables audited, where rows are sampled."
        hint = f"Train on {transformation.rule.output} in a policy of its own."
        refinements.add(code, message, hint, transformation.rule.place)


def _check_unmasked(
    transformation: Transformation | None, refinements: Refinements, code: str
) -> None:
    """Note masked columns of a table that models learn from: nobody says what they would learn."""
    if transformation is not None and transformation.maskings:
        message = "Models are not trained, nor tables audited, where columns are masked: "
        message += f"{join_names(one.name for one in transformation.maskings)}."
        hint = f"Train on {transformation.rule.output} in a policy of its own."
        refinements.add(code, message, hint, transformation.rule.place)


def _check_one_table(
    transformation: Transformation | None, refinements: Refinements, code: str
) -> None:
    """Note a release by buckets, which is two tables that nothing joins row by row."""
    if transformation is not None and transformation.anonymization.is_in_buckets:
        message = "Models are not trained, nor tables audited, where values are released by bucket."
        hint = "Ask for classes: another pe:algorithm."
        refinements.add(code, message, hint, transformation.rule.place)
