"""A disclosure audit as text for a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from policy_engine.audits.disclosure.result import AnswersTogether, DisclosureAudit, Linkage
from policy_engine.audits.disclosure.risks.wording import (
    figure_words,
    group_by_reason,
    interval_words,
    name_of,
    share_words,
)
from policy_engine.audits.disclosure.wording import (
    added_by_answers,
    added_by_others,
    limits,
    matched_words,
    notes,
    verdict,
    worst_cases,
)
from policy_engine.cli.tables.tables import console, new_table, print_fitting, rows_table


def print_disclosure(audit: DisclosureAudit) -> None:
    """Print what the worst reaches, then every figure, what has none, and what they do not show."""
    console().print(verdict(audit), markup=False)
    if audit.attacks:
        print_attacks(console(), audit)
    if audit.risks:
        print_fitting(console(), risks_table(audit))
    if audit.releases:
        print_fitting(console(), releases_table(audit))
    if audit.answered and audit.answered.answers:
        print_fitting(console(), answers_table(audit.answered))
    for sentence in (*added_by_others(audit), *added_by_answers(audit), *notes(audit)):
        console().print(sentence, markup=False)
    for names, reason in group_by_reason((one.attack, one.reason) for one in audit.not_run):
        console().print(f"not run: {names}, since {reason}", markup=False)
    for names, reason in group_by_reason((name_of(one), one.reason) for one in audit.risks_not_run):
        console().print(f"no figure: {names}, since {reason}", markup=False)
    for limit in limits():
        console().print(limit, markup=False)


def print_attacks(out: Console, audit: DisclosureAudit) -> None:
    """Print what every attack reaches, by how many columns are known, and which these are."""
    for table in disclosure_tables(audit, out.width):
        print_fitting(out, table)
    steps = [f"{number}: {'+ ' * (number > 1)}{name}" for number, name in enumerate(audit.known, 1)]
    out.print(f"columns known: {', '.join(steps)}", markup=False)
    out.print(f"guessing finds {share_words(audit.attacks[0].baseline)} of the persons")
    if audit.holdout:
        out.print("absent: persons who were never in the original, and are seemingly found")
    for sentence in worst_cases(audit):
        out.print(sentence, markup=False)
    out.print(matched_words(audit), markup=False)


def disclosure_tables(audit: DisclosureAudit, width: int) -> Iterator[Table]:
    """Yield the share of persons that every attack finds, with its interval: an attack a row, and
    a number of known columns a column. More numbers than fit the width go on in the next table."""
    attacks: dict[str, dict[int, Linkage]] = {}
    for one in audit.attacks:
        attacks.setdefault(one.title, {})[len(one.known)] = one
    numbers = sorted({number for some in attacks.values() for number in some})
    step = max(1, (width - _ATTACK_WIDTH) // _FIGURE_WIDTH)
    title = f"{audit.release}: persons found, by how many columns are known (95% interval)"
    for start in range(0, len(numbers), step):
        yield _attacks_table(title, attacks, numbers[start : start + step], bool(audit.holdout))
        title = ""


_ATTACK_WIDTH, _FIGURE_WIDTH = 28, 13


def _attacks_table(
    title: str, attacks: dict[str, dict[int, Linkage]], numbers: Sequence[int], has_absent: bool
) -> Table:
    table = new_table(title, "attack", *(f"{number} known" for number in numbers))
    for name, by_number in attacks.items():
        if by_number.keys() & set(numbers):
            cells = (_attack_cell(by_number.get(one), has_absent=has_absent) for one in numbers)
            table.add_row(escape(name).replace(", ", "\n"), *cells)
    return table


def _attack_cell(one: Linkage | None, *, has_absent: bool) -> str:
    """Return a share, its interval below and, if there are any, the share of absent persons."""
    if one is None:
        return ""
    cell = f"{one.linked.value:.1%}\n[dim]{100 * one.linked.low:.1f}-{one.linked.high:.1%}[/]"
    return f"{cell}\nabsent {one.holdout.value:.1%}" if has_absent and one.holdout else cell


def risks_table(audit: DisclosureAudit) -> Table:
    """Return the risks that need no link, each with its interval and baseline if it has these."""
    rows = [
        (
            name_of(one),
            figure_words(one),
            interval_words(one),
            "" if one.baseline is None else share_words(one.baseline),
        )
        for one in audit.risks
    ]
    head = ("measure", "figure", "95% interval", "baseline")
    return rows_table(f"{audit.release}: risk of its classes and values", head, rows)


def releases_table(audit: DisclosureAudit) -> Table:
    """Return what each release of an original risks, and what it is still good for."""
    rows = [
        (
            one.release,
            f"{one.linked.value:.1%}" if one.linked else "-",
            one.attack or "none",
            f"{one.error:.1%}",
        )
        for one in audit.releases
    ]
    head = ("release", "most linked", "strongest attack", "median error of counts")
    return rows_table("risk and utility of the releases", head, rows)


def answers_table(answered: AnswersTogether) -> Table:
    """Return what each answer tells, with the release and the answers before it."""
    rows = [
        (
            f"query {one.query}",
            ", ".join(one.columns),
            f"{one.linked.value:.1%}",
            one.uniques,
            one.combined,
            one.smallest,
            f"{one.difference} ({one.beside})" if one.difference else "",
        )
        for one in answered.answers
    ]
    head = ("answer", "narrows by", "found", "alone", "alone only together", "smallest cell")
    return rows_table("answers with the release", (*head, "smallest difference"), rows)
