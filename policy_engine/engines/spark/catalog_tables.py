"""Names of tables in Spark's catalog, and the certificate that a table has as a property."""

import re
from typing import Any

from policy_engine.data.catalog import TABLE

PROPERTY = "policy_engine.certificate"
_PART = r"(?:`(?:[^`]|``)+`|[^.`]+)"


def sql_name(location: str, ending: str = "") -> str:
    """Return the name in `table:NAME` as SQL takes it, each of its parts quoted.

    Dots part a name, but within backquotes. `ending` is put behind the last part.
    """
    *above, last = parts_of(location)
    return joined(*above, last + ending)


def parts_of(location: str) -> list[str]:
    """Return the parts of the name in `table:NAME`; what is none is one whole."""
    name = location.removeprefix(TABLE)
    is_name = re.fullmatch(rf"{_PART}(?:\.{_PART})*", name)
    return [_unquoted(part) for part in re.findall(_PART, name)] if is_name else [name]


def joined(*parts: str) -> str:
    """Return the parts of a name as SQL takes them, quoted."""
    return ".".join(_quoted(part) for part in parts)


def certificate_text(session: Any, location: str) -> str | None:
    """Return the text of the certificate that a table of the catalog has, None without one."""
    rows = session.sql(f"SHOW TBLPROPERTIES {sql_name(location)}").collect()
    return next((row.value for row in rows if row.key == PROPERTY), None)


def _quoted(part: str) -> str:
    return "`" + part.replace("`", "``") + "`"


def _unquoted(part: str) -> str:
    return part[1:-1].replace("``", "`") if part.startswith("`") else part
