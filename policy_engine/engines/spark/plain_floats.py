"""The one form of floats on a cluster: `engines/plain_floats.py`, as expressions of Spark."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, types
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.engines.spark.values import quote_name

_FLOATS = (types.FloatType, types.DoubleType)


def plain_floats(frame: DataFrame) -> DataFrame:
    """Return a frame in which NaN, also within arrays, is missing, and -0.0 is 0.0."""
    if not any(_holds_floats(field.dataType) for field in frame.schema.fields):
        return frame
    columns = [
        _plain(F.col(quote_name(field.name)), field.dataType).alias(field.name)
        for field in frame.schema.fields
    ]
    return frame.select(columns)


def columns_of_other_floats(frame: DataFrame) -> list[str]:
    """Return the columns that hold NaN, or a zero with a sign."""
    fields = [field for field in frame.schema.fields if _holds_floats(field.dataType)]
    if not fields:
        return []
    are_there = [F.max(_is_other(F.col(quote_name(one.name)), one.dataType)) for one in fields]
    [flags] = frame.agg(*are_there).collect()
    return [one.name for one, is_there in zip(fields, flags, strict=True) if is_there]


def _holds_floats(kind: types.DataType) -> bool:
    if isinstance(kind, types.ArrayType):
        return _holds_floats(kind.elementType)
    return isinstance(kind, _FLOATS)


def _plain(values: Column, kind: types.DataType) -> Column:
    if not _holds_floats(kind):
        return values
    if isinstance(kind, types.ArrayType):
        return F.transform(values, _within(_plain, kind.elementType))
    return F.when(~F.isnan(values), values + F.lit(0).cast(kind))  # -0.0 + 0 is 0.0


def _is_other(values: Column, kind: types.DataType) -> Column:
    if isinstance(kind, types.ArrayType):
        return F.exists(values, _within(_is_other, kind.elementType))
    is_signed = (values == 0) & values.cast("string").startswith("-")
    return F.isnan(values) | is_signed


def _within(
    make: Callable[[Column, types.DataType], Column], kind: types.DataType
) -> Callable[[Column], Column]:
    return lambda values: make(values, kind)
