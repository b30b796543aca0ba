"""Checks of finished tables, and what a checker does with a folder of outputs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from policy_engine.api.arguments import check_arguments
from policy_engine.api.chosen_checks import ChosenCheck, choose_check
from policy_engine.api.folder_pages import write_pages
from policy_engine.api.session_data import column_history, load_microdata
from policy_engine.api.session_outputs import SessionOutput
from policy_engine.api.session_tables import recipe_request, tabulated
from policy_engine.audits.outputs.finished_grids import finished_grids
from policy_engine.audits.outputs.finished_tables import judged_alone, withheld_cells
from policy_engine.audits.outputs.layout import GridLayout
from policy_engine.audits.outputs.linked_tables import LinkedTables, are_small
from policy_engine.audits.outputs.reading_tables import (
    FinishedTable,
    TableKind,
    read_finished,
    read_tables,
)
from policy_engine.audits.outputs.result_frames import result_files
from policy_engine.audits.outputs.undecided_totals import SmallCounts, may_tell_small
from policy_engine.audits.outputs.written_tables import HandedInTable
from policy_engine.data.keys import Key
from policy_engine.errors import RequestError
from policy_engine.policy import ReadingOptions, Source
from policy_engine.release.linked_outputs import LinkedScope, with_review, with_withheld
from policy_engine.release.output_folder.folder import check_vacant, write_folder
from policy_engine.release.output_folder.prepared import PreparedOutput, folder_content
from policy_engine.release.output_folder.protecting import protect_withheld
from policy_engine.release.output_ledger import OutputLedger


@dataclass(frozen=True)
class TableRecipe:
    """How finished tables were made: columns `by` which rows are grouped, the last `across` the
    top, and measures such as `count` or `mean:income`."""

    by: tuple[str, ...]
    measures: tuple[str, ...] = ("count",)
    across: str = ""


@dataclass(frozen=True)
class CheckedTables:
    """Finished tables with their verdicts, and the profile that they were judged by."""

    profile: str
    outputs: tuple[SessionOutput, ...]
    is_released: bool


@check_arguments
def check_tables(
    tables: Any,
    *,
    policy: Source | None = None,
    profile: str = "",
    unit: str = "",
    kind: TableKind = "totals",
    counts: Any = None,
    units: bool = False,
    keys: int = 0,
    total: str = "",
    data: Any = None,
    recipe: TableRecipe | None = None,
    out: str | Path | None = None,
    by: str = "researcher",
    key: Key = None,
    **reading: Unpack[ReadingOptions],
) -> CheckedTables:
    """Return what a check says of finished tables: CSV, Parquet or Excel by their paths, or frames
    of pandas, polars or Arrow, one or a list, with or without totals. Each sheet of a workbook is a
    table.

    Tables of a `kind` ("counts", "totals" or "means") are judged alone, `counts` being a table of
    the same cells; counts are of rows unless they are said to be of `units`. With `data` and a
    `recipe`, the evidence is computed. `keys` says how many columns are labels, and `total` what
    totals are called. With `out`, a folder for a checker is written, by whom and under which `key`.

    Raises DataError for tables that cannot be read (C002 to C011), do not add up (K026) or are not
    what the recipe makes of the data (K029), RequestError (K025) for what is no table and options
    that do not go together, PlanError (M001, M002).
    """
    chosen = choose_check(policy, profile, unit, data, **reading)
    if (data is None) != (recipe is None):
        message = "Evidence is computed of microdata by a recipe: there is only one of them."
        raise RequestError.of("K025", message, "Give both, or neither.")
    if out is not None:
        check_vacant(Path(out))
    has_measures = recipe is not None and not recipe.across
    # By a recipe, the data say what adds up.
    read_kind: TableKind = kind if recipe is None else "means"
    with result_files(tables) as paths:
        finished = [
            table
            for one in paths
            for table in read_tables(one, keys, total, kind=read_kind, has_measures=has_measures)
        ]
    if recipe is not None:
        outputs, digest = _judged_by_recipe(finished, chosen, recipe)
    else:
        beside = _counts_beside(counts, keys, total)
        # Without a unit of privacy, a row is one, and a count of rows one of units.
        is_of_units = units or not chosen.unit
        outputs, digest = _judged(finished, chosen, kind, beside, is_of_units=is_of_units), ""
    if out is not None:
        content = folder_content(outputs, chosen.check, policy=chosen.policy, data=digest)
        files = {**content.files, **write_pages(content, outputs)}
        write_folder(Path(out), content.submission, content.evidence, files, by=by, key=key)
    name = f"{chosen.check.profile.notation} {chosen.check.profile.version}"
    is_released = all(one.is_whole for one in outputs)
    return CheckedTables(name, tuple(map(SessionOutput, outputs)), is_released)


def _counts_beside(counts: Any, keys: int, total: str) -> FinishedTable | None:
    if counts is None:
        return None
    with result_files([counts]) as [path]:
        return read_finished(path, keys, total, kind="counts")


def _judged(
    tables: Sequence[FinishedTable],
    chosen: ChosenCheck,
    kind: TableKind,
    counts: FinishedTable | None,
    *,
    is_of_units: bool,
) -> list[PreparedOutput]:
    outputs = []
    for table, name in zip(tables, _names(tables), strict=True):
        made = judged_alone(table, kind, counts, is_of_units=is_of_units)
        layout = GridLayout(
            table.left, table.total, is_total=True, is_named=False, totals=table.totals
        )
        output = PreparedOutput(
            name,
            "finished table",
            f"{kind} by {', '.join(table.keys[: table.left])}, made elsewhere",
            chosen.check,
            made=made,
            layout=layout,
            withheld=table.is_blank[:, None],
            written=HandedInTable.of_alone(table) if table.shares else None,
            comments=table.doubt,
        )
        outputs.append(output.judged_alone(finished_grids(table) if kind == "counts" else ()))
    return _linked(tables, outputs, kind) if kind != "means" else outputs


def _linked(
    tables: Sequence[FinishedTable], outputs: Sequence[PreparedOutput], kind: TableKind
) -> list[PreparedOutput]:
    """Return outputs without the cells that would reveal others, of the same table or another.

    Totals of different columns have no cell in common: of those, each table is taken by itself.
    """
    groups = (
        [[*zip(tables, outputs, strict=True)]]
        if kind == "counts"
        else [[one] for one in zip(tables, outputs, strict=True)]
    )
    result = []
    for group in groups:
        figures = _shown(
            [table for table, _ in group],
            [one for _, one in group],
            is_of_counts=kind == "counts",
        )
        for (_, output), cells in zip(group, figures, strict=True):
            assert output.verdict is not None  # noqa: S101 (of a table)
            change = with_review if cells is None else with_withheld
            comments = (*output.comments, _UNLIKE) if cells is None else output.comments
            verdict = change(output.verdict, cells)
            result.append(replace(output, verdict=verdict, comments=comments))
    return result


_UNLIKE = (
    "It has too many cells to compare, another figure than a table before it in a cell, labels of "
    "which it is open what they are of, or lines that may be totals by which blank cells follow."
)


def _shown(
    tables: Sequence[FinishedTable], outputs: Sequence[PreparedOutput], *, is_of_counts: bool
) -> list[Any]:
    """Return the cells of each table that may be shown beside the others; None if nobody knows.

    So it is of tables with too many cells, of those with another figure in the same cell, and of
    counts that would be told if lines are totals that could be some.
    """
    if not are_small(tables):
        return [None] * len(outputs)
    clashes = LinkedTables(tables).clashes
    chosen = [n for n, is_other in enumerate(clashes) if not is_other]
    linked = LinkedTables([tables[n] for n in chosen])
    displayed = linked.safe_cells([outputs[n].open_cells for n in chosen])
    profile = outputs[0].check.profile
    small = SmallCounts(0 if profile.zeros_disclosive else 1, profile.min_units)
    is_told = may_tell_small(linked, displayed, small) if is_of_counts else [False] * len(chosen)
    cells = iter(None if tells else one for tells, one in zip(is_told, displayed, strict=True))
    return [None if is_other else next(cells) for is_other in clashes]


def _judged_by_recipe(
    tables: Sequence[FinishedTable], chosen: ChosenCheck, recipe: TableRecipe
) -> tuple[list[PreparedOutput], str]:
    rows = load_microdata(chosen)
    assert rows is not None  # noqa: S101 (checked)
    scope = LinkedScope(
        chosen.dataset,
        rows.digest,
        rows.unit_count,
        chosen.scopes(is_shared=False),
        columns=column_history(rows),
    )
    outputs: list[PreparedOutput] = []
    with TemporaryDirectory(prefix="policy-engine-") as folder:
        ledger = OutputLedger(Path(folder) / "tables")
        for table, name in zip(tables, _names(tables), strict=True):
            request = recipe_request(
                recipe.by,
                recipe.across,
                recipe.measures,
                has_totals=table.has_totals,
                total=table.total,
            )
            made = tabulated(request, rows)
            written = HandedInTable.of(table, made)
            output = PreparedOutput(
                name,
                "finished table",
                f"{request.text}, made elsewhere",
                chosen.check,
                made=made,
                layout=request.layout,
                withheld=withheld_cells(table, written.matches, made),
                written=written,
            )
            outputs.append(output.judged(ledger, scope, outputs))
    return protect_withheld(outputs), rows.digest


def _names(tables: Sequence[FinishedTable]) -> list[str]:
    """Return names of outputs: those of the files, numbered where they are not distinct."""
    names: list[str] = []
    for table in tables:
        plain = re.sub(r"[^A-Za-z0-9_.\- ]", "_", table.name)[:80]
        label = plain = plain if plain[:1].isalnum() else f"table {plain}"
        while label.lower() in {one.lower() for one in names}:
            label = f"{label}_"
        names.append(label)
    return names
