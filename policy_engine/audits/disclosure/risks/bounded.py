"""The figures of the risk of a release that a policy bounds, and no others."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.risks.classes import KnownClasses
from policy_engine.audits.disclosure.risks.file_level import (
    CountedPopulation,
    Share,
    estimated_uniques,
    journalist_risks,
    prosecutor_risks,
    sample_uniques,
)
from policy_engine.audits.disclosure.risks.measuring import (
    THRESHOLD,
    RiskInputs,
    class_columns,
    counted_population,
    known_classes,
)
from policy_engine.audits.disclosure.risks.reading import (
    population_columns,
    population_problems,
    read_weights,
)
from policy_engine.audits.disclosure.risks.result import NoRisk, Risk
from policy_engine.engines.engine import Engine
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.disclosure import RISKS, Figure, RiskBound, RiskMeasurement
from policy_engine.plan.inputs import Read
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import DisclosureStep


@dataclass(frozen=True)
class RiskTables:
    """What is known of the released rows `before`, in their order, and the release `after`."""

    files: TwoFiles
    before: pa.Table
    after: pa.Table


def bounded_risks(
    step: DisclosureStep, method: PopulationRisk, plan: Plan, tables: RiskTables, engine: Engine
) -> Iterator[RiskMeasurement]:
    """Yield what is measured for every bound of a step on the risk of a release.

    Raises DataError (A024) where the population does not contain the release, or has cells that
    cannot be read.
    """
    files = tables.files
    chosen, reasons = class_columns(files)
    why = "; ".join(f"{one['column']} is {one['reason']}" for one in reasons)
    figures: dict[str, Figure | NotApplicable] = {}
    if chosen and not why:
        inputs = _inputs(step, method, plan, tables, engine)
        figures = _figures(method, known_classes(chosen, inputs), inputs)
    for bound in method.bounds:
        name = RISKS[bound.measure][bool(method.population)]
        reached = figures.get(name, NotApplicable(reason=why or "it was not measured"))
        yield _measurement(method, bound, files, reached)


def _inputs(
    step: DisclosureStep, method: PopulationRisk, plan: Plan, tables: RiskTables, engine: Engine
) -> RiskInputs:
    """Return what a risk is measured by: a population that is read, and the share of a sample."""
    population: tuple[KnownColumn, ...] = ()
    if step.population is not None:
        place, names = step.population, tables.files.names
        everybody, _ = engine.read(Read(asset=method.population, **dict(place), columns=names))
        problems = [*population_problems(tables.before, everybody, names)]
        if problems:
            raise DataError(*problems, source=place.location)
        both = (tables.before, everybody, tables.after, names)
        population = population_columns(*both, plan, engine.taxonomies)
    weights = plan.sample.weight_column if plan.sample else ""
    return RiskInputs(
        population=population,
        weights=read_weights(tables.after, weights) if weights else None,
        share=plan.sample.share if plan.sample else None,
        suppresses=plan.require_anonymize().recoding.has_overlapping_classes,
    )


def _measurement(
    method: PopulationRisk, bound: RiskBound, files: TwoFiles, reached: Figure | NotApplicable
) -> RiskMeasurement:
    return RiskMeasurement(
        bound=bound,
        known=files.names,
        population=method.population,
        records=files.released,
        reached=reached,
    )


def _figures(
    method: PopulationRisk, classes: KnownClasses, inputs: RiskInputs
) -> dict[str, Figure | NotApplicable]:
    """Return the figures, or why there are none, by their names in an audit."""
    if method.population:
        counted = counted_population(classes, inputs.population, None)
        return _journalist(classes, counted)
    measured = [sample_uniques(classes), *prosecutor_risks(classes, THRESHOLD)]
    figures: dict[str, Figure | NotApplicable] = {
        one.measure: _figure(one) for one in measured if isinstance(one, Risk) and one.is_share
    }
    if any(one.measure == "populationUniques" for one in method.bounds):
        figures["population-uniques"] = _estimated(classes, inputs)
    return figures


def _journalist(
    classes: KnownClasses, counted: CountedPopulation | NotApplicable
) -> dict[str, Figure | NotApplicable]:
    if isinstance(counted, NotApplicable):
        return {name: counted for _, name in RISKS.values()}
    measured = [*journalist_risks(classes, THRESHOLD, counted)]
    figures: dict[str, Figure | NotApplicable] = {
        one.measure: _figure(one) for one in measured if isinstance(one, Risk) and one.is_share
    }
    for one in measured:
        if isinstance(one, NoRisk):
            figures |= {f"{one.measure}-largest": NotApplicable(reason=one.reason)}
    return figures


def _estimated(classes: KnownClasses, inputs: RiskInputs) -> Figure | NotApplicable:
    """Return the estimate of the unique persons of the population, or why it is not valid."""
    if classes.is_overlapping:
        return NotApplicable(reason="suppressed cells may be any value")
    if inputs.weights is not None:
        share = Share.of_weights(classes, inputs.weights)
    elif inputs.share is not None:
        share = Share.of_sample(classes, inputs.share)
    else:
        return NotApplicable(reason="it is not known which share of the population was released")
    return _figure(estimated_uniques(classes, share))


def _figure(one: Risk | NoRisk) -> Figure | NotApplicable:
    return Figure(value=one.value) if isinstance(one, Risk) else NotApplicable(reason=one.reason)
