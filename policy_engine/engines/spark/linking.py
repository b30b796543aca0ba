"""Links that the cluster's workers find, each of which holds all released records."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.spark.engine import SparkEngine
from policy_engine.engines.spark.jobs import is_connected, running
from policy_engine.kernels.searching import LinkIndex, Persons, Search, parts_of

Floats = NDArray[np.float64]

_MOST_OF_A_TASK = 32 << 20
"""Spark refuses tasks that bring more than 128 MB with them."""
_MOST_OF_A_JOB = 256 << 20
"""The driver's JVM holds what the tasks of a job bring, in a heap of 1 GB by default."""


def search_on_cluster(engine: SparkEngine) -> Search:
    """Return what finds the links of persons in tasks.

    Where they are at most `rows_per_task`, or the driver is a client of Spark Connect, which
    broadcasts nothing, they are found in this process.
    """

    def search(index: LinkIndex, persons: Any) -> Floats:
        if len(persons[0]) <= engine.rows_per_task or is_connected(engine.spark):
            return index.links(persons)
        with running(engine.spark, "linking persons"):
            return _search(engine, index, persons)

    return search


def _search(engine: SparkEngine, index: LinkIndex, persons: Persons) -> Floats:
    context = engine.spark.sparkContext
    row = sum(one[:1].nbytes for one in persons)
    share = -(-len(persons[0]) // context.defaultParallelism)
    rows = max(1, min(share, engine.rows_per_task, _MOST_OF_A_TASK // row))
    records = context.broadcast(index)
    try:
        probabilities: list[Floats] = []
        waiting, most = parts_of(persons, rows), max(1, _MOST_OF_A_JOB // (rows * row))
        while parts := list(islice(waiting, most)):
            tasks = context.parallelize(parts, len(parts))
            probabilities += tasks.mapPartitions(partial(_links, records)).collect()
        return np.concatenate(probabilities)
    finally:
        records.destroy()


def _links(records: Any, parts: Iterator[Persons]) -> Iterator[Floats]:
    for part in parts:
        yield records.value.links(part)
