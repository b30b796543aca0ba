"""Outputs before they are submitted: judged by the rules, linked to each other, as files."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.explaining import confidential_verdict, public_verdict
from policy_engine.audits.outputs.few_values import with_few_values
from policy_engine.audits.outputs.fitted_models import ModelOutput
from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.layout import GridLayout, ShownTable, lay_out
from policy_engine.audits.outputs.listing import listed_rows
from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.reasons import SENTENCES, CheckOutcome, Reason, outcome_of
from policy_engine.audits.outputs.significant import rounded_figure
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.audits.outputs.tabulating import Tabulation
from policy_engine.audits.outputs.total_grids import TotalGrid
from policy_engine.audits.outputs.written_tables import HandedInTable
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.release.judged_tables import JudgedTable
from policy_engine.release.linked_outputs import LinkedScope, link_output
from policy_engine.release.output_folder.folder import stored_file
from policy_engine.release.output_folder.model import (
    FolderEvidence,
    Kind,
    OutputEvidence,
    StoredFile,
    Submission,
    SubmittedOutput,
)
from policy_engine.release.output_folder.spreadsheet_text import without_formula
from policy_engine.release.output_ledger.ledger import OutputLedger
from policy_engine.release.protected_cells import protect_cells
from policy_engine.release.related_columns import MeasuredColumns

FILES, WHOLE = "outputs", "held"
"""The folders of files as they may leave, and of what only a checker lets out."""


@dataclass(frozen=True, eq=False)
class PreparedOutput:
    """An output: a table or a model with its evidence, or a file that only a person can judge.

    `verdict` is None for a file. `content` is the file: its ending and its bytes. Cells that are
    `withheld` already, (rows, measures), are not released whatever the rules say of them. What was
    `written` elsewhere leaves as it is, without what is not released.
    """

    name: str
    kind: Kind
    request: str
    check: OutputCheck
    made: Tabulation | None = field(default=None, repr=False)
    layout: GridLayout | None = None
    model: ModelOutput | None = field(default=None, repr=False)
    content: tuple[str, bytes] | None = field(default=None, repr=False)
    withheld: NDArray[np.bool_] | None = field(default=None, repr=False)
    written: HandedInTable | None = field(default=None, repr=False)
    verdict: TableVerdict | None = field(default=None, repr=False)
    comments: tuple[str, ...] = ()
    exception: str = ""
    is_keyed: bool = False

    @property
    def status(self) -> CheckOutcome:
        """What the rules say of it: released if any figure of it is shown."""
        if self.verdict is None:
            return CheckOutcome.REVIEW
        if self.model is not None and not self.verdict.released.all():
            masks = np.unique(self.verdict.reasons).tolist()
            return min(map(outcome_of, masks), key=list(CheckOutcome).index)
        figures = (row[page.left :] for _, page in self.shown() for row in page.rows)
        is_blank = all(cell is None for row in figures for cell in row)
        is_released = self.verdict.outcome is CheckOutcome.RELEASED
        return CheckOutcome.SUPPRESSED if is_released and is_blank else self.verdict.outcome

    def judged(
        self, ledger: OutputLedger, scope: LinkedScope, earlier: "Sequence[PreparedOutput]" = ()
    ) -> "PreparedOutput":
        """Return it with the verdict of the rules, beside the `earlier` outputs of the session, and
        of a ledger of outputs that then has it."""
        if self.made is None:
            return self
        verdict = suppress_totals(self._with_blanks(self._by_rules(self.made)))
        if self.model is not None and not verdict.released.all():
            return replace(self, verdict=verdict)
        made = [one.made for one in (*earlier, self) if one.made and (one is self or one.verdict)]
        columns = scope.columns.measured(scope.rows, made)
        before = [*_judged_tables(earlier, columns)]
        if self.model is None:
            own = JudgedTable(verdict, self.made, columns.telling(self.made))
            others = [*_judged_tables((one for one in earlier if one.model is None), columns)]
            verdict = protect_cells(own, others, scope.rows)
        if self.is_keyed:  # It is not compared, and so for a person.
            is_open = np.where(verdict.reasons == 0, np.uint32(Reason.BEYOND_LEDGER.bit), 0)
            verdict = replace(verdict, reasons=(verdict.reasons | is_open).astype(np.uint32))
        linked = link_output(verdict, self.made, scope, ledger, self.name, before, columns)
        return replace(self, verdict=linked)

    def judged_alone(self, grids: Sequence[TotalGrid] = ()) -> "PreparedOutput":
        """Return it with the verdict of the rules alone: of a finished table, in whose grids totals
        reveal no cell."""
        assert self.made is not None  # noqa: S101 (a table)
        verdict = self._with_blanks(self._by_rules(self.made))
        return replace(self, verdict=suppress_totals(verdict, grids))

    def _by_rules(self, made: Tabulation) -> TableVerdict:
        """Return what the rules say of each cell by itself."""
        whole = with_few_values(made, self.check.profile.min_units)
        return judge(whole.table, self.check)

    @property
    def open_cells(self) -> NDArray[np.bool_]:
        """Which cells of a table of one measure may leave, or may once a checker lets them."""
        assert self.verdict is not None  # noqa: S101 (a table)
        return np.asarray(self._is_held()[:, 0] | self.verdict.released[:, 0], np.bool_)

    def _with_blanks(self, verdict: TableVerdict) -> TableVerdict:
        """Return the verdict with the cells that are withheld already."""
        if self.withheld is None:
            return verdict
        is_new = self.withheld & (verdict.reasons == 0)
        reasons = verdict.reasons | np.where(is_new, np.uint32(Reason.COMPLEMENTARY.bit), 0)
        return replace(verdict, reasons=reasons.astype(np.uint32))

    @property
    def is_whole(self) -> bool:
        """Whether all of it may leave by the rules, but for what is withheld already."""
        if self.verdict is None:
            return False
        is_there = True if self.withheld is None else ~self.withheld
        return not self.exception and bool((self.verdict.released | ~np.asarray(is_there)).all())

    def shown(self) -> Iterator[tuple[str, ShownTable]]:
        """Yield what may leave as tables, each with what is added to the name of the output."""
        return ((more, self._with_digits(table)) for more, table in self._shown())

    def _with_digits(self, table: ShownTable) -> ShownTable:
        """Return a table whose figures have as many digits as the profile lets out."""
        digits = self.check.profile.significant_digits
        if digits is None:
            return table
        left = table.left
        rows = tuple(
            (
                *row[:left],
                *(
                    one if isinstance(one, str) else rounded_figure(one, digits)
                    for one in row[left:]
                ),
            )
            for row in table.rows
        )
        return replace(table, rows=rows)

    def _shown(self) -> Iterator[tuple[str, ShownTable]]:
        if self.made is None or self.verdict is None:
            return
        if self.model is not None:
            if self.verdict.released.all():
                yield from _parts(self.model)
            return
        if self.layout is not None and self.verdict.released.any():
            is_listed = listed_rows(self.verdict, self.made.sets, self.made.units)
            yield "", self._laid_out(self.verdict.released, is_listed)

    def _laid_out(
        self, is_shown: NDArray[np.bool_], is_listed: NDArray[np.bool_] | None = None
    ) -> ShownTable:
        assert self.made is not None and self.verdict is not None and self.layout is not None  # noqa: S101, PT018
        if self.written is not None:
            digits = self.check.profile.significant_digits
            return self.written.shown(is_shown, is_listed, digits)
        return lay_out(self.verdict, self.made, self.layout, is_shown, is_listed)

    def held(self) -> Iterator[tuple[str, ShownTable]]:
        """Yield what may leave only if a checker lets it, where that is more."""
        return ((more, self._with_digits(table)) for more, table in self._held())

    def _held(self) -> Iterator[tuple[str, ShownTable]]:
        if self.made is None or self.verdict is None:
            return
        is_shown = self._is_held()
        if not is_shown.any() or (is_shown == self.verdict.released).all():
            return
        if self.model is not None:
            yield from _parts(self.model)
        elif self.layout is not None:
            yield "", self._laid_out(is_shown)

    def _is_held(self) -> Any:
        """Return which cells a checker may let out, (rows, measures)."""
        assert self.verdict is not None  # noqa: S101 (of a table or a model)
        if self.exception:
            is_all = np.ones_like(self.verdict.released)
            return is_all if self.withheld is None else ~self.withheld
        masks, numbers = np.unique(self.verdict.reasons, return_inverse=True)
        is_open = [self.verdict.outcome_of(mask) is CheckOutcome.REVIEW for mask in masks.tolist()]
        cells = np.array(is_open, np.bool_)[numbers].reshape(self.verdict.reasons.shape)
        if self.model is not None:
            return np.full_like(cells, bool((cells | self.verdict.released).all()))
        return cells | self.verdict.released

    def files(self) -> dict[str, bytes]:
        """Return the files as they may leave, by their paths in the folder."""
        if self.content is not None:
            return {f"{FILES}/{self.name}{self.content[0]}": self.content[1]}
        return {f"{FILES}/{self.name}{more}.csv": csv_text(table) for more, table in self.shown()}

    def whole_files(self) -> dict[str, bytes]:
        """Return what only a checker lets out, by its paths in the folder."""
        return {f"{WHOLE}/{self.name}{more}.csv": csv_text(table) for more, table in self.held()}

    def public(self) -> dict[str, Any]:
        """Return the verdict without figures."""
        if self.verdict is None:
            code = Reason.NEEDS_CHECKER
            return {"outcome": self.status.value, "reasons": {code.value: SENTENCES[code]}}
        public = public_verdict(self.verdict)
        if self.made is not None and self.model is None:
            # That a row is there is not told where the table does not list it.
            listed = listed_rows(self.verdict, self.made.sets, self.made.units)
            public["suppressed"] = [one for one in public["suppressed"] if listed[one["row"]]]
        return {**public, "outcome": self.status.value}

    def confidential(self) -> dict[str, Any]:
        """Return the verdict with figures."""
        if self.verdict is None:
            return self.public()
        plain = without_nan(confidential_verdict(self.verdict))
        return {**plain, "outcome": self.status.value}


def judged_in_order(
    outputs: Iterable[PreparedOutput], ledger: OutputLedger, scope: LinkedScope
) -> list[PreparedOutput]:
    """Return outputs with their verdicts, each after those before it."""
    judged: list[PreparedOutput] = []
    for one in outputs:
        judged.append(one.judged(ledger, scope, judged))
    return judged


def _judged_tables(
    outputs: Iterable[PreparedOutput], columns: MeasuredColumns
) -> Iterator[JudgedTable]:
    for one in outputs:
        if one.made is not None and one.verdict is not None:
            yield JudgedTable(one.verdict, one.made, columns.telling(one.made))


def without_nan(value: Any) -> Any:
    """Return JSON that has null where a figure is not a number."""
    if isinstance(value, dict):
        return {name: without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _parts(model: ModelOutput) -> Iterator[tuple[str, ShownTable]]:
    for name, (head, rows) in model.parts.items():
        yield f" {name}", ShownTable(head, rows, 1)


def csv_text(table: ShownTable) -> bytes:
    """Return a table as CSV for people: no cell is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(without_formula, table.head))
    for row in table.rows:
        writer.writerow("" if cell is None else without_formula(cell) for cell in row)
    return text.getvalue().encode()


@dataclass(frozen=True, eq=False)
class FolderContent:
    """What a folder of outputs holds: what is said of them, their evidence, and their files."""

    submission: Submission
    evidence: FolderEvidence
    files: Mapping[str, bytes]


def folder_content(
    outputs: Sequence[PreparedOutput], check: OutputCheck, *, policy: str = "", data: str = ""
) -> FolderContent:
    """Return the content of a folder of judged outputs."""
    profile = check.profile.title
    files: dict[str, bytes] = {}
    for one in outputs:
        files |= one.files() | one.whole_files()
    submission = Submission(
        check=profile, policy=policy, data=data, outputs=tuple(map(_submitted, outputs))
    )
    facts = tuple(
        OutputEvidence(
            name=one.name,
            verdict=one.confidential(),
            known=dict(one.model.known) if one.model else {},
            attributes=attributes_of(one),
        )
        for one in outputs
    )
    return FolderContent(
        submission, FolderEvidence(check=check.model_dump(mode="json"), outputs=facts), files
    )


def _submitted(one: PreparedOutput) -> SubmittedOutput:
    return SubmittedOutput(
        name=one.name,
        kind=one.kind,
        request=one.request,
        status=one.status.value,
        verdict=one.public(),
        files=_stored(one.files()),
        comments=one.comments,
        exception=one.exception,
        whole=_stored(one.whole_files()),
    )


def _stored(files: Mapping[str, bytes]) -> tuple[StoredFile, ...]:
    return tuple(stored_file(path, content) for path, content in files.items())


# -- what the order of a queue is learnt from --------------------------------------------------

_TYPES = {
    "frequencies": "FrequencyTable",
    "linear aggregations": "MagnitudeTable",
    "position": "Percentile",
    "endpoints": "Maximum",
    "mode": "Mode",
    "shape": "HigherMoment",
    "correlation coefficients": "RegressionCoefficient",
}


def attributes_of(one: PreparedOutput) -> dict[str, Any]:
    """Return an output as the fourteen rules describe one: its type, and its least safe figures."""
    if one.made is None:
        return {"analysis_type": one.kind}
    statistics = [some for measure in one.made.table.measures for some in measure.statistics]
    first, evidences = statistics[0], [some.evidence for some in statistics]
    units = _extreme(np.min, (some.units[some.units > 0] for some in evidences))
    degrees = _extreme(np.min, (some.degrees_of_freedom for some in evidences))
    shares = _extreme(np.max, (some.group_share for some in evidences))
    largest = _extreme(
        np.max,
        (
            some.largest / np.where((some.total > 0) & np.isfinite(some.total), some.total, np.nan)
            for some in evidences
            if some.largest is not None and some.total is not None
        ),
    )
    return {
        "analysis_type": _TYPES.get(first.statbarn.value, first.statbarn.value),
        "cell_units": units,
        "sample_size": units,
        "percentage_rows": shares,
        "percentage_cell_total": largest,
        "degrees_of_freedom": degrees,
    }


def _extreme(function: Any, arrays: Iterable[Any]) -> float | None:
    values = [np.ravel(one) for one in arrays if one is not None and np.size(one)]
    finite = np.concatenate([np.zeros(0), *values]) if values else np.zeros(0)
    finite = finite[np.isfinite(finite)]
    return float(function(finite)) if len(finite) else None
