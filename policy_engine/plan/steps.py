"""The steps of a plan: what each does, and what a plan may ask of any of them."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from policy_engine.data.catalog import missing_matrix
from policy_engine.data.transition_matrix import TransitionMatrix
from policy_engine.errors import DataError
from policy_engine.methods import Bound
from policy_engine.methods.masking import (
    CellMasking,
    ColumnMasking,
    ImageMasking,
    is_known,
    masking_class,
)
from policy_engine.methods.maskings.recoding import Recoding
from policy_engine.methods.perturbation import Perturbation, groups_of
from policy_engine.methods.sampling import Sampling
from policy_engine.plan.aggregates.model import Aggregation
from policy_engine.plan.anonymization import Anonymization, Transformation
from policy_engine.plan.disclosure import Disclosure, Population
from policy_engine.plan.randomisation import Randomisation
from policy_engine.plan.secret_audits import SecretAudit
from policy_engine.plan.synthesis import Synthesis, TrainedGenerator
from policy_engine.plan.synthetic_audits import SyntheticAudit
from policy_engine.plan.training import Audit, Training

CellStyle = Literal["text", "bounds"]
Phase = Literal[
    "read",
    "join",
    "drop",
    "rows",
    "columns",
    "table",
    "statistics",
    "records",
    "synthetic",
    "generator",
    "generative",
    "model",
    "audit",
    "disclosure",
    "publish",
]
"""The part of a plan a step belongs to: `rows` are chosen before steps on `columns`, and those come
before the one on the `table`; `statistics` are released in the place of rows, and so are `records`
that were randomised, `synthetic` rows that were made up, and the `generator` of some, which
`generative` steps attack."""


class Step:
    """What a plan asks of every kind of step, so that it need not tell the kinds apart.

    A new kind sets its `phase` and overrides those of the following that concern it; the existing
    kinds do not change. An engine carries it out.
    """

    phase: ClassVar[Phase]

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that are released as this step makes or keeps them."""
        return ()

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns whose values it depends on."""
        return ()

    def bounds(self) -> tuple[Bound, ...]:
        """Return the bounds that are measured on the output because of it."""
        return ()

    def public(self) -> Self:
        """Return it without what only the data tell, as the certificate contains it."""
        return self

    def policy_part(self) -> Self:
        """Return it without what no policy determines: the order and format of the data."""
        return self


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Sample(Sampling, Step):
    """Keep a sample of the rows.

    This comes before columns are masked and classes are formed, which hold of what is released.
    With a `unit`, the column that tells persons apart, they are sampled, each with all rows.
    """

    phase: ClassVar[Phase] = "rows"

    step: Literal["sample"] = "sample"
    unit: str = ""

    @property
    def released(self) -> tuple[str, ...]:
        """The column of weights, if there is one."""
        return (self.weight_column,) if self.weight_column else ()

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns that it is stratified by, and the unit of privacy."""
        return (*self.stratified_by, *filter(None, [self.unit]))

    @property
    def units(self) -> str:
        """What is sampled, in a word."""
        return "persons" if self.unit else "rows"

    def policy_part(self) -> Self:
        """Return it with the columns that it is stratified by in one order."""
        return self.model_copy(update={"stratified_by": tuple(sorted(self.stratified_by))})


class Mask(_Frozen, Step):
    """Mask some columns, each by its masking.

    This comes before classes are formed: the order of rows follows from released values only.
    """

    phase: ClassVar[Phase] = "columns"

    step: Literal["mask"] = "mask"
    columns: tuple[SerializeAsAny[ColumnMasking], ...] = Field(min_length=1)

    @field_validator("columns", mode="before")
    @classmethod
    def _parse_maskings(cls, values: Any) -> Any:
        if isinstance(values, list | tuple):
            return tuple(_masking(one) if isinstance(one, dict) else one for one in values)
        return values

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.columns)

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that it masks."""
        return self.names

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns that it masks, and those that they are masked given."""
        return tuple(dict.fromkeys(name for one in self.columns for name in one.reads))

    @property
    def cell_maskings(self) -> tuple[CellMasking, ...]:
        """The maskings that are functions of the single number."""
        return tuple(one for one in self.columns if isinstance(one, CellMasking))

    @property
    def image_maskings(self) -> tuple[ImageMasking, ...]:
        """The maskings that are functions of the single image."""
        return tuple(one for one in self.columns if isinstance(one, ImageMasking))

    def with_matrices(self, matrices: Mapping[str, TransitionMatrix]) -> Self:
        """Return it with the matrices of transitions that its maskings name.

        Raises DataError (C012) with all that are not given.
        """
        missing = [name for one in self.columns for name in one.matrices if name not in matrices]
        if missing:
            raise DataError(*map(missing_matrix, dict.fromkeys(missing)))
        return self.model_copy(
            update={"columns": tuple(one.bound_to(matrices) for one in self.columns)}
        )

    @property
    def recodings(self) -> tuple[Recoding, ...]:
        """The maskings by the labels of a taxonomy."""
        return tuple(one for one in self.columns if isinstance(one, Recoding))

    @property
    def labelled(self) -> tuple[str, ...]:
        """The columns in which texts may stand for values of any type."""
        return tuple(one.name for one in self.columns if one.makes_labels)

    def single_values(self) -> "Mask":
        """Return the step with those columns alone in which equal values become equal cells,
        whatever other rows there are."""
        public = tuple(
            one for one in self.columns if one.is_public and not isinstance(one, ImageMasking)
        )
        return self.model_copy(update={"columns": public})

    @property
    def needs_input(self) -> bool:
        """Whether the output alone does not show that the maskings hold."""
        return not all(one.is_public for one in self.columns)

    @property
    def groups(self) -> tuple[tuple[Perturbation, ...], ...]:
        """The perturbations, in one tuple those that are made together."""
        return groups_of(self.columns)

    def bounds(self) -> tuple[Bound, ...]:
        """Return one bound for each column: no cell breaks the masking."""
        return tuple(one.bound for one in self.columns)


def _masking(facts: Mapping[str, Any]) -> ColumnMasking:
    notation = facts.get("masking")
    if not is_known(notation):
        raise ValueError("a masking is given by its notation")
    return masking_class(str(notation))(**facts)


class Anonymize(Anonymization, Step):
    """Generalise the quasi-identifiers until every bound holds in every class.

    `taxonomies` has the digest of each taxonomy by its name, also of those that columns are masked
    by, and of matrices of transitions, once the plan is bound to data.
    """

    phase: ClassVar[Phase] = "table"

    step: Literal["anonymize"] = "anonymize"
    taxonomies: Mapping[str, str] = Field(default_factory=dict)

    @property
    def released(self) -> tuple[str, ...]:
        """The columns with a role, without the identifiers that are dropped."""
        return self.columns.released

    @property
    def values_read(self) -> tuple[str, ...]:
        """The quasi-identifiers, the sensitive columns, the unit of privacy, and the label and the
        predictions by which classes are cut."""
        columns, guide = self.columns, self.recoding.guide
        others = (columns.privacy_unit, *((guide.label, guide.column) if guide else ()))
        names = (*columns.quasi_names, *columns.sensitive_names, *filter(None, others))
        return tuple(dict.fromkeys(names))

    def public(self) -> Self:
        """Return it without the digests of the taxonomies, which are not released."""
        return self.model_copy(update={"taxonomies": {}})


class AggregateStep(Aggregation, Step):
    """Release statistics under differential privacy, and no row of the input."""

    phase: ClassVar[Phase] = "statistics"

    step: Literal["aggregate"] = "aggregate"

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that are grouped by, and one for each aggregate."""
        return self.output_columns

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns that are grouped by and aggregated, and the unit of privacy."""
        return self.columns_used

    @property
    def digest(self) -> str:
        """The sha-256 of the step's JSON: everything that decides what is drawn, but the data."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def bounds(self) -> tuple[Bound, ...]:
        """Return epsilon and delta, which hold by the noise alone."""
        return self.budget_bounds()

    def policy_part(self) -> Self:
        """Return it without the digest of a file of keys."""
        return self.model_copy(update={"key_table_digest": ""})


class Randomise(Randomisation, Step):
    """Release an answer for each record, drawn by public probabilities, in an order that tells
    nothing, and no value of the input."""

    phase: ClassVar[Phase] = "records"

    step: Literal["randomise"] = "randomise"

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that are randomised."""
        return self.names

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns that are randomised, and that of persons."""
        return self.columns_used

    def bounds(self) -> tuple[Bound, ...]:
        """Return epsilon, which holds by the draws alone, and a bound for each column: no cell is
        one that could not have been drawn."""
        return (*self.budget_bounds(), *self.cell_bounds())


class Synthesise(Synthesis, Step):
    """Release rows that a generator makes up, and no row of the input.

    What is measured is that no cell lies outside of what its column has in the input; nothing is
    promised of what rows show of those that the generator learnt from.
    """

    phase: ClassVar[Phase] = "synthetic"

    step: Literal["synthesise"] = "synthesise"

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that are made up."""
        return self.columns

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns that are made up, and that of persons."""
        return self.columns_used

    def bounds(self) -> tuple[Bound, ...]:
        """Return a bound for each column: no cell lies outside of what the input has."""
        return self.cell_bounds()


class TrainGenerator(TrainedGenerator, Step):
    """Release a generator that has learnt a share of the rows.

    What is measured, on rows drawn from it as it was written, is that no cell lies outside of what
    its column has in the input; what it shows of the rows that it learnt is for attacks to bound.
    """

    phase: ClassVar[Phase] = "generator"

    step: Literal["train-generator"] = "train-generator"

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that it makes up."""
        return self.columns

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns that it learns, and that of persons."""
        return self.columns_used

    def bounds(self) -> tuple[Bound, ...]:
        """Return a bound for each column: no cell lies outside of what the input has."""
        return self.cell_bounds()


class SyntheticAuditStep(SyntheticAudit, Step):
    """Attack made-up rows, or the generator of some, as they were written, and check the results
    against the bounds."""

    phase: ClassVar[Phase] = "generative"

    step: Literal["synthetic-audit"] = "synthetic-audit"

    def policy_part(self) -> Self:
        """Return it with bounds and attacks in one order."""
        return self.model_copy(update={"method": self.method.sorted_copy()})


class Publish(_Frozen, Step):
    """Write the columns as the output, measure every bound on it, and only then publish.

    Where a model is trained, it is the output, and the columns are what its table was made of.
    With `cells` as bounds, a range is written as two columns of numbers, its low and high end.
    """

    phase: ClassVar[Phase] = "publish"

    step: Literal["publish"] = "publish"
    asset: str
    columns: tuple[str, ...]
    cells: CellStyle = "text"

    def policy_part(self) -> Self:
        """Return it with its columns sorted and its cells as text."""
        return self.model_copy(update={"columns": tuple(sorted(self.columns)), "cells": "text"})


class Train(Training, Step):
    """Train a model on what the steps before made of a share of the records."""

    phase: ClassVar[Phase] = "model"

    step: Literal["train"] = "train"

    @property
    def values_read(self) -> tuple[str, ...]:
        """The label and the features."""
        return (self.label, *self.features)


class AuditStep(Audit, Step):
    """Attack the model, or one trained on the table, and check the results against the bounds."""

    phase: ClassVar[Phase] = "audit"

    step: Literal["audit"] = "audit"

    @property
    def values_read(self) -> tuple[str, ...]:
        """The label and the features of the model that is attacked."""
        return (self.modelling.label, *self.modelling.features)


class SecretAuditStep(SecretAudit, Step):
    """Attack what the released model gives away about columns, and check that against the bound."""

    phase: ClassVar[Phase] = "audit"

    step: Literal["secret-audit"] = "secret-audit"

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns that are secret."""
        return self.method.learned

    def policy_part(self) -> Self:
        """Return it with its columns in one order."""
        return self.model_copy(update={"method": self.method.sorted_copy()})


class DisclosureStep(Disclosure, Step):
    """Attack the table as it was written, or tell its risk, and check that against the bounds.

    `population` is where the one lies that the method counts, once the plan is bound to data.
    """

    phase: ClassVar[Phase] = "disclosure"

    step: Literal["disclosure"] = "disclosure"
    population: Population | None = None

    @model_serializer(mode="wrap")
    def _omit_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit the place of a population where there is none."""
        values: dict[str, Any] = serialize(self)
        return {name: one for name, one in values.items() if name != "population" or one}

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns that the intruder knows, or is to learn."""
        return self.method.compared

    def public(self) -> Self:
        """Return it without the place of the population."""
        return self.model_copy(update={"population": None})

    def policy_part(self) -> Self:
        """Return it with columns, bounds and attacks in one order, and without a place."""
        changes = {"method": self.method.sorted_copy(), "population": None}
        return self.model_copy(update=changes)


Making = Sample | Mask | Anonymize


def steps_of(transformation: Transformation, digests: Mapping[str, str]) -> list[Making]:
    """Return the steps that make the table of an output: each method names the step it needs.

    `digests` are those of the taxonomies, by name.
    """
    steps = [transformation.sampling.kind] if transformation.sampling else []
    steps += [one.step for one in transformation.maskings]
    steps += [one.step for one in transformation.anonymization.methods.values()]
    return [_MAKERS[kind](transformation, digests) for kind in dict.fromkeys(steps)]


def _sample(transformation: Transformation, _: Mapping[str, str]) -> Sample:
    assert transformation.sampling is not None  # noqa: S101 (it names this step)
    unit = transformation.anonymization.columns.privacy_unit
    return Sample(**dict(transformation.sampling), unit=unit)


def _mask(transformation: Transformation, _: Mapping[str, str]) -> Mask:
    return Mask(columns=transformation.maskings)


def _anonymize(transformation: Transformation, digests: Mapping[str, str]) -> Anonymize:
    anonymization = transformation.anonymization
    columns = anonymization.columns
    if not anonymization.models:  # persons are sampled, and no class counts them
        columns = columns.model_copy(update={"privacy_unit": ""})
    return Anonymize(
        columns=columns,
        methods=anonymization.methods,
        recoding=anonymization.recoding,
        taxonomies=digests,
    )


_MAKERS: Mapping[str, Callable[[Transformation, Mapping[str, str]], Making]] = {
    "sample": _sample,
    "mask": _mask,
    "anonymize": _anonymize,
}
