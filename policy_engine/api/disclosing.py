"""Audits of released tables: what an intruder who knows some columns can still do."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.outputs import published_output
from policy_engine.audits.disclosure.files import TwoFiles, known_columns, pair_rows, tells_apart
from policy_engine.audits.disclosure.result import DisclosureAudit
from policy_engine.audits.disclosure.settings import read_settings
from policy_engine.audits.reports.disclosure import write_disclosure
from policy_engine.audits.utility.categories import Transitions
from policy_engine.certificate.beside import find_certificate, single_output
from policy_engine.certificate.certificate import check_digest
from policy_engine.data.catalog import Dataset, find_taxonomies
from policy_engine.data.column_names import missing_columns
from policy_engine.engines import tables
from policy_engine.engines.engine import Progress, StoredData, silent
from policy_engine.errors import DataError, PlanError, PolicyEngineError, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.certificate.certificate import Certificate


def audit_disclosure(
    original: str | Path,
    release: str | Path,
    *,
    known: Sequence[str] = (),
    match: Sequence[str] = (),
    attacks: Sequence[str] = (),
    seconds: float = 10.0,
    taxonomies: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    progress: Progress = silent,
) -> DisclosureAudit:
    """Return what an intruder can do to a release who knows columns of persons in the original.

    `original` and `release` are tables, of any tool; with the certificate of a release, methods and
    parameters are known to the intruder, too. `known` are the columns known, those that are known
    most easily first: by default all that both tables have and that are generalised or masked, or
    without a certificate, all. Rows belong together that are equal in the `match` columns, by
    default those that are published as they are and tell rows apart. `attacks` are the only ones
    made; those that are named are made on larger files, and in full. A family of learned distances
    has so many `seconds`. With `out`, the figures and a page are written there. Raises DataError
    where a table cannot be read or lacks a column (C005), rows cannot be matched (A023), an attack
    is not known or has no time (A012), or a taxonomy is missing (C012); CertificateError where the
    release was not made from the original (V002); OutputError where nothing can be written.
    """
    from policy_engine.audits.disclosure.auditing import attack  # noqa: PLC0415 (compiled)

    settings = read_settings(attacks, seconds)
    path = Path(single_output(Path(release)))
    with published_output(path):
        certificate = _certificate(path)
        progress("reading", 0, 0)
        before, after = tables.read_table(Path(original)), tables.read_table(path)
    for table, name in ((before, str(original)), (after, str(path))):
        if not table.num_rows:
            raise DataError.of("R001", "The table has no rows.", source=name)
    matching = tuple(match) or _matching(before, after, certificate)
    unread = _unread(certificate)
    names = tuple(known) or _known(before, after, certificate, matching)
    names = tuple(dict.fromkeys(name for name in names if name not in unread))
    _check_matching(matching, certificate)
    _check({str(original): before, str(path): after}, names, matching)
    trees = _taxonomies(certificate, taxonomies or {}, path.parent)
    plan = certificate.plan if certificate else None
    columns = known_columns(before, after, [*names, *matching], plan, trees)
    own = pair_rows(columns[len(names) :], before.num_rows, after.num_rows)
    drawn = {one.column: one for one in certificate.maskings if one.matrix} if certificate else {}
    files = TwoFiles(
        columns[: len(names)],
        own,
        after.num_rows,
        is_published=plan is not None,
        drawn={n: Transitions(one.categories, one.matrix) for n, one in drawn.items()},
    )
    results, not_run = attack(files, progress, settings)
    audit = DisclosureAudit(
        original=Path(original).name,
        release=path.name,
        rows=before.num_rows,
        released=after.num_rows,
        paired=int((own >= 0).sum()),
        matched_by=matching,
        known=names,
        methods={one.name: _method(one.name, certificate) for one in files.columns},
        attacks=results,
        not_run=not_run,
        unread=tuple(name for name in before.column_names if name in unread),
    )
    if out is not None:
        write_disclosure(audit, Path(out), Path(original), path)
    return audit


def _certificate(release: Path) -> "Certificate | None":
    """Return the certificate beside a release, None if there is none.

    Raises CertificateError (V004) for one of another output, PlanError (M004) for one of a release
    by buckets, whose rows have no sensitive values.
    """
    adjacent = find_certificate(release)
    if adjacent is None:
        return None
    certificate = adjacent[1]
    if certificate.plan.anonymization().is_in_buckets:
        message = "The release is by buckets, in two tables that no person links row by row."
        raise PlanError.of("M004", message, "Audit a release by classes, or of masked columns.")
    check_digest(certificate, StoredData.from_file(release))
    return certificate


def _matching(
    original: "pa.Table", release: "pa.Table", certificate: "Certificate | None"
) -> tuple[str, ...]:
    """Return columns that tell rows apart: one that does alone, or all that are published as they
    are. Raises DataError (A023) where there is none."""
    both = [name for name in original.column_names if name in release.column_names]
    if certificate is not None:
        columns = certificate.plan.anonymization().columns
        kept = {*columns.insensitive, *columns.sensitive_names}
        both = [name for name in both if name in kept]
        alone = [name for name in both if tells_apart(original, name)]
        if alone or both:
            return tuple(alone[:1] or both)
    message = "Which row of the release is whose is not known: nothing tells rows apart."
    raise DataError.of("A023", message, "Name columns that do, and are as they were.")


def _known(
    original: "pa.Table",
    release: "pa.Table",
    certificate: "Certificate | None",
    matching: Sequence[str],
) -> tuple[str, ...]:
    """Return the columns that are known of persons where nobody says which."""
    both = [
        name
        for name in original.column_names
        if name in release.column_names and name not in matching
    ]
    if certificate is None:
        return tuple(both)
    hidden = certificate.plan.anonymization().columns.hidden
    changed = _changed(certificate) - set(hidden)
    return tuple(name for name in original.column_names if name in changed)


def _unread(certificate: "Certificate | None") -> set[str]:
    """Return the columns that no attack reads: labels of a taxonomy, and images."""
    mask = certificate.plan.mask if certificate else None
    columns = (*mask.recodings, *mask.image_maskings) if mask else ()
    return {one.name for one in columns}


def _check(sides: Mapping[str, "pa.Table"], known: Sequence[str], matching: Sequence[str]) -> None:
    """Raise DataError with every column that a table lacks (C005), and that is both known and
    matched, or where none is known (A023)."""
    problems: list[Problem] = []
    for source, table in sides.items():
        columns = tuple(table.column_names)
        dataset = Dataset(iri=source, location=source, format="memory", columns=columns)
        problems += missing_columns(tuple(dict.fromkeys((*known, *matching))), dataset)
    if not known:
        message = "There is no column that both tables have and that could be known."
        problems.append(Problem("A023", message, "Name the known columns."))
    for name in known:
        if name in matching:
            message = f"Rows are matched by {name!r}, which the intruder is said to know."
            problems.append(Problem("A023", message, "Match rows by another column."))
    if problems:
        raise DataError(*problems)


def _check_matching(matching: Sequence[str], certificate: "Certificate | None") -> None:
    """Raise DataError (A023) with all columns that rows are matched by and that were changed."""
    changed = _changed(certificate) if certificate else set()
    problems = [
        Problem("A023", f"The values of {name!r} were changed in the release.", _AS_THEY_WERE)
        for name in matching
        if name in changed
    ]
    if problems:
        raise DataError(*problems)


_AS_THEY_WERE = "Match rows by columns that are published as they were."


def _changed(certificate: "Certificate") -> set[str]:
    """Return the columns that are generalised, masked, or hidden."""
    plan = certificate.plan
    columns, masked = plan.anonymization().columns, plan.mask.names if plan.mask else ()
    return {*columns.quasi_names, *columns.hidden, *masked}


def _taxonomies(
    certificate: "Certificate | None", given: Mapping[str, Any], folder: Path
) -> Mapping[str, Any]:
    """Return the taxonomies of a release. Raises DataError (C012) with all that are missing."""
    if certificate is None:
        return {}
    names = certificate.plan.anonymization().columns.taxonomies
    found = find_taxonomies(names, given, folder)
    problems: list[PolicyEngineError] = [
        DataError.of("C012", f"No taxonomy is given for {name!r}.", "Give taxonomies={NAME: FILE}.")
        for name in names
        if name not in found
    ]
    if problems:
        raise DataError(*(one for error in problems for one in error.problems))
    return found


def _method(name: str, certificate: "Certificate | None") -> str:
    """Return how a column was made, in words, as far as anybody knows."""
    if certificate is None:
        return "not known"
    plan = certificate.plan
    for one in plan.mask.columns if plan.mask else ():
        if one.name == name:
            return one.how
    for quasi in plan.anonymization().columns.quasi_identifier:
        if quasi.name == name:
            return quasi.generalization or "a range or set of values"
    return "as it was"
