"""Texts of tables as a spreadsheet shows them: none is a formula."""

from typing import TypeVar

_Cell = TypeVar("_Cell")
_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def without_formula(cell: _Cell) -> _Cell | str:
    """Return a cell of a CSV file for people: a text that a spreadsheet would compute has an
    apostrophe before it, numbers and texts that are numbers stay (OWASP, CSV Injection)."""
    if not isinstance(cell, str) or not cell.lstrip(" ").startswith(_STARTS) or _is_number(cell):
        return cell
    return f"'{cell}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text and "_" not in text
