"""The frames of a release: with the types that it is released with, or that a file of it has."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.engines.engine import AnonymizedTable
from policy_engine.engines.spark import writing
from policy_engine.engines.spark.values import cast_texts, quote_name
from policy_engine.errors import CertificateError


def typed_frame(anonymized: AnonymizedTable, frame: DataFrame | None = None) -> DataFrame:
    """Return the frame of a release, or another with its columns, with inferred types."""
    frame = anonymized.table if frame is None else frame
    return (
        cast_texts(frame, anonymized.engine_state.untyped)
        if anonymized.engine_state.untyped
        else frame
    )


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
