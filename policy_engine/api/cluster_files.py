"""The columns of tables on a cluster that an audit reads, gathered where they have few enough
rows."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.api.attacked_files import (
    AttackedFiles,
    AuditQuestion,
    columns_read,
    match_files,
    unread_columns,
)
from policy_engine.api.disclosure_inputs import Disclosed
from policy_engine.data.catalog import Dataset
from policy_engine.data.column_names import missing_columns
from policy_engine.errors import DataError

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.engines.spark.gathering import ClusterRows


@dataclass(frozen=True)
class ClusterFiles:
    """An original, its release, the certificate of that and a population, if there are any, all of
    which a cluster reads."""

    spark: "SparkEngine"
    original: str | Path
    release: str | Path
    certificate: "Certificate | None"
    population: str | Path | None

    @property
    def locations(self) -> tuple[str | Path, ...]:
        """The tables: the original, the release and, if there is one, the population."""
        return tuple(one for one in (self.original, self.release, self.population) if one)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of the tables."""
        return tuple(map(Path, self.locations))

    def described(self) -> list[Dataset]:
        """Return the format and the columns of each table."""
        return [self.spark.describe_dataset(str(one), str(one)) for one in self.locations]


@dataclass(frozen=True)
class NeededRows:
    """What an audit reads of the tables: the original, the release, and a population; the release
    is `lacking` columns of the original, where no certificate says why."""

    files: ClusterFiles
    stored: "tuple[ClusterRows, ...]"
    unread: tuple[str, ...]
    lacking: tuple[str, ...]

    def count(self) -> int:
        """Return the rows of all tables together. Raises DataError (R001) where one has none."""
        counts = [one.count() for one in self.stored]
        for count, location in zip(counts, self.files.locations, strict=True):
            if not count:
                raise DataError.of("R001", "The table has no rows.", source=str(location))
        return sum(counts)

    def match(self, question: AuditQuestion) -> AttackedFiles:
        """Return the tables gathered and matched. Raises the errors of `match_files`."""
        files = self.files
        before, after, *others = [one.gather() for one in self.stored]
        population = Path(files.population) if files.population is not None else None
        disclosed = Disclosed(
            Path(files.original),
            Path(files.release),
            before,
            after,
            files.certificate,
            population,
            others[0] if others else None,
        )
        return replace(match_files(disclosed, question), unread=self.unread)


def needed_rows(files: ClusterFiles, question: AuditQuestion) -> NeededRows:
    """Return the columns that an audit reads of tables that stay on the cluster.

    Raises DataError with all columns that a table lacks (C005), and as Spark reads it.
    """
    from policy_engine.engines.spark.gathering import stored_rows  # noqa: PLC0415 (pyspark)

    described = files.described()
    before, after = (one.columns for one in described[:2])
    read = columns_read(before, after, files.certificate, question)
    problems = [
        problem
        for one, columns in zip(described, read, strict=False)
        for problem in missing_columns(columns, one)
    ]
    if problems:
        raise DataError(*problems)
    stored = (
        stored_rows(files.spark, str(one), columns)
        for one, columns in zip(files.locations, read, strict=False)
    )
    images = unread_columns(files.certificate)
    unread = tuple(name for name in before if name in images)
    is_published = files.certificate is not None
    lacking = () if is_published else tuple(name for name in before if name not in after)
    return NeededRows(files, tuple(stored), unread, lacking)
