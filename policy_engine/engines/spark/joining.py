"""Frames of one key, put together on a cluster."""

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, types
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.engines.joining import check_repeated, no_key, no_partner
from policy_engine.engines.spark.values import quoted
from policy_engine.inputs import Join
from policy_engine.joins import Joined

KEY = "__policy_engine_key"
_COUNT = "__policy_engine_count"


def join_frames(frames: Sequence[DataFrame], step: Join) -> DataFrame:
    """Return the rows that have a partner in every frame; as `join_tables` does, and its errors."""
    keyed = [_keyed(frame, one) for frame, one in zip(frames, step.inputs, strict=True)]
    counts = [
        frame.groupBy(KEY).agg(F.count("*").alias(f"{_COUNT}{place}"))
        for place, frame in enumerate(keyed)
    ]
    repeated = [F.count_if(F.col(f"{_COUNT}{place}") > 1) for place in range(len(counts))]
    found = _joined(counts).agg(F.count("*"), *repeated).head()
    assert found is not None  # noqa: S101 (an aggregate has one row)
    shared, *several = tuple(found)
    if not shared:
        raise no_partner(step)
    check_repeated(several, step)
    return _joined(keyed).drop(KEY)


def _keyed(frame: DataFrame, one: Joined) -> DataFrame:
    """Return the columns of a frame that are used, with the key as text, where there is one."""
    kind = frame.schema[one.on].dataType
    if not isinstance(kind, types.StringType | types.IntegralType):
        raise no_key(one, kind.simpleString())
    key = F.col(quoted(one.on)).cast("string").alias(KEY)
    return frame.select(key, *map(quoted, one.columns)).where(F.col(KEY).isNotNull())


def _joined(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda some, other: some.join(other, KEY), frames)
