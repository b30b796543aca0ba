"""Check that an output hides what it must, and that its pseudonyms do not link classes."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.engines.identifiers import (
    PSEUDONYM,
    REDACTED,
    linked_pseudonyms_error,
    not_hidden_error,
    too_few_pseudonyms_error,
)
from policy_engine.engines.reading_back import cell_columns
from policy_engine.engines.spark.values import quote_name
from policy_engine.methods.columns import Columns
from policy_engine.plan.steps import Anonymize


def check_hidden(frame: DataFrame, columns: Columns) -> None:
    """Raise CertificateError (V002) where a column is not hidden as it should be.

    Like `identifiers.check_hidden`.
    """
    texts = {name: F.col(quote_name(name)).cast("string") for name in columns.hidden}
    shown_cells = [
        text.isNull() | (text != REDACTED)
        if name in columns.redact
        else text.isNotNull() & ~text.rlike(PSEUDONYM)
        for name, text in texts.items()
    ]
    rows = frame.agg(*map(F.max, shown_cells)).collect() if shown_cells else [()]
    for name, is_shown in zip(texts, rows[0], strict=True):
        if is_shown:
            raise not_hidden_error(name, is_redacted=name in columns.redact)


def check_unlinked(name: str, frame: DataFrame, step: Anonymize) -> None:
    """Raise CertificateError where pseudonyms show that a class does not hide a person among k.

    R008 and V001, like `identifiers.check_unlinked`.
    """
    columns = [
        F.col(quote_name(column))
        for quasi in step.columns.quasi_names
        for column in cell_columns(quasi, frame.columns)
    ]
    # By number: a column of the data may have the name of one of ours.
    cells = [f"cell{number}" for number in range(len(columns))]
    pseudonym = F.nullif(F.col(quote_name(name)), F.lit("")).alias("pseudonym")
    rows = frame.select(*map(Column.alias, columns, cells), pseudonym)
    pairs = rows.where("pseudonym is not null").distinct()
    classes = pairs.groupBy("pseudonym").agg((F.count("*") - 1).alias("more"))
    linked_count = _single_count(classes.agg(F.coalesce(F.sum("more"), F.lit(0))))
    if linked_count:
        raise linked_pseudonyms_error(name, linked_count)
    blank = F.max(F.col("pseudonym").isNull().cast("long"))  # All rows of nobody may be of one.
    pseudonym_counts = rows.groupBy(*cells).agg(
        (F.count_distinct("pseudonym") + blank).alias("seen")
    )
    least = _single_count(pseudonym_counts.agg(F.min("seen")))
    if not step.columns.privacy_unit and least < step.k:
        raise too_few_pseudonyms_error(name, least, step.k)


def _single_count(frame: DataFrame) -> int:
    [row] = frame.collect()
    return int(row[0])
