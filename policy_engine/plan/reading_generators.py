"""The generators that a policy has trained, to be released themselves, checked without data."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from policy_engine import terms
from policy_engine.errors import Place, Problem
from policy_engine.methods.generative import OF_MODELS
from policy_engine.plan.audit_duties import MEMBERSHIP, certified_duties
from policy_engine.plan.reading_anonymization import forbidden, row_bound_problems, transforms
from policy_engine.plan.reading_synthesis import GenerationReader
from policy_engine.plan.reading_synthetic_audits import read_synthetic_audits
from policy_engine.plan.synthesis import TrainedGenerator
from policy_engine.plan.synthetic_audits import SyntheticAudit
from policy_engine.plan.training.refining import OF_GENERATOR, OF_TRAINING, Refinements, mentions
from policy_engine.policy import Action, Policy, Rule


class GeneratorTraining(NamedTuple):
    """A permission to train a generator on a dataset, what it asks for, and the action that asks
    for it.

    `places` has the place of each column that it names, by its name.
    """

    rule: Rule
    action: Action
    generator: TrainedGenerator
    places: Mapping[str, Place]

    @property
    def columns_used(self) -> tuple[str, ...]:
        """The columns whose values it depends on."""
        return self.generator.columns_used

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that are named and not released."""
        return tuple(filter(None, [self.generator.unit]))


def read_generator(
    policy: Policy, rule: Rule, action: Action, outputs: Collection[str]
) -> tuple[GeneratorTraining | None, tuple[SyntheticAudit, ...], list[Problem]]:
    """Return how a generator is trained, None where that is wrong, its audits, and all problems."""
    problems = [*forbidden(policy, rule), *row_bound_problems(rule, "learnt from")]
    problems += _target_problems(policy, rule)
    reader = _Reader(policy, rule, action, outputs)
    generator = reader.read() if rule.targets else None
    audits: tuple[SyntheticAudit, ...] = ()
    if rule.output:
        audits, wrong = read_synthetic_audits(policy, rule.output, outputs, OF_MODELS)
        problems += wrong
    if rule.output and not any(certified_duties(policy, rule.output)):
        message = "A generator learns data that nobody sanitised, and needs an audit. No duty asks "
        hint = f"Add a duty {terms.compact(MEMBERSHIP)} to the permission on {rule.output}."
        problems.append(Problem("M012", f"{message}for one.", hint, rule.place))
    problems += reader.problems
    training = (
        GeneratorTraining(rule, action, generator, reader.places)
        if generator and not problems
        else None
    )
    return training, audits, problems


def _target_problems(policy: Policy, rule: Rule) -> list[Problem]:
    """Return what is wrong with the target and the output of a permission to train a generator."""
    targets = [*dict.fromkeys(target.iri for target in rule.targets)]
    problems = []
    if len(targets) != 1 or not rule.output:
        message = "A permission to train names one target and an output, the model's IRI."
        number = f"{len(targets)} target{'s' * (len(targets) != 1)}"
        message += f" Given: {number} and {'an' if rule.output else 'no'} output."
        problems.append(Problem("M012", message, "", rule.place))
    if rule.output in targets:
        message = f"The output {rule.output!r} is a table already; the model needs its own IRI."
        problems.append(Problem("M012", message, "", rule.place))
    made = {one.output for one, _ in transforms(policy)}
    for target in rule.targets:
        if target.iri in made:
            message = (
                f"A generator learns a table as it is, and {target.iri} is made by the policy."
            )
            hint = "Train it on the data, or in a policy of its own."
            problems.append(Problem("M012", message, hint, target.place))
    return problems


class _Reader(GenerationReader):
    """Reads the refinements of one action, and gathers what is wrong with them."""

    notation = "pe:train"
    allowed = OF_GENERATOR
    needed = ("synthesised", "synthesiser")

    def __init__(
        self, policy: Policy, rule: Rule, action: Action, outputs: Collection[str]
    ) -> None:
        super().__init__(rule, action)
        refinements = Refinements(policy, None, (), outputs)
        self._check_kind(action)
        names = (*OF_GENERATOR, *OF_TRAINING)
        self.parts = refinements.constraints_by_name(action, names)
        self.problems += refinements.problems

    def _check_kind(self, action: Action) -> None:
        """Note what is asked of a model that predicts: a generator makes rows up."""
        if mentions(action, *OF_TRAINING):
            named = [name for name in OF_TRAINING if mentions(action, name)]
            message = "A model predicts a pe:label, or is a generator by pe:synthesiser. Given: "
            message += f"pe:{' and pe:'.join(named)} of a generator."
            self.problems.append(Problem("M012", message, "Leave it out.", action.place))

    def read(self) -> TrainedGenerator | None:
        """Return what is asked for, None where something is wrong with it."""
        names, synthesiser = self.columns(), self.synthesiser()
        unit, output = self.unit(names), self.rule.output
        if self.problems or synthesiser is None:
            return None
        return TrainedGenerator(columns=names, synthesiser=synthesiser, unit=unit, output=output)
