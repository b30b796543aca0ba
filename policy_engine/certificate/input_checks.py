"""Whether an output that was made before is of the data that it is said to be of."""

from collections.abc import Iterator
from typing import Any

from policy_engine.certificate.certificate import Certificate
from policy_engine.engines.engine import Engine, WrittenTable
from policy_engine.errors import CertificateError, DataError, Problem, format_count, join_names
from policy_engine.plan.plan import Plan
from policy_engine.release.release import Release


def check_sampled(
    release: Release, engine: Engine, table: Any, earlier: Certificate | None
) -> None:
    """Raise CertificateError where an output cannot be the sample that its plan asks for.

    It has other numbers of rows (V003), or weights that are not those of strata (V001), or the
    `earlier` certificate says of its sample what the data contradict (V005). `table` is the input,
    None where it is not at hand: then less is known.
    """
    plan = release.plan
    step = plan.sampling()
    compared = engine.compare_sampled(WrittenTable(release.output), plan, table)
    problems = [Problem("V003", one) for one in compared.row_problems()]
    if wrong := compared.wrong_weights():
        message = f"{format_count(wrong, 'row')} of {step.weight_column!r} cannot have the weight "
        problems.append(Problem("V001", f"{message}of their stratum."))
    if earlier and earlier.sample and not problems:
        false = compared.false_figures(earlier.sample)
        problems += [
            Problem("V005", f"The certificate is not that of this sample. {one}") for one in false
        ]
    if problems:
        raise CertificateError(*problems, source=release.output.location)


def check_row_number(release: Release, rows_in: int, rows: int) -> None:
    """Raise CertificateError (V003) where an output has more rows than its input, or fewer than may
    be left of it."""
    allowed = int(release.plan.most_suppressed * rows_in)
    if not rows_in - allowed <= rows <= rows_in:
        message = f"The output has {rows:,} rows, and the data {rows_in:,}, of which {allowed:,} "
        location = release.output.location
        raise CertificateError.of("V003", f"{message}may be suppressed.", source=location)


def check_same_sample(earlier: Certificate, again: Certificate, source: str) -> None:
    """Raise CertificateError (V005) where a certificate has another sample than one made again."""
    if earlier.sample not in (None, again.sample):
        message = "The certificate is not that of this sample. Made again, it has other figures: "
        figures = (
            ", ".join(f"{name} {value}" for name, value in again.sample) if again.sample else ""
        )
        raise CertificateError.of("V005", f"{message}{figures or 'none'}.", source=source)


def check_kept_values(release: Release, engine: Engine, table: Any) -> None:
    """Raise CertificateError (V002) where rows have values, in columns that are released as they
    are, that no row of the input has, or have them more often, and where columns have other types
    than those of the input."""
    plan, output = release.plan, WrittenTable(release.output)
    problems = [*_type_problems(plan, output, engine, table)]
    for names, present in _kept_columns(plan):
        strange = engine.strange_rows(output, table, names, present) if names or present else 0
        if strange:
            rows = (
                f"{format_count(strange, 'row')} of the output {'has' if strange == 1 else 'have'}"
            )
            columns = join_names([*names, present] if present else names)
            message = f"{rows} values of {columns} "
            problems.append(Problem("V002", f"{message}that the data do not have so often."))
    if problems:
        raise CertificateError(*problems, source=release.output.location)


def _type_problems(
    plan: Plan, output: WrittenTable, engine: Engine, table: Any
) -> Iterator[Problem]:
    masked, labelled = (plan.mask.names, plan.mask.labelled) if plan.mask else ((), ())
    kept = (name for names, _ in _kept_columns(plan) for name in names)
    names = tuple(dict.fromkeys((*kept, *masked)))
    for name, kind in engine.other_types(output, table, names, labelled).items():
        message = f"The column {name!r} of the output is of the type {kind}, which is not that of "
        yield Problem("V002", f"{message}the data.", "Keep the types that apply writes.")


def check_masked_sample(release: Release, engine: Engine, table: Any) -> None:
    """Raise CertificateError (V001) where rows of a sample have masked cells that no row of the
    input with their values, in columns that are released as they are, can have.

    Only maskings that make the same of a value in any sample are compared, and only where they take
    all values of the input: those that were not sampled may be others.
    """
    plan = release.plan
    step = plan.mask and plan.mask.single_values()
    if step is None or not step.columns or plan.require_anonymize().is_in_buckets:
        return
    try:
        columns = engine.look_at_masked(
            table, step, WrittenTable(release.output), plan.unmasked_columns
        )
    except DataError:
        return
    problems = [
        Problem("V001", f"{format_count(one.misplaced, 'cell')} of {name!r} {_NOT_OF_ITS_ROW}")
        for name, one in columns.singles.items()
        if one.misplaced
    ]
    if problems:
        raise CertificateError(*problems, source=release.output.location)


_NOT_OF_ITS_ROW = "cannot be what the masking makes of a row of the data that was sampled."


def _kept_columns(plan: Plan) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield columns whose values belong together, each with one of which cells may be missing."""
    columns, kept = plan.require_anonymize().columns, plan.unmasked_columns
    if plan.require_anonymize().is_in_buckets:
        yield (*kept, *columns.quasi_names), ""
        yield columns.sensitive_names, ""
        return
    yield kept, ""
    if plan.require_anonymize().recoding.algorithm == "local-suppression":
        yield from ((kept, name) for name in columns.quasi_names)
