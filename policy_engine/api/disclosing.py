"""Audits of released tables: what an intruder who knows some columns can still do."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.disclosure_inputs import (
    Disclosed,
    read_disclosed,
    risk_input_problems,
    risk_inputs,
)
from policy_engine.audits.disclosure.files import (
    TwoFiles,
    known_columns,
    own_rows,
    pair_rows,
    tells_apart,
    unpaired,
)
from policy_engine.audits.disclosure.result import DisclosureAudit
from policy_engine.audits.disclosure.settings import read_settings
from policy_engine.audits.reports.disclosure import write_disclosure
from policy_engine.audits.utility.categories import Transitions
from policy_engine.data.catalog import find_taxonomies
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import DataError, PolicyEngineError, Problem
from policy_engine.kernels.estimates import NotApplicable

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
    sensitive: Sequence[str] = (),
    population: str | Path | None = None,
    weights: str = "",
    threshold: float = 0.2,
    taxonomies: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    progress: Progress = silent,
) -> DisclosureAudit:
    """Return what an intruder can do to a release who knows columns of persons in the original.

    `original` and `release` are tables, of any tool; with the certificate of a release, methods and
    parameters are known to the intruder, too. `known` are the columns known, those that are known
    most easily first: by default all that both tables have and that are generalised or masked, or
    without a certificate, all. Rows belong together that are equal in the `match` columns, by
    default those that are published as they are and tell rows apart; where none do, nobody is
    linked, and the other risks are measured. `sensitive` are the columns that nobody should learn,
    by default those of the policy. A `population` has the known columns of everybody of whom the
    release may be a part, by default the original, if rows were sampled from it; `weights` is the
    column of how many persons each row stands for. The share of records whose risk is above the
    `threshold` is told. `attacks` are the only ones made; those that are named are made on larger
    files, and in full. A family of learned distances has so many `seconds`. With `out`, the figures
    and a page are written there.

    Raises DataError where a table cannot be read or lacks a column (C005), rows cannot be matched
    (A023), the population does not contain the release (A024), weights or the threshold are out of
    range (A025), an attack is not known or has no time (A012), or a taxonomy is missing (C012);
    CertificateError where the release was not made from the original (V002); OutputError where
    nothing can be written.
    """
    from policy_engine.audits.disclosure.auditing import attack, without_attacks  # noqa: PLC0415
    from policy_engine.audits.disclosure.risks.measuring import measure_risks  # noqa: PLC0415

    settings = read_settings(attacks, seconds)
    given = read_disclosed(original, release, population, progress)
    before, after, certificate = given.before, given.after, given.certificate
    matching = tuple(match) or _matching(before, after, certificate, known)
    unread = _unread(certificate)
    secret = tuple(sensitive) or _sensitive(certificate)
    names = tuple(known) or _known(before, after, certificate, (*matching, *secret))
    names = tuple(dict.fromkeys(name for name in names if name not in unread))
    _check_matching(matching, certificate)
    problems = _problems(given, names, matching, secret)
    problems += risk_input_problems(given, names, weights, threshold)
    if problems:
        raise DataError(*problems)
    trees = _taxonomies(certificate, taxonomies or {}, given.path.parent)
    plan = certificate.plan if certificate else None
    columns = known_columns(before, after, [*names, *matching, *secret], plan, trees)
    matched, learned = columns[len(names) :][: len(matching)], columns[len(names) + len(matching) :]
    find = pair_rows if match else own_rows
    own = find(matched, before.num_rows, after.num_rows)
    drawn = {one.column: one for one in certificate.maskings if one.matrix} if certificate else {}
    files = TwoFiles(
        columns[: len(names)],
        unpaired(before.num_rows) if isinstance(own, NotApplicable) else own,
        after.num_rows,
        is_published=plan is not None,
        drawn={n: Transitions(one.categories, one.matrix) for n, one in drawn.items()},
    )
    inputs = risk_inputs(given, files, learned, weights, threshold, trees)
    risks = measure_risks(files, inputs, progress)
    if isinstance(own, NotApplicable):
        results, not_run = without_attacks(own.reason, settings)
    else:
        results, not_run = attack(files, progress, settings)
    audit = DisclosureAudit(
        original=Path(original).name,
        release=given.path.name,
        rows=before.num_rows,
        released=after.num_rows,
        paired=int((files.own >= 0).sum()),
        matched_by=() if isinstance(own, NotApplicable) else matching,
        known=names,
        methods={one.name: _method(one.name, certificate) for one in files.columns},
        attacks=results,
        not_run=not_run,
        unread=tuple(name for name in before.column_names if name in unread),
        risks=risks.risks,
        risks_not_run=risks.not_run,
        distributions=risks.distributions,
    )
    if out is not None:
        write_disclosure(audit, Path(out), *given.files)
    return audit


def _matching(
    original: "pa.Table",
    release: "pa.Table",
    certificate: "Certificate | None",
    known: Sequence[str],
) -> tuple[str, ...]:
    """Return columns that tell rows apart: one that does alone, or all that are published as they
    are. Raises DataError (A023) where nobody says what any column is for."""
    both = [name for name in original.column_names if name in release.column_names]
    if certificate is not None:
        columns = certificate.plan.anonymization().columns
        kept = {*columns.insensitive, *columns.sensitive_names}
        both = [name for name in both if name in kept]
        alone = [name for name in both if tells_apart(original, name)]
        return tuple(alone[:1] or (name for name in both if name not in known))
    if known:
        return ()
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


def _sensitive(certificate: "Certificate | None") -> tuple[str, ...]:
    """Return the columns that a policy says are sensitive."""
    return certificate.plan.anonymization().columns.sensitive_names if certificate else ()


def _problems(
    given: Disclosed, known: Sequence[str], matching: Sequence[str], sensitive: Sequence[str]
) -> list[Problem]:
    """Return every column that a table lacks (C005), and that is both known and matched, or that
    none is known (A023)."""
    problems = given.missing((*known, *matching, *sensitive), known)
    if not known:
        message = "There is no column that both tables have and that could be known."
        problems.append(Problem("A023", message, "Name the known columns."))
    for name in known:
        if name in matching:
            message = f"Rows are matched by {name!r}, which the intruder is said to know."
            problems.append(Problem("A023", message, "Match rows by another column."))
    return problems


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
