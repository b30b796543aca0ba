"""Pages by Jinja2: every value escaped, every picture inline, nothing outside referred to."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Table:
    """A table as a page shows it.

    The columns `texts` hold text, not figures, and the rows `marked` are highlighted. A cell's
    second line, such as its interval, is set smaller.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: Sequence[int] = ()
    marked: Sequence[int] = ()


@dataclass(frozen=True)
class PagePicture:
    """A picture as a page shows it, with its figures as a table to unfold."""

    title: str
    drawing: Markup
    caption: str
    table: Table | None = None


def picture(title: str, svg: str, caption: str, table: Table | None = None) -> PagePicture:
    """Return a picture of SVG that was drawn here, which alone is not escaped."""
    return PagePicture(title, Markup(svg), caption, table)  # noqa: S704 (its texts are escaped in it)


def html_page(template: str, **values: Any) -> str:
    """Return the page that a template makes of values; a value that is missing is an error."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 (only for pages)

    return Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def number(figure: float | None) -> str:
    """Return a figure with three digits."""
    return "n/a" if figure is None else f"{figure:.3f}"


def percent(share: float | None) -> str:
    """Return a share in percent with one digit."""
    return "n/a" if share is None else f"{share:.1%}"
