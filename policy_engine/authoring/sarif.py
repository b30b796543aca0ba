"""Problems of several files as SARIF, which code scanners and editors show in place."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from policy_engine.errors import CODES, SECTIONS, Fix, Place, Problem

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
PAGE = "https://w3id.org/policy-engine/docs/errors.md"
"""The page that explains every code, each with its own anchor."""

_LEVELS = {"W": "warning", "H": "note"}


def sarif_log(problems: Mapping[str, Sequence[Problem]]) -> dict[str, Any]:
    """Return the problems of files, by path, as a log of one run (SARIF 2.1.0, section 3.13).

    A file without problems is listed, too: it was read and is valid. Paths are relative to the
    repository of a file (the nearest parent folder with `.git`), else to the working folder,
    wherever the command is run; a path outside stays absolute.
    """
    used_codes = {problem.code for several in problems.values() for problem in several}
    codes = [*(code for code in CODES if code in used_codes), *sorted(used_codes - CODES.keys())]
    driver = {
        "name": "policy-engine",
        "version": version("policy-engine"),
        "informationUri": PAGE.rpartition("/docs/")[0],
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(path)}} for path in problems],
        "results": list(_results(problems, codes)),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    """Return the description of a code (section 3.49)."""
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": _text(CODES.get(code, code))},
        "helpUri": f"{PAGE}#{code.lower()}",
        "defaultConfiguration": {"level": _level(code)},
    }
    section = SECTIONS.get(code)
    return {**rule, "help": {"text": f"See {section}."}} if section else rule


def _results(
    problems: Mapping[str, Sequence[Problem]], codes: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for index, (path, several) in enumerate(problems.items()):
        artifact = {"uri": _uri(path), "index": index}
        for problem in several:
            yield _result(problem, artifact, codes.index(problem.code))


def _result(problem: Problem, artifact: Mapping[str, Any], rule: int) -> dict[str, Any]:
    """Return one problem (section 3.27)."""
    place = problem.place
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if place.line:
        physical["region"] = {"startLine": place.line, "startColumn": max(place.column, 1)}
    location: dict[str, Any] = {"physicalLocation": physical}
    if place.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": place.pointer}]
    words = f"{problem.message} {problem.hint}".strip()
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": _level(problem.code),
        "message": {"text": _text(words)},
        "locations": [location],
    }
    fix = problem.fix
    if fix and fix.start.line and fix.end.line:
        result["fixes"] = [_fix(fix, problem.hint, artifact)]
    return result


def _fix(fix: Fix, hint: str, artifact: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fix of a problem (section 3.55); a region ends after its last character."""
    replacement = {
        "deletedRegion": {**_position(fix.start, "start"), **_position(fix.end, "end")},
        "insertedContent": {"text": fix.text},
    }
    change = {"artifactLocation": artifact, "replacements": [replacement]}
    words = {"description": {"text": _text(hint)}} if hint else {}
    return {**words, "artifactChanges": [change]}


def _position(place: Place, which: str) -> dict[str, int]:
    return {f"{which}Line": place.line, f"{which}Column": max(place.column, 1)}


def _level(code: str) -> str:
    return _LEVELS.get(code[:1], "error")


def _text(words: str) -> str:
    """Return a message without placeholders or links, whatever text of a policy it quotes.

    Braces mark placeholders, and `[text](target)` a link (sections 3.11.5, 3.11.6).
    """
    doubled = re.sub(r"[{}]", lambda match: match[0] * 2, words)
    return doubled.replace("](", r"\](")


def _uri(path: str) -> str:
    """Return a path as a reference to a URI (section 3.4.3)."""
    if path == "-":
        return path
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 (links are left as they are named)
    root = _repository(absolute) or Path.cwd()
    if not absolute.is_relative_to(root):
        return absolute.as_uri()
    return quote(os.fsencode(absolute.relative_to(root).as_posix()))


def _repository(file: Path) -> Path | None:
    """Return the folder of a file's repository."""
    for folder in file.parents:
        with suppress(OSError, ValueError):
            if (folder / ".git").exists():
                return folder
    return None
