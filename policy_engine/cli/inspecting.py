"""The commands that look at policies: draw them, compare them, test them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from policy_engine.cli.answers import print_json, print_notes, print_unsigned
from policy_engine.cli.options import (
    CertificateOption,
    Format,
    FormatOption,
    HierarchyOption,
    LogKeyOption,
    OwnersOption,
    PoliciesArgument,
    StatusOption,
    TrustOption,
    WorldOption,
)
from policy_engine.cli.parsing import exit_with_two, usage_error
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import PolicyEngineError, format_count

if TYPE_CHECKING:
    from policy_engine.authoring.diff import Change, Difference
    from policy_engine.authoring.policy_tests import TestReport
    from policy_engine.certificate.sources import Proof
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
    typer.Option(
        "--log",
        metavar="FILE",
        help="A decision log, for consents that depend on what was done before.",
    ),
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


@with_reading_options()
def graph(
    policies: PoliciesArgument,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the picture to this file (.svg, .mmd or .dot)."),
    ] = None,
    drawing_format: Annotated[
        DrawingFormat | None,
        typer.Option(
            "--format", help="The picture's format. Default: by the ending of --output, or SVG."
        ),
    ] = None,
    certificate: CertificateOption = [],  # noqa: B006
    owners: OwnersOption = None,
    time: Annotated[
        str,
        typer.Option(metavar="TIME", help="Draw what holds at this time (ISO 8601). Default: now."),
    ] = "",
    world: WorldOption = None,
    log: ReadLogOption = None,
    log_key: LogKeyOption = None,
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
    *,
    reading: "Reading",
) -> None:
    """Draw policies: who may do what with which assets. SVG needs Graphviz's dot.

    With --certificate, also what was made from what and is no longer valid; with --owners, also
    who owns what and which rules do not count.
    """
    from policy_engine.api.deciding import load_time, load_world  # noqa: PLC0415
    from policy_engine.api.trusting import trusted_proofs  # noqa: PLC0415
    from policy_engine.authoring.diagram import draw_policy, has_dot  # noqa: PLC0415
    from policy_engine.decision.log import read_history  # noqa: PLC0415
    from policy_engine.policy.owners import load_owners  # noqa: PLC0415

    drawing_kind = _drawing_format(output, drawing_format)
    if certificate:
        print_unsigned(trust, is_data=output is None)
    with exit_with_two(PolicyEngineError):
        in_force = reading.policies_in_force(*policies, time=load_time(world, time))
        print_notes(in_force)
        if drawing_kind == "svg" and output is None and not has_dot():
            note = "'dot' of Graphviz is not on the path: this is Mermaid text, not SVG"
            typer.echo(note, err=True)
            drawing_kind = "mermaid"
        drawing = draw_policy(
            in_force,
            drawing_kind,
            trusted_proofs(certificate, trust, status, time=load_time(world, time)),
            owners=load_owners(owners, in_force, reading.contexts),
            world=load_world(world, time, in_force),
            history=read_history(log, log_key) if log else None,
        )
    if output is None:
        typer.echo(drawing.text, nl=False)
        return
    write_file(output, drawing.text, *policies, *map(Path, certificate))


def _drawing_format(output: Path | None, requested: DrawingFormat | None) -> _Drawn:
    """Return what to draw in. Raises RequestError (U001) where the ending says nothing."""
    ending = (
        requested.value if requested else _ENDINGS.get(output.suffix.lower()) if output else "svg"
    )
    for name in get_args(_Drawn):
        if ending == name:
            return name  # type: ignore[no-any-return]
    raise usage_error(f"--output ends in .svg, .mmd or .dot. {str(output)!r} was given.")


# -- diff -----------------------------------------------------------------------------------------


@with_reading_options()
def diff(
    old: Annotated[
        Path,
        typer.Argument(metavar="OLD", help="The old policies: a file, a folder or a registry."),
    ],
    new: Annotated[
        Path,
        typer.Argument(metavar="NEW", help="The new policies: a file, a folder or a registry."),
    ],
    before: Annotated[
        list[Path], typer.Option(metavar="POLICY", help="Further old policies.")
    ] = [],  # noqa: B006
    after: Annotated[list[Path], typer.Option(metavar="POLICY", help="Further new policies.")] = [],  # noqa: B006
    parent_before: Annotated[
        list[Path],
        typer.Option(metavar="POLICY", help="A policy that only the old ones inherit from."),
    ] = [],  # noqa: B006
    parent_after: Annotated[
        list[Path],
        typer.Option(metavar="POLICY", help="A policy that only the new ones inherit from."),
    ] = [],  # noqa: B006
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A decision log: decide its requests again under the new policies."
        ),
    ] = None,
    world_before: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The state of the world for the old policies, in JSON."),
    ] = None,
    world_after: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The state of the world for the new policies, in JSON."),
    ] = None,
    certificate: CertificateOption = [],  # noqa: B006
    hierarchy: HierarchyOption = [],  # noqa: B006
    owners: OwnersOption = None,
    output_format: FormatOption = Format.TEXT,
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
    *,
    reading: "Reading",
) -> None:
    """Show what changed between two versions of policies: exit 0 if nothing did, else 1."""
    from policy_engine.api.deciding import load_world  # noqa: PLC0415
    from policy_engine.api.trusting import trusted_proofs  # noqa: PLC0415
    from policy_engine.authoring.diff import compare_policies  # noqa: PLC0415
    from policy_engine.policy.owners import load_owners  # noqa: PLC0415

    if log is None and (world_before or world_after):
        raise usage_error("A state of the world is for a log. Give the log as well: --log FILE.")
    if certificate:
        print_unsigned(trust, is_data=output_format is Format.JSON)
    with exit_with_two(PolicyEngineError):
        old_policies = _add_parents(reading, parent_before).policies_in_force(old, *before)
        new_policies = _add_parents(reading, parent_after).policies_in_force(new, *after)
        for policies in (old_policies, new_policies):
            print_notes(policies)
        difference = compare_policies(
            old_policies,
            new_policies,
            log,
            certificates=trusted_proofs(certificate, trust, status),
            hierarchy=reading.hierarchy(hierarchy),
            world_before=load_world(world_before, policies=old_policies),
            world_after=load_world(world_after, policies=new_policies),
            owners=load_owners(owners, new_policies, reading.contexts),
        )
    if output_format is Format.JSON:
        print_json({"tendency": difference.tendency, **difference.model_dump(mode="json")})
    else:
        for line in difference_lines(difference):
            typer.echo(line)
    raise typer.Exit(0 if difference.is_empty else 1)


def _add_parents(reading: "Reading", parents: list[Path]) -> "Reading":
    return replace(reading, parents=(*reading.parents, *parents)) if parents else reading


def difference_lines(difference: "Difference") -> Iterator[str]:
    """Yield what changed, by policy and by rule; then the requests answered otherwise."""
    place: tuple[str, str] | None = None
    for change in difference.changes:
        if (change.policy, change.rule) != place:
            place = change.policy, change.rule
            yield f"{change.policy}" + (f", {change.rule}" if change.rule else "")
        yield f"  {_MARKS[change.tendency]:<8} {_format_change(change)}"
    if difference.changes:
        yield f"{format_count(len(difference.changes), 'change')}. {_TOGETHER[difference.tendency]}"
    else:
        yield "no change"
    yield from (f"note: {note}" for note in difference.notes)
    yield from _replay_lines(difference)


def _format_change(change: "Change") -> str:
    if change.before and change.after:
        return f"{change.what}: {change.before} -> {change.after}"
    return f"{change.what}: {change.before or change.after or 'none'}"


def _replay_lines(difference: "Difference") -> Iterator[str]:
    from policy_engine.policy.wording import printable, short_name  # noqa: PLC0415

    if difference.replay is None:
        return
    replay = difference.replay
    requests = format_count(replay.requests, "distinct request")
    yield f"{len(replay.changed)} of {requests} of the log would be answered otherwise"
    for one in replay.changed:
        purpose = f" for {printable(one.purpose)}" if one.purpose else ""
        targets = " and ".join(map(printable, one.targets))
        who = f"{printable(one.assignee)} {printable(short_name(one.action))} {targets}{purpose}"
        yield f"  {one.before} -> {one.after}  {who} (logged {format_count(one.times, 'time')})"
        yield f"      before: {printable(one.reason_before)}"
        yield f"      after:  {printable(one.reason_after)}"
    if replay.judged_by_rule:
        was, is_judged = ("was", "is") if len(replay.judged_by_rule) == 1 else ("were", "are")
        yield (
            f"note: {_format_entries(replay.judged_by_rule)} {was} answered by what is not known "
            f"now, and {is_judged} judged by the rule that the log names."
        )
    if replay.undecided_entries:
        yield (
            f"note: {_format_entries(replay.undecided_entries)} cannot be judged: give what was "
            "known then."
        )


def _format_entries(numbers: Sequence[int]) -> str:
    """Return the entries of the log that a request names, the first of many by number."""
    if len(numbers) == 1:
        return f"entry {numbers[0]} of the log"
    more = len(numbers) - _NAMED
    *head, last = [*map(str, numbers[:_NAMED]), *([f"{more} more"] if more > 0 else [])]
    return f"entries {', '.join(head)} and {last} of the log"


# -- test -----------------------------------------------------------------------------------------


@with_reading_options("parent")
def run_tests(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Policy tests in YAML.")],
    min_coverage: Annotated[
        float,
        typer.Option(
            min=0, max=100, metavar="PERCENT", help="Fail if fewer rules are tested than this."
        ),
    ] = 0.0,
    owners: OwnersOption = None,
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
    output_format: Annotated[
        PageFormat, typer.Option("--format", help="The output format.")
    ] = PageFormat.TEXT,
    *,
    reading: "Reading",
) -> None:
    """Run policy tests: exit 0 if all pass, 1 if one fails or too few rules are tested."""
    from policy_engine.api.trusting import trusted_proofs  # noqa: PLC0415
    from policy_engine.authoring.policy_tests import run_policy_tests  # noqa: PLC0415

    def read_certificates(paths: "Sequence[Path]") -> "Sequence[Proof]":
        if paths:
            print_unsigned(trust, is_data=output_format is not PageFormat.TEXT)
        return trusted_proofs(paths, trust, status)

    with exit_with_two(PolicyEngineError):
        report = run_policy_tests(
            file,
            reading.contexts,
            reading.limits,
            reading.vocabularies,
            owners,
            read_certificates,
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
    yield f"{format_count(len(report.tests), 'test')}: {passed} passed, {failed} failed"
    timeless = [one.name for one in report.tests if one.by_clock]
    if timeless:
        names = ", ".join(map(printable, timeless[:_SHOWN])) + ", ..." * (len(timeless) > _SHOWN)
        count = format_count(len(timeless), "test")
        yield f"note: decided by the clock, for want of a time in the world: {count} ({names})"
    yield _coverage_text(report, min_coverage)
    for rule in report.rules:
        if not rule.covered:
            where = f"{rule.source}:{rule.line}" if rule.line else rule.source
            yield f"  never: {rule.kind} {printable(rule.rule)} ({printable(where)})"


def _coverage_text(report: "TestReport", min_coverage: float) -> str:
    covered = sum(rule.covered for rule in report.rules)
    # Rounded, but never up to the bound.
    share = round(report.coverage * 100, 1)
    if share > report.coverage * 100 and share >= min_coverage > report.coverage * 100:
        share = int(report.coverage * 1_000) / 10
    text = f"tested: {covered} of {format_count(len(report.rules), 'rule')}, {share:g} %"
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
