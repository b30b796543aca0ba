"""A disclosure audit as text for a terminal."""

from rich.table import Table

from policy_engine.audits.disclosure.result import DisclosureAudit
from policy_engine.audits.disclosure.risks.wording import (
    by_reason,
    figure_words,
    interval_words,
    name_of,
    share_words,
)
from policy_engine.audits.disclosure.wording import (
    added_by_others,
    limits,
    matched_words,
    notes,
    verdict,
    worst_cases,
)
from policy_engine.cli.tables.tables import console, print_fitting, rows_table


def print_disclosure(audit: DisclosureAudit) -> None:
    """Print what the worst reaches, then every figure, what has none, and what they do not show."""
    console().print(verdict(audit), markup=False)
    if audit.attacks:
        print_fitting(console(), disclosure_table(audit))
        for told in worst_cases(audit):
            console().print(told, markup=False)
        console().print(matched_words(audit), markup=False)
    if audit.risks:
        print_fitting(console(), risks_table(audit))
    if audit.releases:
        print_fitting(console(), releases_table(audit))
    for told in added_by_others(audit):
        console().print(told, markup=False)
    for told in notes(audit):
        console().print(told, markup=False)
    for names, reason in by_reason((one.attack, one.reason) for one in audit.not_run):
        console().print(f"not run: {names}, since {reason}", markup=False)
    for names, reason in by_reason((name_of(one), one.reason) for one in audit.risks_not_run):
        console().print(f"no figure: {names}, since {reason}", markup=False)
    for limit in limits():
        console().print(limit, markup=False)


def disclosure_table(audit: DisclosureAudit) -> Table:
    """Return what every attack reaches, with its interval and what guessing does."""
    rows = [
        (
            one.title,
            len(one.known),
            f"{one.linked.value:.1%}",
            f"{one.linked.low:.1%} to {one.linked.high:.1%}",
            f"{100 * one.baseline:.2g}%",
            *([f"{one.holdout.value:.1%}" if one.holdout else "-"] if audit.holdout else []),
        )
        for one in audit.attacks
    ]
    names = "attack", "columns known", "persons linked", "95% interval", "by guessing"
    head = (*names, "of absent persons") if audit.holdout else names
    return rows_table(f"{audit.release}: who is found", head, rows)


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
    head = ("release", "most linked", "by", "median error of counts")
    return rows_table("risk and utility of the releases", head, rows)
