"""Which sheet of a workbook a path names: `people.xlsx#2024` is the sheet `2024` of the file."""

import re
from pathlib import Path

_SHEET = re.compile(r"(.+\.(?:xlsx|xls|ods))#(.+)", re.IGNORECASE | re.DOTALL)


def split_sheet(path: Path) -> tuple[Path, str]:
    """Return the file of a path and the sheet that it names; empty for the first, or no workbook.

    Raises OSError, ValueError where it cannot be told whether there is such a file.
    """
    match = _SHEET.fullmatch(path.name)
    if match is None or path.exists():
        return path, ""
    return path.with_name(match[1]), match[2]


def without_sheet(name: str) -> str:
    """Return the name of a file without the sheet behind it."""
    match = _SHEET.fullmatch(name)
    return match[1] if match else name
