"""An audit of a generator as text for a terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from policy_engine.audits.generative.result import (
    ClosestDistances,
    Copies,
    FiguresByClass,
    GenerativeAttack,
    GenerativeAudit,
)
from policy_engine.audits.generative.wording import (
    beats_naive,
    limits,
    model_words,
    not_run_words,
    party_words,
    percent,
    person_words,
    set_words,
    untold_words,
    weak_risks,
)
from policy_engine.cli.tables.tables import console, new_table, print_fitting
from policy_engine.kernels.estimates import Estimate


def print_generative(audit: GenerativeAudit) -> None:
    """Print the verdict, then every figure, what has none, and what they do not show."""
    out = console()
    for sentence in (audit.verdict, *person_words(audit), *model_words(audit)):
        out.print(sentence, markup=False)
    if audit.attacks:
        _print_attacks(out, audit)
    if isinstance(audit.by_class, FiguresByClass):
        _print_classes(out, audit, audit.by_class)
    if audit.risks:
        rows = [
            (
                escape(f"{one.risk} {one.column}".rstrip()),
                _cell(one.value),
                percent(one.train.value),
                percent(one.control.value),
                percent(one.baseline.value),
                "yes" if beats_naive(one) else "no",
            )
            for one in audit.risks
        ]
        titles = ("risk", "value", "members", "holdout", "naive", "beats naive")
        print_fitting(out, _table("singling out, linkability, inference", titles, rows))
        for sentence in (*party_words(audit.risks), *weak_risks(audit.risks)):
            out.print(sentence, markup=False)
    _print_distances(out, audit)
    if audit.growth:
        steps = ", ".join(f"{one.samples:,}: {percent(one.single)}" for one in audit.growth)
        out.print(f"Single inference by samples: {steps}", markup=False)
    for sentence in (*audit.warnings, *(f"not run: {one}" for one in not_run_words(audit))):
        out.print(sentence, markup=False)
    for limit in limits(audit):
        out.print(limit, markup=False)


def _print_attacks(out: Console, audit: GenerativeAudit) -> None:
    ordered = sorted(audit.attacks, key=lambda one: -one.auc.value)
    head = ("attack", "AUC", f"TPR at {ordered[0].tpr_at_fpr[0].fpr:.0%} FPR", "single", "set")
    title = "membership inference"
    if audit.models:
        title += f", over {len(audit.models)} models"
    print_fitting(out, _table(title, head, map(_attack_row, ordered)))
    out.print(set_words(audit.attack(audit.strongest)), markup=False)


def _print_distances(out: Console, audit: GenerativeAudit) -> None:
    if isinstance(audit.copies, Copies):
        one = audit.copies
        form = ", under any label" if one.any_class else ""
        out.print(
            f"Exact copies: {percent(one.members.value)} of the members and "
            f"{percent(one.holdout.value)} of the holdout are in the synthetic records{form}.",
            markup=False,
        )
    if isinstance(audit.distances, ClosestDistances):
        near = audit.distances
        out.print(
            f"Closest records: median distance {near.members_median:.3g} of members and "
            f"{near.holdout_median:.3g} of the holdout; members are closer in "
            f"{percent(near.closer)} of pairs.",
            markup=False,
        )


def _print_classes(out: Console, audit: GenerativeAudit, by_class: FiguresByClass) -> None:
    ordered = sorted(by_class.classes, key=lambda one: -one.auc.value)
    rows = [
        (
            escape(one.name) + ("\n[dim]told best[/]" if one.name == by_class.worst else ""),
            f"{one.auc.value:.3f}\n[dim]{one.auc.low:.3f}-{one.auc.high:.3f}[/]",
            f"{one.members:,}",
            f"{one.holdout:,}",
        )
        for one in ordered
    ]
    if rows:
        title = f"{by_class.attack}, class by class"
        print_fitting(out, _table(title, ("class", "AUC", "members", "holdout"), rows))
    for sentence in untold_words(audit):
        out.print(sentence, markup=False)


def _table(title: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    table = new_table(title, *head)
    for row in rows:
        table.add_row(*row)
    return table


def _attack_row(one: GenerativeAttack) -> tuple[str, ...]:
    rate = one.tpr_at_fpr[0]
    share = "by a coin" if rate.randomised else _cell(rate.tpr)
    auc = f"{one.auc.value:.3f}\n[dim]{one.auc.low:.3f}-{one.auc.high:.3f}[/]"
    name = one.attack if not one.space else f"{one.attack}\n[dim]{one.space}[/]"
    return name, auc, share, _cell(one.games.single), _cell(one.games.set)


def _cell(one: Estimate) -> str:
    return f"{percent(one.value)}\n[dim]{100 * one.low:.1f}-{percent(one.high)}[/]"
