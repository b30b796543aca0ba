"""How probable a model makes a record: those that it was trained on, more than others.

White-box attacks: whoever has the model has what it says of any record, without drawing samples.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.asking import checked, shaped
from policy_engine.audits.generative.attacks.calibrated import calibrated
from policy_engine.audits.generative.drawing import is_released
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.models.own_code import own_array, own_code
from policy_engine.audits.generative.models.protocols import Densities
from policy_engine.audits.generative.spaces.choosing import spaces_of
from policy_engine.engines.arrays import from_numpy, from_texts
from policy_engine.engines.tables import infer_types
from policy_engine.kernels.estimates import NotApplicable

Floats = NDArray[np.float64]

_NO_DENSITY = NotApplicable(reason="The model does not tell how probable records are.")
_NO_REFERENCE = NotApplicable(reason="There are no reference records.")
_NONE_MADE = NotApplicable(
    reason="The model makes up none of the records: it was trained on others, or they are coded "
    "in another way."
)
_MOST = 700.0
"""The logarithm of the greatest error that is told apart: a float holds none much greater."""


def model_density(material: Material) -> Floats | NotApplicable:
    """Return the logarithm of the density that the model gives to each audited record, (n,).

    What it never makes up has the least; the attack is not made where that is all of them. Raises
    AuditError (A032) for densities of no use.
    """
    if not isinstance(material.model, Densities):
        return _NO_DENSITY
    densities = _densities(material, material.audited)
    if _are_none(densities):
        return _NONE_MADE
    return np.maximum(densities, _least(densities))


def calibrated_model_density(material: Material) -> Floats | NotApplicable:
    """Return by how much the logarithm of a record's density is more than it should be, (n,).

    What it should be is fitted on references, see `calibrated`: records that are rare for every
    model are told from those that it has not seen. Raises AuditError (A032) for densities of no
    use.
    """
    if not isinstance(material.model, Densities):
        return _NO_DENSITY
    fitting = material.fitting
    if fitting is None:
        return _NO_REFERENCE
    audited, reference = (_densities(material, one) for one in (material.audited, fitting))
    if _are_none(audited):
        return _NONE_MADE
    least = _least(np.concatenate([audited, reference]))
    errors, of_references = (_as_errors(one, least) for one in (audited, reference))
    return calibrated(material, spaces_of(material)[0], errors, of_references)


def _as_errors(densities: Floats, least: float) -> Floats:
    """Return what is greater the less probable a record is, its logarithm that of the density."""
    errors: Floats = np.exp(np.clip(-np.maximum(densities, least), -_MOST, _MOST))
    return errors


def _least(densities: Floats) -> float:
    """Return what stands for no probability at all: less than of every other record."""
    finite = densities[np.isfinite(densities)]
    return float(finite.min()) - 1 if len(finite) else 0.0


def _densities(material: Material, records: RecordSet) -> Floats:
    """Return what the model says of records, (n,), minus infinity where it never makes them up.

    Unless it was asked already: of tables by a table of their own cells.
    """
    return _answer(material, records) if records.densities is None else records.densities


def _are_none(densities: Floats) -> bool:
    """Return whether a model makes up none of the audited records: it was trained on others, or
    they are coded in another way, and no score tells anything."""
    return bool(len(densities)) and bool(np.isneginf(densities).all())


def _answer(material: Material, records: RecordSet) -> Floats:
    x: Any = _as_table(material, records) if material.is_table else shaped(material, records.values)
    hint = "It has a method log_density(x, *, label=None), which returns one number a record."
    with own_code("A032", "The model", "as it tells densities", hint):
        answer = material.model.log_density(x, label=records.labels)
    answer = own_array(answer, "The model")
    if answer.dtype.kind != "f":
        return checked(answer, (len(records),), "densities")
    is_none = np.isneginf(answer)
    finite = checked(np.where(is_none, 0, answer), (len(records),), "densities")
    return np.where(is_none, -np.inf, finite)


def _as_table(material: Material, records: RecordSet) -> pa.Table:
    """Return the cells of records as they are in their file: what an audit compares are numbers of
    its own. Only the product's own read the texts of CSV files themselves, and know the label's
    column."""
    if records.cells is None:
        return _coded_table(material, records)
    if is_released(material.model):
        return records.cells
    return infer_types(records.cells.select([one.name for one in material.columns]))


def _coded_table(material: Material, records: RecordSet) -> pa.Table:
    columns = {}
    for one, values in zip(material.columns, records.values.T, strict=True):
        is_missing = np.isnan(values) if one.is_number else values < 0
        if one.is_number:
            columns[one.name] = from_numpy(values.astype(np.float64), is_missing)
            continue
        codes = from_numpy(np.maximum(values, 0).astype(np.int32), is_missing)
        texts = from_texts(one.texts or ("",))
        columns[one.name] = pa.DictionaryArray.from_arrays(codes, texts).cast(pa.string())
    return pa.table(columns)
