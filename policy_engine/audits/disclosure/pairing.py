"""Whose row of a release is whose, and whether it can be of the original at all."""

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, known_columns
from policy_engine.data.column_names import separator_hint
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.errors import DataError, PolicyEngineError, Problem, format_count, join_names
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.grouping import classes_of

Ints = NDArray[np.int64]


def table_problems(original: pa.Table, release: pa.Table, *, is_published: bool) -> list[Problem]:
    """Return why two tables do not belong together (A023): the release has more rows, or no column
    of its original, unless it `is_published` how columns were renamed."""
    problems = []
    if not is_published and not {*original.column_names} & {*release.column_names}:
        names = (join_names(table.column_names[:_SHOWN]) for table in (original, release))
        lacked, had = names
        message = (
            f"No column of the original, such as {lacked}, is in the release, which has {had}."
        )
        hint = _separator_hint(original.column_names, release.column_names) or (
            "Give the table that the release was made from, or its columns the same names."
        )
        problems.append(Problem("A023", message, hint))
    rows, released = original.num_rows, release.num_rows
    if released > rows:
        message = f"The release has {released:,} rows, and the original {rows:,}: they do not "
        hint = "Give the whole table that the release was made from, or take rows out that it adds."
        problems.append(Problem("A023", f"{message}belong together.", hint))
    return problems


_SHOWN = 5


def _separator_hint(original: Sequence[str], release: Sequence[str]) -> str:
    return separator_hint(original) or separator_hint(release)


def nothing_known(
    original: Sequence[str], release: Sequence[str], changed: Collection[str]
) -> Problem:
    """Return that two tables with these columns have none that could be known (A023), of those
    that were `changed` in the release."""
    hint = _separator_hint(original, release)
    if changed and not {*changed} & {*original}:
        message = "The original has none of the columns that were changed in the release: "
        names = join_names([name for name in release if name in changed] or sorted(changed))
        made_from = "Give the table that the release was made from."
        return Problem("A023", f"{message}{names}.", hint or made_from)
    message = "There is no column that both tables have and that could be known."
    return Problem("A023", message, hint or "Name the known columns.")


def unnamed_keys(original: pa.Table, release: pa.Table) -> PolicyEngineError:
    """Return that nobody says which columns match rows (A023), and which could or cannot."""
    names = [name for name in original.column_names if name in release.column_names]
    names = [name for name in names if tells_apart(original, name)]
    columns = known_columns(original, release, names, None, {})
    fitting = [one.name for one in columns if not _lacking(one) and tells_apart(release, one.name)]
    if fitting:
        message = "The audit cannot tell whose row is whose."
        hint = f"Rows can be matched by {join_names(fitting, 'or')}: --match {fitting[0]}."
        return DataError.of("A023", message, hint)
    if columns:
        lacking_names = (
            f"{_lacking(one):,} of the {release.num_rows:,} values of {one.name!r}"
            for one in columns
        )
        message = (
            "No column that tells rows apart has the same values in both tables: the original "
        )
        message += f"lacks {', '.join(lacking_names)} in the release."
        return DataError.of("A023", message, f"Give the original of these rows, or {_WITHOUT_KEYS}")
    message = "The audit cannot tell whose row is whose: nothing tells rows apart."
    return DataError.of(
        "A023", message, f"Name columns that do together (match=[COLUMN]), or {_WITHOUT_KEYS}"
    )


_WITHOUT_KEYS = (
    "say that the rows of both are in the same order (--same-order), or name what is known for the "
    "risks that need no link (--known)."
)


def _lacking(column: KnownColumn) -> int:
    """Return how many rows of the release have a value of a column that the original lacks."""
    return int((~np.isin(column.released_codes(), column.before)).sum())


def tells_apart(table: pa.Table, name: str) -> bool:
    """Tell whether each row has a value of its own in a column."""
    values = plain_array(table.column(name))
    return not values.null_count and bool(pc.count_distinct(values).as_py() == table.num_rows)


def pair_rows(columns: Sequence[KnownColumn], rows: int, released: int) -> Ints:
    """Return by row of the original which row of the release is the same person's, -1 if none.

    Rows belong together where they are equal in all columns, published as they are. Raises
    DataError (A023) where these do not tell all rows apart, or rows of the release are nobody's.
    """
    codes = [np.concatenate([c.before, c.released_codes()]) for c in columns]
    if any((one < 0).any() for one in codes):
        raise _unmatched("are not published as they are, by which rows", columns)
    classes, count = classes_of([one.astype(np.int32) for one in codes])
    for part, which in ((classes[:rows], "original"), (classes[rows:], "release")):
        if len(np.unique(part)) < len(part):
            raise _unmatched(f"are equal in some rows of the {which}, which", columns)
    row_of = np.full(count, -1, dtype=np.int64)
    row_of[classes[rows:]] = np.arange(released)
    own = row_of[classes[:rows]]
    if (own >= 0).sum() < released:
        raise _rows_of_others_error(columns, released - int((own >= 0).sum()))
    return own


def in_order(rows: int) -> Ints:
    """Return that rows of the same number are of the same person, (rows,)."""
    return np.arange(rows, dtype=np.int64)


def unpaired(rows: int) -> Ints:
    """Return that nobody knows which row of the release is whose, (rows,)."""
    return np.full(rows, -1, dtype=np.int64)


def own_rows(columns: Sequence[KnownColumn], rows: int, released: int) -> Ints | NotApplicable:
    """Return what `pair_rows` does by columns that nobody named: all that are published as they
    are.

    `NotApplicable` where they do not tell rows apart. Raises DataError (A023) where rows of the
    release cannot be of the original.
    """
    if columns:
        before = [column.before.astype(np.int32) for column in columns]
        after = [column.released_codes().astype(np.int32) for column in columns]
        both = [np.concatenate(pair) for pair in zip(before, after, strict=True)]
        classes, _ = classes_of(both)
        lacking = ~np.isin(classes[rows:], classes[:rows])
        if lacking.any():
            raise _rows_of_others_error(columns, int(lacking.sum()))
        if len(np.unique(classes[:rows])) == rows:
            return pair_rows(columns, rows, released)
    return NotApplicable(
        reason="no columns that are published as they are tell rows apart, and none are named"
    )


def _rows_of_others_error(columns: Sequence[KnownColumn], rows: int) -> PolicyEngineError:
    """Return that so many rows of the release are nobody's in the original, by some columns."""
    counts = {one.name: _lacking(one) for one in columns}
    counts_text = [f"{format_count(count, 'row')} of the release" for count in counts.values()]
    problems = [
        Problem(
            "A023", f"The original lacks the values of {name!r} that {rows_told} have.", _OTHERS
        )
        for (name, count), rows_told in zip(counts.items(), counts_text, strict=True)
        if count
    ]
    if not problems:
        names, some = join_names(counts), format_count(rows, "row")
        message = (
            f"The original lacks the values of {names} together that {some} of the release have."
        )
        problems = [Problem("A023", message, _OTHERS)]
    return DataError(*problems)


_OTHERS = "Give the original of these rows, or match rows by columns that are as they were there."


def _unmatched(what: str, columns: Sequence[KnownColumn]) -> PolicyEngineError:
    names = join_names([one.name for one in columns])
    message = f"The values of {names} {what} cannot be matched."
    hint = "Name columns that tell rows apart and are published as they are: match=[COLUMN]."
    return DataError.of("A023", message, hint)
