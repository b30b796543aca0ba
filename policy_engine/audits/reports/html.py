"""The skeleton and the parts of a page: every value escaped, every picture inline."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files


def html_page(title: str, body: Iterable[str]) -> str:
    """Return a page of these parts that refers to nothing outside itself."""
    return _PAGE.format(title=escape(title), style=_style(), body="\n".join(body))


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


@cache
def _style() -> str:
    return (files(__package__) / "style.css").read_text(encoding="utf-8")


def key_figures(figures: Mapping[str, str]) -> str:
    """Return the few figures that stand on top, by their names."""
    cells = (f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in figures.items())
    return f'<dl class="figures">{"".join(cells)}</dl>'


def picture(title: str, svg: str, caption: str, table: str = "") -> str:
    """Return a picture with its title, its caption, and its figures as a table to unfold."""
    more = f"<details><summary>as a table</summary>{table}</details>" if table else ""
    return (
        f"<figure><h3>{escape(title)}</h3>\n{svg}\n"
        f"<figcaption>{escape(caption)}</figcaption>{more}</figure>"
    )


def html_table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    texts: Sequence[int] = (),
    marked: Sequence[int] = (),
) -> str:
    """Return a table; the columns `texts` hold text, not figures, the rows `marked` stand out."""
    names = "".join(
        f'<th scope="col"{_class(place, texts)}>{escape(name)}</th>'
        for place, name in enumerate(head)
    )
    body = "\n".join(
        f"<tr{_MARK if place in marked else ''}>{_row(row, texts)}</tr>"
        for place, row in enumerate(rows)
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="wide"><table>{title}<thead><tr>{names}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


_MARK = ' class="marked"'


def _row(row: Sequence[str], texts: Sequence[int]) -> str:
    first, *others = row
    cells = "".join(
        f"<td{_class(place, texts, value)}>{_cell(value)}</td>"
        for place, value in enumerate(others, start=1)
    )
    return f'<th scope="row">{escape(first)}</th>{cells}'


def _cell(value: str) -> str:
    """Return a value; what stands on a second line, such as its interval, is set smaller."""
    first, line, second = value.partition("\n")
    return f"{escape(first)}<small>{escape(second)}</small>" if line else escape(first)


def _class(place: int, texts: Sequence[int], value: str = "") -> str:
    verdict = {"holds": "good", "broken": "bad"}.get(value)
    if verdict:
        return f' class="{verdict}"'
    return ' class="text"' if place in texts else ""


def number(figure: float | None) -> str:
    """Return a figure with three digits."""
    return "n/a" if figure is None else f"{figure:.3f}"


def percent(share: float | None) -> str:
    """Return a share in percent with one digit."""
    return "n/a" if share is None else f"{share:.1%}"
