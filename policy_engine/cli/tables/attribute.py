"""An audit of a secret as text for a terminal."""

from rich.markup import escape
from rich.table import Table

from policy_engine.audits.attribute.result import AttributeAudit, SecretAttackResult
from policy_engine.audits.attribute.wording import limits, not_run_words, points
from policy_engine.audits.membership.wording import share_text
from policy_engine.cli.tables.tables import console, new_table, print_fitting
from policy_engine.kernels.estimates import Estimate, NotApplicable


def print_attribute(audit: AttributeAudit) -> None:
    """Print the verdict, then every figure, what has none, and what they do not show."""
    out = console()
    out.print(audit.verdict, markup=False)
    print_fitting(out, _attacks_table(audit))
    print_fitting(out, _values_table(audit.attack(audit.strongest)))
    if not isinstance(audit.over_targets, NotApplicable):
        print_fitting(out, _targets_table(audit))
    out.print(
        f"The model is right about {share_text(audit.train.value)} of its members and "
        f"{share_text(audit.test.value)} of others. The secret: {audit.says}.",
        markup=False,
    )
    for sentence in (*audit.warnings, *(f"not run: {one}" for one in not_run_words(audit))):
        out.print(sentence, markup=False)
    for limit in limits():
        out.print(limit, markup=False)


def _attacks_table(audit: AttributeAudit) -> Table:
    titles = ("attack", "members right", "advantage", "on others", "more on members")
    best = audit.attack(audit.strongest).best.split(" and ")
    table = new_table(f"guesses at {escape(audit.secret)}, in points over the imputation", *titles)
    for one in sorted(audit.attacks, key=lambda one: -one.members.advantage.value):
        table.add_row(
            one.attack,
            _share(one.members.accuracy),
            _difference(one.members.advantage),
            _difference(one.others.advantage),
            _difference(one.excess),
        )
    for imputation in audit.imputations:
        is_best = imputation.imputation in best
        name = f"without the model: {imputation.imputation}"
        table.add_row(name, _share(imputation.members), "compared with" if is_best else "", "", "")
    return table


def _values_table(one: SecretAttackResult) -> Table:
    titles = ("value", "members", "precision", "recall", "advantage", "on others", "more")
    table = new_table(f"by value, {one.attack}", *titles)
    for value in one.values:
        precision = value.precision
        table.add_row(
            escape(value.value),
            f"{value.records:,}",
            _share(precision) if isinstance(precision, Estimate) else "n/a",
            _share(value.recall),
            _difference(value.advantage),
            _difference(value.others_advantage),
            _difference(value.excess),
        )
    return table


def _targets_table(audit: AttributeAudit) -> Table:
    assert not isinstance(audit.over_targets, NotApplicable)  # noqa: S101 (the caller asks it)
    models = len(audit.over_targets[0].advantage.values)
    table = new_table(
        f"means over {models} models, in points",
        *("attack", "advantage", "on others", "more on members"),
    )
    for one in audit.over_targets:
        spreads = (one.advantage, one.others_advantage, one.excess)
        table.add_row(
            one.attack,
            *(
                f"{points(each.mean)}\n[dim]{points(each.low)} to {points(each.high)}[/]"
                for each in spreads
            ),
        )
    return table


def _share(one: Estimate) -> str:
    return f"{share_text(one.value)}\n[dim]{share_text(one.low)} to {share_text(one.high)}[/]"


def _difference(one: Estimate) -> str:
    return f"{points(one.value)}\n[dim]{points(one.low)} to {points(one.high)}[/]"
