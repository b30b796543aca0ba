"""Frames of one key, put together on a cluster."""

import operator
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, types
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.engines.joining import BLANK, check_repeated, no_key, no_partner
from policy_engine.engines.spark.values import quoted
from policy_engine.plan.inputs import Join
from policy_engine.plan.joins import Joined

KEY = "__policy_engine_key"
_COUNT = "__policy_engine_count"


def join_frames(frames: Sequence[DataFrame], step: Join) -> tuple[DataFrame, tuple[int, ...]]:
    """Return the rows that have a partner in every frame, and how many rows each frame had.

    As `join_tables` does, and its errors. Rows and keys are counted in one pass.
    """
    keyed = [_keyed(frame, one) for frame, one in zip(frames, step.inputs, strict=True)]
    names = [f"{_COUNT}{place}" for place in range(len(keyed))]
    counts = [
        frame.groupBy(KEY).agg(F.count("*").alias(name))
        for frame, name in zip(keyed, names, strict=True)
    ]
    every = reduce(lambda some, other: some.join(other, KEY, "full"), counts)
    # A key that is missing equals none: what has none stands in the counts of one frame alone.
    is_shared = reduce(operator.and_, (F.col(name).isNotNull() for name in names))
    repeated = [F.count_if(is_shared & (F.col(name) > 1)) for name in names]
    found = every.agg(F.count_if(is_shared), *map(F.sum, names), *repeated).head()
    assert found is not None  # noqa: S101 (an aggregate has one row)
    shared, *told = (int(one or 0) for one in found)
    if not shared:
        raise no_partner(step)
    check_repeated(told[len(names) :], step)
    whole = reduce(lambda some, other: some.join(other, KEY), keyed)
    return whole.drop(KEY), tuple(told[: len(names)])


def _keyed(frame: DataFrame, one: Joined) -> DataFrame:
    """Return the columns of a frame that are used, with the key as text."""
    kind = frame.schema[one.on].dataType
    if not isinstance(kind, types.StringType | types.IntegralType):
        raise no_key(one, kind.simpleString())
    text = F.col(quoted(one.on)).cast("string")
    key = F.when(~text.rlike(BLANK), text).alias(KEY)
    return frame.select(key, *map(quoted, one.columns))
