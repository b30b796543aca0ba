"""Taxonomies as tables of levels, one row for each value: the CSV files of ARX.

    47677;4767*;476**;*

Column 0 holds the value, column i what it becomes when generalised by i steps (Prasser and
Kohlmayer, "Putting Statistical Disclosure Control into Practice: the ARX Data Anonymization
Tool", 2015, section 4.2).
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from policy_engine.data.taxonomy.problems import MAX_DEPTH, MAX_NODES, Problems, quote
from policy_engine.data.taxonomy.tree import ROOT, Taxonomy, make_tree
from policy_engine.errors import Place

_SEPARATORS = (";", "\t", ",")
_SAMPLE = 200

Row = tuple[int, list[str]]


@dataclass
class _Forest:
    """Nodes in order of appearance: `index` by level and label, `lines` the first line of each."""

    labels: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    index: dict[tuple[int, str], int] = field(default_factory=dict)

    def plant(self, key: tuple[int, str], parent: int, line: int) -> int:
        """Return the node of a level and label, a new one where there is none yet."""
        node = self.index.setdefault(key, len(self.labels))
        if node == len(self.labels):
            self.labels.append(key[1])
            self.parents.append(parent)
            self.lines.append(line)
        return node


def read_level_table(text: str, problems: Problems) -> Taxonomy:
    """Read a table of levels with `;`, tab or `,` between its cells, quoted as in RFC 4180.

    There is no header. A last column that is the same in every row is the root; otherwise a
    root `*` is put on top. Siblings keep the order in which they first appear in the file.
    Raises DataError: ragged rows, empty labels, a value twice, a label with two parents.
    """
    rows = list(islice(_rows(text, problems), MAX_NODES + 1))
    problems.check_size(len(rows))
    if not rows:
        problems.fail("T002", "The taxonomy is empty.")
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    if width > MAX_DEPTH:
        message = f"The taxonomy has {width:,} levels. {MAX_DEPTH} are allowed."
        problems.fail("T003", message, "", Place("", rows[0][0], 1))
    forest = _Forest()
    for line, cells in rows:
        if _check_row(line, cells, width, problems):
            _add(forest, line, cells, problems)
            problems.check_size(len(forest.labels))
    problems.refuse()
    return _to_taxonomy(forest, width)


def _rows(text: str, problems: Problems) -> Iterator[Row]:
    """Yield every row with the line it starts in; rows without cells are left out."""
    reader = csv.reader(_lines(text), delimiter=_separator(text), strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"The row cannot be read as CSV: {error}."
        hint = 'A cell is quoted whole ("..."), and a quote in it appears twice ("").'
        problems.fail("T001", message, hint, Place("", line, 1))


def _lines(text: str) -> io.StringIO:
    return io.StringIO(text, newline="")


def _separator(text: str) -> str:
    """Return the separator by which most of the first rows have one width above 1.

    `;`, which ARX writes, where several do equally well.
    """
    return max(_SEPARATORS, key=lambda separator: _agreement(text, separator))


def _agreement(text: str, separator: str) -> int:
    reader = csv.reader(_lines(text), delimiter=separator)
    try:
        widths = Counter(len(cells) for cells in islice(reader, _SAMPLE) if cells)
    except csv.Error:
        return 0
    [(width, rows)] = widths.most_common(1) or [(0, 0)]
    return rows if width > 1 else 0


def _check_row(line: int, cells: Sequence[str], width: int, problems: Problems) -> bool:
    place = Place("", line, 1)
    if len(cells) != width:
        message = f"The row has {len(cells)} levels. Most rows have {width}."
        problems.add("T004", message, "Every row has a cell for every level.", place)
        return False
    for level, label in enumerate(cells):
        if not label:
            message = f"The label at level {level} of {quote(cells[0])} is empty."
            problems.add("T005", message, "", place)
    return all(cells)


def _add(forest: _Forest, line: int, cells: Sequence[str], problems: Problems) -> None:
    """Add a row from its root down; note where it disagrees with the rows before."""
    parent = -1
    for level in range(len(cells) - 1, -1, -1):
        node = forest.plant((level, cells[level]), parent, line)
        first = forest.lines[node]
        if level == 0 and first != line:
            message = f"The value {quote(cells[0])} appears twice, first in line {first}."
            problems.add("T006", message, "", Place("", line, 1))
        elif forest.parents[node] != parent:
            message = (
                f"{quote(cells[level])} at level {level} becomes {quote(cells[level + 1])} at "
                f"level {level + 1}, but {quote(forest.labels[forest.parents[node]])} in line "
                f"{first}."
            )
            problems.add("T007", message, "A label has one parent only.", Place("", line, 1))
        parent = node


def _to_taxonomy(forest: _Forest, width: int) -> Taxonomy:
    """Return the tree; a single column holds values only, and so needs a root."""
    if width > 1:
        return make_tree(forest.labels, forest.parents)
    return make_tree([ROOT, *forest.labels], [-1, *(0 for _ in forest.labels)])
