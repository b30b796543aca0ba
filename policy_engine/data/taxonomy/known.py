"""Taxonomies of things that everybody names alike: countries, states, diseases, occupations,
industries.

Countries are those of ISO 3166-1 by the regions of the United Nations (standard M49), states of the
USA by the divisions and regions of the Census Bureau, codes of diseases by the categories and
chapters of ICD-9 and ICD-10, occupations by the groups of ISCO-08 (International Labour
Organization), industries by the divisions and sections of NACE Rev. 2 (Eurostat).
"""

import csv
import io
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from policy_engine import terms
from policy_engine.errors import InternalError

_ENOUGH = 0.8
"""Such a share of the distinct values has to be known."""
_FEWEST = 3
_OTHERS = "(other)"
_LETTERS = re.compile(r"[^a-z]+")
_DISEASE = re.compile(r"([A-Z]?)([0-9A-Z]{1,3})(?:\.?[0-9A-Z]{1,4})?")
_OF_DISEASES = re.compile(r"icd|diag|disease", re.IGNORECASE)
_PLACES = (
    ("countries", "countries by the regions of UN M49", ("alpha2", "alpha3")),
    ("us-states", "states of the USA by the divisions of its Census Bureau", ("code",)),
)


@dataclass(frozen=True)
class KnownTaxonomy:
    """A taxonomy of a column's values: what it is, and its text, as `read_taxonomy` reads it."""

    title: str
    text: str


def known_taxonomy(values: Iterable[str], name: str) -> KnownTaxonomy | None:
    """Return a taxonomy that knows most of a column's distinct values; None where none does.

    `name` is the column's. Values that the taxonomy does not know are a group of their own.
    """
    distinct = sorted({value for value in values if value})
    for file, title, codes in _PLACES:
        paths = _paths_of(distinct, _places(file, codes))
        if paths is not None:
            return KnownTaxonomy(title, _text(paths))
    return known_codes(distinct, name)


def known_codes(values: Iterable[str], name: str) -> KnownTaxonomy | None:
    """Return a taxonomy of codes that are known by the name of their column alone: of diseases,
    occupations or industries; None where it tells of none, or most values are no such codes."""
    if _OF_NO_CODES.search(name):
        return None
    distinct = sorted({value for value in values if value})
    for pattern, title, paths_of in _CODES:
        paths = _paths_of(distinct, paths_of(distinct)) if pattern.search(name) else None
        if paths is not None:
            return KnownTaxonomy(title, _text(paths))
    return None


_Path = tuple[str, ...]


def _paths_of(values: Sequence[str], paths: Mapping[str, _Path]) -> dict[str, _Path] | None:
    """Return the wider values of each value; None where too few of them are known."""
    wider = {value: paths.get(_key(value), ()) for value in values}
    count = sum(map(bool, wider.values()))
    if count < max(_FEWEST, _ENOUGH * len(values)):
        return None
    depth = max(map(len, wider.values()))
    return {value: path or (_OTHERS,) * depth for value, path in wider.items()}


def _key(value: str) -> str:
    """Return a value as it is looked up: codes as they are, names by their letters alone."""
    text = value.strip()
    return text if text.isupper() or any(map(str.isdigit, text)) else _folded(text)


def _folded(text: str) -> str:
    return _LETTERS.sub(" ", text.casefold()).strip()


@cache
def _places(file: str, codes: tuple[str, ...]) -> Mapping[str, _Path]:
    """Return the wider values of places, by their codes and by their names."""
    paths: dict[str, _Path] = {}
    for row in _rows(file):
        path = (row.get("subregion") or row["division"], row["region"])
        names = [row["name"], *row.get("other names", "").split("|")]
        paths |= {row[code]: path for code in codes}
        paths |= {_folded(one): path for one in names if one}
        paths |= {one: path for one in names if one.isupper()}
    return paths


def _diseases(values: Sequence[str], file: str) -> Mapping[str, _Path]:
    """Return the category and the chapter of codes of diseases."""
    rows = sorted(_rows(file), key=lambda row: row["first"])
    firsts = [row["first"] for row in rows]
    paths: dict[str, _Path] = {}
    for value in values:
        category = _category(value, file)
        place = bisect_right(firsts, category) - 1
        if category and place >= 0 and category <= rows[place]["last"]:
            paths[_key(value)] = (category, rows[place]["chapter"])
    return paths


def _occupations(values: Sequence[str]) -> Mapping[str, _Path]:
    """Return the minor, sub-major and major groups of codes of ISCO-08 of three or four digits."""
    groups = {row["code"]: (row["group"], row["major group"]) for row in _rows("isco-08")}
    codes = {value: value.strip() for value in values}
    return {
        _key(value): (f"{code[:3]}", *groups[code[:2]])
        for value, code in codes.items()
        if _OCCUPATION.fullmatch(code) and code[:2] in groups
    }


def _industries(values: Sequence[str]) -> Mapping[str, _Path]:
    """Return the division and the section of codes of NACE Rev. 2, such as 62.01, 6201 or
    J62.01."""
    rows = _rows("nace-2")
    firsts = [row["first"] for row in rows]
    paths: dict[str, _Path] = {}
    for value in values:
        match = _INDUSTRY.fullmatch(value.strip().upper())
        if match is None or match[2] in _NO_DIVISIONS:
            continue
        row = rows[bisect_right(firsts, match[2]) - 1]
        if match[2] <= row["last"] and match[1] in ("", row["section"]):
            paths[_key(value)] = (match[2], row["name"])
    return paths


_OCCUPATION = re.compile(r"[0-9]{3,4}")
_INDUSTRY = re.compile(r"([A-U]?)([0-9]{2})(?:\.?[0-9]{1,2})?")
_NO_DIVISIONS = frozenset(("00", "04", "34", "40", "44", "48", "54", "57", "67", "76", "83", "89"))
"""Numbers that no division of NACE Rev. 2 has."""
_OF_NO_CODES = re.compile(
    r"(?:\b|_)(?:year|date|time|count|number|amount|age)s?(?:\b|_)", re.IGNORECASE
)
"""Columns about diseases, jobs and the like that hold no codes of them."""
_OF_OCCUPATIONS = re.compile(r"isco|occup|profession|job", re.IGNORECASE)
_OF_INDUSTRIES = re.compile(r"nace|industry|branch|sector|activity", re.IGNORECASE)
_CODES = (
    (_OF_DISEASES, "diseases by the chapters of ICD-9", lambda some: _diseases(some, "icd-9")),
    (_OF_DISEASES, "diseases by the chapters of ICD-10", lambda some: _diseases(some, "icd-10")),
    (_OF_OCCUPATIONS, "occupations by the groups of ISCO-08", _occupations),
    (_OF_INDUSTRIES, "industries by the sections of NACE Rev. 2", _industries),
)
"""By what the name of a column tells of its codes."""


def _category(value: str, file: str) -> str:
    """Return the category of a code, its part before the point; empty for what is not one."""
    match = _DISEASE.fullmatch(value.strip().upper())
    if match is None:
        return ""
    letter, rest = match.groups()
    if file == "icd-10":
        return f"{letter}{rest}"[:3] if letter and rest[:1].isdigit() else ""
    if not rest.isdigit() or letter not in ("", "E", "V"):
        return ""
    return f"{letter}{rest.zfill(2 if letter == 'V' else 3)}"


def _text(paths: Mapping[str, _Path]) -> str:
    """Return a table of levels: each value, what is wider, and `*` last."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    writer.writerows((value, *path, "*") for value, path in paths.items())
    return text.getvalue()


@cache
def _rows(file: str) -> tuple[Mapping[str, str], ...]:
    package = Path(terms.__file__).parent
    for folder in (package / "vocab", package.parent / "vocab"):
        path = folder / "taxonomies" / f"{file}.csv"
        if path.is_file():
            return tuple(csv.DictReader(path.read_text("utf-8").splitlines()))
    raise InternalError.of("X001", f"The taxonomy {file!r} is not installed.")
