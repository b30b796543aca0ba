"""Models that are fitted for an audit: each on a random half of members and holdout together."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from policy_engine.audits.generative.drawing import as_table, makes_tables
from policy_engine.audits.generative.material import Ints, RecordSet
from policy_engine.audits.generative.models.own_code import own_array, own_code
from policy_engine.audits.generative.models.protocols import Fits
from policy_engine.audits.generative.reading import (
    GivenRecords,
    ReadMaterial,
    are_arrays,
    read_material,
    without_unit,
)
from policy_engine.audits.generative.released_digests import records_digest
from policy_engine.audits.generative.runs import (
    GeneratorRun,
    derived_seed,
    first_drawn,
    given_run,
    run_seed,
)
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.audits.membership.records import digest_of, source_table
from policy_engine.engines.arrays import from_numpy, is_text, value_type
from policy_engine.engines.persons import person_numbers
from policy_engine.engines.tables import infer_types
from policy_engine.errors import AuditError, Problem, did_you_mean
from policy_engine.kernels.components import first_numbers

_HALVES, _FITS = 81, 82
"""Streams of random numbers of their own."""
_FEWEST = 20
"""Of the pooled records: each half has 10."""


def fitted_runs(
    sides: GivenRecords, fits: Fits, models: int, settings: GenerativeSettings, seed: int
) -> Iterator[GeneratorRun]:
    """Yield so many models, each fitted on a random half of members and holdout together.

    Halves are drawn anew for each model, of persons where these are told apart, and the other half
    is its holdout. Raises AuditError
    (A014) for what a fit raises, (A031) where there are fewer than 20 records, and as `given_run`.
    """
    runs = _fitted_on_arrays if are_arrays(sides) else _fitted_on_tables
    for place in range(models):
        yield runs(sides, fits, settings, run_seed(seed, place))


def _halves(records: int, seed: int, persons: Ints | None = None) -> tuple[Ints, Ints]:
    """Return the places of the members and of the holdout, each in order."""
    owners = np.arange(records) if persons is None else first_numbers(persons)
    size, counted = int(owners.max(initial=-1)) + 1, "records" if persons is None else "persons"
    if size < _FEWEST:
        message = f"Members and holdout are {size:,} {counted} together. Needed are at least "
        raise AuditError.of("A031", f"{message}{_FEWEST}.")
    order = np.random.default_rng([seed, _HALVES]).permutation(size)
    is_member = np.zeros(size, np.bool_)
    is_member[order[: size // 2]] = True
    return np.flatnonzero(is_member[owners]), np.flatnonzero(~is_member[owners])


def _fit(fits: Fits, features: Any, labels: Ints | None, seed: int) -> Any:
    with own_code("A014", "The generator", "as it is fitted"):
        fitted = fits.fit(features, labels, derived_seed(seed, _FITS))
    return fits if fitted is None else fitted


def _fitted_on_tables(
    sides: GivenRecords, fits: Fits, settings: GenerativeSettings, seed: int
) -> GeneratorRun:
    pooled = _pooled(sides)
    members, holdout = _halves(pooled.num_rows, seed, _persons(pooled, sides.unit))
    learnt = pooled.take(from_numpy(members))
    columns = without_unit(learnt, sides.unit)
    # The product's own read the texts of CSV files themselves, and write them alike.
    features = columns if isinstance(fits, OwnGenerator) else infer_types(columns)
    fitted = _fit(fits, features, None, seed)
    halves = replace(sides, members=learnt, holdout=pooled.take(from_numpy(holdout)))
    rows = np.concatenate([members, holdout])
    if makes_tables(fitted):  # first: a frame of pandas has a method sample as well
        made = as_table(fitted, columns.column_names)
        run = given_run(replace(halves, synthetic=made), None, settings, seed)
    elif hasattr(fitted, "sample"):
        run = given_run(halves, fitted, settings, seed)
    else:
        message = "What the generator returns as it is fitted is not a model, nor a table."
        raise AuditError.of("A032", message, _FITTED_HINT)
    drawn = replace(run.read, material=replace(run.read.material, is_drawn=True))
    return replace(run, read=drawn, rows=rows)


_FITTED_HINT = "Allowed are a model with a method sample, or the records that it releases."


def _persons(table: pa.Table, unit: str) -> Ints | None:
    """Return the number of each record's person, (n,), None where no column tells them apart.

    Raises AuditError (A031) where there is no such column.
    """
    if not unit:
        return None
    if unit not in table.column_names:
        message = f"Members and holdout lack {unit!r}, the column of persons."
        raise AuditError.of("A031", message, did_you_mean(unit, table.column_names))
    return person_numbers([table.column(unit)], unit)[0]


def _pooled(sides: GivenRecords) -> pa.Table:
    members, holdout = source_table(sides.members), source_table(sides.holdout)
    lacking = {*members.column_names} ^ {*holdout.column_names}
    if lacking:
        message = f"{len(lacking)} columns are in one of members and holdout alone."
        raise AuditError.of("A031", message, "To divide them anew, both need the same columns.")
    try:
        own, other = _read_alike(members, holdout.select(members.column_names))
        return pa.concat_tables([own, other], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        message = "Members and holdout have columns of other types."
        raise AuditError(Problem("A031", message, values=(str(error),))) from error


def _read_alike(members: pa.Table, holdout: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return both with texts in each column that one side, such as a CSV file, has as texts."""
    sides = [members, holdout]
    for place, name in enumerate(members.column_names):
        kinds = [side.schema.field(name).type for side in sides]
        if kinds[0] != kinds[1] and any(is_text(value_type(kind)) for kind in kinds):
            sides = [side.set_column(place, name, side[name].cast(pa.string())) for side in sides]
    return sides[0], sides[1]


def _fitted_on_arrays(
    sides: GivenRecords, fits: Fits, settings: GenerativeSettings, seed: int
) -> GeneratorRun:
    read = read_material(sides, None, seed)
    audited, shape = read.material.audited, read.material.shape
    rows = _halves(len(audited), seed)
    members, holdout = (
        _part(audited, own, name) for own, name in zip(rows, ("members", "holdout"), strict=True)
    )
    features = members.values.reshape(-1, *shape)
    fitted = _fit(fits, features, members.labels, seed)
    digests = {
        **read.digests,
        **{one.name: _digest(one) for one in (members, holdout)},
    }
    halves = replace(read.material, members=members, holdout=holdout)
    if hasattr(fitted, "sample"):
        material = replace(halves, model=fitted)
        identity = first_drawn(fitted)
    else:
        synthetic = _released(fitted, members, shape)
        material = replace(halves, synthetic=synthetic)
        digests["synthetic"] = _digest(synthetic)
        identity = records_digest(synthetic.values, synthetic.labels)
    return GeneratorRun(
        ReadMaterial(material, digests, read.warnings), settings, identity, np.concatenate(rows)
    )


def _part(records: RecordSet, rows: Ints, name: str) -> RecordSet:
    return replace(records.taken(rows), name=name)


def _digest(records: RecordSet) -> str:
    labels = [] if records.labels is None else [records.labels]
    return digest_of(records.values, *labels)


def _released(made: Any, members: RecordSet, shape: tuple[int, ...]) -> RecordSet:
    """Return released arrays, alone or with their labels."""
    values, labels = made if isinstance(made, tuple) and len(made) == _PAIR else (made, None)
    values = own_array(values, "The generator")
    is_labelled = members.labels is not None
    if values.dtype.kind not in "biuf" or values.shape[1:] != shape or not values.size:
        message = f"The generator gives {values.dtype} of shape {values.shape} as it is fitted."
        hint = f"Allowed are a model that samples, or numbers of shape (n, *{shape})."
        raise AuditError.of("A032", message, hint)
    if not np.isfinite(values).all():
        raise AuditError.of("A032", "Some records of the generator are missing or infinite.")
    if is_labelled and (labels is None or np.shape(labels) != (len(values),)):
        message = "The generator gives records without labels, and members have labels."
        raise AuditError.of("A032", message, "Allowed are records and their labels, as a pair.")
    kind = members.values.dtype.type
    flat = values.reshape(len(values), -1).astype(kind)
    return RecordSet(
        "what the generator gives",
        flat / kind(_BYTE if values.dtype == np.uint8 and members.values.max() <= 1 else 1),
        np.asarray(labels, np.int64) if is_labelled else None,
    )


_PAIR = 2
_BYTE = 255


# -- generators of the product ---------------------------------------------------------------------


@dataclass(frozen=True)
class OwnGenerator:
    """One of the product's own generators of tables, with its settings at their defaults.

    It releases so many `rows`, or as many as it has learnt.
    """

    notation: str
    rows: int | None = None

    def fit(self, features: pa.Table, labels: Ints | None, seed: int) -> pa.Table:  # noqa: ARG002
        """Return synthetic rows of a table."""
        from policy_engine.engines.synthesising.tables import (  # noqa: PLC0415 (few need it)
            synthetic_table,
        )
        from policy_engine.methods.synthesiser import synthesiser_class  # noqa: PLC0415

        settings = synthesiser_class(self.notation)(synthesiser=self.notation)
        return synthetic_table(features, settings, self.rows or features.num_rows, seed)
