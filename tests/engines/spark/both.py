"""One policy on both engines: what comes out, side by side."""

import csv
import io
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from applying import asking
from building import DATASET

from policy_engine import apply_policy
from policy_engine.engines.spark import coded_frames, formed_nodes

CALL = ("taxonomies", "key", "cells")


@dataclass(frozen=True)
class Both:
    """The releases of the local engine and of Spark, and into how many nodes Spark cut first."""

    local: Any
    spark: Any
    nodes: int


def released(engine, table, output=None, **parts):
    """Return the release of a table or a path by an engine."""
    call = {name: parts.pop(name) for name in CALL if name in parts}
    return apply_policy(asking(**parts), {DATASET: table}, output, engine=engine, **call)


def both(engine, table, partitions=2, limit=100, **parts):
    """Return the releases of a table by both engines.

    Spark has it in so many partitions, and cuts nodes from afar that have more than `limit` rows
    and more than a quarter of a partition. A path is read by both; columns by name are made a
    table of.
    """
    table = pa.table(table) if isinstance(table, dict) else table
    local = released("local", table, **dict(parts))
    given = table
    if isinstance(table, pa.Table):
        given = frame_of(engine.spark, table).repartition(partitions)
    with small_nodes(limit) as counts:
        spark = released(engine, given, **dict(parts))
    return Both(local, spark, sum(counts))


def frame_of(session, table):
    """Return a table as a frame; Spark would take points in time without a zone for UTC's."""
    naive = [
        field.name
        for field in table.schema
        if pa.types.is_timestamp(field.type) and field.type.tz is None
    ]
    frame = session.createDataFrame(table)
    kinds = {name: frame[name].cast("timestamp_ntz") for name in naive}
    return frame.withColumns(kinds) if kinds else frame


@contextmanager
def small_nodes(limit):
    """Let Spark cut nodes of more than `limit` rows from afar; tell into how many it cut."""
    counts, first_cuts = [], formed_nodes.first_cuts

    def counting(*arguments, **named):
        nodes = first_cuts(*arguments, **named)
        counts.append(len(nodes.rows))
        return nodes

    with (
        patch.object(coded_frames, "WORTH_SHARING", limit),
        patch.object(formed_nodes, "first_cuts", counting),
    ):
        yield counts


def check_same(runs):
    """Check that both releases have the same columns, rows and figures."""
    local, spark = runs.local.table, runs.spark.table.toArrow()
    assert spark.column_names == local.column_names
    assert rows_of(spark) == rows_of(local)
    check_same_figures(runs.spark.certificate, runs.local.certificate)


def check_same_figures(found, expected):
    """Check that two certificates tell of the same bounds and the same loss, to the last digit."""
    where = {"worst": None}
    told, asked = (
        [one.model_copy(update=where) for one in each.measurements] for each in (found, expected)
    )
    assert told == asked
    assert found.utility == expected.utility
    assert found.class_figures == expected.class_figures
    assert found.rows_out == expected.rows_out


def rows_of(table):
    """Return the rows of a table, each a tuple of its cells as they are shown, in order."""
    columns = [map(_shown, column.to_pylist()) for column in table.columns]
    return sorted(zip(*columns, strict=True))


def _shown(value):
    in_utc = isinstance(value, datetime) and value.tzinfo
    return repr(value.astimezone(UTC) if in_utc else value)


def csv_rows(place):
    """Return the header and the rows, in order, of a CSV file or of a folder of them."""
    files = sorted(place.glob("*.csv")) if place.is_dir() else [place]
    read = [list(csv.reader(io.StringIO(file.read_text(), newline=""))) for file in files]
    headers = {tuple(rows[0]) for rows in read}
    assert len(headers) == 1
    return headers.pop(), sorted(tuple(row) for rows in read for row in rows[1:])
