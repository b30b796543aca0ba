"""Derive plans from policies: which steps make an output, bound to data and an engine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import get_args

from policy_engine import terms
from policy_engine.data.catalog import Catalog
from policy_engine.data.column_names import missing_columns
from policy_engine.errors import DataError, PlanError, Problem, join_names, place_order
from policy_engine.methods import Finding
from policy_engine.methods.audits.membership_inference import MembershipInference
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.conflicts import option_conflicts
from policy_engine.methods.findings import format_value
from policy_engine.methods.masking import ColumnMasking
from policy_engine.methods.recoding import ON_CLUSTERS, Algorithm, RecodingOptions, option_fields
from policy_engine.methods.sanitisations.differential_privacy import DifferentialPrivacy
from policy_engine.methods.sanitisations.local_differential_privacy import LocalDifferentialPrivacy
from policy_engine.methods.sanitisations.synthetic_data import SyntheticData
from policy_engine.plan.anonymization import Anonymization
from policy_engine.plan.chaining import check_read_as_meant
from policy_engine.plan.disclosure import Population
from policy_engine.plan.image_shapes import check_image_shapes
from policy_engine.plan.inputs import Join, Read, inputs_of
from policy_engine.plan.joins import MASKED
from policy_engine.plan.lineage import Generalised, Upstream
from policy_engine.plan.plan import AnyStep, EngineName, Plan
from policy_engine.plan.products import Product, chosen
from policy_engine.plan.reading_parameters import parameters_of
from policy_engine.plan.reading_samples import check_weight_name
from policy_engine.plan.spelling import column_problems
from policy_engine.plan.steps import (
    AggregateStep,
    AuditStep,
    CellStyle,
    DisclosureStep,
    Publish,
    Randomise,
    SecretAuditStep,
    Synthesise,
    SyntheticAuditStep,
    Train,
    TrainGenerator,
    steps_of,
)
from policy_engine.policy import Policy, Rule


def make_plan(
    policy: Policy,
    catalog: Catalog | None = None,
    *,
    asset: str = "",
    engine: EngineName = "local",
    cells: CellStyle = "text",
    upstream: Sequence[Upstream] = (),
) -> Plan:
    """Return the plan that makes one output of a policy.

    The output is an anonymised table, a model, or a model of an anonymised table, with the audits
    that duties ask for. `asset` names it where the policy has several. With a catalog, the plan is
    bound to the data; without, it says what would be done to any data. `upstream` describes the
    releases that the data are: their generalised columns are not read as values. Raises PlanError
    with every problem that shows without the data's values, or with everything that the engine
    lacks (M009), and DataError where the data lacks a column or a taxonomy cannot be read.
    """
    return plan_of(policy, chosen(policy, asset), catalog, engine, cells, upstream)


def plan_of(
    policy: Policy,
    product: Product,
    catalog: Catalog | None = None,
    engine: EngineName = "local",
    cells: CellStyle = "text",
    upstream: Sequence[Upstream] = (),
) -> Plan:
    """Return the plan that makes a given output of a policy; otherwise as `make_plan`."""
    sanitised, training, audits = product.transformation, product.training, product.audits
    rule, anonymization = product.rule, sanitised.anonymization if sanitised else None
    aggregation = product.statistics.aggregation if product.statistics else None
    _check_engine(policy, product, engine)
    learnt = [one.modelling for one in audits] + ([training] if training else [])
    generalised = check_read_as_meant(policy, sanitised, learnt, upstream)
    _check_values(product, generalised, policy)
    target = (sanitised.rule if sanitised else rule).targets[0].iri
    joined = sanitised.joined if sanitised else ()
    digests: dict[str, str] = {}
    if catalog is not None and sanitised:
        digests |= catalog.taxonomy_digests(sanitised.taxonomies)
        digests |= catalog.matrix_digests(sanitised.matrices)
    with _placing_columns(policy, catalog):
        used = product.of_records.columns_used if product.of_records else ()
        left_out = product.unreleased
        reads, join, drop = inputs_of(target, joined, sanitised, training, catalog, used, left_out)
    reads = _add_generalised(reads, join, generalised)
    if sanitised is not None:
        parameters, assets = parameters_of(sanitised.action), [one.asset for one in reads]
        check_weight_name(sanitised.sampling, parameters, catalog, assets, policy.source)
    problems = column_problems(policy, catalog) if catalog is not None else []
    if problems:
        raise DataError(*problems, source=policy.source)
    steps: list[AnyStep] = [*reads, *([join] if join else []), drop]
    if sanitised is not None:
        steps += steps_of(sanitised, digests)
    if aggregation is not None:
        if catalog is not None and aggregation.key_table:
            keys = catalog.group_keys(aggregation.key_table)
            keys.of(aggregation.group_names)
            aggregation = aggregation.model_copy(update={"key_table_digest": keys.digest})
        steps.append(AggregateStep(**dict(aggregation)))
    if product.randomised is not None:
        check_image_shapes(product.randomised.randomisation, reads[0])
    steps += _steps_of_records(product)
    if training is not None:
        steps.append(Train(**dict(training)))
    steps += [AuditStep(**dict(audit)) for audit in audits]
    steps += [SecretAuditStep(**dict(audit)) for audit in product.secret_audits]
    steps += _disclosure_steps(product, catalog)
    _check_known(product, generalised, policy)
    unreleased = anonymization.unreleased if anonymization else product.unreleased
    read_columns = join.columns if join else reads[0].columns
    columns = tuple(name for name in read_columns if name not in unreleased)
    columns += sanitised.added if sanitised else ()
    columns = aggregation.output_columns if aggregation else columns
    columns = product.randomised.randomisation.names if product.randomised else columns
    steps.append(Publish(asset=rule.output, columns=columns, cells=cells))
    return Plan(
        policy=policy.uid,
        policy_digest=policy.digest,
        rule=rule.label(),
        assignees=tuple(dict.fromkeys(_readers(policy, rule, _model_of(product)))),
        purposes=rule.purposes,
        engine=engine,
        steps=tuple(steps),
    )


def _steps_of_records(product: Product) -> Iterator[AnyStep]:
    """Yield the steps that randomise records, or make rows up, or train a generator, and attack
    these."""
    if product.randomised is not None:
        yield Randomise(**dict(product.randomised.randomisation))
    if product.synthetic is not None:
        yield Synthesise(**dict(product.synthetic.synthesis))
    if product.generator is not None:
        yield TrainGenerator(**dict(product.generator.generator))
    for audit in product.synthetic_audits:
        yield SyntheticAuditStep(**dict(audit))


@contextmanager
def _placing_columns(policy: Policy, catalog: Catalog | None) -> Iterator[None]:
    """Say of columns that the data lacks where the policy names them, of all together."""
    try:
        yield
    except DataError as error:
        problems = column_problems(policy, catalog) if catalog is not None else []
        if {one.message for one in error.problems} <= {one.message for one in problems}:
            raise DataError(*problems, source=policy.source) from None
        raise


def _disclosure_steps(product: Product, catalog: Catalog | None) -> list[DisclosureStep]:
    """Return the steps before a table is published, each with the place of its population.

    Raises DataError (C001) where that is not given, (C005) with all columns that it lacks.
    """
    steps: list[DisclosureStep] = []
    problems: list[Problem] = []
    for one in product.disclosures:
        population = None
        if catalog is not None and isinstance(one.method, PopulationRisk) and one.method.population:
            dataset = catalog.dataset(one.method.population)
            problems += missing_columns(one.method.known, dataset)
            population = Population(location=dataset.location, format=dataset.format)
        steps.append(DisclosureStep(**dict(one), population=population))
    if problems:
        raise DataError(*problems)
    return steps


def _add_generalised(
    reads: Sequence[Read], join: Join | None, generalised: Sequence[Generalised]
) -> tuple[Read, ...]:
    """Return the steps that read, each with its columns that are generalised."""
    used = [one.columns for one in (join.inputs if join else reads)]
    return tuple(
        read.model_copy(update={"generalised": tuple(g for g in generalised if g.name in names)})
        for read, names in zip(reads, used, strict=True)
    )


def _model_of(product: Product) -> str:
    """Return the IRI of the model that is released, empty where a table is."""
    return product.asset if product.training or product.generator else ""


def _readers(policy: Policy, rule: Rule, model: str) -> Iterator[str]:
    """Yield the parties an output is made for: the rule's assignees, and all who may use a
    model."""
    users = (one for one in policy.permissions if model and _is_on(one, model))
    for one in (rule, *users):
        yield from (party.iri for party in one.assignees)


def _is_on(rule: Rule, asset: str) -> bool:
    return asset in [target.iri for target in rule.targets]


def _check_known(product: Product, generalised: Sequence[Generalised], policy: Policy) -> None:
    """Raise PlanError (M013) for known columns that an earlier release generalised: nobody knows
    the values of persons there."""
    known_names = {name for one in product.disclosures for name in one.method.compared}
    names = [one.name for one in generalised if one.name in known_names]
    if names:
        message = f"An earlier release generalised {join_names(names)}: what is known of persons "
        problem = Problem("M013", f"{message}is not there.", "Name other columns: pe:known.")
        raise PlanError(problem, source=policy.source)


def _check_values(product: Product, generalised: Sequence[Generalised], policy: Policy) -> None:
    """Raise PlanError (M015) for statistics or answers of cells that an earlier release
    generalised."""
    if product.of_records is None:
        return
    used = product.of_records.columns_used
    names = [one.name for one in generalised if one.name in used]
    if names:
        made = "statistics" if product.statistics else "answers"
        made = "synthetic rows" if product.synthetic or product.generator else made
        message = f"An earlier release generalised {join_names(names)}: {made} are of values."
        places = [product.of_records.places.get(name) for name in names]
        problem = Problem("M015", message, "", places[0] or policy.place)
        raise PlanError(problem, source=policy.source)


def _check_engine(policy: Policy, product: Product, engine: EngineName) -> None:
    """Raise PlanError (M009) with every method and option that the engine lacks."""
    transformation, problems = product.transformation, []
    methods = {one.method.notation for one in product.disclosures}
    is_attacked = product.training or product.audits or product.generator
    methods |= {MembershipInference.notation} if is_attacked else set()
    if product.of_records is not None:
        place = product.of_records.action.place
        for kind, term in _methods_of_records(product):
            if engine not in term.texts("engine"):
                message = f"The {engine} engine has no {kind} {term.facts['notation']!r}."
                problems.append(Problem("M009", message, f"Instead, {_elsewhere(term)}", place))
    if transformation is not None:
        anonymization = transformation.anonymization
        places = {name: part.place for name, part in parameters_of(transformation.action).items()}
        lacking = [
            *_lacking_methods(anonymization, engine),
            *_lacking_options(anonymization.recoding, engine),
        ]
        lacking += _lacking_maskings(transformation.maskings, engine)
        problems += [
            Problem(one.code, one.message, hint, places[one.parameter]) for one, hint in lacking
        ]
    for notation, term in terms.audit_methods().items():
        if notation in methods and engine not in term.texts("engine"):
            message = f"The {engine} engine has no method {notation!r}."
            message += f" {_REASONS[notation]}" if notation in _REASONS else ""
            problems.append(Problem("M009", message, f"Instead, {_elsewhere(term)}", policy.place))
    if problems:
        raise PlanError(*sorted(problems, key=place_order), source=policy.source)


def _methods_of_records(product: Product) -> Iterator[tuple[str, terms.Term]]:
    """Yield the method of what is released in the place of rows, and its randomisers."""
    if product.statistics is not None:
        yield "method", terms.methods()[DifferentialPrivacy.notation]
    if product.randomised is not None:
        yield "method", terms.methods()[LocalDifferentialPrivacy.notation]
        for one in product.randomised.randomisation.columns:
            yield "randomiser", terms.randomisers()[one.randomiser]
    if product.synthetic is not None:
        yield "method", terms.methods()[SyntheticData.notation]


_REASONS = {
    "bucketization": "Buckets take all rows in one order: that of their sensitive values, or of "
    "their quasi-identifiers.",
    "record-linkage": "Which released row is whose is known where one process has all of them.",
    "attribute-inference": "Which released row is whose is known where one process has all of "
    "them.",
    "population-risk": "Rows are compared with a population where one process has all of them.",
}
"""Why an engine lacks an option or a method."""


_Lacking = Iterator[tuple[Finding, str]]
"""What an engine lacks, each with a hint at what is possible instead."""


def _lacking_methods(anonymization: Anonymization, engine: EngineName) -> _Lacking:
    methods = terms.methods()
    supported = [name for name, term in methods.items() if engine in term.texts("engine")]
    for name in anonymization.methods:
        if name not in supported:
            message = f"The {engine} engine has no method {name!r}. "
            message += f"It has {join_names(supported) if supported else 'none'}."
            hint = f"Ask for another method, or {_elsewhere(methods[name])}"
            yield Finding("M009", "method", message), hint


def _lacking_maskings(maskings: Sequence[ColumnMasking], engine: EngineName) -> _Lacking:
    for one in maskings:
        term = terms.maskings()[one.masking]
        if engine not in term.texts("engine"):
            message = f"The {engine} engine has no masking {one.masking!r}."
            hint = f"Ask for another masking, or {_elsewhere(term)}"
            yield Finding("M009", MASKED, message), hint


def _lacking_options(recoding: RecodingOptions, engine: EngineName) -> _Lacking:
    options = recoding.options()
    for name, field in option_fields().items():
        term, default = terms.vocabulary()[f"{terms.PE}{name}"], field.default
        value, engines = options[name], _engines(term, options[name])
        if engine not in engines and value != default:
            own = format_value(default)
            all_own = join_names(ON_CLUSTERS) if name == "algorithm" else own
            message = f"The {engine} engine has no {name} {format_value(value)}. It has {all_own}."
            message += f" {_REASONS[value]}" if value in _REASONS else ""
            # An option of full-domain cannot even be given its default beside mondrian (M003).
            fix = (
                f"Leave {name} out"
                if any(option_conflicts({name: default}))
                else f"Give {name} {own}"
            )
            yield Finding("M009", name, message), f"{fix}, or {_engine_hint(engines)}"


def _engines(option: terms.Term, value: object) -> tuple[str, ...]:
    """Return the engines that have an option as it is given."""
    is_for_one = value in get_args(Algorithm) and value not in ON_CLUSTERS
    return ("local",) if is_for_one else tuple(option.texts("engine"))


def _elsewhere(term: terms.Term) -> str:
    return _engine_hint(term.texts("engine"))


def _engine_hint(engines: Sequence[str]) -> str:
    return f"run it on the {' or '.join(engines)} engine."
