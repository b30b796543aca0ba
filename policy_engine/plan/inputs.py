"""What a plan reads, puts together and leaves out."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.data.catalog import Catalog, Dataset
from policy_engine.data.column_names import column_iri, missing_columns
from policy_engine.errors import DataError
from policy_engine.plan.anonymization import Transformation
from policy_engine.plan.joins import Joined
from policy_engine.plan.lineage import Generalised
from policy_engine.plan.steps import Phase, Step
from policy_engine.plan.training import Training


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Read(_Frozen, Step):
    """Read columns of an asset; the location is empty until the plan is bound to data.

    `generalised` are those whose cells an earlier release generalised.
    """

    phase: ClassVar[Phase] = "read"

    step: Literal["read"] = "read"
    asset: str
    location: str = ""
    format: str = ""
    columns: tuple[str, ...]
    generalised: tuple[Generalised, ...] = ()

    def public(self) -> Self:
        """Return it without the location of the input and what that was made from."""
        return self.model_copy(update={"location": "", "format": "", "generalised": ()})

    def policy_part(self) -> Self:
        """Return it with its columns in one order."""
        return self.model_copy(update={"columns": tuple(sorted(self.columns))})


class Join(_Frozen, Step):
    """Join several inputs on a key, into one table.

    A row without a partner in every other input, or without a key, is left out. A key occurs in
    one row of each input or, where it identifies the persons that are counted (`may_repeat`), in
    several rows of one of them.
    """

    phase: ClassVar[Phase] = "join"

    step: Literal["join"] = "join"
    inputs: Annotated[tuple[Joined, ...], Field(min_length=2)]
    may_repeat: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the joined table."""
        return tuple(name for one in self.inputs for name in one.columns)

    def policy_part(self) -> Self:
        """Return it with the columns of each input in one order."""
        return self.model_copy(
            update={"inputs": tuple(one.sorted_columns() for one in self.inputs)}
        )


class Drop(_Frozen, Step):
    """Leave columns out: identifiers, the unit of privacy, and what the policy does not mention.

    Those that a policy does not mention are named by their IRIs where several inputs are read.
    """

    phase: ClassVar[Phase] = "drop"

    step: Literal["drop"] = "drop"
    identifiers: tuple[str, ...] = ()
    unmentioned: tuple[str, ...] = ()

    def public(self) -> Self:
        """Return it without the columns of which the policy says nothing."""
        return self.model_copy(update={"unmentioned": ()})


Inputs = tuple[tuple[Read, ...], Join | None, Drop]
"""What is read, how it is put together where it is several datasets, and what is left out."""


def inputs_of(
    target: str,
    joined: Sequence[Joined],
    transformation: Transformation | None,
    training: Training | None,
    catalog: Catalog | None,
    used: tuple[str, ...] = (),
    identifiers: tuple[str, ...] = (),
) -> Inputs:
    """Return what is read, its columns in the order of the data where that is known.

    Of the `target`, or of the datasets that are `joined`. Of what is released in the place of rows,
    the columns `used` are those that are read, and `identifiers` are left out. Raises DataError
    (C005) with all columns that the data lacks, (C001) where no data is given for one.
    """
    if used:
        read, drop = _used_input(target, used, identifiers, catalog)
        return (read,), None, drop
    if not joined:
        read, drop = _single_input(target, transformation, training, catalog)
        return (read,), None, drop
    assert transformation is not None  # noqa: S101 (what is joined is anonymised)
    datasets = [(one, catalog.dataset(one.asset) if catalog else None) for one in joined]
    known_datasets = [dataset for _, dataset in datasets if dataset]
    problems = [
        problem
        for one, dataset in datasets
        if dataset
        for problem in missing_columns(_named(one), dataset)
    ]
    if problems:
        raise DataError(
            *problems, source=known_datasets[0].location if len(known_datasets) == 1 else ""
        )
    ordered = tuple(_ordered(one, dataset) for one, dataset in datasets)
    reads = tuple(
        Read(
            asset=one.asset,
            location=dataset.location if dataset else "",
            format=dataset.format if dataset else "",
            columns=one.read,
        )
        for one, (_, dataset) in zip(ordered, datasets, strict=True)
    )
    unit = transformation.anonymization.columns.privacy_unit
    counted = any(unit == one.on and unit in one.columns for one in ordered)
    return (
        reads,
        Join(inputs=ordered, may_repeat=counted),
        _dropped(ordered, transformation, known_datasets),
    )


def _used_input(
    target: str, names: tuple[str, ...], identifiers: tuple[str, ...], catalog: Catalog | None
) -> tuple[Read, Drop]:
    dataset = catalog.dataset(target) if catalog is not None else None
    unmentioned: tuple[str, ...] = ()
    if dataset:
        mentioned = tuple(dict.fromkeys((*identifiers, *names)))
        problems = list(missing_columns(mentioned, dataset))
        if problems:
            raise DataError(*problems, source=dataset.location)
        unmentioned = tuple(name for name in dataset.columns if name not in mentioned)
        names = tuple(name for name in dataset.columns if name in names)
    read = Read(
        asset=target,
        location=dataset.location if dataset else "",
        format=dataset.format if dataset else "",
        columns=names,
    )
    return read, Drop(identifiers=identifiers, unmentioned=unmentioned)


def _named(one: Joined) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one.identifiers, *one.columns, one.on)))


def _ordered(one: Joined, dataset: Dataset | None) -> Joined:
    if dataset is None:
        return one
    columns = tuple(name for name in dataset.columns if name in one.columns)
    return one.model_copy(update={"columns": columns})


def _dropped(
    joined: Sequence[Joined], transformation: Transformation, datasets: Sequence[Dataset]
) -> Drop:
    """Return what is left out of joined datasets: what they are joined on, unless it has a role."""
    released = transformation.released
    names = (
        *(name for one in joined for name in one.identifiers),
        *transformation.anonymization.columns.dropped,
    )
    keys = (one.on for one in joined if one.on not in one.columns)
    mentioned = {iri for one in joined for iri in one.named}
    iris = (column_iri(dataset.iri, name) for dataset in datasets for name in dataset.columns)
    return Drop(
        identifiers=tuple(n for n in dict.fromkeys((*names, *keys)) if n not in released),
        unmentioned=tuple(iri for iri in iris if iri not in mentioned),
    )


def _single_input(
    target: str,
    transformation: Transformation | None,
    training: Training | None,
    catalog: Catalog | None,
) -> tuple[Read, Drop]:
    dataset = catalog.dataset(target) if catalog is not None else None
    released = transformation.released if transformation else learnt_from(training)
    dropped = transformation.anonymization.columns.dropped if transformation else ()
    unreleased = transformation.anonymization.unreleased if transformation else ()
    unmentioned: tuple[str, ...] = ()
    if dataset:
        mentioned = tuple(dict.fromkeys((*dropped, *released, *unreleased)))
        problems = list(missing_columns(mentioned, dataset))
        if problems:
            raise DataError(*problems, source=dataset.location)
        unmentioned = tuple(name for name in dataset.columns if name not in mentioned)
        released = tuple(name for name in dataset.columns if name in set(released))
    read = Read(
        asset=target,
        location=dataset.location if dataset else "",
        format=dataset.format if dataset else "",
        columns=(*released, *unreleased),
    )
    return read, Drop(identifiers=dropped, unmentioned=unmentioned)


def learnt_from(training: Training | None) -> tuple[str, ...]:
    """Return the columns that a model learns from, and the one that it is to predict."""
    assert training is not None  # noqa: S101 (a plan anonymises, or trains)
    return tuple(dict.fromkeys((*training.features, training.label)))
