"""Names of tables in Spark's catalog, their versions, and the certificate in their properties."""

import re
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from policy_engine.data.catalog import TABLE
from policy_engine.engines.snapshots import TableSnapshot

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


REDACTED = "*********(redacted)"
"""What Spark shows in the place of a property that may be a secret."""
REDACTION_HINT = (
    "Change its spark.redaction.regex, or spark.sql.redaction.options.regex, which matches it."
)
_NUMBERED: Mapping[str, str] = MappingProxyType(
    {f"\\{name}": f"\\u{ord(one):04x}" for name, one in zip("bfnrt", "\b\f\n\r\t", strict=True)}
)
_SUSPECTED = re.compile(
    r"(?P<escape>\\u[0-9a-fA-F]{4}|\\.)"
    r"|secret|password|token|access[.]?key|credential|url",
    re.IGNORECASE,
)
"""What Spark takes for a secret by default (`spark.redaction.regex` and that of options)."""


def shown_text(text: str) -> str:
    """Return the same JSON, written so that Spark shows it as a property.

    It shows none whose text has one of some words, and every credential names its context. So the
    second letter of such words is written as an escape, and escapes that end in a letter are as
    numbers: a tab before "oken" would make another of the words.
    """

    def spelt(match: re.Match[str]) -> str:
        word = match[0]
        if match["escape"]:
            return _NUMBERED.get(word, word)
        return f"{word[0]}\\u{ord(word[1]):04x}{word[2:]}"

    return _SUSPECTED.sub(spelt, text)


_DETAILS = "# Detailed Table Information"
"""What ends the columns in the description of a table, one of which may be called Provider."""
_VERSIONS: Mapping[str, str] = MappingProxyType(
    {
        "delta": "DESCRIBE HISTORY {} LIMIT 1",
        "iceberg": "SELECT snapshot_id AS version FROM {}.history "
        "ORDER BY made_current_at DESC LIMIT 1",
    }
)


def current_snapshot(session: Any, location: str) -> TableSnapshot | None:
    """Return the version that a table of the catalog has now.

    None for a format that keeps no versions, for a table without any, and where the session cannot
    say: Delta Lake tells only one that has its extension (`spark.sql.extensions`).
    """
    with suppress(Exception):  # Spark's have no common base
        provider = _provider(session, location)
        if provider in _VERSIONS:
            rows = session.sql(_VERSIONS[provider].format(sql_name(location))).collect()
            facts = {"format": provider, "version": str(rows[0]["version"])}
            return TableSnapshot.model_validate(facts)
    return None


def _provider(session: Any, location: str) -> str:
    """Return the format of a table, empty for a view."""
    rows = session.sql(f"DESCRIBE EXTENDED {sql_name(location)}").collect()
    described = [(one["col_name"], one["data_type"]) for one in rows]
    titles = [title for title, _ in described]
    start = titles.index(_DETAILS) if _DETAILS in titles else len(titles)
    return str(dict(described[start:]).get("Provider", "")).lower()


def _quote_part(part: str) -> str:
    return "`" + part.replace("`", "``") + "`"


def _unquote_part(part: str) -> str:
    return part[1:-1].replace("``", "`") if part.startswith("`") else part
