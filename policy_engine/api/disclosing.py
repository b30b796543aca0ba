"""Audits of released tables: what an intruder who knows some columns can still do."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.attacked_files import AttackedFiles, AuditQuestion, match_files
from policy_engine.api.deciding import TrustSource
from policy_engine.api.disclosing_files import attack_files, audit_files
from policy_engine.api.disclosing_on_spark import audit_on_cluster, check_for_cluster
from policy_engine.api.disclosure_inputs import read_disclosed
from policy_engine.api.trusting import believed_beside
from policy_engine.audits.disclosure.answers import answers_together
from policy_engine.audits.disclosure.records import check_outside, check_private, write_records
from policy_engine.audits.disclosure.result import (
    AnswersTogether,
    DisclosureAudit,
    Linkage,
    ReleaseNotTogether,
    ReleasesTogether,
    RiskAndUtility,
)
from policy_engine.audits.disclosure.settings import AttackSettings, read_settings
from policy_engine.audits.disclosure.several import median_query_error, releases_together
from policy_engine.audits.reports.disclosure import write_disclosure
from policy_engine.certificate.beside import single_output
from policy_engine.data.table_files import read_text
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import DataError, PolicyEngineError

if TYPE_CHECKING:
    from policy_engine.audits.disclosure.result import Agreement
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.plan.plan import EngineName


def audit_disclosure(
    original: str | Path,
    release: str | Path,
    *,
    known: Sequence[str] = (),
    match: Sequence[str] = (),
    same_order: bool = False,
    attacks: Sequence[str] = (),
    seconds: float = 10.0,
    agreement: "Agreement" = 10,
    sensitive: Sequence[str] = (),
    population: str | Path | None = None,
    weights: str = "",
    threshold: float = 0.2,
    holdout: str | Path | None = None,
    also: Sequence[str | Path] = (),
    answered: str | Path | None = None,
    engine: "EngineName | SparkEngine" = "local",
    taxonomies: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    records: str | Path | None = None,
    progress: Progress = silent,
    trust: TrustSource | None = None,
) -> DisclosureAudit:
    """Return what an intruder can do to a release who knows columns of persons in the original.

    `original` and `release` are tables, of any tool; with the certificate of a release, methods and
    parameters are known to the intruder, too. `known` are the columns known, in any order: by
    default all that both tables have and that are generalised or masked, or without a certificate,
    all. Rows belong together that are equal in the `match` columns, by
    default those that are published as they are and tell rows apart; with `same_order`, the rows of
    all tables are in one order. Where nothing tells, nobody is linked, and the other risks are
    measured. `sensitive` are the columns that nobody should learn,
    by default those of the policy. A `population` has the known columns of everybody of whom the
    release may be a part, by default the original, if rows were sampled from it; `weights` is the
    column of how many persons each row stands for. The share of records whose risk is above the
    `threshold` is told. `attacks` are the only ones made; those that are named are made on larger
    files, and in full. A family of learned distances has so many `seconds`. Of probabilistic
    linkage, numbers agree in the same of so many bins, or "equal", by `agreement`. The file
    `holdout` has persons who were never in the original: whom attacks seem to find of them is a
    second baseline. `also` are other releases of the original: what they add to the first, and what
    each risks and is good for. The file `answered` has queries in SQL, separated by semicolons,
    that were answered on the original: what their answers add to the release. With `out`, the
    figures and a page are written there; with `records`, the most exposed rows, into a file that
    its owner alone can read. Spark reads larger tables; of those with more rows than its driver
    holds, classes alone are counted. Under a `trust` (see `load_trust`), it has to cover the
    certificates that are beside releases.

    Raises DataError where a table cannot be read or lacks a column (C005) or its type (C009), rows
    cannot be matched (A023), cells of a release cannot be read (A027), a holdout has persons of the
    original (A028), the population does not contain the release (A024), weights or the threshold
    are out of range (A025), an attack is not known or has no time, or numbers do not agree in this
    way (A012), or a taxonomy is missing (C012); CertificateError where the release was not made
    from the original (V002); QueryError for answered queries that are not understood (Q001, Q002,
    Q004, Q005) or fail (Q008); OutputError where nothing can be written (O002), where `records`
    would be no secret, or `out` is the folder of a release (O001); EngineError where an engine
    cannot be started, PlanError for what Spark does not do (M009).
    """
    settings = read_settings(attacks, seconds, agreement)
    others = Path(holdout) if holdout else None
    question = AuditQuestion(
        known, match, same_order, sensitive, weights, threshold, taxonomies, others
    )
    if engine != "local":
        unordered = {"answered queries": answered, "same order of rows": same_order}
        check_for_cluster({"holdout": holdout, "also": also, "records": records, **unordered})
        tables = original, release, population
        return audit_on_cluster(engine, tables, question, settings, out, progress, trust)
    paths = [Path(single_output(Path(one))) for one in (release, *also)]
    for one in paths if trust is not None else ():
        believed_beside(one, trust)
    if out is not None:
        check_outside(Path(out), paths)
    if records:
        check_private(Path(records), paths, [Path(original), *([others] if others else [])])
    disclosed = read_disclosed(original, release, population, progress)
    read = match_files(disclosed, question)
    if records and read.unmatched:
        raise DataError.of("A023", f"Nobody's records can be listed: {read.unmatched}.")
    answers = _answers(Path(answered), read) if answered else None
    further = [_further(original, one, question, progress) for one in also]
    audit, attack_results = audit_files(read, question, settings, progress)
    if further:
        several = _several([read, *further], audit.worst, settings, progress)
        audit = audit.model_copy(update=several)
    if answers:
        audit = audit.model_copy(update={"answered": answers})
    if out is not None:
        beside = [Path(one) for one in (holdout, answered) if one]
        files = [*disclosed.files, *beside, *(one.given.path for one in further)]
        write_disclosure(audit, Path(out), *files)
    if records:
        keys = read.keys()
        write_records(Path(records), keys, attack_results.links())
    return audit


def _answers(path: Path, read: AttackedFiles) -> AnswersTogether:
    """Return what answers to the queries in a file add to a release."""
    from policy_engine.decision.query.cells import answered_queries  # noqa: PLC0415 (sqlglot)

    if read.unmatched:
        message = f"Answers cannot be put together with the release: {read.unmatched}."
        raise DataError.of("A023", message)
    names, table = read.files.names, read.given.before
    queries = answered_queries(read_text(path), table, names, str(path))
    return answers_together(read.given.path.name, read.files, queries)


def _further(
    original: str | Path, release: str | Path, question: AuditQuestion, progress: Progress
) -> AttackedFiles:
    """Return another release of the original, asked for the same columns.

    The errors of `audit_disclosure` name its file.
    """
    columns = AuditQuestion(
        question.known, question.match, question.same_order, taxonomies=question.taxonomies
    )
    try:
        return match_files(read_disclosed(original, release, None, progress), columns)
    except PolicyEngineError as error:
        raise type(error)(*error.problems, source=error.source or str(release)) from None


def _several(
    releases: Sequence[AttackedFiles],
    worst: Linkage | None,
    settings: AttackSettings,
    progress: Progress,
) -> dict[str, Any]:
    """Return what releases of one original tell together, and what each risks and is good for."""
    names = _names([one.given.path for one in releases])
    every = replace(settings, in_steps=False)
    linkages = [attack_files(one, every, progress).linkages for one in releases[1:]]
    strongest = [worst, *(max(one, key=_linked, default=None) for one in linkages)]
    points = tuple(
        RiskAndUtility(
            release=name,
            attack=one and one.title,
            linked=one and one.linked,
            error=median_query_error(read.files),
        )
        for name, one, read in zip(names, strongest, releases, strict=True)
    )
    pairs = list(zip(names, releases, strict=True))
    matched = [] if releases[0].unmatched else [pair for pair in pairs if not pair[1].unmatched]
    unknown = tuple(
        ReleaseNotTogether(release=name, reason=_UNKNOWN_ROWS)
        for name, one in pairs
        if one.unmatched
    )
    together: tuple[ReleasesTogether, ...] = ()
    if len(matched) > 1:
        files = [one.files for _, one in matched]
        together = releases_together([name for name, _ in matched], files)
    return {"together": together, "not_together": unknown, "releases": points}


_UNKNOWN_ROWS = "none of its columns is known to tell whose row is whose"


def _linked(one: Linkage) -> float:
    return one.linked.value


def _names(paths: Sequence[Path]) -> list[str]:
    """Return the names of files, with that of the folder where two are equal."""
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.resolve().parent.name}/{path.name}" for path in paths]
    return names
