"""How the commands answer: JSON, files and progress."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from policy_engine.cli.hints import with_options
from policy_engine.errors import Problem

if TYPE_CHECKING:
    from policy_engine.api.verified_release import VerifiedRelease
    from policy_engine.certificate.record import Record
    from policy_engine.policy import InForce
    from policy_engine.release.budget.receipts import Receipt
    from policy_engine.release.composition.figures import Composition


def problem_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as JSON has it, with hints in the words of the command line."""
    return with_options(problem).as_json()


def release_json(release: "VerifiedRelease") -> dict[str, Any]:
    """Return what an application did as JSON has it, for the owner: more than is certified."""
    drop, record = release.plan.drop, release.record
    return {
        "output": str(release.path),
        **({} if release.plan.aggregate else _row_numbers(record)),
        "dropped": drop.identifiers,
        "unmentioned": drop.unmentioned,
        "warnings": release_warnings(release),
        **({} if release.receipt is None else {"budget": _receipt_json(release.receipt)}),
        **_composition_json(release),
        "certificate": release.certificate.model_dump(mode="json"),
    }


def composition_of(release: "VerifiedRelease") -> "Composition | None":
    """Return what a release tells together with earlier ones, which only the owner is told."""
    from policy_engine.plan.lineage import Maker  # noqa: PLC0415 (as used)

    return None if isinstance(release.release.made_by, Maker) else release.record.composition


def _composition_json(release: "VerifiedRelease") -> dict[str, Any]:
    composition = composition_of(release)
    return {} if composition is None else {"composition": composition.model_dump(mode="json")}


def _receipt_json(receipt: "Receipt") -> dict[str, Any]:
    """Return what was charged, and to the owner what remains; numbers are exact decimals."""
    remaining = {
        dataset: {"epsilon": f"{left.epsilon:f}", "delta": f"{left.delta:f}"}
        for dataset, left in receipt.remaining.items()
    }
    return {
        "epsilon": f"{receipt.amount.epsilon:f}",
        "delta": f"{receipt.amount.delta:f}",
        "charged": receipt.is_charged,
        "drawn": receipt.is_new,
        **({"remaining": remaining} if remaining else {}),
    }


def _row_numbers(record: "Record") -> dict[str, Any]:
    """Return what became of the rows of the input."""
    return {
        "rows_in": record.rows_in,
        **({} if record.sampled is None else {"rows_sampled": record.sampled}),
        "rows_suppressed": record.suppressed,
        **({} if record.gain is None else {"suppression_gain": record.gain.model_dump()}),
        **({"cells_suppressed": record.suppressed_cells} if record.suppressed_cells else {}),
        "rows_held_out": record.held_out,
    }


def release_warnings(release: "VerifiedRelease") -> list[str]:
    """Return what the owner is warned of, by audits and the certificate too, each sentence once."""
    from policy_engine.certificate.unique_figures import remaining_risks  # noqa: PLC0415 (as used)

    inner = release.release
    warnings = (*inner.doubts, *(one for audit in inner.reports for one in audit.warnings))
    warnings += (*remaining_risks(release.certificate),)
    return [*dict.fromkeys(warnings)]


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    """Print a value as JSON, in UTF-8 on any terminal (RFC 8259, section 8.1)."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    typer.echo(text.encode(errors="backslashreplace"))


def print_notes(policies: "InForce") -> None:
    """Say on standard error which policies were skipped, and why."""
    for note in policies.notes:
        typer.echo(f"note: {note}", err=True)


_UNSIGNED = "unsigned: signatures were not checked; to check them, give --trust FILE"


def print_unsigned(trust: object, *, is_data: bool = False) -> None:
    """Say first of all that nobody looked at signatures, where there is no trust file.

    It is the first line of what is printed; where `is_data`, which programs read, of standard
    error.
    """
    if trust is None:
        typer.echo(f"note: {_UNSIGNED}" if is_data else _UNSIGNED, err=is_data)


_PATIENCE = 10.0
"""Every so many seconds there may be a line of progress where it is piped."""
_BEATS = 6
"""After so many of them without a line, there is one without news."""


class _Pace:
    """How fast a stage goes, once two steps of it are done: the first may be slower by far.

    A total in hundredths advances in whole numbers; any other with each report.
    """

    def __init__(self) -> None:
        self._steps, self._first, self._done, self._since = 0, 0, 0, 0.0

    def tell(self, done: int, total: int) -> None:
        """Note how far the stage is."""
        if done > self._done and (total % 100 != 0 or done % 100 == 0):
            self._steps, self._done = self._steps + 1, done
            if self._steps == 1:
                self._first, self._since = done, time.monotonic()

    def left(self, done: int, total: int) -> str:
        """Return how long the rest may take, in words; empty where that is not known yet."""
        if self._steps < _STEPS or done <= self._first or done >= total:
            return ""
        spent = time.monotonic() - self._since
        return f"about {_duration(spent * (total - done) / (done - self._first))} left"


_STEPS = 2


class _Lines:
    """Prints how far a command is: every ten seconds where a stage is new or a percent further,
    else every minute, as a sign of life."""

    def __init__(self, *, time_left: bool) -> None:
        self._time_left, self._lock = time_left, threading.Lock()
        self._said, self._done, self._total = "", 0, 0
        self._printed, self._beats = "", 0
        self._stage, self._pace = "", _Pace()

    def tell(self, message: str, done: int, total: int) -> None:
        """Note how far a stage is; compiling, which takes long without news, is printed at once."""
        with self._lock:
            stage = message.partition(",")[0]
            if stage != self._stage:
                self._stage, self._pace = stage, _Pace()
            self._pace.tell(done, total)
            self._said, self._done, self._total = message, done, total
        if "compiling" in message:
            self.say()

    def say(self) -> None:
        """Write a line of the stage, the share of it that is done, and the time that is left."""
        with self._lock:
            share = f" {self._done / self._total:.0%}" if self._total else ""
            self._beats += 1
            is_news = f"{self._said}{share}" != self._printed
            if self._said and (is_news or self._beats >= _BEATS):
                self._printed, self._beats = f"{self._said}{share}", 0
                typer.echo(f"{self._printed}{self._left()} ...", err=True)

    def _left(self) -> str:
        is_known = self._total and self._time_left
        left = self._pace.left(self._done, self._total) if is_known else ""
        return left and f", {left}"


def _duration(seconds: float) -> str:
    """Return a number of seconds in words, no more exact than it can be foreseen."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


@contextmanager
def _lines(*, time_left: bool) -> Iterator[Callable[[str, int, int], None]]:
    lines, stop = _Lines(time_left=time_left), threading.Event()

    def beat() -> None:
        while not stop.wait(_PATIENCE):
            lines.say()

    heart = threading.Thread(target=beat, daemon=True)
    heart.start()
    try:
        yield lines.tell
    finally:
        stop.set()
        heart.join()


@contextmanager
def progress_bar(*, time_left: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Show stages and how far they are on a terminal; where piped, a line every ten seconds.

    What a stage says after a comma changes as it goes on; it is the same stage.
    """
    if not sys.stderr.isatty():
        with _lines(time_left=time_left) as tell:
            yield tell
        return
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
    )

    from policy_engine.cli.tables.tables import console  # noqa: PLC0415

    columns: list[ProgressColumn] = [
        *(TextColumn("{task.description:<14}"), BarColumn(), MofNCompleteColumn()),
        *([TextColumn("{task.fields[left]}")] if time_left else []),
    ]
    with Progress(*columns, console=console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}
        paces: dict[str, _Pace] = {}

        def show(message: str, done: int, total: int) -> None:
            stage = message.partition(",")[0]
            for name, task in tasks.items():
                if name != stage:
                    end = bar.tasks[task].total or 1
                    bar.update(task, completed=end, total=end, left="")
            if stage not in tasks:
                tasks[stage] = bar.add_task(message, total=total or None, left="")
                paces[stage] = _Pace()
            paces[stage].tell(done, total)
            left, total_known = paces[stage].left(done, total), total or None
            bar.update(
                tasks[stage], completed=done, total=total_known, description=message, left=left
            )

        yield show
        for task in tasks.values():
            end = bar.tasks[task].total or 1
            bar.update(task, completed=end, total=end, left="")
