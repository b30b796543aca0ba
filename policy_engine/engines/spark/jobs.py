"""Run the jobs of a session with a tag, so that they can be cancelled, and explain their errors."""

import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policy_engine.engines.spark.failures import explain_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def running(session: "SparkSession", what: str) -> Iterator[str]:
    """Run the jobs of a block, which an error or Ctrl-C cancels; yield their tag.

    `what` names the jobs, as in "counting". Raises the errors of `explain_error`.
    """
    tag = f"policy-engine {what.replace(',', '')} {uuid.uuid4()}"
    with _silence_py4j():
        try:
            _tagging(session).add(tag)
            yield tag
        except Exception as error:  # noqa: BLE001 (Spark's have no common base)
            _interrupt(session, tag)
            raise explain_error(error, what=what) from None
        except BaseException:
            _interrupt(session, tag)
            raise
        finally:
            with suppress(Exception):
                _tagging(session).remove(tag)


def _interrupt(session: "SparkSession", tag: str) -> None:
    with suppress(Exception):
        _tagging(session).interrupt(tag)


@dataclass(frozen=True)
class _Tagging:
    """How to tag jobs, and to cancel the jobs with a tag."""

    add: Callable[[str], object]
    remove: Callable[[str], object]
    interrupt: Callable[[str], object]


def _tagging(session: "SparkSession") -> _Tagging:
    if is_connected(session):
        return _Tagging(session.addTag, session.removeTag, session.interruptTag)
    # The tags of a classic session belong to one thread of the JVM, but Ctrl-C and timers run in
    # another thread. Those of its context do not.
    context = session.sparkContext
    return _Tagging(context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)


def is_connected(session: "SparkSession") -> bool:
    """Tell whether a session is that of a client of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


@contextmanager
def cancel_after(
    session: "SparkSession", tag: str, seconds: float, is_over: threading.Event
) -> Iterator[None]:
    """Cancel the jobs of a tag after `seconds`, unless the block ends first, and set `is_over`."""

    def give_up() -> None:
        is_over.set()
        _interrupt(session, tag)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _silence_py4j() -> Iterator[None]:
    """Keep Py4J from writing tracebacks to the terminal through the root logger."""
    root = logging.getLogger()
    # With no handler at all, logging would set up one of its own.
    handler = logging.NullHandler()
    root.addHandler(handler)
    root.addFilter(_is_not_py4j)
    try:
        yield
    finally:
        root.removeFilter(_is_not_py4j)
        root.removeHandler(handler)


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return not str(record.msg).endswith("while sending command.")
