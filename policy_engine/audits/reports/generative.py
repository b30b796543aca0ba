"""An audit of a generator as a page and as JSON, in a folder."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from policy_engine.audits.generative.auditing import GenerativeEvidence
from policy_engine.audits.generative.result import (
    AttackOverModels,
    AuditedFile,
    ClosestDistances,
    Copies,
    FiguresByClass,
    GenerativeAttack,
    GenerativeAudit,
)
from policy_engine.audits.generative.wording import (
    beats_naive,
    disclosure,
    limits,
    model_words,
    not_run_words,
    party_words,
    person_words,
    set_words,
    untold_words,
)
from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.generative import (
    distances_chart,
    games_chart,
    growth_chart,
    images_chart,
)
from policy_engine.audits.reports.charts.rates import RocLine, roc_chart, scores_chart
from policy_engine.audits.reports.html import (
    PagePicture,
    Table,
    html_page,
    number,
    percent,
    picture,
)
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import OutputError
from policy_engine.kernels.estimates import Estimate

_MOST_HISTOGRAMS = 4


def write_generative(
    audit: GenerativeAudit, evidence: GenerativeEvidence, out: Path, *inputs: Path
) -> None:
    """Write the page and, last, the figures of an audit into a folder, for its owner alone.

    Raises OutputError where they cannot be written (O002) or one is of the `inputs` (O001),
    DataError (C011) without matplotlib.
    """
    page = generative_page(audit, evidence)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder cannot be made: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(out)) from None
    write_file(out / "generative.html", page, *inputs, private=True)
    figures = json.dumps(audit.model_dump(mode="json"), indent=1, ensure_ascii=False)
    write_file(out / "generative.json", f"{figures}\n", *inputs, private=True)


def generative_page(audit: GenerativeAudit, evidence: GenerativeEvidence) -> str:
    """Return an audit as HTML that refers to nothing outside itself."""
    need_matplotlib()
    return html_page(
        "generative.html",
        title="What the generator discloses",
        audit=audit,
        totals=_totals(audit),
        attacks=_attacks(audit.attacks, audit.strongest),
        curves=_curves(audit),
        pictures=[*_pictures(audit, evidence)],
        scores=[*_scores(audit)],
        risks=_risks(audit),
        copies=_copies(audit.copies) if isinstance(audit.copies, Copies) else None,
        distances=_distances(audit.distances)
        if isinstance(audit.distances, ClosestDistances)
        else None,
        not_run=[*not_run_words(audit)],
        audited=_audited(audit),
        limits=limits(audit),
        models=[*model_words(audit)],
        each=_each(audit),
        classes=_by_class(audit),
        untold=[*untold_words(audit)],
        parties=[*party_words(audit.risks)],
        persons=[*person_words(audit)],
        sets=set_words(audit.attack(audit.strongest)) if audit.attacks else "",
    )


def _totals(audit: GenerativeAudit) -> dict[str, str]:
    best = audit.attack(audit.strongest) if audit.attacks else None
    return {
        "disclosure": disclosure(audit),
        "members": f"{audit.members.records:,}",
        "holdout": f"{audit.holdout.records:,}",
        "samples": f"{audit.samples:,}",
        **({"models": f"{len(audit.models)}"} if audit.models else {}),
        "strongest attack": best.attack if best else "none",
        "area under the ROC curve": number(best.auc.value) if best else "n/a",
    }


def _cell(one: Estimate) -> str:
    return f"{percent(one.value)}\n{percent(one.low)} to {percent(one.high)}"


def _attacks(attacks: Sequence[GenerativeAttack], strongest: str) -> Table:
    ordered = sorted(attacks, key=lambda one: -one.auc.value)
    rates = [f"{100 * one.fpr:g}%" for one in ordered[0].tpr_at_fpr] if ordered else []
    rows = [
        (
            one.attack,
            f"{', '.join(one.needs)}\n{one.space}".rstrip(),
            f"{number(one.auc.value)}\n{number(one.auc.low)} to {number(one.auc.high)}",
            *("by a coin" if rate.randomised else _cell(rate.tpr) for rate in one.tpr_at_fpr),
            _cell(one.games.single),
            _cell(one.games.set),
        )
        for one in ordered
    ]
    rate_heads = (f"found at {rate} FPR" for rate in rates)
    head = ("attack", "needs, space", "AUC", *rate_heads, "single", "set")
    marked = [place for place, one in enumerate(ordered) if one.attack == strongest]
    return Table("The strongest is marked", head, rows, texts=(1,), marked=marked)


def _each(audit: GenerativeAudit) -> Table | None:
    """Return the figures of every attack on each of several models."""
    if not audit.models:
        return None
    ordered = sorted(audit.attacks, key=lambda one: -one.auc.value)
    rows = [
        (
            one.attack,
            number(over.auc.mean),
            number(over.auc.deviation),
            f"{over.shown_on} of {over.models}",
            ", ".join(map(number, over.auc.values)),
        )
        for one in ordered
        if isinstance(over := one.over_models, AttackOverModels)
    ]
    head = ("attack", "mean AUC", "deviation", "shown by itself", "of each model")
    return Table("Areas under the ROC curve, model by model", head, rows, texts=(4,))


def _by_class(audit: GenerativeAudit) -> Table | None:
    """Return what the strongest attack reaches within each class."""
    one = audit.by_class
    if not isinstance(one, FiguresByClass) or not one.classes:
        return None
    ordered = sorted(one.classes, key=lambda own: -own.auc.value)
    rows = [
        (
            own.name,
            f"{number(own.auc.value)}\n{number(own.auc.low)} to {number(own.auc.high)}",
            f"{own.members:,}",
            f"{own.holdout:,}",
        )
        for own in ordered
    ]
    marked = [place for place, own in enumerate(ordered) if own.name == one.worst]
    caption = f"{one.attack}, class by class; intervals are for one of {len(rows)} classes"
    head = ("class", "AUC", "members", "holdout")
    return Table(caption, head, rows, marked=marked)


def _curves(audit: GenerativeAudit) -> PagePicture | None:
    if not audit.attacks:
        return None
    others = audit.holdout.records
    lines = [RocLine(one.attack, one.roc, others) for one in audit.attacks]
    caption = (
        "Every threshold of every attack; the names are in the order of the curves, from the top. "
        "Between two thresholds the choice is random. The strongest is drawn thick."
    )
    if audit.models:
        caption += " They are those of the first model."
    drawing = roc_chart(lines, audit.strongest)
    return picture("Receiver operating characteristic", drawing, caption)


def _pictures(audit: GenerativeAudit, evidence: GenerativeEvidence) -> Iterator[PagePicture]:
    if len(audit.growth) > 1:
        caption = "How much more samples show; equal scores are put in a random order."
        yield picture("Accuracy by samples", growth_chart(audit.growth), caption)
    if audit.attacks:
        games = audit.attacks[0].games
        caption = (
            f"{games.records} members and as many of the holdout, drawn {games.repetitions} times"
            f"{' of each model' if audit.models else ''}. "
            "Near 50 %, a point of single inference is eleven of set inference. Bars are 95% "
            f"intervals{' over models' if audit.models else ''}."
        )
        yield picture("Single and set inference", games_chart(audit.attacks), caption)
    if evidence.distances:
        caption = "Where members are closer than the holdout, the synthetic records follow them."
        yield picture("Closest records", distances_chart(evidence.distances), caption)
    if evidence.images:
        yield picture("Examples", images_chart(evidence.images), "")


def _scores(audit: GenerativeAudit) -> Iterator[PagePicture]:
    ordered = sorted(audit.attacks, key=lambda one: -one.auc.value)
    for place, one in enumerate(ordered[:_MOST_HISTOGRAMS]):
        yield picture(one.attack, scores_chart(one.histogram, place), " ".join(one.notes))


def _risks(audit: GenerativeAudit) -> Table | None:
    if not audit.risks:
        return None
    rows = [
        (
            f"{one.risk} {one.column}".rstrip(),
            _cell(one.value),
            _cell(one.train),
            _cell(one.control),
            _cell(one.baseline),
            f"{one.attacks:,} of {one.asked:,}",
            f"{'yes' if beats_naive(one) else 'no'}\n{one.reason}".rstrip(),
        )
        for one in audit.risks
    ]
    head = ("attack", "risk", "on members", "on the holdout", "naive", "made", "beats naive")
    return Table("Singling out, linkability, inference", head, rows, texts=(6,))


def _copies(one: Copies) -> Table:
    name = "exact copies, under any label" if one.any_class else "exact copies"
    row = (name, _cell(one.members), _cell(one.holdout), _cell(one.excess))
    return Table("", ("", "of members", "of the holdout", "excess"), [row])


def _distances(one: ClosestDistances) -> Table:
    rows = [
        ("median", number(one.members_median), number(one.holdout_median)),
        ("5th percentile", number(one.members_low), number(one.holdout_low)),
    ]
    caption = f"A member is closer in {percent(one.closer)} of pairs"
    return Table(caption, ("distance", "members", "holdout"), rows)


def _audited(audit: GenerativeAudit) -> Table:
    sides = {
        "members": audit.members,
        "holdout": audit.holdout,
        "synthetic records": audit.synthetic,
        "references": audit.reference,
    }
    rows = [
        (side, one.name, f"{one.records:,}", one.digest)
        for side, one in sides.items()
        if isinstance(one, AuditedFile)
    ]
    return Table("What was audited", ("", "file", "records", "sha-256"), rows, texts=(1, 3))
