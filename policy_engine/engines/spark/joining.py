"""Frames joined by a key, on a cluster."""

import operator
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, types
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.engines.joining import BLANK, check_repeated, key_type_error, no_common_key_error
from policy_engine.engines.spark.values import quote_name
from policy_engine.plan.inputs import Join
from policy_engine.plan.joins import Joined

KEY = "__policy_engine_key"
_COUNT = "__policy_engine_count"


def join_frames(frames: Sequence[DataFrame], step: Join) -> tuple[DataFrame, tuple[int, ...]]:
    """Return the inner join of frames, and the number of rows of each frame.

    Like `join_tables`, with the same errors. Rows and keys are counted in one pass.
    """
    keyed_frames = [
        _add_key(frame, joined) for frame, joined in zip(frames, step.inputs, strict=True)
    ]
    names = [f"{_COUNT}{place}" for place in range(len(keyed_frames))]
    counts = [
        frame.groupBy(KEY).agg(F.count("*").alias(name))
        for frame, name in zip(keyed_frames, names, strict=True)
    ]
    every = reduce(lambda some, other: some.join(other, KEY, "full"), counts)
    # A missing key equals no key, so rows without one are in the counts of one frame only.
    is_shared = reduce(operator.and_, (F.col(name).isNotNull() for name in names))
    repeated_keys = [F.count_if(is_shared & (F.col(name) > 1)) for name in names]
    totals = every.agg(F.count_if(is_shared), *map(F.sum, names), *repeated_keys).head()
    assert totals is not None  # noqa: S101 (an aggregate has one row)
    shared_keys, *figures = (int(total or 0) for total in totals)
    if not shared_keys:
        raise no_common_key_error(step)
    check_repeated(figures[len(names) :], step)
    joined_frame = reduce(lambda some, other: some.join(other, KEY), keyed_frames)
    return joined_frame.drop(KEY), tuple(figures[: len(names)])


def _add_key(frame: DataFrame, joined: Joined) -> DataFrame:
    """Return the used columns of a frame, and the key as text."""
    kind = frame.schema[joined.on].dataType
    if not isinstance(kind, types.StringType | types.IntegralType):
        raise key_type_error(joined, kind.simpleString())
    text = F.col(quote_name(joined.on)).cast("string")
    key = F.when(~text.rlike(BLANK), text).alias(KEY)
    return frame.select(key, *map(quote_name, joined.columns))
