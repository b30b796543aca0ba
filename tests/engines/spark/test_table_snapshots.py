"""Versions of tables of Delta Lake and Iceberg, by a session that answers as these say it does."""

from contextlib import nullcontext

import pytest
from pyspark.sql import Row

from policy_engine.engines.engine import StoredData
from policy_engine.engines.snapshots import TableSnapshot
from policy_engine.engines.spark import engine as engines
from policy_engine.engines.spark.catalog_tables import current_snapshot
from policy_engine.engines.spark.engine import SparkEngine
from policy_engine.errors import DataError

COLUMNS = [("age", "int"), ("Provider", "delta"), ("", ""), ("# Detailed Table Information", "")]
HISTORY = "DESCRIBE HISTORY `a`.`b` LIMIT 1"
CURRENT = "SELECT snapshot_id AS version FROM `a`.`b`.history ORDER BY made_current_at DESC LIMIT 1"


class Answer:
    """The rows of an answer; an exception is raised where they are asked for."""

    def __init__(self, rows):
        self.rows = rows

    def collect(self):
        if isinstance(self.rows, Exception):
            raise self.rows
        return self.rows


class Session:
    """A session whose catalog describes one table."""

    def __init__(self, provider, **answers):
        described = [*COLUMNS, ("Owner", "root"), ("Provider", provider)]
        rows = [Row(col_name=name, data_type=kind, comment="") for name, kind in described]
        self.answers = {"DESCRIBE EXTENDED `a`.`b`": rows, **answers}

    def sql(self, statement):
        return Answer(self.answers[statement])


def version(session):
    return current_snapshot(session, "table:a.b")


@pytest.mark.parametrize("provider", ["delta", "DELTA"])
def test_a_table_of_delta_lake_has_the_version_that_was_written_last(provider):
    found = version(Session(provider, **{HISTORY: [Row(version=12, operation="WRITE")]}))
    assert found == TableSnapshot(format="delta", version="12")
    assert str(found) == "version 12 of a table of Delta Lake"


def test_a_table_of_iceberg_has_the_snapshot_that_is_current():
    found = version(Session("iceberg", **{CURRENT: [Row(version=5937117119577207000)]}))
    assert found == TableSnapshot(format="iceberg", version="5937117119577207000")


@pytest.mark.parametrize(
    "session",
    [
        Session("parquet"),
        Session("hive"),
        Session("iceberg", **{CURRENT: []}),
        Session("delta", **{HISTORY: RuntimeError("[PARSE_SYNTAX_ERROR]")}),
        Session("delta", **{HISTORY: [Row(version=None)]}),
        Session("delta", **{HISTORY: [Row(version=-1)]}),
    ],
)
def test_other_tables_have_none_and_neither_those_of_which_the_session_cannot_say(session):
    assert version(session) is None


def test_a_view_has_no_version():
    session = Session("")
    session.answers["DESCRIBE EXTENDED `a`.`b`"] = [
        Row(col_name="Provider", data_type="delta", comment="")
    ]
    assert version(session) is None


class Cluster:
    """A session in which tables can be read, and nothing else."""

    def table(self, name):
        return name


@pytest.mark.parametrize(("after", "is_read"), [("3", True), ("4", False)])
def test_rows_are_those_of_the_version_or_not_read(after, is_read, monkeypatch):
    versions = iter(TableSnapshot(format="delta", version=one) for one in ("3", after))
    monkeypatch.setattr(engines, "current_snapshot", lambda *_: next(versions))
    monkeypatch.setattr(engines, "running", lambda *_: nullcontext())
    monkeypatch.setattr(engines.writing, "row_digest", lambda _: ("0" * 64, 7))
    engine = SparkEngine(Cluster(), is_checked=True)
    if is_read:
        snapshot = TableSnapshot(format="delta", version="3")
        stored = engine.stored_data("table:a.b")
        assert stored == StoredData("table:a.b", "0" * 64, 7, snapshot)
    else:
        with pytest.raises(DataError, match=r"C010 .* another version"):
            engine.stored_data("table:a.b")
