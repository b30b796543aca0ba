"""Tables and figures as people read them on a terminal."""

import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text


def rows_table(title: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Table:
    """Return the rows of a table, missing values empty."""
    table = new_table(title, *map(escape, columns))
    for row in rows:
        table.add_row(*("" if value is None else escape(str(value)) for value in row))
    return table


class SafeConsole(Console):
    """A console on which texts of data and policies give a terminal no commands."""

    def render_str(self, text: str, **style: Any) -> Text:
        """Return a text to be printed, its control characters escaped as in JSON."""
        return super().render_str(_CONTROLS.sub(_escaped, text), **style)

    def on_broken_pipe(self) -> NoReturn:
        """Raise BrokenPipeError: rich would exit with 1, which means that something fails."""
        self.quiet = True
        raise BrokenPipeError


# Those that turn the direction of a text make it read as another one.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def _escaped(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, and wide enough for tables when piped."""
    # Words between colons stay words: rich makes a picture of the one in did:key:z6Mk.
    terminal = SafeConsole(stderr=stderr, highlight=False, soft_wrap=False, emoji=False)
    if terminal.is_terminal:
        return terminal
    return SafeConsole(stderr=stderr, highlight=False, width=PIPED, emoji=False)


PIPED = 120
"""The width of what is piped."""


def new_table(title: str, *columns: str) -> Table:
    """Return a table without rows; what is too long for its column goes on in the next line."""
    table = Table(title=escape(title), title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def table_without_dashes(
    title: str, names: tuple[str, ...], rows: Sequence[tuple[str, ...]]
) -> Table:
    """Return a table of markup, without the columns that are a dash in every row."""
    places = [place for place in range(len(names)) if any(row[place] != "-" for row in rows)]
    table = new_table(title, *(names[place] for place in places))
    for row in rows:
        table.add_row(*(row[place] for place in places))
    return table


def print_fitting(out: Console, table: Table) -> None:
    """Print a table, its lines broken between words, or, where the terminal is too narrow for its
    words, the same row by row.

    Then the first column is on a line of its own, and the others are below it, all by name.
    """
    endless = out.options.update(max_width=_ENDLESS)
    is_narrow = out.measure(table, options=endless).maximum <= out.width
    widths = [] if is_narrow else _column_widths(out, table)
    if is_narrow or widths:
        for column, width in zip(table.columns, widths, strict=False):
            column.width = width
        out.print(table)
        return
    first, *others = table.columns
    if table.title:
        out.print(f"[bold]{table.title}[/]")
    name = _join_cell_lines(first.header)
    for title, *cells in zip(first.cells, *(one.cells for one in others), strict=True):
        out.print(f"{name}{_NBSP}[bold]{_join_cell_lines(title)}[/]".removeprefix(_NBSP))
        parts = (
            f"{_join_cell_lines(one.header)}{_NBSP}{_join_cell_lines(cell)}"
            for one, cell in zip(others, cells, strict=True)
        )
        out.print(Padding(", ".join(parts), (0, 0, 0, 2)))


_ENDLESS, _NBSP = 10_000, "\N{NO-BREAK SPACE}"


def _column_widths(out: Console, table: Table) -> list[int]:
    """Return how wide columns can be so that no word is broken; none if the terminal is too narrow.

    The widest are narrowed first.
    """
    room = out.width - len(table.columns) * _PADDING - 1
    least, widths = [], []
    for column in table.columns:
        lines = [line for cell in (column.header, *column.cells) for line in _lines_of(out, cell)]
        words = lines if column.no_wrap else [word for line in lines for word in line.split()]
        widths.append(min(max(map(cell_len, lines), default=1) or 1, room))
        least.append(min(max(map(cell_len, words), default=1), widths[-1], _LONGEST_WORD))
    if sum(least) > room:
        return []
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        widths[widest] -= 1
    return widths


_PADDING, _LONGEST_WORD = 3, 40
"""Around the cells of a column; and of words that are not broken, unlike names and digests."""


def _lines_of(out: Console, cell: Any) -> list[str]:
    return out.render_str(str(cell)).plain.split("\n")


def _join_cell_lines(cell: Any) -> str:
    """Return the lines of a cell, as markup, in one: the second in brackets."""
    value, _, below = str(cell).partition("\n")
    if not below:
        return value
    return f"{value} ({below})" if below.startswith("[dim]") else f"{value} {below}"


def printed_list(names: tuple[str, ...]) -> str:
    """Return names with commas, or a dash for none, as markup."""
    return escape(", ".join(names)) or "-"


def printed_loss(value: float | None) -> str:
    """Return a loss with four digits, or a dash for none."""
    return "-" if value is None else f"{value:.4f}"


def printed_figure(value: float, sense: str) -> str:
    """Return a figure of at most five digits, never rounded to the better side."""
    if isinstance(value, int) or not math.isfinite(value) or value == round(value):
        return f"{value:g}"
    digits = 4 - math.floor(math.log10(abs(value)))
    step = 10.0**-digits
    towards = math.floor if sense == "at least" else math.ceil
    return f"{towards(round(value / step, 6)) * step:.{max(digits, 0)}f}"
