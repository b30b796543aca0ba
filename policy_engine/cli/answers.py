"""How the commands answer: JSON, files and progress."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from policy_engine.cli.hints import with_options
from policy_engine.errors import Problem

if TYPE_CHECKING:
    from policy_engine.api import VerifiedRelease


def plain(problem: Problem) -> dict[str, Any]:
    """Return a problem as JSON has it."""
    problem = with_options(problem)
    place, fix = problem.place, problem.fix
    return {
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
        "section": problem.section,
        "line": place.line,
        "column": place.column,
        "pointer": place.pointer,
        "fix": {
            "start": {"line": fix.start.line, "column": fix.start.column},
            "end": {"line": fix.end.line, "column": fix.end.column},
            "text": fix.text,
        }
        if fix
        else None,
    }


def summary(release: "VerifiedRelease") -> dict[str, Any]:
    """Return what an application did as JSON has it, for the owner: more than is certified."""
    drop, known = release.plan.drop, release.record
    return {
        "output": str(release.path),
        "rows_in": known.input.rows,
        "rows_suppressed": known.suppressed,
        "rows_held_out": known.held_out,
        "dropped": drop.identifiers,
        "unmentioned": drop.unmentioned,
        "certificate": release.certificate.model_dump(mode="json"),
    }


def counted(number: int, noun: str) -> str:
    """Return a number of things in words, such as `1 row` or `2,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


_PATIENCE = 5.0
"""After so many seconds without a word, where progress is piped, there is a line of it."""


def _line_now_and_then() -> Callable[[str, int, int], None]:
    last = time.monotonic()

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _PATIENCE or "compiling" in stage:
            last = time.monotonic()
            how_far = f" {done:,} of {total:,}" if total else ""
            typer.echo(f"{stage}{how_far} ...", err=True)

    return tell


@contextmanager
def progress_bar(*, time_left: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Show stages and how far they are on a terminal; where piped, a line now and then.

    What a stage says after a comma changes as it goes on; it is the same stage.
    """
    if not sys.stderr.isatty():
        yield _line_now_and_then()
        return
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    from policy_engine.rendering.tables import console  # noqa: PLC0415

    columns: list[ProgressColumn] = [
        *(TextColumn("{task.description:<14}"), BarColumn(), MofNCompleteColumn()),
        *([TimeRemainingColumn()] if time_left else []),
    ]
    with Progress(*columns, console=console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def show(said: str, done: int, total: int) -> None:
            stage = said.partition(",")[0]
            for name, task in tasks.items():
                if name != stage:
                    bar.update(
                        task, completed=bar.tasks[task].total or 1, total=bar.tasks[task].total or 1
                    )
            if stage not in tasks:
                tasks[stage] = bar.add_task(said, total=total or None)
            bar.update(tasks[stage], completed=done, total=total or None, description=said)

        yield show
        for task in tasks.values():
            bar.update(task, completed=bar.tasks[task].total or 1, total=bar.tasks[task].total or 1)
