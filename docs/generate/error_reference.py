"""The page of error codes: `python docs/generate/error_reference.py > docs/errors.md`."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from error_causes import CAUSES
from error_examples import MESSAGES
from error_remedies import REMEDIES

from policy_engine.errors import AREAS, CODES, SECTIONS, DataError

BAD = Path(__file__).parents[2] / "tests" / "policies" / "bad"
"""Where a checkout has policies with a mistake each, and beside each the text that it gives."""

_EXPECTED = ".expected"
_LINE = re.compile(r"(?:\d+:\d+: )?([A-Z]\d{3}) .+")
_INTRODUCTION = """\
# Error codes

Every mistake is told on one line: where it is, its code, what is wrong, what was given and what is
allowed, and often how to fix it. `--format json` gives the same in parts. Codes are stable: none
is ever given a second meaning. A command ends with 0 where all is well, with 1 where the answer is
no (a policy with a mistake, a release that falls short, a request that is denied, a log that was
changed), and with 2 where the question could not be answered.

Each code below has an example of what it looks like, and what to do about it. The policies of
examples are in `tests/policies/bad`, where each has one mistake or a few. Where the message itself
suggests something, that fits your case better than what is said here of all cases.
"""


@dataclass(frozen=True)
class Example:
    """A policy with a mistake, and the line that it gives."""

    policy: str
    line: str


def page(folder: Path = BAD) -> str:
    """Return the page on all error codes, with an example of each that the folder has.

    Raises DataError (C002) where there is no such folder.
    """
    found = examples(folder)
    areas = ("\n".join(_area(letter, title, found)) for letter, title in AREAS.items())
    return "\n".join([_INTRODUCTION, *filter(None, areas)])


def examples(folder: Path) -> dict[str, Example]:
    """Return an example by code, from a policy with as few other mistakes as there is."""
    if not folder.is_dir():
        raise DataError.of("C002", f"There is no folder {str(folder)!r}.", "It is in a checkout.")
    found: dict[str, Example] = {}
    texts = {path: path.read_text(encoding="utf-8") for path in folder.glob(f"*{_EXPECTED}")}
    for path in sorted(texts, key=lambda path: (texts[path].count("\n"), path.name)):
        for line in texts[path].splitlines():
            code = _LINE.fullmatch(line)
            if code:
                found.setdefault(code[1], Example(_policy_of(path), line))
    return found


def _policy_of(expected: Path) -> str:
    """Return the name of the policy that an expected text stands beside."""
    beside = expected.parent.glob(f"{expected.stem}.*")
    return min((path.name for path in beside if path.suffix != _EXPECTED), default="")


def _area(letter: str, title: str, found: dict[str, Example]) -> Iterator[str]:
    codes = [code for code in CODES if code[0] == letter]
    if codes:
        yield f"## {title}\n"
    for code in codes:
        meaning = CODES[code]
        section = f" ({SECTIONS[code]})" if code in SECTIONS else ""
        yield f"### {code}\n\n{meaning[0].upper()}{meaning[1:]}{section}.\n"
        if code in REMEDIES:
            yield f"**What to do:** {REMEDIES[code]}\n"
        if code in CAUSES:
            rows = (f"| {cause} | {remedy} |" for cause, remedy in CAUSES[code])
            yield "\n".join(["| what is wrong | what to do |", "|---|---|", *rows, ""])
        if code in found:
            example = found[code]
            link = f"[{example.policy}](../tests/policies/bad/{example.policy})"
            yield f"{link} gives:\n\n```text\n{example.line}\n```\n"
        elif code in MESSAGES:
            yield f"It looks like this:\n\n```text\n{code} {MESSAGES[code]}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(page())
