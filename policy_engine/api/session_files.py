"""What was made elsewhere and is added to a session, as a file."""

import re
from pathlib import Path
from typing import Any

from policy_engine.data.table_files import missing_file, unreadable_file
from policy_engine.errors import DataError, RequestError


def output_label(output: Any) -> str:
    """Return what an output is called if no name is given: as its file, or else by its kind."""
    if isinstance(output, str | Path):
        return Path(output).stem if len(str(output)) < _PATH else "text"
    return type(output).__name__.removesuffix("Wrapper")


_PATH = 1_000
"""A longer text is not a path."""
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]*$")
"""What ends a text that is the name of a file, whether there is one or not."""


def file_content(output: Any) -> tuple[str, bytes]:
    """Return a file, a figure of matplotlib, or a text, as its ending and its bytes.

    Raises DataError (C002, C003) for a file that cannot be read, RequestError (K025) for a frame.
    """
    if isinstance(output, str | Path) and len(str(output)) < _PATH:
        path = Path(output)
        if isinstance(output, Path) or _ENDING.search(output) or path.is_file():
            if path.is_dir():
                raise DataError.of("C002", f"{str(path)!r} is a folder, not a file.")
            if not path.is_file():
                raise missing_file(path)
            try:
                return path.suffix, path.read_bytes()
            except OSError as error:
                raise unreadable_file(path, error) from None
    if hasattr(output, "savefig"):
        from io import BytesIO  # noqa: PLC0415

        picture = BytesIO()
        output.savefig(picture, format="png")
        return ".png", picture.getvalue()
    if any(hasattr(output, one) for one in ("__arrow_c_stream__", "to_csv", "write_csv")):
        message = f"A {type(output).__name__} has no evidence, and as a text only some of its rows."
        hint = "Ask the session for it, give it to check_tables, or add it as a file, for review."
        raise RequestError.of("K025", message, hint)
    return ".txt", str(output).encode()
