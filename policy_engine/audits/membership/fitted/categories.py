"""Categories as boosters number them: the numbers are in their trees, the names beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.audits.membership.records import plain_number
from policy_engine.engines.reading_back import index_texts
from policy_engine.errors import AuditError

Categories = Mapping[int, Sequence[Any]]
"""The categories that a booster was fitted on, in the order of their numbers, by feature."""


def lightgbm_categories(booster: Any) -> Categories:
    """Return the categories of a Booster of LightGBM that was fitted on a frame.

    Raises AuditError (A014) where it does not say which features they belong to.
    """
    categories = booster.pandas_categorical or []
    features = booster.params.get("categorical_feature") or booster.params.get("categorical_column")
    places = [one for one in features or () if isinstance(one, int)]
    if len(places) != len(categories) and categories:
        message = (
            f"The model has categories of {len(categories):,} features, but does not name them."
        )
        hint = "Fit it on the numbers of the categories, or put what encodes them into the model."
        raise AuditError.of("A014", message, hint)
    return dict(zip(sorted(places), categories, strict=True)) if categories else {}


def xgboost_categories(booster: Any, block: Block) -> Categories:
    """Return the categories of a Booster of XGBoost; arrays already hold their numbers.

    Raises AuditError (A014) where a table is given and the model does not keep them.
    """
    kinds = booster.feature_types or ()
    if "c" not in kinds or isinstance(block, np.ndarray):
        return {}
    get_categories = getattr(booster, "get_categories", None)
    stored = (
        get_categories(export_to_arrow=True).to_arrow()
        if get_categories is not None
        else [("", None)] * len(kinds)
    )
    categories = {place: values.to_pylist() for place, (_, values) in enumerate(stored) if values}
    if any(kind == "c" and place not in categories for place, kind in enumerate(kinds)):
        message = "The model takes categories by their numbers, and does not keep their names."
        hint = "Save it with XGBoost 3.1 or later, or give these numbers as arrays, in an npz file."
        raise AuditError.of("A014", message, hint)
    return categories


def number_categories(block: pa.Table, categories: Categories) -> pa.Table:
    """Return a table with the numbers of its categories in their place; nan of unknown ones.

    Raises AuditError (A003) where no value of a column is a category that the model knows.
    """
    for place, labels in categories.items():
        codes = codes_of(block, place, labels)
        values = pa.array(np.where(codes < 0, np.nan, codes))
        block = block.set_column(place, block.column_names[place], values)
    return block


def codes_of(block: pa.Table, place: int, labels: Sequence[Any]) -> NDArray[np.int64]:
    """Return the numbers (n,) of a column's categories, -1 of missing and of unknown ones.

    Raises AuditError (A003) where there are values, and none is known.
    """
    name, column = block.column_names[place], block.column(place)
    rows, texts = index_texts(name, column)
    numbers = {_text(one): number for number, one in enumerate(labels)}
    codes = [-1 if one is None else numbers.get(_key(one, column.type), -1) for one in texts]
    if max(codes) < 0 and any(one is not None for one in texts):
        message = f"No value of the column {name!r} is a category that the model was fitted on."
        hint = "Give the column as the model was fitted on."
        raise AuditError.of("A003", message, hint)
    return np.array(codes, dtype=np.int64)[rows]


def _text(value: Any) -> str:
    return plain_number(str(value))


def _key(text: str, kind: pa.DataType) -> str:
    return text.capitalize() if pa.types.is_boolean(kind) else plain_number(text)
