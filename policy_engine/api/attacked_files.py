"""The two files that an audit of disclosure attacks, matched row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.disclosure_inputs import Disclosed, risk_input_problems
from policy_engine.audits.disclosure.absent import (
    NOBODY_ALIKE,
    Likeness,
    likeness,
    with_absent,
    with_others,
)
from policy_engine.audits.disclosure.files import (
    Bools,
    Ints,
    KnownColumn,
    RowsMaskedAgain,
    TwoFiles,
    known_columns,
)
from policy_engine.audits.disclosure.other_tools.missing_marks import without_marks
from policy_engine.audits.disclosure.pairing import (
    in_order,
    nothing_known,
    own_rows,
    pair_rows,
    table_problems,
    tells_apart,
    unnamed_keys,
    unpaired,
)
from policy_engine.audits.disclosure.records import numbered_rows
from policy_engine.audits.disclosure.result import FileKind
from policy_engine.audits.disclosure.simulation import Simulation, simulations
from policy_engine.audits.utility.categories import Transitions
from policy_engine.data.catalog import find_taxonomies
from policy_engine.engines import tables
from policy_engine.errors import DataError, PolicyEngineError, Problem
from policy_engine.kernels.estimates import NotApplicable

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.certificate.certificate import Certificate
    from policy_engine.plan.plan import Plan


@dataclass(frozen=True)
class AuditQuestion:
    """What an audit is asked: the arguments of `audit_disclosure` of these names."""

    known: Sequence[str] = ()
    match: Sequence[str] = ()
    same_order: bool = False
    sensitive: Sequence[str] = ()
    weights: str = ""
    threshold: float = 0.2
    taxonomies: Mapping[str, Any] | None = None
    holdout: Path | None = None


@dataclass(frozen=True)
class AttackedFiles:
    """An original and its release as attacks take them.

    Rows belong together that are equal in the columns `matching`; `unmatched` says why nobody knows
    whose row is whose. No attack reads the columns `unread`, and nobody should learn the `secret`
    ones. `outside` is for attacks on persons of a holdout, who were never in the original.
    """

    given: Disclosed
    matching: tuple[str, ...]
    unmatched: str
    unread: tuple[str, ...]
    files: TwoFiles
    secret: tuple[KnownColumn, ...]
    taxonomies: Mapping[str, Any]
    outside: TwoFiles | None = None
    likeness: Likeness = NOBODY_ALIKE

    def keys(self) -> "pa.Table":
        """Return what names the rows of the original: the columns that match them, or numbers from
        1 on."""
        if self.matching:
            return self.given.before.select(list(self.matching))
        return numbered_rows(self.given.before.num_rows)

    def methods(self) -> dict[str, str]:
        """Return how each known column was made, in words, as far as anybody knows."""
        words_by_column = {
            name: method_words(name, self.given.certificate) for name in self.files.names
        }
        if self.given.certificate is None:
            ranges = [one.name for one in self.files.columns if not one.is_exact]
            words_by_column |= dict.fromkeys(
                ranges, "not known; ranges or sets of values as they are spelled"
            )
        return words_by_column


def match_files(disclosed: Disclosed, question: AuditQuestion) -> AttackedFiles:
    """Return an original and its release matched. Raises what `audit_disclosure` does."""
    before, after, certificate = disclosed.before, disclosed.after, disclosed.certificate
    if unfit := table_problems(before, after, is_published=certificate is not None):
        raise DataError(*unfit)
    matching = tuple(question.match)
    if not matching and not question.same_order:
        matching = _matching(before, after, certificate, question.known)
    unread = unread_columns(certificate)
    secret = tuple(question.sensitive) or sensitive_columns(certificate)
    names = tuple(question.known) or default_known(
        before.column_names, after.column_names, certificate, (*matching, *secret)
    )
    names = tuple(dict.fromkeys(name for name in names if name not in unread))
    _check_matching(matching, certificate)
    problems = _problems(disclosed, names, matching, secret)
    problems += _order_problems(disclosed, question)
    if certificate is None:
        problems += disclosed.missing(tuple(question.taxonomies or {}), ())
    disclosed = disclosed.without_marks((*names, *matching, *secret))
    before, after = disclosed.before, disclosed.after
    problems += disclosed.cell_problems((*names, *matching, *secret))
    problems += risk_input_problems(disclosed, names, question.weights, question.threshold)
    if problems:
        raise DataError(*problems)
    trees = taxonomies_of(certificate, question.taxonomies or {}, disclosed.path.parent, names)
    plan = certificate.plan if certificate else None
    columns = known_columns(before, after, [*names, *matching, *secret], plan, trees)
    matched, learned = columns[len(names) :][: len(matching)], columns[len(names) + len(matching) :]
    own = _own_rows(matched, before.num_rows, after.num_rows, question)
    drawn = {one.column: one for one in certificate.maskings if one.matrix} if certificate else {}
    files = TwoFiles(
        columns[: len(names)],
        unpaired(before.num_rows) if isinstance(own, NotApplicable) else own,
        after.num_rows,
        is_published=plan is not None,
        drawn={n: Transitions(one.categories, one.matrix) for n, one in drawn.items()},
    )
    if plan is not None:
        files = replace(files, again_of=_masked_again(before, plan, trees))
        if plan.sample is None:  # else nobody knows which rows were masked
            again = simulations(files.columns, before, plan.mask, trees)
            files = replace(files, again=again)
    outside, alike = None, NOBODY_ALIKE
    if question.holdout:
        disclosed, others = _holdout(disclosed, files.names, question.holdout)
        alike = likeness(disclosed.before, others, files.names, matching, str(question.holdout))
        outside = _holdout_files(disclosed, files, others, str(question.holdout), trees)
    return AttackedFiles(
        disclosed,
        () if isinstance(own, NotApplicable) else matching,
        _unmatched(own, disclosed) if isinstance(own, NotApplicable) else "",
        tuple(name for name in before.column_names if name in unread),
        files,
        learned,
        trees,
        outside,
        alike,
    )


def _order_problems(disclosed: Disclosed, question: AuditQuestion) -> list[Problem]:
    """Return why the rows of tables cannot be matched by their order (A023), if asked for."""
    if not question.same_order:
        return []
    problems = []
    if question.match:
        message = "Rows are to be matched both by columns and by their order."
        problems.append(
            Problem("A023", message, "Name columns, or say that the order is the same.")
        )
    rows, released = disclosed.before.num_rows, disclosed.after.num_rows
    if rows != released:
        message = f"The original has {rows:,} rows, and the release {released:,}: they are not in "
        hint = "Match rows by columns that are published as they were."
        problems.append(Problem("A023", f"{message}the same order.", hint))
    return problems


def _own_rows(
    matched: Sequence[KnownColumn], rows: int, released: int, question: AuditQuestion
) -> Ints | NotApplicable:
    """Return by person which row of the release is the person's own, or why nobody knows."""
    if question.same_order:
        return in_order(rows)
    return (pair_rows if question.match else own_rows)(matched, rows, released)


def _unmatched(own: NotApplicable, disclosed: Disclosed) -> str:
    if disclosed.certificate is not None:
        return own.reason
    return (
        "no columns are named that match rows (--match), and their order is not said to be "
        "the same (--same-order)"
    )


def _masked_again(
    original: "pa.Table", plan: "Plan", taxonomies: Mapping[str, Any]
) -> RowsMaskedAgain:
    """Return what masks rows of an original again."""

    def again_of(columns: Sequence[KnownColumn], is_there: Bools) -> dict[str, Simulation]:
        return simulations(columns, original.filter(is_there), plan.mask, taxonomies)

    return again_of


def _holdout(
    disclosed: Disclosed, known_names: Sequence[str], path: Path
) -> "tuple[Disclosed, pa.Table]":
    """Return the persons of a holdout, and the tables with the marks there that were read as
    missing."""
    others = tables.read_table(path)
    if not others.num_rows:
        raise DataError.of("R001", "The table has no rows.", source=str(path))
    if disclosed.certificate is not None:
        return disclosed, others
    both: dict[FileKind, pa.Table] = {"original": disclosed.before, "holdout": others}
    cleaned, marks = without_marks(both, known_names)
    disclosed = replace(disclosed, missing_marks=(*disclosed.missing_marks, *marks))
    return disclosed, cleaned["holdout"]


def _holdout_files(
    disclosed: Disclosed,
    files: TwoFiles,
    others: "pa.Table",
    source: str,
    taxonomies: Mapping[str, Any],
) -> TwoFiles:
    """Return the same files with the persons of a holdout behind those of the original."""
    every = with_others(disclosed.before, others, files.names, source)
    plan = disclosed.certificate.plan if disclosed.certificate else None
    columns = known_columns(every, disclosed.after, files.names, plan, taxonomies)
    return with_absent(files, columns, others.num_rows)


def _matching(
    original: "pa.Table",
    release: "pa.Table",
    certificate: "Certificate | None",
    names: Sequence[str],
) -> tuple[str, ...]:
    """Return columns that tell rows apart: one that does alone, or all that are published as they
    are. Raises DataError (A023) where nobody says what any column is for."""
    both = [name for name in original.column_names if name in release.column_names]
    if certificate is not None:
        columns = certificate.plan.require_anonymize().columns
        kept = {*columns.insensitive, *columns.sensitive_names}
        both = [name for name in both if name in kept]
        alone = [name for name in both if tells_apart(original, name)]
        return tuple(alone[:1] or (name for name in both if name not in names))
    if names:
        return ()
    raise unnamed_keys(original, release)


def default_known(
    original: Sequence[str],
    release: Sequence[str],
    certificate: "Certificate | None",
    matching: Sequence[str],
) -> tuple[str, ...]:
    """Return the columns that are known of persons where nobody says which."""
    both = [name for name in original if name in release and name not in matching]
    if certificate is None:
        return tuple(both)
    hidden = certificate.plan.require_anonymize().columns.hidden
    changed = _changed(certificate) - set(hidden)
    return tuple(name for name in original if name in changed)


def columns_read(
    original: Sequence[str],
    release: Sequence[str],
    certificate: "Certificate | None",
    question: AuditQuestion,
) -> tuple[tuple[str, ...], ...]:
    """Return the columns that an audit reads of the original, the release and the population.

    Those that are named may be missing there.
    """
    plan = certificate.plan if certificate else None
    both = [name for name in original if name in release]
    matching, secret = (
        set(question.match),
        {*(question.sensitive or sensitive_columns(certificate))},
    )
    if plan is not None and not matching:
        columns = plan.require_anonymize().columns
        matching = {*columns.insensitive, *columns.sensitive_names}.intersection(both)
    left_out = (*matching, *secret) if plan is None else ()
    known_names = {*(question.known or default_known(original, release, certificate, left_out))}
    known_names -= unread_columns(certificate)
    masked = {*plan.mask.values_read} if plan and plan.mask else set()
    weights = {question.weights or (plan.sample.weight_column if plan and plan.sample else "")}
    named = {*known_names, *matching, *secret}
    order = dict.fromkeys([*original, *release, *sorted(named | weights)])
    read = (named | masked, named | weights - {""}, known_names)
    return tuple(tuple(name for name in order if name in names) for names in read)


def unread_columns(certificate: "Certificate | None") -> set[str]:
    """Return the columns that no attack reads: images."""
    mask = certificate.plan.mask if certificate else None
    return {one.name for one in (mask.image_maskings if mask else ())}


def sensitive_columns(certificate: "Certificate | None") -> tuple[str, ...]:
    """Return the columns that a policy says are sensitive."""
    return certificate.plan.require_anonymize().columns.sensitive_names if certificate else ()


def _problems(
    disclosed: Disclosed, names: Sequence[str], matching: Sequence[str], sensitive: Sequence[str]
) -> list[Problem]:
    """Return every column that a table lacks (C005), and that is both known and matched, or that
    none is known (A023)."""
    problems = disclosed.missing((*names, *matching, *sensitive), names)
    if not names:
        problems.append(no_known_column(*disclosed.names, disclosed.certificate))
    for name in names:
        if name in matching:
            message = f"Rows are matched by {name!r}, which the intruder is said to know."
            problems.append(Problem("A023", message, "Match rows by another column."))
    return problems


def no_known_column(
    original: Sequence[str], release: Sequence[str], certificate: "Certificate | None"
) -> Problem:
    """Return that tables with these columns have none that could be known (A023)."""
    return nothing_known(original, release, _changed(certificate) if certificate else ())


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
    columns, masked = plan.require_anonymize().columns, plan.mask.names if plan.mask else ()
    return {*columns.quasi_names, *columns.hidden, *masked}


def taxonomies_of(
    certificate: "Certificate | None",
    sources: Mapping[str, Any],
    folder: Path,
    known_names: Sequence[str],
) -> Mapping[str, Any]:
    """Return the taxonomies of classes, and of the recoded columns that are known; without a
    certificate those that are given for known columns.

    Raises DataError (C012) with all that are missing.
    """
    if certificate is None:
        return find_taxonomies(
            tuple(name for name in known_names if name in sources), sources, None
        )
    plan = certificate.plan
    recoded = [one for one in (plan.mask.recodings if plan.mask else ()) if one.name in known_names]
    names = plan.require_anonymize().columns.taxonomies
    names = tuple(dict.fromkeys([*names, *(one.taxonomy for one in recoded)]))
    taxonomies = find_taxonomies(names, sources, folder)
    problems: list[PolicyEngineError] = [
        DataError.of("C012", f"No taxonomy is given for {name!r}.", "Give taxonomies={NAME: FILE}.")
        for name in names
        if name not in taxonomies
    ]
    if problems:
        raise DataError(*(one for error in problems for one in error.problems))
    return taxonomies


def method_words(name: str, certificate: "Certificate | None") -> str:
    """Return how a column was made, in words, as far as anybody knows."""
    if certificate is None:
        return "not known"
    plan = certificate.plan
    for one in plan.mask.columns if plan.mask else ():
        if one.name == name:
            return one.how
    for quasi in plan.require_anonymize().columns.quasi_identifier:
        if quasi.name == name:
            return quasi.generalization or "a range or set of values"
    return "as it was"
