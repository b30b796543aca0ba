"""What is wrong with a synthetic table that a policy declares, as far as its figures are right."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from policy_engine import terms
from policy_engine.errors import Place, Problem, format_count, join_names
from policy_engine.plan.aggregates.model import MOST_PAIR_CELLS, MOST_ROWS, Statistic
from policy_engine.policy.queries import SYNTHETIC, Query


def is_synthetic(query: Query) -> bool:
    """Tell whether any column of a query is a synthetic one."""
    return any(one.function == SYNTHETIC for one in query.aggregates)


def mixed_problems(query: Query) -> Iterator[Problem]:
    """Yield what a synthetic table does not have beside its columns: groups, other figures."""
    if not is_synthetic(query):
        return
    if query.group_by:
        groups = join_names(terms.local_name(one.iri) for one in query.group_by)
        message = f"A synthetic table is not grouped. Given: pe:groupBy of {groups}."
        hint = "Make the columns synthetic ones: the dependences of pairs of columns are kept."
        yield Problem("M018", message, hint, query.group_by[0].place)
    others = [one for one in query.aggregates if one.function != SYNTHETIC]
    if others:
        message = "A synthetic table has synthetic columns alone. Given: "
        message += f"{join_names(dict.fromkeys(one.function for one in others))}."
        yield Problem(
            "M018", message, "Declare other figures as a query of their own.", others[0].place
        )


def synthetic_problems(
    query: Query,
    figures: Sequence[Statistic],
    values: Mapping[str, Any],
    rows_place: Place | None = None,
) -> Iterator[Problem]:
    """Yield what is wrong with a query as a synthetic table, if it is one (M003, M018).

    `values` are the parameters of the method, and `rows_place` is that of `maxRowsPerGroup`.
    """
    if not is_synthetic(query):
        if query.rows is not None:
            message = "Only a synthetic table has pe:rows: columns of the function synthetic."
            yield Problem("M018", message, "", query.rows.place)
        return
    if values.get("maxRowsPerGroup") != 1:
        message = "A synthetic table is made of one row of each unit: pe:maxRowsPerGroup is 1. "
        message += f"Given: {values.get('maxRowsPerGroup')}."
        yield Problem("M003", message, "", rows_place or query.place)
    yield from _shape_problems(query, figures)


def _shape_problems(query: Query, figures: Sequence[Statistic]) -> Iterator[Problem]:
    rows = 0 if query.rows is None else int(str(query.rows.value))
    if query.rows is None:
        message = f"A synthetic table needs pe:rows, a number up to {MOST_ROWS:,}."
        yield Problem("M018", message, "It is public: it is not that of the data.", query.place)
    elif rows > MOST_ROWS:
        message = f"A synthetic table has at most {MOST_ROWS:,} rows. Given: {rows:,}."
        yield Problem("M018", message, "", query.rows.place)
    if len(figures) < _FEWEST:
        message = "A synthetic table has at least two columns. Given: "
        message += f"{format_count(len(figures), 'column')}."
        yield Problem("M018", message, "Of one column, ask for its histogram.", query.place)
    for one in query.aggregates:
        if "share" in one.settings:
            message = "The columns of a synthetic table have equal parts of epsilon. Given: "
            message += f"pe:share {one.settings['share'].value}."
            yield Problem("M018", message, "", one.settings["share"].place)
    cells = sum(one.options * other.options for one, other in combinations(figures, 2))
    if cells > MOST_PAIR_CELLS:
        message = f"The pairs of columns have at most {MOST_PAIR_CELLS:,} pairs of values in all. "
        hint = "Give fewer candidates, coarser grids, or fewer columns."
        yield Problem("M018", f"{message}Given: {cells:,}.", hint, query.place)


_FEWEST = 2
