"""Whether an output hides what it is to, and pseudonyms in it link no classes of one person."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.engines.identifiers import (
    PSEUDONYM,
    REDACTED,
    linking_pseudonyms,
    not_hidden,
    too_few_pseudonyms,
)
from policy_engine.engines.reading_back import columns_of
from policy_engine.engines.spark.values import quoted
from policy_engine.methods.columns import Columns
from policy_engine.plan.steps import Anonymize


def check_hidden(frame: DataFrame, columns: Columns) -> None:
    """Raise CertificateError (V002) where a column shows what it is to hide.

    As in `identifiers.check_hidden`.
    """
    texts = {name: F.col(quoted(name)).cast("string") for name in columns.hidden}
    shown = [
        text.isNull() | (text != REDACTED)
        if name in columns.redact
        else text.isNotNull() & ~text.rlike(PSEUDONYM)
        for name, text in texts.items()
    ]
    found = frame.agg(*(F.max(one) for one in shown)).collect() if shown else [()]
    for name, is_shown in zip(texts, found[0], strict=True):
        if is_shown:
            raise not_hidden(name, is_redacted=name in columns.redact)


def check_unlinked(name: str, frame: DataFrame, step: Anonymize) -> None:
    """Raise CertificateError where pseudonyms tell that classes do not hide a person among k.

    R008 and V001, as in `identifiers.check_unlinked`.
    """
    columns = [
        F.col(quoted(column))
        for quasi in step.columns.quasi_names
        for column in columns_of(quasi, frame.columns)
    ]
    # By number: a column of the data may be called as one of ours.
    cells = [f"cell{number}" for number in range(len(columns))]
    pseudonym = F.nullif(F.col(quoted(name)), F.lit("")).alias("pseudonym")
    rows = frame.select(*map(Column.alias, columns, cells), pseudonym)
    pairs = rows.where("pseudonym is not null").distinct()
    classes = pairs.groupBy("pseudonym").agg((F.count("*") - 1).alias("more"))
    linked = _only(classes.agg(F.coalesce(F.sum("more"), F.lit(0))))
    if linked:
        raise linking_pseudonyms(name, linked)
    blank = F.sum(F.col("pseudonym").isNull().cast("long"))
    seen = rows.groupBy(*cells).agg((F.count_distinct("pseudonym") + blank).alias("seen"))
    least = _only(seen.agg(F.min("seen")))
    if not step.columns.privacy_unit and least < step.k:
        raise too_few_pseudonyms(name, least, step.k)


def _only(frame: DataFrame) -> int:
    [row] = frame.collect()
    return int(row[0])
