"""The page and the figures of a disclosure audit."""

import json
from pathlib import Path

from policy_engine.audits.disclosure.result import AnswersTogether, DisclosureAudit, Linkage
from policy_engine.audits.disclosure.risks.wording import (
    figure_words,
    group_by_reason,
    interval_words,
    name_of,
    question,
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
from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.disclosure import (
    distribution_chart,
    linkage_chart,
    risk_utility_chart,
)
from policy_engine.audits.reports.html import PagePicture, Table, html_page, percent, picture
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import OutputError, join_names
from policy_engine.kernels.estimates import Estimate


def write_disclosure(audit: DisclosureAudit, out: Path, *inputs: Path) -> None:
    """Write the page and, last, the figures of an audit into a folder.

    Raises OutputError where they cannot be written (O002) or one is of the `inputs` (O001),
    DataError (C011) without matplotlib.
    """
    page = disclosure_page(audit)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder cannot be made: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(out)) from None
    write_file(out / "disclosure.html", page, *inputs)
    figures = json.dumps(audit.model_dump(mode="json"), indent=1, ensure_ascii=False)
    write_file(out / "disclosure.json", f"{figures}\n", *inputs)


def disclosure_page(audit: DisclosureAudit) -> str:
    """Return an audit as HTML that refers to nothing outside itself."""
    need_matplotlib()
    return html_page(
        "disclosure.html",
        title=f"What {audit.release} discloses",
        audit=audit,
        verdict=verdict(audit),
        totals=_totals(audit),
        known=_known(audit),
        matched=matched_words(audit),
        notes=notes(audit),
        attacks=_attacks(audit),
        pictures=_pictures(audit),
        worst_cases=worst_cases(audit),
        risks=_risks(audit),
        risk_pictures=_risk_pictures(audit),
        not_run=group_by_reason((one.attack, one.reason) for one in audit.not_run),
        without_figure=group_by_reason((name_of(one), one.reason) for one in audit.risks_not_run),
        releases=_releases(audit) if audit.releases else None,
        map=_map(audit),
        added=added_by_others(audit),
        answers=_answers(audit.answered),
        added_by_answers=added_by_answers(audit),
        limits=limits(),
    )


def _totals(audit: DisclosureAudit) -> dict[str, str]:
    worst = audit.worst
    return {
        "rows of the original": f"{audit.rows:,}",
        "rows released": f"{audit.released:,}",
        "columns known": f"{len(audit.known)}",
        "most linked": "none" if worst is None else percent(worst.linked.value),
    }


def _known(audit: DisclosureAudit) -> Table:
    rows = [(name, how) for name, how in audit.methods.items()]
    return Table("What the intruder knows", ("column", "made by"), rows, texts=(1,))


def _attacks(audit: DisclosureAudit) -> Table:
    rows = [
        (
            one.title,
            str(len(one.known)),
            _interval(one.linked),
            share_words(one.baseline),
            *([_interval(one.holdout) if one.holdout else "-"] if audit.holdout else []),
        )
        for one in audit.attacks
    ]
    marked = [place for place, one in enumerate(audit.attacks) if one is audit.worst]
    head: tuple[str, ...] = ("attack", "columns known", "persons linked", "by guessing")
    if audit.holdout:
        head = (*head, "never in the original, seemingly found")
    return Table("What each attack reaches", head, rows, marked=marked)


def _interval(one: Estimate) -> str:
    return f"{percent(one.value)}\n{percent(one.low)} to {percent(one.high)}"


def _pictures(audit: DisclosureAudit) -> list[PagePicture]:
    lines: dict[str, list[Linkage]] = {}
    for one in audit.attacks:
        lines.setdefault(one.attack, []).append(one)
    learned = lines.get("learned-distance-linkage", [])
    # Of several families of distances, all with all columns known, the best one is drawn.
    learned[:] = sorted(learned, key=lambda one: one.linked.value)[-1:]
    if len(audit.known) < 2 or not any(len(points) > 1 for points in lines.values()):
        return []
    points = {name: [(len(one.known), one.linked) for one in some] for name, some in lines.items()}
    drawing = linkage_chart(points, audit.attacks[0].baseline)
    order = f"{join_names(audit.known)}, those that tell most first"
    caption = f"Columns become known in the order {order}; bars are 95% intervals."
    return [picture("Linked persons, by columns known", drawing, caption)]


def _risks(audit: DisclosureAudit) -> Table:
    rows = [
        (
            name_of(one),
            f"{figure_words(one)}\n{interval_words(one)}".rstrip(),
            "" if one.baseline is None else share_words(one.baseline),
            question(one),
        )
        for one in audit.risks
    ]
    head = ("measure", "figure", "baseline", "share of")
    return Table("Risk of classes and values", head, rows, texts=(3,))


def _risk_pictures(audit: DisclosureAudit) -> list[PagePicture]:
    if not audit.distributions:
        return []
    lines = {str(one.measure): (one.at, one.shares) for one in audit.distributions}
    caption = "Of each risk, the share of records with that risk or a higher one."
    rows = [
        (f"{100 * at:.3g}%", *(percent(one.shares[place]) for one in audit.distributions))
        for place, at in enumerate(audit.distributions[0].at)
    ]
    table = Table("", ("risk at least", *lines), rows)
    drawing = distribution_chart(lines)
    return [picture("Risk of records", drawing, caption, table)]


def _releases(audit: DisclosureAudit) -> Table:
    rows = [
        (
            one.release,
            one.attack or "none",
            _interval(one.linked) if one.linked else "-",
            percent(one.error),
        )
        for one in audit.releases
    ]
    head = ("release", "strongest attack", "persons linked", "median error of counts")
    return Table("What each release risks, and is good for", head, rows, texts=(1,))


def _answers(answered: AnswersTogether | None) -> Table | None:
    if answered is None or not answered.answers:
        return None
    rows = [
        (
            str(one.query),
            ", ".join(one.columns),
            _interval(one.linked),
            f"{one.uniques:,}",
            f"{one.combined:,}",
            f"{one.smallest:,}",
            f"{one.difference:,}, {one.beside}" if one.difference else "-",
        )
        for one in answered.answers
    ]
    head = ("query", "narrows by", "persons found", "alone", "alone only together")
    sizes = ("smallest cell", "smallest difference")
    return Table("What each answer adds", (*head, *sizes), rows, texts=(1, 6))


def _map(audit: DisclosureAudit) -> list[PagePicture]:
    points = [(one.release, one.error, one.linked) for one in audit.releases if one.linked]
    if not points:
        return []
    caption = (
        "Counts are of the rows with some values in two or three of the known columns. "
        "The lower and the farther left, the better the release; bars are 95% intervals."
    )
    return [picture("Risk and utility of the releases", risk_utility_chart(points), caption)]
