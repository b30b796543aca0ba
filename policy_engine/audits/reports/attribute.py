"""An audit of a secret as a page and as JSON, in a folder."""

import json
from collections.abc import Iterator
from pathlib import Path

from policy_engine.audits.attribute.result import AttributeAudit, SecretAttackResult
from policy_engine.audits.attribute.wording import limits, not_run_words, points
from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.attribute import AdvantageRow, advantage_chart
from policy_engine.audits.reports.html import PagePicture, Table, html_page, percent, picture
from policy_engine.data.atomic_file import write_file
from policy_engine.kernels.estimates import Estimate, NotApplicable


def write_attribute(audit: AttributeAudit, out: Path, *inputs: Path) -> None:
    """Write the page and, last, the figures of an audit into a folder, for its owner alone.

    Raises OutputError where they cannot be written (O002) or one is of the `inputs` (O001),
    DataError (C011) without matplotlib.
    """
    write_file(out / "attribute.html", attribute_page(audit), *inputs, private=True)
    figures = json.dumps(audit.model_dump(mode="json"), indent=1, ensure_ascii=False)
    write_file(out / "attribute.json", f"{figures}\n", *inputs, private=True)


def attribute_page(audit: AttributeAudit) -> str:
    """Return an audit as HTML that refers to nothing outside itself."""
    need_matplotlib()
    strongest = audit.attack(audit.strongest)
    return html_page(
        "attribute.html",
        title=f"What the model tells of {audit.secret!r}",
        audit=audit,
        totals=_totals(strongest),
        attacks=_attacks(audit),
        values=_values(strongest),
        pictures=[*_pictures(audit, strongest)],
        imputations=_imputations(audit),
        over_targets=_over_targets(audit),
        not_run=[*not_run_words(audit)],
        audited=_audited(audit),
        limits=limits(),
    )


def _totals(strongest: SecretAttackResult) -> dict[str, str]:
    return {
        "advantage": f"{points(strongest.members.advantage.value)} points",
        "more on members": f"{points(strongest.excess.value)} points",
        "strongest attack": strongest.attack,
        "imputation": strongest.best,
        "members": f"{strongest.members.records:,}",
        "others": f"{strongest.others.records:,}",
    }


def _share(one: Estimate | NotApplicable) -> str:
    if isinstance(one, NotApplicable):
        return f"n/a\n{one.reason}"
    return f"{percent(one.value)}\n{percent(one.low)} to {percent(one.high)}"


def _difference(one: Estimate) -> str:
    return f"{points(one.value)}\n{points(one.low)} to {points(one.high)}"


def _attacks(audit: AttributeAudit) -> Table:
    ordered = sorted(audit.attacks, key=lambda one: -one.members.advantage.value)
    rows = [
        (
            one.attack,
            _share(one.members.accuracy),
            f"{_difference(one.members.advantage)} ({one.best})",
            _difference(one.others.advantage),
            _difference(one.excess),
            f"{_difference(one.added)} ({one.imputation})",
        )
        for one in ordered
    ]
    caption = "Differences in points; in brackets the imputation that an attack is compared with"
    columns = ("members right", "advantage", "on others", "more on members", "model adds")
    return Table(caption, ("attack", *columns), rows, marked=(0,))


def _values(one: SecretAttackResult) -> Table:
    rows = [
        (
            value.value,
            f"{value.records:,}",
            _share(value.precision),
            _share(value.recall),
            f"{_short(value.imputed_precision)}, {percent(value.imputed_recall.value)}",
            _difference(value.advantage),
            _difference(value.others_advantage),
            _difference(value.excess),
        )
        for value in one.values
    ]
    figures = (
        "members",
        "precision",
        "recall",
        "without the model",
        "advantage",
        "on others",
        "more",
    )
    return Table(f"By {one.attack}, the strongest", ("value", *figures), rows)


def _short(one: Estimate | NotApplicable) -> str:
    return "n/a" if isinstance(one, NotApplicable) else percent(one.value)


def _pictures(audit: AttributeAudit, strongest: SecretAttackResult) -> Iterator[PagePicture]:
    caption = "Bars are 95% intervals. At the dashed line, the model tells nothing that could not "
    caption += "be guessed without it; what members have more than others is of their records."
    values = [
        AdvantageRow(one.value, one.advantage, one.others_advantage) for one in strongest.values
    ]
    title = f"Advantage by value, {strongest.attack}"
    yield picture(title, advantage_chart(values, "values"), caption)
    attacks = [
        AdvantageRow(one.attack, one.members.advantage, one.others.advantage)
        for one in sorted(audit.attacks, key=lambda one: -one.members.advantage.value)
    ]
    yield picture("Advantage by attack", advantage_chart(attacks, "attacks"), "Over all values.")


def _imputations(audit: AttributeAudit) -> Table:
    rows = [(one.imputation, _share(one.members), _share(one.others)) for one in audit.imputations]
    best = audit.attack(audit.strongest).best.split(" and ")
    marked = [n for n, one in enumerate(audit.imputations) if one.imputation in best]
    caption = f"Forest and network learn from about {audit.known_records:,} members, others from "
    caption += f"{audit.imputed_from:,} records of all kinds"
    head = ("imputation", "members right", "others right")
    return Table(caption, head, rows, marked=marked)


def _over_targets(audit: AttributeAudit) -> Table | None:
    if isinstance(audit.over_targets, NotApplicable):
        return None
    rows = [
        (
            one.attack,
            *(
                f"{points(each.mean)}\n{points(each.low)} to {points(each.high)}"
                for each in (one.advantage, one.others_advantage, one.excess)
            ),
        )
        for one in audit.over_targets
    ]
    models = len(audit.over_targets[0].advantage.values)
    caption = f"Means over {models} models, with 95% intervals over models, in points"
    return Table(caption, ("attack", "advantage", "on others", "more on members"), rows)


def _audited(audit: AttributeAudit) -> Table:
    rows = [
        ("records", f"{audit.records:,} of {audit.data}", audit.data_digest),
        ("label", audit.label, ""),
        ("secret", audit.secret, audit.says),
        ("right about members", percent(audit.train.value), ""),
        ("right about others", percent(audit.test.value), ""),
    ]
    return Table("What was audited", ("", "", ""), rows, texts=(1, 2))
