"""Matrices of transition probabilities between categories, read from CSV files.

    ,single,married
    single,0.9,0.1
    married,0.2,0.8

A row has the probabilities of what its category becomes.
"""

import csv
import hashlib
import io
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from policy_engine.errors import DataError, Place, Problem

MOST_CATEGORIES = 300
"""Certificates carry matrices, and those of more probabilities are too large to be read."""
MOST_BYTES = 50_000_000
TOLERANCE = 1e-9
"""Each row sums to 1 but for so much: decimals are rounded when they are read."""


@dataclass(frozen=True)
class TransitionMatrix:
    """The probabilities of each category (columns) given that of a row (rows)."""

    categories: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of categories and probabilities, in order, as 64 hexadecimal digits."""
        form = json.dumps([self.categories, self.rows], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()


def read_matrix(data: bytes, name: str) -> TransitionMatrix:
    """Read a matrix: categories in the header, from its second cell on, and in the first column.

    Raises DataError (T013) with every row that is not one of probabilities which sum to 1 within
    `TOLERANCE`, and where the two lists of categories differ.
    """
    table = _cells(data, name)
    categories = tuple(table[0][1:]) if table else ()
    problems = list(_shape_problems(categories, table[1:]))
    if not problems:
        problems = list(_row_problems(table[1:]))
    if problems:
        raise DataError(*problems, source=name)
    return TransitionMatrix(categories, tuple(tuple(map(float, row[1:])) for row in table[1:]))


def _cells(data: bytes, name: str) -> list[list[str]]:
    if len(data) > MOST_BYTES:
        message = f"The matrix has {len(data):,} bytes. {MOST_BYTES:,} are allowed."
        raise DataError(Problem("T013", message), source=name)
    try:
        text = io.StringIO(data.decode("utf-8-sig"), newline="")
        return [row for row in csv.reader(text, strict=True) if row]
    except (ValueError, csv.Error) as error:
        problem = Problem("T013", f"The matrix cannot be read as CSV: {error}.")
        raise DataError(problem, source=name) from None


def _shape_problems(categories: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Problem]:
    """Yield what keeps a table from being square, with the same categories on both sides."""
    if not 1 <= len(categories) <= MOST_CATEGORIES:
        message = f"The matrix has {len(categories):,} categories. "
        yield Problem("T013", f"{message}Allowed are 1 to {MOST_CATEGORIES:,}.")
    twice = [one for one, times in Counter(categories).items() if times > 1]
    if twice or "" in categories:
        message = f"The header has {len(twice)} categories twice." if twice else ""
        yield Problem("T013", message or "The header has an empty category.")
    if [row[0] for row in rows] != list(categories):
        message = f"The matrix has {len(categories)} categories in its header, and {len(rows)} "
        yield Problem("T013", f"{message}rows. The first column has those of the header, in order.")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(categories) + 1:
            message = f"The row has {len(row) - 1} probabilities. Needed are {len(categories)}."
            yield Problem("T013", message, "", Place("", number, 1))


def _row_problems(rows: Sequence[Sequence[str]]) -> Iterator[Problem]:
    """Yield the rows that are not of probabilities, or do not sum to 1."""
    for number, row in enumerate(rows, start=2):
        place = Place("", number, 1)
        probabilities = [_probability(cell) for cell in row[1:]]
        numbers = [one for one in probabilities if one is not None]
        if len(numbers) < len(probabilities):
            wrong = row[1 + probabilities.index(None)]
            message = f"{wrong[:80]!r} is not a probability. Allowed are numbers from 0 to 1."
            yield Problem("T013", message, "", place)
        elif abs(math.fsum(numbers) - 1) > TOLERANCE:
            message = f"The probabilities of the row sum to {math.fsum(numbers):.12g}, not to 1."
            yield Problem("T013", message, "", place)


def _probability(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number + 0.0 if 0 <= number <= 1 else None
