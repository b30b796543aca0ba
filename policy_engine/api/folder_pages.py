"""The pages of a folder of outputs, at two levels of what they tell."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from policy_engine.audits.outputs.layout import ShownTable
from policy_engine.audits.reports.html import Table
from policy_engine.audits.reports.outputs import OutputSection, outputs_page
from policy_engine.release.output_folder.folder import CHECKER_PAGE, RESEARCHER_PAGE
from policy_engine.release.output_folder.model import OutputEvidence, SubmittedOutput
from policy_engine.release.output_folder.prepared import FolderContent

_MOST_ROWS = 200
"""So many rows of a table are on a page; its file has all."""


class ShownOutput(Protocol):
    """An output as pages show it: what may leave, and what may if a checker lets it, as tables,
    each with what is added to the name."""

    @property
    def name(self) -> str:
        """Its name."""

    def shown(self) -> Iterator[tuple[str, ShownTable]]:
        """Yield what may leave."""

    def held(self) -> Iterator[tuple[str, ShownTable]]:
        """Yield what a checker may let out."""


def write_pages(content: FolderContent, outputs: Sequence[ShownOutput] = ()) -> dict[str, bytes]:
    """Return the two pages of a folder by their names: only the checker's has figures of what is
    not released."""
    tables = {one.name: one for one in outputs}
    facts = {one.name: one for one in content.evidence.outputs}
    check = content.evidence.check
    totals = {"profile": content.submission.check, "outputs": str(len(facts))}
    thresholds = {**totals, "units at least": str(check["profile"]["min_units"])}
    pages = {}
    for page, is_confidential in ((CHECKER_PAGE, True), (RESEARCHER_PAGE, False)):
        sections = [
            _section(one, tables.get(one.name), facts[one.name] if is_confidential else None)
            for one in content.submission.outputs
        ]
        figures = thresholds if is_confidential else totals
        text = outputs_page(sections, figures, is_confidential=is_confidential)
        pages[page] = text.encode()
    return pages


def _section(
    output: SubmittedOutput, prepared: ShownOutput | None, facts: OutputEvidence | None
) -> OutputSection:
    is_held = facts is not None and prepared is not None
    return OutputSection(
        name=output.name,
        request=output.request,
        status=output.status,
        reasons=output.verdict["reasons"],
        files=[one.path for one in output.files],
        comments=output.comments,
        exception=output.exception,
        shown=[_table("As it may leave", *one) for one in prepared.shown()] if prepared else (),
        held=[_table("If accepted", *one) for one in prepared.held()]
        if is_held and prepared
        else (),
        evidence=() if facts is None else [*_evidence(facts)],
    )


def _table(title: str, more: str, figures: ShownTable) -> Table:
    rows = [[_text(cell, "withheld") for cell in row] for row in figures.rows[:_MOST_ROWS]]
    left = len(figures.rows) - len(rows)
    caption = (f"{title}:{more}" if more else title) + (
        f" (and {left:,} more rows in the file)" if left else ""
    )
    return Table(caption, figures.head, rows, texts=range(figures.left))


def _evidence(facts: OutputEvidence) -> list[Table]:
    """Return what is known of the cells that are not released, and of a model."""
    tables = []
    if facts.known:
        rows = [[str(name), _text(value)] for name, value in facts.known.items()]
        tables.append(Table("Evidence of the model", ("", "figure"), rows))
    cells: list[Mapping[str, Any]] = list(facts.verdict.get("suppressed", []))[:_MOST_ROWS]
    names = dict.fromkeys(name for cell in cells for some in cell["evidence"] for name in some)
    if cells:
        head = ("cell", "codes", *(name.replace("_", " ") for name in names))
        rows = [
            [
                _cell_name(cell),
                " ".join(cell["codes"]),
                *(_text(_first(cell["evidence"], name)) for name in names),
            ]
            for cell in cells
        ]
        tables.append(Table("Evidence of the cells that are not released", head, rows, texts=(1,)))
    tables += _conditions(cells)
    tables += _ways(facts.verdict.get("suppressions", []))
    return tables


def _ways(ways: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return how cells were found that protect others from totals, if there are any."""
    rows = [
        [one["column"], one["method"], str(one["cells"]), f"{100 * one['gap']:.1f}%"]
        for one in ways
    ]
    head = "column", "found by", "cells", "dearer than the cheapest by at most"
    title = "Cells that are withheld since totals would tell others by them"
    return [Table(title, head, rows, texts=(1,))] if rows else []


_NUMBERS = {"inside": "holds of", "outside": "does not hold of", "least": "enough", "counted": "of"}
"""What a condition is judged by, and what pages call it."""


def _conditions(cells: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return by which figures the conditions of cells were judged, if there are any."""
    rows = [
        [
            _cell_name(cell),
            ", ".join(cell["condition"]["columns"]),
            *(_text(cell["condition"][name]) for name in _NUMBERS),
        ]
        for cell in cells
        if cell.get("condition")
    ]
    head = "cell", "columns that may be secret", *_NUMBERS.values()
    title = "By which figures the conditions of these cells were judged"
    return [Table(title, head, rows, texts=(1, 5))] if rows else []


def _cell_name(cell: Mapping[str, Any]) -> str:
    keys = ", ".join(str(one) for one in cell["keys"].values()) or "all"
    return f"{cell['column']}: {keys}"


def _first(evidence: Sequence[Mapping[str, Any]], name: str) -> Any:
    return next((some[name] for some in evidence if name in some), None)


def _text(cell: Any, missing: str = "") -> str:
    if cell is None:
        return missing
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
