"""Spark's exceptions as errors of this package, with their cause in one line."""

import functools
import gc
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from policy_engine import errors
from policy_engine.errors import (
    DataError,
    EngineError,
    Fix,
    OutputError,
    Place,
    PolicyEngineError,
    Problem,
)

LONGEST = 300
"""The most characters of Spark's own message that an error quotes."""

_MARK = "policy-engine-error:"


class TaskError(Exception):
    """A PolicyEngineError on its way out of a task: Spark passes on only its text."""


def task_error(error: PolicyEngineError) -> TaskError:
    """Return the exception to raise in a task, from which `explain_error` restores the error."""
    kind, problems = type(error).__name__, [asdict(problem) for problem in error.problems]
    for problem in problems:
        del problem["values"]  # exceptions of tasks are written to the logs of executors
    return TaskError(_MARK + json.dumps([kind, problems, error.source], default=list))


def carry_errors(
    function: Callable[..., Iterator[Any]],
) -> Callable[..., Iterator[Any]]:
    """Return a task function whose PolicyEngineErrors reach the driver unchanged.

    `function` is a generator for `mapInArrow`, or a function for `applyInArrow`.
    """

    @functools.wraps(function)
    def task(*arguments: Any) -> Iterator[Any]:
        try:
            yield from function(*arguments)
        except PolicyEngineError as error:
            # Without the cause: Spark Connect cuts long tracebacks, and the message comes last.
            raise task_error(error) from None
        finally:
            _freeze_imports(len(sys.modules))

    return task


@functools.cache
def _freeze_imports(modules: int) -> None:  # noqa: ARG001 (anew where more have been imported)
    """Leave what a worker has imported out of garbage collection.

    Spark collects garbage after every task, and with numba loaded that takes longer than a small
    task itself: a tenth of a second.
    """
    from pyspark import TaskContext  # noqa: PLC0415

    if TaskContext.get() is not None:
        gc.collect()
        gc.freeze()


@dataclass(frozen=True)
class _Rule:
    """The error for an exception whose text matches `pattern`; the first match counts."""

    pattern: str
    kind: type[PolicyEngineError]
    code: str
    message: str
    hint: str = ""


_DENIED = r"AccessControlException|AccessDenied|Permission denied|Status Code: 403"

_RULES = (
    _Rule(
        r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
        EngineError,
        "S004",
        "The executors run another Python than the driver.",
        "Set PYSPARK_PYTHON to the same minor version on both.",
    ),
    _Rule(
        r"ModuleNotFoundError|No module named|Cannot run program|PACKAGE_NOT_INSTALLED"
        r"|UNSUPPORTED_PACKAGE_VERSION",
        EngineError,
        "S004",
        "The executors lack what the tasks need.",
        "Install 'policy-engine[spark]' on them, or set PYSPARK_PYTHON to a Python that has it.",
    ),
    _Rule(
        r"No FileSystem for scheme|UNSUPPORTED_FILE_SYSTEM"
        r"|ClassNotFoundException: Class org\.apache\.hadoop\.fs",
        EngineError,
        "S001",
        "Spark lacks the package for that kind of storage.",
        "Name it in spark.jars.packages.",
    ),
    _Rule(
        r"Mkdirs failed to create|No space left on device"
        rf"|(?s:(?:{_DENIED}).*(?:FileFormatWriter|FileOutputCommitter|InsertIntoHadoopFs))",
        OutputError,
        "O002",
        "The output cannot be written.",
    ),
    _Rule(_DENIED, DataError, "C003", "The data cannot be read."),
    _Rule(
        r"FAILED_READ_FILE\.FILE_NOT_EXIST|READ_CURRENT_FILE_NOT_FOUND",
        DataError,
        "C003",
        "The executors cannot read the data.",
        "Give a location that all machines of the cluster can read.",
    ),
    _Rule(
        r"PATH_NOT_FOUND|FileNotFoundException|TABLE_OR_VIEW_NOT_FOUND|Input path does not exist",
        DataError,
        "C002",
        "Spark finds no data there.",
    ),
    _Rule(
        r"PARQUET_COLUMN_DATA_TYPE_MISMATCH|SchemaColumnConvertNotSupported"
        r"|CANNOT_MERGE_SCHEMAS|CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
        DataError,
        "C014",
        "The files of the table differ in their columns.",
    ),
    _Rule(
        r"PARQUET_TYPE_ILLEGAL|PARQUET_TYPE_NOT_(?:RECOGNIZED|SUPPORTED)|UNSUPPORTED_TIME_TYPE"
        r"|UNSUPPORTED_(?:DATA_TYPE_FOR_)?DATASOURCE|Illegal Parquet type",
        DataError,
        "C009",
        "The data has a column of a type that Spark does not read.",
        "Write times in microseconds, and times of day as texts.",
    ),
    _Rule(
        r"UnknownHostException",
        DataError,
        "C003",
        "The host of the storage is not known.",
    ),
    _Rule(
        r"PATH_ALREADY_EXISTS|TABLE_OR_VIEW_ALREADY_EXISTS|FileAlreadyExistsException",
        OutputError,
        "O001",
        "The output exists already.",
    ),
    _Rule(
        r"CANNOT_READ_FILE_FOOTER|is not a Parquet file|FAILED_READ_FILE|UNABLE_TO_INFER_SCHEMA"
        r"|MALFORMED_RECORD|MALFORMED_CSV|MalformedInputException",
        DataError,
        "C010",
        "The data cannot be understood as a table.",
    ),
    _Rule(
        r"OutOfMemory|MemoryError|Python worker exited unexpectedly|ExecutorLostFailure"
        r"|maxResultSize|exitCode=13[0-9]",
        EngineError,
        "S005",
        "The cluster lost {what}: an executor died or ran out of memory.",
        "Give the executors more memory (spark.executor.memory, "
        "spark.executor.memoryOverhead), or make the partitions smaller.",
    ),
    _Rule(
        r"Py4JNetworkError|Answer from Java side is empty|StatusCode\.UNAVAILABLE"
        r"|ConnectionRefusedError|ConnectionResetError|RETRIES_EXCEEDED"
        r"|SparkContext (?:was|has been) (?:shut ?down|stopped)|stopped SparkContext"
        r"|INVALID_HANDLE\.SESSION",
        EngineError,
        "S005",
        "The connection to Spark was lost during {what}.",
    ),
    _Rule("", EngineError, "S005", "Spark gave up {what}."),
)


def explain_error(error: Exception, source: str = "", what: str = "the job") -> PolicyEngineError:
    """Return an exception of Spark as a PolicyEngineError, with Spark's own cause in one line.

    A PolicyEngineError that a task raised is returned unchanged. `source` is what was read or
    written, `what` the job, as in "reading".
    """
    if isinstance(error, PolicyEngineError):
        return error
    text = _text(error)
    if (carried_error := _carried_error(text)) is not None:
        return carried_error
    rule = next(rule for rule in _RULES if re.search(rule.pattern, text))
    message = f"{rule.message.format(what=what)} {cause(text)}"
    return rule.kind.of(rule.code, message, rule.hint, source)


def cause(text: str) -> str:
    """Return the cause of an exception of Spark in one line of at most about 300 characters.

    For an exception of Python in a task that is only its class and place, and for conditions about
    single values only their name: the messages may quote the data.
    """
    if place := _python_cause(text):
        return place
    head = _without_values(_head(text))
    causes = re.findall(r"^Caused by: [\w.$]+: (.+)$", text, re.MULTILINE)
    deepest = _without_values(causes[-1]).partition(". ")[0] if causes else ""
    if not deepest or deepest.rstrip(".") in head or head.rstrip(".") in deepest:
        return _shorten(head)
    return _shorten(f"{_shorten(head.partition('. ')[0])} {deepest}")


def _without_values(line: str) -> str:
    """Return a line of Spark's or Java's message without the value that it quotes."""
    condition = re.match(rf"\[((?:{_VALUE_CONDITIONS})\w*(?:\.\w+)*)\]", line)
    return f"[{condition[1]}]" if condition else re.sub(_QUOTING, r"\1.", line)


_VALUE_CONDITIONS = "CAST_|MALFORMED_|CANNOT_PARSE_|INVALID_UTF8|NUMERIC_|FAILED_PARSE"
_QUOTING = r"(For input string|Unparseable date|Text|Expected magic number)\b[: ]+['\"\[at].*"

_HARMLESS = (
    "ModuleNotFoundError",
    "ImportError",
    "FileNotFoundError",
    "PermissionError",
    "PySparkRuntimeError",
    "PySparkImportError",
)


def _text(error: Exception) -> str:
    """Return the text of an exception; Py4J asks the JVM for it, which may be gone."""
    try:
        return f"{error}" or type(error).__name__
    except Exception:  # noqa: BLE001
        return type(error).__name__


def _carried_error(text: str) -> PolicyEngineError | None:
    start = text.find(_MARK)
    if start < 0:
        return None
    try:
        [kind, problems, source], _ = json.JSONDecoder().raw_decode(text, start + len(_MARK))
    except ValueError:  # Spark has truncated it
        return None
    error_class: type[PolicyEngineError] = getattr(errors, kind)
    return error_class(*(_problem(**problem) for problem in problems), source=source)


def _problem(
    code: str, message: str, hint: str, place: Sequence[Any], fix: Sequence[Any] | None
) -> Problem:
    if fix:
        start, end, replacement = fix
        return Problem(
            code, message, hint, Place(*place), Fix(Place(*start), Place(*end), replacement)
        )
    return Problem(code, message, hint, Place(*place))


def _python_cause(text: str) -> str:
    """Return which exception a Python task raised, and where; empty where none did."""
    _, has_traceback, traceback = text.rpartition("Traceback (most recent call last):\n")
    match = re.search(r"^([A-Za-z_][\w.]*)(?::[ ]?(.*))?$", traceback, re.MULTILINE)
    if not has_traceback or not match:
        return ""
    kind = match[1].rpartition(".")[2]
    places = re.findall(r'File "(?:.*[/\\])?(.+?)", line (\d+)', traceback[: match.start()])
    where = f" at {places[-1][0]}:{places[-1][1]}" if places else ""
    message = f": {match[2]}" if kind in _HARMLESS and match[2] else ""
    return _shorten(f"A task raised {kind}{where}{message}")


def _head(text: str) -> str:
    """Return the first line of an exception's message, without what Spark adds around it."""
    text = re.sub(r"^An error occurred while calling [\w.$]+\s*:\s*", "", text.strip())
    text = re.sub(r"^\([\w.$]+\) ", "", text)
    text = re.sub(r"^(?:[\w$]+\.)+[\w$]+: ", "", text)
    text = re.sub(r"^Job aborted due to stage failure: .*?executor \S+?\): ", "", text)
    text = re.sub(r"^(?:[\w$]+\.)+[\w$]+: ", "", text)
    line = next((line for line in text.splitlines() if line.strip()), "")
    return re.sub(r"\. Consider setting.*|[;.]*\s*SQLSTATE: \w+;?$", ".", line.strip())


def _shorten(line: str) -> str:
    line = line.rstrip()
    if len(line) > LONGEST:
        return line[: LONGEST - 3] + "..."
    return line if line.endswith((".", "!", "?", "]")) else f"{line}."
