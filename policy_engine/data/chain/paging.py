"""The rows of a chain in an SQLite file, in pages between which nothing of the file is held."""

from collections.abc import Iterable, Iterator, Sequence

from policy_engine.data.chain.rows import Row
from policy_engine.data.chain.table import LARGEST, LEAST, ChainTable

MOST_ROWS, FEW_ROWS = 1_000, 100
MOST_BYTES = 2**20
"""A page ends with the row that reaches so many bytes."""

_REPLACED = "it was truncated or replaced while it was read"


def rows_in_pages(table: ChainTable, start: int = 0) -> Iterator[Row]:
    """Yield the rows in order from a number on, up to the last one that is there at first.

    Each page is a transaction of its own, and any thread can ask for the next. Whoever keeps the
    iterator, or never ends it, keeps no connection, no lock and one page. Raises ValueError where
    a row that was yielded is gone or has changed, and as `ChainTable.reading` does.
    """
    page, end = _first_page(table, start or LEAST)
    while page:
        yield from page
        last = page[-1]
        page = _following(table, last, end) if last.start < end else []


def _first_page(table: ChainTable, start: int) -> tuple[list[Row], int]:
    """Return the first rows from a number on, and the number of the last row of all."""
    with table.reading() as opened:
        last = opened.tail().last if opened is not None else None
        if opened is None or last is None:
            return [], LEAST
        return _page(opened.between(start, last.start), MOST_ROWS), last.start


def _following(table: ChainTable, last: Row, end: int) -> list[Row]:
    """Return the rows after one, which still has to be there, up to one of a number."""
    with table.reading() as opened:
        rows = opened.between(last.start, end) if opened is not None else iter(())
        page = _page(rows, MOST_ROWS) if next(rows, None) == last else []
    if not page:
        raise ValueError(_REPLACED)
    return page


def _page(rows: Iterable[Row], most: int) -> list[Row]:
    page, size = [], 0
    for row in rows:
        page.append(row)
        size += len(row.text)
        if len(page) >= most or size >= MOST_BYTES:
            break
    return page


def latest_in_pages(
    table: ChainTable,
    before: int | None = None,
    texts: Sequence[bytes] = (),
    after: int | None = None,
) -> Iterator[Row]:
    """Yield the rows from the last one backwards, between two numbers, with each of some texts.

    The first page is small, for little is read of most logs. Each is a transaction of its own, as
    those of `rows_in_pages` are. Raises as `ChainTable.reading` does.
    """
    below, most = LARGEST if before is None else before, min(FEW_ROWS, MOST_ROWS)
    least = LEAST if after is None else after + 1
    while below > least:
        page, below = _page_below(table, below, most, texts, least)
        yield from page
        most = MOST_ROWS


def _page_below(
    table: ChainTable, below: int, most: int, texts: Sequence[bytes], least: int
) -> tuple[list[Row], int]:
    """Return those of so many rows below a number, and of `least` at least, that have some texts,
    and below which number to go on."""
    with table.reading() as opened:
        lowest = opened.lowest(below, most) if opened is not None else None
        if opened is None or lowest is None:
            return [], LEAST
        lowest = max(lowest, least)
        page = _page(opened.latest(below, lowest, texts), most)
    is_cut = bool(page) and sum(len(one.text) for one in page) >= MOST_BYTES
    return page, page[-1].start if is_cut else lowest
