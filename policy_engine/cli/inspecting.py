"""The commands that look at policies: draw them, compare them, test them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from policy_engine.cli.answers import counted, print_json, print_notes
from policy_engine.cli.options import (
    CertificateOption,
    Format,
    FormatOption,
    HierarchyOption,
    LogKeyOption,
    OwnersOption,
    PoliciesArgument,
    TimeOption,
    WorldOption,
    reads_policies,
    unanswered,
    usage,
)
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import PolicyEngineError

if TYPE_CHECKING:
    from policy_engine.authoring.diff import Change, Difference
    from policy_engine.authoring.policy_tests import TestReport
    from policy_engine.policy import Reading


class DrawingFormat(StrEnum):
    """What to draw in."""

    SVG = "svg"
    MERMAID = "mermaid"
    DOT = "dot"


class PageFormat(StrEnum):
    """How to report tests: for people, for machines, or for what shows tests."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


ReadLogOption = Annotated[
    Path | None,
    typer.Option("--log", metavar="FILE", help="A log: what was done, as far as leave needs it."),
]
_Drawn = Literal["svg", "mermaid", "dot"]
_ENDINGS = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot"}
_SHOWN = 5
_NAMED = 10
"""So many entries of a log are named by their numbers."""
_MARKS = {"widens": "widens", "narrows": "narrows", "either": "either", "neither": "-"}
_TOGETHER = {
    "widens": "Together they can only widen what is permitted.",
    "narrows": "Together they can only narrow what is permitted.",
    "either": "Together they can widen and narrow what is permitted.",
    "neither": "They change nothing that is permitted.",
}


# -- graph ----------------------------------------------------------------------------------------


@reads_policies()
def graph(
    policies: PoliciesArgument,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the picture goes: .svg, .mmd or .dot."),
    ] = None,
    drawing_format: Annotated[
        DrawingFormat | None, typer.Option("--format", help="Else the ending of --output, or SVG.")
    ] = None,
    certificate: CertificateOption = [],  # noqa: B006
    owners: OwnersOption = None,
    time: TimeOption = "",
    world: WorldOption = None,
    log: ReadLogOption = None,
    log_key: LogKeyOption = None,
    *,
    reading: "Reading",
) -> None:
    """Draw policies: who may do what with which assets. SVG needs Graphviz's dot.

    With --certificate, what was made from what, and what of it no longer stands; with --owners,
    whose it is, and which rules do not count.
    """
    from policy_engine.api.deciding import proofs, time_at, world_at  # noqa: PLC0415
    from policy_engine.authoring.diagram import draw_policy, has_dot  # noqa: PLC0415
    from policy_engine.decision.log import read_history  # noqa: PLC0415
    from policy_engine.policy.owners import load_owners  # noqa: PLC0415

    asked = _drawing_format(output, drawing_format)
    with unanswered(PolicyEngineError):
        read = reading.in_force(*policies, time=time_at(world, time))
        print_notes(read)
        if asked == "svg" and output is None and not has_dot():
            note = "'dot' of Graphviz is not on the path: this is Mermaid text, not SVG"
            typer.echo(note, err=True)
            asked = "mermaid"
        drawing = draw_policy(
            read,
            asked,
            proofs(certificate),
            owners=load_owners(owners, read, reading.contexts),
            world=world_at(world, time, read),
            history=read_history(log, log_key) if log else None,
        )
    if output is None:
        typer.echo(drawing.text, nl=False)
        return
    write_file(output, drawing.text, *policies, *certificate)


def _drawing_format(output: Path | None, given: DrawingFormat | None) -> _Drawn:
    """Return what to draw in. Raises RequestError (U001) where the ending says nothing."""
    named = given.value if given else _ENDINGS.get(output.suffix.lower()) if output else "svg"
    for known in get_args(_Drawn):
        if named == known:
            return known  # type: ignore[no-any-return]
    raise usage(f"--output ends in .svg, .mmd or .dot. {str(output)!r} was given.")


# -- diff -----------------------------------------------------------------------------------------


@reads_policies()
def diff(
    old: Annotated[
        Path,
        typer.Argument(
            metavar="OLD", help="The policies as they were: a file, a folder or a registry."
        ),
    ],
    new: Annotated[
        Path, typer.Argument(metavar="NEW", help="The policies as they are to be, likewise.")
    ],
    before: Annotated[
        list[Path], typer.Option(metavar="POLICY", help="More policies as they were.")
    ] = [],  # noqa: B006
    after: Annotated[
        list[Path], typer.Option(metavar="POLICY", help="More policies as they are to be.")
    ] = [],  # noqa: B006
    parent_before: Annotated[
        list[Path], typer.Option(metavar="POLICY", help="What only the old ones inherit from.")
    ] = [],  # noqa: B006
    parent_after: Annotated[
        list[Path], typer.Option(metavar="POLICY", help="What only the new ones inherit from.")
    ] = [],  # noqa: B006
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A decision log, to judge its entries by the new ones."),
    ] = None,
    world_before: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The state of the world with the old ones, in JSON."),
    ] = None,
    world_after: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The state of the world with the new ones.")
    ] = None,
    certificate: CertificateOption = [],  # noqa: B006
    hierarchy: HierarchyOption = [],  # noqa: B006
    owners: OwnersOption = None,
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
) -> None:
    """Say what changed from one policy to another: exit 0 where nothing did, 1 where something."""
    from policy_engine.api.deciding import proofs, world_at  # noqa: PLC0415
    from policy_engine.authoring.diff import compare_policies  # noqa: PLC0415
    from policy_engine.policy.owners import load_owners  # noqa: PLC0415

    if log is None and (world_before or world_after):
        raise usage("A state of the world is for a log. Give the log as well: --log FILE.")
    with unanswered(PolicyEngineError):
        was = _with_parents(reading, parent_before).in_force(old, *before)
        is_now = _with_parents(reading, parent_after).in_force(new, *after)
        for some in (was, is_now):
            print_notes(some)
        found = compare_policies(
            was,
            is_now,
            log,
            certificates=proofs(certificate),
            hierarchy=reading.hierarchy(hierarchy),
            world_before=world_at(world_before, policies=was),
            world_after=world_at(world_after, policies=is_now),
            owners=load_owners(owners, is_now, reading.contexts),
        )
    if output_format is Format.JSON:
        print_json({"tendency": found.tendency, **found.model_dump(mode="json")})
    else:
        for line in difference_lines(found):
            typer.echo(line)
    raise typer.Exit(0 if found.is_empty else 1)


def _with_parents(reading: "Reading", parents: list[Path]) -> "Reading":
    return replace(reading, parents=(*reading.parents, *parents)) if parents else reading


def difference_lines(found: "Difference") -> Iterator[str]:
    """Yield what changed, by policy and by rule; then the requests answered otherwise."""
    place: tuple[str, str] | None = None
    for change in found.changes:
        if (change.policy, change.rule) != place:
            place = change.policy, change.rule
            yield f"{change.policy}" + (f", {change.rule}" if change.rule else "")
        yield f"  {_MARKS[change.tendency]:<8} {_change(change)}"
    if found.changes:
        yield f"{counted(len(found.changes), 'change')}. {_TOGETHER[found.tendency]}"
    else:
        yield "no change"
    yield from (f"note: {note}" for note in found.notes)
    yield from _replay_lines(found)


def _change(change: "Change") -> str:
    if change.before and change.after:
        return f"{change.what}: {change.before} -> {change.after}"
    return f"{change.what}: {change.before or change.after or 'none'}"


def _replay_lines(found: "Difference") -> Iterator[str]:
    from policy_engine.policy.wording import printable, short_name  # noqa: PLC0415

    if found.replay is None:
        return
    replay = found.replay
    requests = counted(replay.requests, "distinct request")
    yield f"{len(replay.changed)} of {requests} of the log would be answered otherwise"
    for one in replay.changed:
        purpose = f" for {printable(one.purpose)}" if one.purpose else ""
        targets = " and ".join(map(printable, one.targets))
        who = f"{printable(one.assignee)} {printable(short_name(one.action))} {targets}{purpose}"
        yield f"  {one.before} -> {one.after}  {who} (logged {counted(one.times, 'time')})"
        yield f"      before: {printable(one.reason_before)}"
        yield f"      after:  {printable(one.reason_after)}"
    if replay.judged_by_rule:
        was, is_judged = ("was", "is") if len(replay.judged_by_rule) == 1 else ("were", "are")
        yield (
            f"note: {_entries(replay.judged_by_rule)} {was} answered by what is not known now, and "
            f"{is_judged} judged by the rule that the log names."
        )
    if replay.undecided_entries:
        yield (
            f"note: {_entries(replay.undecided_entries)} cannot be judged: give what was known "
            "then."
        )


def _entries(numbers: Sequence[int]) -> str:
    """Return which entries of the log are meant, the first of many by number."""
    if len(numbers) == 1:
        return f"entry {numbers[0]} of the log"
    more = len(numbers) - _NAMED
    *head, last = [*map(str, numbers[:_NAMED]), *([f"{more} more"] if more > 0 else [])]
    return f"entries {', '.join(head)} and {last} of the log"


# -- test -----------------------------------------------------------------------------------------


@reads_policies("parent")
def run_tests(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Policy tests in YAML.")],
    min_coverage: Annotated[
        float,
        typer.Option(min=0, max=100, metavar="PERCENT", help="Fail where fewer rules are tested."),
    ] = 0.0,
    owners: OwnersOption = None,
    output_format: Annotated[
        PageFormat, typer.Option("--format", help="How to print.")
    ] = PageFormat.TEXT,
    *,
    reading: "Reading",
) -> None:
    """Run policy tests: exit 0 where all pass, 1 where one fails or too few rules are tested."""
    from policy_engine.authoring.policy_tests import run_policy_tests  # noqa: PLC0415

    with unanswered(PolicyEngineError):
        report = run_policy_tests(
            file, reading.contexts, reading.limits, reading.vocabularies, owners
        )
    passed = report.passed and report.coverage * 100 >= min_coverage
    if output_format is PageFormat.JSON:
        summary = {"passed": passed, "coverage": report.coverage}
        print_json({**summary, **report.model_dump(mode="json")})
    else:
        lines = report_lines if output_format is PageFormat.TEXT else junit_lines
        for line in lines(report, min_coverage):
            typer.echo(line)
    raise typer.Exit(0 if passed else 1)


def report_lines(report: "TestReport", min_coverage: float) -> Iterator[str]:
    """Yield a line a test, why those failed that did, the totals, and the rules never tested."""
    from policy_engine.policy.wording import printable  # noqa: PLC0415

    for one in report.tests:
        where = "" if one.passed else f" (line {one.line})"
        yield f"{'pass' if one.passed else 'FAIL'}  {printable(one.name)}{where}"
        yield from (f"      {printable(failure)}" for failure in one.failures)
    failed = len(report.failed)
    passed = len(report.tests) - failed
    yield f"{counted(len(report.tests), 'test')}: {passed} passed, {failed} failed"
    timeless = [one.name for one in report.tests if one.by_clock]
    if timeless:
        named = ", ".join(map(printable, timeless[:_SHOWN])) + ", ..." * (len(timeless) > _SHOWN)
        told = counted(len(timeless), "test")
        yield f"note: decided by the clock, for want of a time in the world: {told} ({named})"
    yield _coverage_text(report, min_coverage)
    for rule in report.rules:
        if not rule.covered:
            where = f"{rule.source}:{rule.line}" if rule.line else rule.source
            yield f"  never: {rule.kind} {printable(rule.rule)} ({printable(where)})"


def _coverage_text(report: "TestReport", min_coverage: float) -> str:
    covered = sum(rule.covered for rule in report.rules)
    # Rounded, but never up to what is asked for.
    share = round(report.coverage * 100, 1)
    if share > report.coverage * 100 and share >= min_coverage > report.coverage * 100:
        share = int(report.coverage * 1_000) / 10
    text = f"tested: {covered} of {counted(len(report.rules), 'rule')}, {share:g} %"
    is_short = report.coverage * 100 < min_coverage
    return f"{text}, less than the {min_coverage:g} % asked for" if is_short else text


def junit_lines(report: "TestReport", min_coverage: float) -> Iterator[str]:
    """Yield the report as JUnit's XML; too little coverage is a test that fails."""
    from policy_engine.policy.wording import printable  # noqa: PLC0415

    def quoted(text: str) -> str:
        return escape(printable(text))

    is_short = report.coverage * 100 < min_coverage
    cases = [(one.name, one.failures) for one in report.tests]
    if min_coverage:
        text = _coverage_text(report, min_coverage)
        cases.append(("coverage of rules", (text,) if is_short else ()))
    failed = sum(bool(failures) for _, failures in cases)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    counts = f'tests="{len(cases)}" failures="{failed}" errors="0" skipped="0"'
    yield f'<testsuite name="{quoted(report.file)}" {counts}>'
    for name, failures in cases:
        case = f'  <testcase classname="{quoted(report.file)}" name="{quoted(name)}"'
        if not failures:
            yield f"{case}/>"
            continue
        yield f'{case}>\n    <failure message="{quoted(failures[0])}">'
        yield "\n".join(map(quoted, failures)) + "</failure>\n  </testcase>"
    yield "</testsuite>"
