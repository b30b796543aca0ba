"""Audits on a terminal: the verdict first, then the figures."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

from policy_engine.audits.membership.figures import Figures, TprAtFpr
from policy_engine.audits.membership.over_targets import OverTargets, target_spread_rows
from policy_engine.audits.membership.result import (
    AttackResult,
    FittedTarget,
    MembershipAudit,
    Slice,
)
from policy_engine.audits.membership.wording import rate_text, share_text
from policy_engine.cli.tables.tables import new_table
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.plan.lineage import Maker

if TYPE_CHECKING:
    from policy_engine.audits.membership.tradeoff import Tradeoff


def audit_lines(audit: MembershipAudit) -> Iterator[str]:
    """Yield the verdict, a sentence a line, and the warnings, as markup."""
    first, *others = audit.verdict or ("",)
    yield f"[bold]{escape(first)}[/]"
    yield from map(escape, others)
    if isinstance(audit.fitted, FittedTarget):
        yield f"attacked: {escape(audit.fitted.text)}"
    if isinstance(audit.made_by, Maker):
        yield f"made by: {escape(audit.made_by.party)}"
    yield from (f"[yellow]warning[/]: {escape(one)}" for one in audit.warnings)


def attacks_table(audit: MembershipAudit) -> Table:
    """Return what every attack reaches, the strongest first; then the worst slice of that one."""
    fprs = [rate_text(at.fpr) for at in audit.attacks[0].figures.tpr_at_fpr]
    names = ("attack", "precision", "recall", "accuracy", "AUC", *(f"TPR\nat {at}" for at in fprs))
    table = _without_lines(new_table(f"Membership inference against {audit.data}", *names))
    for one in sorted(
        audit.attacks, key=lambda one: (one.attack != audit.strongest, -one.figures.accuracy.value)
    ):
        table.add_row(_named(one), *_cells(one.figures))
    worst = audit.attack(audit.strongest).worst
    if isinstance(worst, Slice):
        table.add_section()
        table.add_row(f"worst slice of\n{escape(audit.strongest)}", *_cells(worst.figures))
    return table


def _without_lines(table: Table) -> Table:
    """Return a table of figures without lines, as narrow as its figures are."""
    table.box, table.show_edge, table.padding = box.SIMPLE_HEAD, False, (0, 0, 0, 0)
    for column in table.columns:
        column.no_wrap = True
    for column in table.columns[1:]:
        # Of a figure no digit is ever cut off without a mark, however narrow the terminal.
        column.overflow, column.justify = "ellipsis", "right"
    return table


def marks_lines(audit: MembershipAudit) -> Iterator[str]:
    """Yield what the marks in the table of attacks mean, as markup."""
    if any(at.randomised for one in audit.attacks for at in one.figures.tpr_at_fpr):
        yield (
            "by coin: too many records share the highest scores for any threshold to have so few "
            "false positives; a coin among them has. A finer score may find more."
        )


def targets_table(spread: OverTargets) -> Table:
    """Return what every attack reaches over all targets: means and standard deviations."""
    head, rows = target_spread_rows(spread)
    short = [_FPR.sub("\nat ", name).removesuffix(" FPR") for name in head]
    title = f"Over {spread.targets} targets: mean \u00b1 standard deviation"
    table = _without_lines(new_table(title, *short))
    for name, *cells in rows:
        table.add_row(escape(name), *(_with_deviation(cell) for cell in cells))
    return table


_FPR = re.compile(" at (?=.* FPR)")


def _with_deviation(cell: str) -> str:
    """Return a mean with its deviation below."""
    mean, sign, deviation = cell.partition(" \u00b1 ")
    return f"{mean}\n[dim]\u00b1 {deviation}[/]" if sign else cell


def _named(one: AttackResult) -> str:
    return f"{escape(one.attack)}\n[dim]degenerate[/]" if one.degenerate else escape(one.attack)


def _cells(figures: Figures) -> tuple[str, ...]:
    ends = f"{figures.accuracy.low * 100:.1f}-{share_text(figures.accuracy.high)}"
    accuracy = f"{share_text(figures.accuracy.value)}\n[dim]{ends}[/]"
    rates = (_rate_cell(at) for at in figures.tpr_at_fpr)
    auc = f"{figures.auc.value:.3f}"
    return _share(figures.precision), _share(figures.recall), accuracy, auc, *rates


def _rate_cell(at: TprAtFpr) -> str:
    """Return a rate, in brackets where no threshold but a coin among equal scores reaches it."""
    ends = f"{at.tpr.low * 100:.2g}-{share_text(at.tpr.high)}"
    rate = share_text(at.tpr.value)
    return f"({rate})\n[dim]by coin[/]" if at.randomised else f"{rate}\n[dim]{ends}[/]"


def _share(figure: Estimate | NotApplicable) -> str:
    return "-" if isinstance(figure, NotApplicable) else share_text(figure.value)


def tradeoff_table(tradeoff: "Tradeoff") -> Table:
    """Return what each privacy costs the model and takes from the attacker, the original first."""
    names = ("privacy", "setting", "epsilon", "model\non others", "on its\nmembers")
    attack = ("attack:\nprecision", "attack:\nrecall", "phi by\nprecision", "phi by\nrecall")
    table = _without_lines(
        new_table(f"{tradeoff.attack} against a model of {tradeoff.data}", *names, *attack)
    )
    for one in tradeoff.points:
        table.add_row(
            "none" if one.kind == "original" else one.kind,
            _number(one.setting),
            _number(one.epsilon),
            f"{one.test_accuracy:.1%}",
            f"{one.train_accuracy:.1%}",
            _share(one.precision),
            _share(one.recall),
            _number(one.phi_precision),
            _number(one.phi_recall),
        )
    return table


def _number(figure: float | NotApplicable) -> str:
    return "-" if isinstance(figure, NotApplicable) else f"{figure:.3g}"
