"""Names of tables in Spark's catalog, and the certificate in the properties of a table."""

import re
from typing import Any

from policy_engine.data.catalog import TABLE

PROPERTY = "policy_engine.certificate"
_PART = r"(?:`(?:[^`]|``)+`|[^.`]+)"


def sql_name(location: str, ending: str = "") -> str:
    """Return the name in `table:NAME` for SQL, each of its parts quoted.

    Dots outside backquotes separate the parts. `ending` is appended to the last part.
    """
    *above, last = name_parts(location)
    return quote_parts(*above, last + ending)


def name_parts(location: str) -> list[str]:
    """Return the parts of the name in `table:NAME`; text that is not a name is one part."""
    name = location.removeprefix(TABLE)
    is_name = re.fullmatch(rf"{_PART}(?:\.{_PART})*", name)
    return [_unquote_part(part) for part in re.findall(_PART, name)] if is_name else [name]


def quote_parts(*parts: str) -> str:
    """Return the parts of a name, quoted and joined for SQL."""
    return ".".join(_quote_part(part) for part in parts)


def certificate_text(session: Any, location: str) -> str | None:
    """Return the text of the certificate of a table in the catalog, None without one."""
    rows = session.sql(f"SHOW TBLPROPERTIES {sql_name(location)}").collect()
    return next((row.value for row in rows if row.key == PROPERTY), None)


def _quote_part(part: str) -> str:
    return "`" + part.replace("`", "``") + "`"


def _unquote_part(part: str) -> str:
    return part[1:-1].replace("``", "`") if part.startswith("`") else part
