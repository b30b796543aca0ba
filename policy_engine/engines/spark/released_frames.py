"""The frames of a release: with the types that it is released with, or that a file of it has."""

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.engines.engine import AnonymizedTable, WrittenTable
from policy_engine.engines.permuted_moves import unknown_classes
from policy_engine.engines.persons import uncounted_persons
from policy_engine.engines.spark import writing
from policy_engine.engines.spark.coding import PERSON
from policy_engine.engines.spark.permuted_rows import CLASS, before_column
from policy_engine.engines.spark.values import cast_texts, quote_name
from policy_engine.errors import CertificateError, InternalError
from policy_engine.plan.steps import Anonymize


class ReleaseSource(NamedTuple):
    """The source of a release that is computed when it is used.

    `frame` also has the `hidden_columns` of its step; `tasks` tasks compute it. The
    types of the `untyped` columns, which are texts, are still to be inferred; the `masked` columns
    were masked value by value.
    """

    frame: DataFrame
    tasks: int
    untyped: tuple[str, ...]
    masked: tuple[str, ...]


class KeptRelease(NamedTuple):
    """A release that is kept on the cluster: its typed frame, the digest of its rows, and its
    `source`, which is the cached frame."""

    frame: DataFrame
    digest: str
    source: DataFrame


def typed_frame(anonymized: AnonymizedTable, frame: DataFrame | None = None) -> DataFrame:
    """Return the frame of a release, or another with its columns, with inferred types."""
    frame = anonymized.table if frame is None else frame
    state = anonymized.engine_state
    return cast_texts(frame, state.untyped, state.masked) if state.untyped else frame


def stored_frame(anonymized: AnonymizedTable, kind: str) -> DataFrame:
    """Return the frame of a release with the types that a file of a format has."""
    frame: DataFrame = anonymized.table if kind.startswith("csv") else typed_frame(anonymized)
    return frame


def check_same_rows(anonymized: AnonymizedTable, table: DataFrame, kind: str) -> None:
    """Raise CertificateError (V003) where a stored table has different rows from the release."""
    frame = stored_frame(anonymized, kind)
    frame = (
        writing.csv_texts(frame, anonymized.engine_state.masked)
        if kind.startswith("csv")
        else frame
    )
    if writing.row_digest(_texts(table)) != writing.row_digest(_texts(frame)):
        message = "The rows of the output are not those that the input gives."
        raise CertificateError.of("V003", message)


def _texts(frame: DataFrame) -> DataFrame:
    """Return a frame with every cell as text, as in a file without types."""
    return frame.select(
        [F.col(quote_name(name)).cast("string").alias(name) for name in frame.columns]
    )


def require_kept(written: WrittenTable) -> KeptRelease:
    """Return a release that is kept on the cluster. Raises InternalError (X001) for others."""
    if not isinstance(written.table, KeptRelease):
        raise InternalError.of("X001", "Nothing was released.")
    return written.table


def hidden_columns(step: Anonymize) -> tuple[str, ...]:
    """Return the columns of a frame that are measured and not released: who each row is of, its
    class, and what it had before."""
    permuted = enumerate(step.columns.quasi_names if step.is_permuted else ())
    names = [before_column(place) for place, _ in permuted]
    names += [CLASS] * step.is_permuted
    return (*names, *([PERSON] * bool(step.columns.privacy_unit)))


def source_frame(written: WrittenTable, step: Anonymize) -> DataFrame:
    """Return the rows of the release with what is hidden of them, which only the run that made it
    knows."""
    if written.anonymized is None:
        unit = step.columns.privacy_unit
        raise unknown_classes() if step.is_permuted else uncounted_persons(unit)
    frame: DataFrame = written.anonymized.engine_state.frame
    return frame


def check_kept(written: WrittenTable) -> None:
    """Raise CertificateError (V004) where the rows of a release in memory have changed.

    It has to be called after the rows were used: by then the cluster has computed again what it
    had lost.
    """
    release = require_kept(written)
    if writing.row_digest(release.frame)[0] != release.digest:
        message = (
            "The rows of the release are not those that were measured: the cluster lost some, "
            "and their source has changed."
        )
        raise CertificateError.of("V004", message, "Apply the policy again, with an output.")
