"""The outputs of a policy, each by itself; everything that is wrong is reported at once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from policy_engine import terms
from policy_engine.errors import PlanError, Problem, did_you_mean, join_names, place_order
from policy_engine.plan.aggregates.asking import asks_for_generator
from policy_engine.plan.anonymization import Transformation
from policy_engine.plan.audit_duties import audit_duties
from policy_engine.plan.reading_anonymization import (
    consents,
    permitting,
    randomised_tables,
    statistics,
    synthetic_tables,
    transformations,
    transforms,
)
from policy_engine.policy import Action, Policy, Rule
from policy_engine.policy.gathering import gather_bits
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import ANONYMIZE, TRAIN
from policy_engine.policy.syntax.limits import MAX_PROBLEMS
from policy_engine.policy.validation.conflicts import iri_prefixes, set_bits

if TYPE_CHECKING:
    from policy_engine.plan.aggregates.reading import Statistics
    from policy_engine.plan.disclosure import Disclosure
    from policy_engine.plan.output_checks import RuleCheck
    from policy_engine.plan.reading_generators import GeneratorTraining
    from policy_engine.plan.reading_randomisation import RandomisedTable
    from policy_engine.plan.reading_synthesis import SyntheticTable
    from policy_engine.plan.secret_audits import SecretAudit
    from policy_engine.plan.synthetic_audits import SyntheticAudit
    from policy_engine.plan.training import Audit, Training


class Product(NamedTuple):
    """One output that a policy has made: a table, or a model, with the audits that it needs.

    A table is anonymised, by its `transformation`, has `statistics` under differential privacy,
    answers for records that were `randomised` one by one, or `synthetic` rows.
    A model is trained, by the rule of its `trainer`, on an anonymised table or, where nothing is
    anonymised, on the data as they are; or it is a `generator`.
    """

    transformation: Transformation | None
    trainer: Rule | None = None
    training: "Training | None" = None
    audits: "tuple[Audit, ...]" = ()
    disclosures: "tuple[Disclosure, ...]" = ()
    statistics: "Statistics | None" = None
    randomised: "RandomisedTable | None" = None
    synthetic: "SyntheticTable | None" = None
    synthetic_audits: "tuple[SyntheticAudit, ...]" = ()
    generator: "GeneratorTraining | None" = None
    secret_audits: "tuple[SecretAudit, ...]" = ()

    @property
    def of_records(
        self,
    ) -> "Statistics | RandomisedTable | SyntheticTable | GeneratorTraining | None":
        """What is released in the place of rows, None where rows or a classifier are."""
        return self.statistics or self.randomised or self.synthetic or self.generator

    @property
    def unreleased(self) -> tuple[str, ...]:
        """The columns that are read and not released where rows are made up."""
        made_up = self.synthetic or self.generator
        return made_up.left_out if made_up else ()

    @property
    def rule(self) -> Rule:
        """The permission that names the output."""
        if self.of_records is not None:
            return self.of_records.rule
        return self.trainer or self.transformed.rule

    @property
    def asset(self) -> str:
        """The IRI of the output."""
        return self.rule.output

    @property
    def transformed(self) -> Transformation:
        """The transformation of what is not a model of the data as they are."""
        assert self.transformation is not None  # noqa: S101 (a plan anonymises, or trains)
        return self.transformation

    @property
    def steps(self) -> Iterator[tuple[Rule, str]]:
        """The rules that are carried out, in their order, each with the action."""
        if self.of_records is not None:
            yield self.of_records.rule, TRAIN if self.generator else ANONYMIZE
        if self.transformation is not None:
            yield self.transformation.rule, ANONYMIZE
        if self.trainer is not None:
            yield self.trainer, TRAIN


def check_plannable(policy: Policy) -> None:
    """Raise PlanError with all that keeps what a policy asks for from being planned.

    A policy that asks for nothing to be made is fine.
    """
    problems: list[Problem] = []
    for derive in (consents, products, _read_checks):
        try:
            derive(policy)
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(*sorted(dict.fromkeys(problems), key=place_order), source=policy.source)


def hints_of_checks(policy: Policy) -> tuple[Problem, ...]:
    """Return what the output checks of a policy, of which nothing is wrong, may have left out."""
    if not _may_check_outputs(policy):
        return ()
    from policy_engine.plan.output_checks import unit_hints  # noqa: PLC0415 (slow to import)

    return tuple(unit_hints(policy))


def _read_checks(policy: Policy) -> None:
    """Raise PlanError with what is wrong with the output checks of a policy that mentions any."""
    if _may_check_outputs(policy):
        from policy_engine.plan.output_checks import output_checks  # noqa: PLC0415 (slow to import)

        output_checks(policy)


def only_checks(policy: Policy) -> "tuple[RuleCheck, ...]":
    """Return the permissions of a policy to read what passes a check, none if it has any output.

    Raises PlanError as `products`, and with what is wrong with its checks.
    """
    if not _may_check_outputs(policy) or products(policy):
        return ()
    from policy_engine.plan.output_checks import output_checks  # noqa: PLC0415 (slow to import)

    return output_checks(policy)


def _may_check_outputs(policy: Policy) -> bool:
    return any(
        leaf.left_operand.startswith(terms.PE)
        for rule in policy.permissions
        for action in rule.actions
        for condition in action.refinements
        for leaf in condition.constraints()
    )


def asks_for_data(policy: Policy) -> bool:
    """Tell whether a policy asks for something to be made of data."""
    return bool(transforms(policy) or trainings(policy))


def trainings(policy: Policy) -> tuple[tuple[Rule, Action], ...]:
    """Return the permissions of a policy to train a model, with their actions."""
    return permitting(policy, TRAIN)


def products(policy: Policy) -> tuple[Product, ...]:
    """Return all that a policy has made, in the order of its rules.

    A table that a model is trained on is made on the way to it, and is not an output. Raises
    PlanError with every problem that shows without data, each with its place.
    """
    problems = [*islice(_output_problems(policy), MAX_PROBLEMS)]
    product_list = _gathering(problems, transformations, policy)
    statistics_list = _gathering(problems, statistics, policy)
    randomised_list = _gathering(problems, randomised_tables, policy)
    synthetic_list = _gathering(problems, synthetic_tables, policy)
    problems += _audited(policy, statistics_list, "statistics")
    problems += _audited(policy, randomised_list, "randomised records")
    if problems and not product_list:
        raise PlanError(*sorted(dict.fromkeys(problems), key=place_order), source=policy.source)
    outputs = [*_outputs(policy)]
    trained = [
        _generator(policy, rule, action, outputs, problems)
        if asks_for_generator(action)
        else _model(policy, product_list, rule, action, outputs, problems)
        for rule, action in trainings(policy)
    ]
    learnt = {target.iri for rule, _ in trainings(policy) for target in rule.targets}
    is_audited = any(audit_duties(policy))
    tables = [
        _table(policy, one, outputs, problems) if is_audited else Product(one)
        for one in product_list
        if one.rule.output not in learnt
    ]
    of_synthetic = [_synthetic(policy, one, outputs, problems) for one in synthetic_list]
    if problems:
        raise PlanError(*sorted(dict.fromkeys(problems), key=place_order), source=policy.source)
    order = {id(rule): place for place, rule in enumerate(policy.permissions)}
    of_statistics = (Product(None, statistics=one) for one in statistics_list)
    of_answers = (Product(None, randomised=one) for one in randomised_list)
    every = (*tables, *of_statistics, *of_answers, *of_synthetic, *filter(None, trained))
    return tuple(sorted(every, key=lambda one: order[id(one.rule)]))


_Asked = TypeVar("_Asked")


def _synthetic(
    policy: Policy, table: "SyntheticTable", outputs: Collection[str], problems: list[Problem]
) -> Product:
    """Return a table of made-up rows with its audits, and note what is wrong with them."""
    from policy_engine.plan.reading_synthetic_audits import read_synthetic_audits  # noqa: PLC0415

    audits, wrong = read_synthetic_audits(policy, table.rule.output, outputs)
    problems += wrong
    unit = table.synthesis.unit
    if unit and not audits and not wrong:
        message = "synthetic-data has no parameter 'privacyUnit' where no duty has the rows "
        message += "attacked: persons are told apart for attacks alone."
        hint = "Add a duty pe:membershipInference, or leave out pe:privacyUnit."
        problems.append(Problem("M004", message, hint, table.places[unit]))
    return Product(None, synthetic=table, synthetic_audits=audits)


def _generator(
    policy: Policy, rule: Rule, action: Action, outputs: Collection[str], problems: list[Problem]
) -> Product | None:
    """Return a generator with its audits, and note what is wrong with it."""
    from policy_engine.plan.reading_generators import read_generator  # noqa: PLC0415

    training, audits, wrong = read_generator(policy, rule, action, outputs)
    problems += wrong
    return Product(None, generator=training, synthetic_audits=audits) if training else None


def _gathering(
    problems: list[Problem], read: Callable[[Policy], tuple[_Asked, ...]], policy: Policy
) -> tuple[_Asked, ...]:
    """Return what a policy asks for in one way; note its problems, and return nothing, instead."""
    try:
        return read(policy)
    except PlanError as error:
        problems += error.problems
        return ()


def _audited(
    policy: Policy,
    some: "Sequence[Statistics] | Sequence[RandomisedTable]",
    released: str,
) -> Iterator[Problem]:
    """Yield the duties to audit what is released under differential privacy: an attack is on a
    table of rows, or on a model."""
    outputs = {one.rule.output for one in some}
    for rule, duty in audit_duties(policy):
        targets = {target.iri for target in (*duty.targets, *rule.targets)}
        if targets & outputs or rule in [one.rule for one in some]:
            message = f"An audit attacks a table of rows or a model, and this releases {released}."
            hint = "Leave the duty out: epsilon bounds every attack."
            yield Problem("M013", message, hint, duty.place)


def chosen(policy: Policy, asset: str = "") -> Product:
    """Return one output of a policy: the one named, or the only one.

    Raises PlanError as `products`, and M007 where there is no output, not this one, or several.
    """
    return one_of(products(policy), policy, asset)


def one_of(candidates: Sequence[Product], policy: Policy, asset: str = "") -> Product:
    """Return one of several outputs: the one named, or the only one.

    Raises PlanError (M007) where there is no output, not this one, or several.
    """
    by_asset = {one.asset: one for one in candidates}
    if asset in by_asset:
        return by_asset[asset]
    if not by_asset:
        message = "The policy has no output: it has no permission to anonymize or to train."
        hint = _CHECKED_HINT if _may_check_outputs(policy) else ""
        raise PlanError(Problem("M007", message, hint, policy.place), source=policy.source)
    if asset:
        message = f"The policy does not make {asset!r}. It makes {join_names(by_asset)}."
        problem = Problem("M007", message, did_you_mean(asset, by_asset), policy.place)
        raise PlanError(problem, source=policy.source)
    if len(by_asset) > 1:
        message = f"The policy makes {len(by_asset)} outputs: {join_names(by_asset)}."
        problem = Problem("M007", message, "Choose one of them: asset=IRI.", policy.place)
        raise PlanError(problem, source=policy.source)
    return next(iter(by_asset.values()))


_CHECKED_HINT = (
    "It lets answers be read that pass a check: policy-engine query, of which --alternatives tells "
    "the owner the costs."
)


def _model(
    policy: Policy,
    transformations_: Sequence[Transformation],
    rule: Rule,
    action: Action,
    outputs: Collection[str],
    problems: list[Problem],
) -> Product:
    """Return a model with its audits, and note what is wrong with it."""
    from policy_engine.plan.reading_disclosure import model_requirements  # noqa: PLC0415 (as below)
    from policy_engine.plan.reading_secret_audits import read_secret_audits  # noqa: PLC0415 (as below)
    from policy_engine.plan.training.reading import read_model  # noqa: PLC0415 (slow to import)

    targets = [target.iri for target in rule.targets]
    matches = (one for one in transformations_ if one.rule.output in targets)
    # Where none is named, any tells that the model is of something else.
    transformation = next(matches, next(iter(transformations_), None))
    training, audits, wrong = read_model(
        policy, rule, action, transformation, transformations_, outputs
    )
    own = (transformation,) if transformation else ()
    secret_audits, more = read_secret_audits(policy, training, rule.output, own, outputs)
    problems += [*wrong, *more, *model_requirements(policy, rule.output)]
    return Product(transformation, rule, training, audits, secret_audits=secret_audits)


def _table(
    policy: Policy,
    transformation: Transformation,
    outputs: Collection[str],
    problems: list[Problem],
) -> Product:
    """Return a table with its audits, and note what is wrong with it."""
    from policy_engine.plan.reading_disclosure import table_disclosures  # noqa: PLC0415 (as below)
    from policy_engine.plan.training.reading import table_audits  # noqa: PLC0415 (slow to import)

    audits, wrong = table_audits(policy, transformation, outputs)
    disclosures, more = table_disclosures(policy, transformation, outputs)
    problems += [*wrong, *more]
    return Product(transformation, audits=audits, disclosures=disclosures)


def _outputs(policy: Policy) -> Iterator[str]:
    """Yield what a policy releases: no table that a model is trained on."""
    trained = trainings(policy)
    learnt = {target.iri for rule, _ in trained for target in rule.targets}
    tables = (rule.output for rule, _ in transforms(policy) if rule.output not in learnt)
    yield from dict.fromkeys((*tables, *(rule.output for rule, _ in trained if rule.output)))


def _output_problems(policy: Policy) -> Iterator[Problem]:
    """Yield the outputs of a policy that are, lie within or contain another of its outputs, and
    those that it makes something of again: each is known by its IRI alone."""
    tables, models = transforms(policy), trainings(policy)
    if len(tables) + len(models) < 2:
        return
    making_rules = sorted(
        (*tables, *models), key=lambda one: (one[1].place.line, one[1].place.column)
    )
    outputs = _Makers(making_rules, (rule.output for rule, _ in making_rules), policy.hierarchy)
    for number, later in outputs.overlapping_pairs():
        first, (second, action) = making_rules[number][0], making_rules[later]
        if not _is_own(first, second):
            relation = "is" if first.output == second.output else f"overlaps {first.output!r},"
            message = f"The output {second.output!r} of {second.where()} {relation} the output of "
            message += f"{_format_rule(first)}. Each output has an IRI of its own."
            yield Problem("M007", message, "", action.place)
    for rules, makers in ((tables, making_rules), (models, models)):
        targets = (target.iri for rule, _ in rules for target in rule.targets)
        makers_of_targets = _Makers(makers, targets, policy.hierarchy)
        for rule, action in rules:
            yield from _made_again(rule, action, makers_of_targets)


_MOST_PAIRS = 100_000


class _Makers:
    """Which rules make what some assets are, or may be, a part of.

    Sets of rules are integers, the nth bit for the nth of them. Outputs are indexed and each asset
    is looked up once, rather than comparing rules in pairs.
    """

    def __init__(
        self, making: Sequence[tuple[Rule, Action]], assets: Iterable[str], hierarchy: Hierarchy
    ) -> None:
        self.rules = [rule for rule, _ in making]
        self._bits: dict[str, int] = {}
        for number, rule in enumerate(self.rules):
            if rule.output:
                self._bits[rule.output] = self._bits.get(rule.output, 0) | 1 << number
        starts = [name for asset in assets for name in (asset, terms.dataset_of(asset)) if name]
        self._above = gather_bits(starts, lambda iri: hierarchy.above("asset", iri), self._bits)

    def of(self, asset: str) -> list[int]:
        """Return the numbers of the rules that make one of the assets, or what it is part of."""
        bits = self._above.get(asset, 0) | self._above.get(terms.dataset_of(asset), 0)
        for prefix in iri_prefixes(asset):
            bits |= self._bits.get(prefix, 0)
        return [*set_bits(bits)]

    def overlapping_pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of rules of whose outputs one is, or may be, a part of the other: the
        first of them, if there are very many."""
        numbers_by_output = {output: self.of(output) for output in self._bits}
        pairs = (
            (min(number, other), max(number, other))
            for number, rule in enumerate(self.rules)
            for other in numbers_by_output.get(rule.output, ())
            if other != number
        )
        return sorted({*islice(pairs, _MOST_PAIRS)})


def _made_again(rule: Rule, action: Action, makers: _Makers) -> Iterator[Problem]:
    """Yield what makes the target of a rule, where that has to be a policy of its own."""
    for target in rule.targets:
        for maker in (makers.rules[number] for number in makers.of(target.iri)):
            if maker is not rule:
                message = (
                    f"The target {target.iri!r} of {rule.where()} is made by {_format_rule(maker)}."
                )
                hint = "What is made of an output has a policy of its own."
                yield Problem("M007", message, hint, action.place)


def _is_own(first: Rule, second: Rule) -> bool:
    """Tell whether one of two rules makes its output of the other's: M012 tells what is wrong."""
    outputs, targets = {first.output, second.output}, (*first.targets, *second.targets)
    return any(target.iri in outputs for target in targets)


def _format_rule(rule: Rule) -> str:
    return f"{rule.where()} (line {rule.place.line})" if rule.place.line else rule.where()
