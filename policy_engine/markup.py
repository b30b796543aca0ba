"""Tables in HTML, as notebooks show them."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with its texts escaped; the first cell of a row is its heading."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = "\n".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    return (
        f'<table style="text-align: left"><caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{lines}\n</tbody></table>"
    )


def _cells(row: Sequence[str]) -> str:
    first, *others = (escape(text).replace("\n", "<br>") for text in row)
    cells = "".join(f"<td>{text}</td>" for text in others)
    return f'<th scope="row">{first}</th>{cells}'
