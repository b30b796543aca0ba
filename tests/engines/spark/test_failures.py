import gc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.engines.spark.failures import (
    LONGEST,
    carry_errors,
    cause,
    explain_error,
    task_error,
)
from policy_engine.engines.spark.jobs import running
from policy_engine.errors import DataError, EngineError, Fix, OutputError, Place, PlanError, Problem

PYTHON = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/opt/x/cut.py", line 14, in cut
    raise ValueError(cell)
ValueError: Alice
of Paris"""

LOST = """An error occurred while calling o171.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 9.0 failed \
4 times, most recent failure: Lost task 0.3 in stage 9.0 (TID 13) (10.0.0.7 executor 2): \
ExecutorLostFailure (executor 2 exited caused by one of the running tasks) Reason: Command \
exited with code 137
Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2800)"""


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03", DataError, "C002"),
        ("java.nio.file.AccessDeniedException: s3a://b/x", DataError, "C003"),
        ("[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error", DataError, "C003"),
        ("[FAILED_READ_FILE.NO_HINT] Encountered error", DataError, "C010"),
        ("[CANNOT_MERGE_SCHEMAS] Failed merging schemas:", DataError, "C014"),
        ("[PATH_ALREADY_EXISTS] Path file:/x already exists.", OutputError, "O001"),
        ("Permission denied\n\tat x.FileFormatWriter.write(x)", OutputError, "O002"),
        ("No FileSystem for scheme 's4'", EngineError, "S001"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has", EngineError, "S004"),
        ('java.io.IOException: Cannot run program "/x/python"', EngineError, "S004"),
        ("java.lang.OutOfMemoryError: Java heap space", EngineError, "S005"),
        ("something never seen", EngineError, "S005"),
    ],
)
def test_explained_gives_one_line_with_its_code(text, kind, code):
    error = explain_error(RuntimeError(text))
    assert type(error) is kind
    assert error.problems[0].code == code
    assert "\n" not in str(error)


def test_explained_returns_an_error_of_ours_as_it_is():
    error = PlanError.of("M001", "no")
    assert explain_error(error) is error


def test_explained_says_what_was_being_done_and_where():
    error = explain_error(RuntimeError("broken"), "s3://b/x", "counting")
    assert str(error) == "s3://b/x: S005 Spark gave up counting. broken."


def test_explained_survives_an_exception_that_has_no_text_any_more():
    class MuteError(Exception):
        def __str__(self):
            raise ConnectionError

    assert str(explain_error(MuteError())) == "S005 Spark gave up the job. MuteError."


def test_cause_keeps_what_python_raised_in_a_task_but_not_what_it_quotes():
    assert cause(PYTHON) == "A task raised ValueError at cut.py:14."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[CAST_INVALID_INPUT] The value 'Alice' cannot be cast to INT.", "[CAST_INVALID_INPUT]"),
        ('java.lang.NumberFormatException: For input string: "Alice"', "For input string."),
        ("[A] No.\nCaused by: x.Y: Text 'Alice' could not be parsed", "[A] No. Text."),
        ("[A] No.\nCaused by: x.Y: [MALFORMED_RECORD.X] Alice", "[A] No. [MALFORMED_RECORD.X]"),
    ],
)
def test_cause_does_not_quote_a_value(text, said):
    assert cause(text) == said


def test_cause_drops_what_spark_puts_around_the_reason():
    assert cause(LOST) == (
        "ExecutorLostFailure (executor 2 exited caused by one of the running tasks) "
        "Reason: Command exited with code 137."
    )


def test_cause_adds_the_innermost_cause_that_says_something():
    text = "[A.B] Cannot read.\n\tat x.y(z)\nCaused by: x.Y: bad magic\nCaused by: x.EOFException"
    assert cause(text) == "[A.B] Cannot read. bad magic."


def test_cause_is_bounded():
    assert len(cause("x" * 10_000)) == LONGEST


def test_explained_rebuilds_a_carried_error_from_spark_text_around_it():
    place = Place("/a", 1, 2)
    fixed = Problem("P002", "odrl:target", fix=Fix(place, Place("/a", 1, 9), "target"))
    problems = Problem("C005", 'no "a"\n\\ é', "hint", place), Problem("R001", "two"), fixed
    text = f"Job aborted: TaskError: {task_error(DataError(*problems, source='x.csv'))}\n\tat y"
    error = explain_error(RuntimeError(text))
    assert type(error) is DataError
    assert error.problems == problems
    assert error.problems[-1].fix == fixed.fix
    assert error.source == "x.csv"


def test_values_of_the_data_are_in_nothing_that_a_task_raises():
    error = DataError(Problem("R007", "It lacks 1 value.", values=("secret",)))
    assert "secret" not in str(task_error(error))
    assert explain_error(RuntimeError(str(task_error(error)))).problems == error.problems


def test_explained_does_not_fail_on_a_carried_error_that_was_cut():
    text = str(task_error(DataError.of("C005", "long " * 100)))[:200]
    assert explain_error(RuntimeError(text)).problems[0].code == "S005"


def test_carrying_brings_an_error_out_of_a_task(spark):
    @carry_errors
    def task(batches):
        yield from batches
        raise DataError.of("R004", "A value cannot be ordered.", source="x")

    with (
        pytest.raises(DataError, match=r"^x: R004 A value cannot be ordered\.$"),
        running(spark, "sorting"),
    ):
        spark.range(3).mapInArrow(task, "id long").collect()


def test_what_a_task_has_imported_is_left_out_of_the_collections_after_it(spark):
    @carry_errors
    def count_frozen(batches):
        for batch in batches:
            yield batch.set_column(0, "id", pa.repeat(gc.get_freeze_count(), batch.num_rows))

    def most():
        counts = spark.range(4).mapInArrow(count_frozen, "id long").collect()
        return max(row.id for row in counts)

    before = gc.get_freeze_count()
    most()
    assert most() > 10_000
    list(carry_errors(iter)([]))
    # Not in a process that Spark did not start, where what is left out may be freed meanwhile.
    assert gc.get_freeze_count() <= before


def test_running_names_a_path_that_does_not_exist(spark):
    with (
        pytest.raises(DataError, match=r"^C002 .* Path does not exist: file:/nowhere/x\.$"),
        running(spark, "reading"),
    ):
        spark.read.parquet("/nowhere/x").collect()


def test_running_tells_a_file_that_is_no_parquet(spark, tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"x" * 100)
    with (
        pytest.raises(DataError, match=r"^C010 .* is not a Parquet file"),
        running(spark, "reading"),
    ):
        spark.read.parquet(str(tmp_path)).collect()


@pytest.mark.parametrize("merge", ["true", "false"])
def test_running_tells_files_with_other_columns(spark, tmp_path, merge):
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["x", "y"]}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"^C014 "), running(spark, "reading"):
        spark.read.option("mergeSchema", merge).parquet(str(tmp_path)).collect()


def test_running_tells_an_output_that_exists(spark, tmp_path):
    with pytest.raises(OutputError, match=r"^O001 "), running(spark, "writing"):
        spark.range(3).write.parquet(str(tmp_path))


def test_running_tells_a_worker_that_died(spark):
    def task(_):
        import os

        os._exit(9)
        yield

    with (
        pytest.raises(EngineError, match=r"^S005 The cluster lost counting"),
        running(spark, "counting"),
    ):
        spark.range(3).mapInArrow(task, "id long").collect()


def test_running_does_not_quote_what_a_task_raised(spark):
    def task(_):
        raise ValueError("Alice")
        yield

    with (
        pytest.raises(EngineError, match=r"A task raised ValueError at test_failures\.py:\d+\.$"),
        running(spark, "counting"),
    ):
        spark.range(3).mapInArrow(task, "id long").collect()
