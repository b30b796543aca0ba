"""The files of a disclosure audit, and what risks are measured by beside them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.outputs import published_output
from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.other_tools.missing_marks import (
    unreadable_cells,
    without_marks,
)
from policy_engine.audits.disclosure.result import FileKind, MissingMarks
from policy_engine.audits.disclosure.risks.reading import (
    population_columns,
    population_problems,
    read_weights,
)
from policy_engine.certificate.beside import certificate_names, find_certificate, single_output
from policy_engine.certificate.certificate import check_digest
from policy_engine.data import storage
from policy_engine.data.catalog import Dataset
from policy_engine.data.column_names import missing_columns
from policy_engine.engines import tables
from policy_engine.engines.engine import Progress, StoredData
from policy_engine.engines.identifiers import joining_columns
from policy_engine.errors import DataError, PlanError, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.audits.disclosure.risks.measuring import RiskInputs
    from policy_engine.certificate.certificate import Certificate


@dataclass(frozen=True)
class Disclosed:
    """The tables of an audit by their files, and the certificate of the release, if it has one."""

    original: Path
    path: Path
    before: "pa.Table"
    after: "pa.Table"
    certificate: "Certificate | None"
    population_path: Path | None = None
    population: "pa.Table | None" = None
    missing_marks: tuple[MissingMarks, ...] = ()

    def without_marks(self, names: Sequence[str]) -> "Disclosed":
        """Return the tables with marks such as `NA` in columns of numbers and times as missing.

        A release with a certificate has none: its cells are as the plan says.
        """
        if self.certificate is not None:
            return self
        tables: dict[FileKind, pa.Table] = {"original": self.before, "release": self.after}
        if self.population is not None:
            tables["population"] = self.population
        cleaned_tables, marks = without_marks(tables, names)
        return replace(
            self,
            before=cleaned_tables["original"],
            after=cleaned_tables["release"],
            population=cleaned_tables.get("population"),
            missing_marks=marks,
        )

    @property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        """The columns of the original, and those of the release."""
        return self.before.column_names, self.after.column_names

    @property
    def lacking(self) -> tuple[str, ...]:
        """The columns of the original that the release lacks, where no certificate says why."""
        if self.certificate is not None:
            return ()
        return tuple(one for one in self.before.column_names if one not in self.after.column_names)

    @property
    def joined_by(self) -> tuple[str, ...]:
        """The columns of pseudonyms, among those read, by which rows of one person are joined."""
        if self.certificate is None:
            return ()
        columns = self.certificate.plan.require_anonymize().columns
        names = [name for name in columns.pseudonymize if name in self.after.column_names]
        return joining_columns(self.after, names)

    def cell_problems(self, names: Sequence[str]) -> Iterator[Problem]:
        """Yield the columns of the release (A027) with cells that nobody can read."""
        if self.certificate is None:
            yield from unreadable_cells(self.before, self.after, names)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that were read."""
        return tuple(filter(None, (self.original, self.path, self.population_path)))

    def missing(self, names: Sequence[str], known_names: Sequence[str]) -> list[Problem]:
        """Return every column that a table lacks (C005); a population has the known ones alone."""
        problems = []
        for path, table in ((self.original, self.before), (self.path, self.after)):
            problems += _missing(names, path, table)
        if self.population is not None and self.population_path is not None:
            problems += _missing(known_names, self.population_path, self.population)
        return problems


def _missing(names: Sequence[str], path: Path, table: "pa.Table") -> list[Problem]:
    columns, source = tuple(table.column_names), str(path)
    dataset = Dataset(iri=source, location=source, format="memory", columns=columns)
    return list(missing_columns(tuple(dict.fromkeys(names)), dataset))


def read_disclosed(
    original: str | Path, release: str | Path, population: str | Path | None, progress: Progress
) -> Disclosed:
    """Return the tables of an audit.

    Raises DataError where one cannot be read, or has no rows (R001); CertificateError and PlanError
    where the certificate of the release is that of another output, or of one by buckets.
    """
    path = Path(single_output(Path(release)))
    with storage.read_errors(original):
        is_release = bool(certificate_names(Path(original)))
    if is_release:
        message = f"The original {str(original)!r} is the folder of a release."
        raise DataError.of("C004", message, "The original comes first, then its release.")
    with published_output(path):
        certificate = certificate_of(path)
        progress("reading", 0, 0)
        before, after = tables.read_table(Path(original)), tables.read_table(path)
    others = None if population is None else Path(population)
    persons = tables.read_table(others) if others else None
    disclosed = Disclosed(Path(original), path, before, after, certificate, others, persons)
    for file, table in zip(disclosed.files, (before, after, persons), strict=False):
        if table is not None and not table.num_rows:
            raise DataError.of("R001", "The table has no rows.", source=str(file))
    return disclosed


def certificate_of(release: Path) -> "Certificate | None":
    """Return the certificate beside a release, None if there is none. Raises the errors of
    `check_attacked`."""
    adjacent = find_certificate(release)
    if adjacent is None:
        return None
    check_attacked(adjacent[1], lambda: StoredData.from_file(release))
    return adjacent[1]


def check_attacked(certificate: "Certificate", stored: Callable[[], StoredData]) -> None:
    """Raise CertificateError (V004) for the certificate of another output than the `stored` one,
    PlanError (M004) for that of a release by buckets, whose rows have no sensitive values."""
    if certificate.plan.require_anonymize().is_in_buckets:
        message = "The release is by buckets, in two tables that no person links row by row."
        raise PlanError.of("M004", message, "Audit a release by classes, or of masked columns.")
    check_digest(certificate, stored())


def risk_input_problems(
    disclosed: Disclosed, known_names: Sequence[str], weights: str, threshold: float
) -> list[Problem]:
    """Return all that is wrong with the inputs of risks.

    A threshold outside its range (A025), weights that neither table has (C005), cells of the
    population that cannot be read as those of the original are (A024).
    """
    problems: list[Problem] = []
    if not 0 < threshold < 1:
        message = f"The threshold is {threshold!r}."
        problems.append(Problem("A025", message, "A risk is above 0 and below 1."))
    if weights and weights not in disclosed.after.column_names:
        problems += _missing([weights], disclosed.path, disclosed.after)
    if disclosed.population is not None:
        both = {*disclosed.before.column_names} & {*disclosed.population.column_names}
        names = [name for name in known_names if name in both]
        problems += population_problems(disclosed.before, disclosed.population, names)
    return problems


def risk_inputs(
    disclosed: Disclosed,
    files: TwoFiles,
    learned: Sequence[KnownColumn],
    weights: str,
    threshold: float,
    taxonomies: Mapping[str, Any],
) -> "RiskInputs":
    """Return what risks are measured by; of a sample, the original is the population.

    Raises DataError (A025) where weights are not numbers above 0.
    """
    from policy_engine.audits.disclosure.risks.measuring import RiskInputs  # noqa: PLC0415

    plan = disclosed.certificate.plan if disclosed.certificate else None
    sample = disclosed.certificate.sample if disclosed.certificate else None
    column = weights or (plan.sample.weight_column if plan and plan.sample else "")
    others = disclosed.population if disclosed.population is not None else disclosed.before
    persons: Sequence[KnownColumn] = ()
    if sample or disclosed.population is not None:
        tables = (disclosed.before, others, disclosed.after, files.names)
        persons = population_columns(*tables, plan, taxonomies)
    # Where rows may be suppressed, the certificate does not tell how many were sampled.
    released = disclosed.after.num_rows / disclosed.before.num_rows
    share = (sample.share if sample else None) or released
    return RiskInputs(
        threshold=threshold,
        sensitive=tuple(learned),
        population=tuple(persons),
        weights=read_weights(disclosed.after, column) if column else None,
        share=share if sample and disclosed.population is None else None,
        suppresses=bool(plan and plan.require_anonymize().recoding.has_overlapping_classes),
    )
