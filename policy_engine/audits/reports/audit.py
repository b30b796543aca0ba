"""The page of a membership-inference audit."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from policy_engine.audits.membership.epsilon_verdict import bounds_contradict
from policy_engine.audits.membership.figures import Figures, TprAtFpr
from policy_engine.audits.membership.intervals import beats_guessing
from policy_engine.audits.membership.over_targets import target_spread_rows
from policy_engine.audits.membership.result import (
    AttackResult,
    FittedTarget,
    Gain,
    MembershipAudit,
    Slice,
)
from policy_engine.audits.membership.verdict import slice_text
from policy_engine.audits.membership.wording import interval_text, rate_text, share_text
from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.audit import classes_chart
from policy_engine.audits.reports.charts.rates import RocLine, roc_chart, scores_chart
from policy_engine.audits.reports.epsilon import epsilon_picture, format_reason, unbounded_reasons
from policy_engine.audits.reports.html import PagePicture, Table, html_page, picture
from policy_engine.data.atomic_file import write_file
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.classifier import Estimator, Network

_MOST_HISTOGRAMS = 4


def write_audit_report(audit: MembershipAudit, path: Path, *inputs: Path) -> None:
    """Write an audit as one HTML page, over what is there, unless that is an input.

    Raises OutputError where the file cannot be written (O002) or is one of the `inputs` (O001),
    DataError (C011) without matplotlib.
    """
    write_file(path, audit_page(audit), *inputs)


def audit_page(audit: MembershipAudit) -> str:
    """Return an audit as HTML that refers to nothing outside itself."""
    need_matplotlib()
    return html_page(
        "audit.html",
        title=f"Membership inference against {audit.data}",
        audit=audit,
        model=_describe_model(audit),
        provenance=_provenance(audit.fitted) if isinstance(audit.fitted, FittedTarget) else "",
        contradicts=bounds_contradict(audit.epsilon_upper, audit.epsilon_lower),
        totals=_key_figures(audit),
        attacks=_attacks(audit),
        notes=[*_footnotes(audit)],
        more_attacks=[*_target_tables(audit), *_priors(audit)],
        curves=_curves(audit),
        classes=_classes(audit),
        worst=_worst(audit),
        slices=_slices(audit),
        scores=_scores(audit),
        unbounded=[*unbounded_reasons(audit)],
        epsilon=epsilon_picture(audit),
        games=_games(audit),
        audited=_audited_table(audit),
        encoding=_encoding(audit),
    )


def _provenance(fitted: FittedTarget) -> str:
    versions = ", ".join(f"{name} {one}" for name, one in fitted.versions.items())
    digest = f"sha-256 {fitted.digest}; " if fitted.digest else ""
    views = f", in {fitted.views} views of each record" if fitted.views > 1 else ""
    references = len(fitted.references)
    comparison = f"; compared with {references} reference models" if references else ""
    opened = f"opened with {versions}; " if versions else ""
    return f"{digest}{opened}it gives {' and '.join(fitted.gives)}{views}{comparison}."


def _describe_model(audit: MembershipAudit) -> str:
    model = audit.architecture
    if isinstance(model, Network):
        layers = ", ".join(f"{one.units} {one.activation}" for one in model.layers)
        private = ", differentially private" if model.privacy else ""
        return f"a network of {layers}, trained for {model.epochs} epochs{private}"
    return f"a {model.name}" if isinstance(model, Estimator) else model


def _key_figures(audit: MembershipAudit) -> dict[str, str]:
    best = audit.attack(audit.strongest)
    attacks = {one.attack for one in audit.attacks}
    baseline = audit.attack(audit.baseline).figures.accuracy if audit.baseline in attacks else None
    measure = "" if audit.strongest_by == "accuracy" else f" by {audit.strongest_by}"
    return {
        f"strongest attack{measure}": best.attack,
        "tells members from non-members": share_text(best.figures.accuracy.value),
        "baseline (label-only)": share_text(baseline.value) if baseline else "not run",
        "AUC": f"{best.figures.auc.value:.3f}",
        "model right on members": share_text(audit.target_train.accuracy),
        "model right on non-members": share_text(audit.target_test.accuracy),
    }


def _attacks(audit: MembershipAudit) -> Table:
    fprs = [f"found at {rate_text(rate.fpr)}" for rate in audit.attacks[0].figures.tpr_at_fpr]
    shares = ("precision", "recall", "accuracy", "AUC", "AUC less the baseline's")
    head = ("attack", "sees", "shadows", *shares, *fprs)
    order = _ranked_attacks(audit)
    marked = [place for place, one in enumerate(order) if one.attack == audit.strongest]
    caption = f"The strongest, by {audit.strongest_by}, is marked"
    return Table(caption, head, [*map(_attack_row, order)], (1,), marked)


def _target_tables(audit: MembershipAudit) -> Iterator[Table]:
    if isinstance(audit.over_targets, NotApplicable):
        return
    targets = audit.over_targets
    head, rows = target_spread_rows(targets)
    yield Table(f"Over {targets.targets} targets: mean \u00b1 standard deviation", head, rows)


def _footnotes(audit: MembershipAudit) -> Iterator[str]:
    """Yield the meaning of the marks in the table of attacks, if it has any."""
    rates = [rate for one in audit.attacks for rate in one.figures.tpr_at_fpr]
    if any(isinstance(one.gain, Gain) for one in audit.attacks):
        yield (
            "Against the label-only baseline on the same records (DeLong). Where the interval "
            "holds 0, so many records do not show a difference; other records might."
        )
    if not all(map(beats_guessing, rates)):
        yield "* Guessing may find as many: so few records do not show a difference."
    if any(rate.randomised for rate in rates):
        yield (
            f"{_COIN} Too many non-members share one score: no threshold has so low a "
            "false-positive rate, only a random choice among them. A finer score might find more."
        )
    for one in audit.attacks:
        if one.degenerate:
            yield f"{one.attack} is degenerate: {one.degenerate}. Its low figures prove nothing."


_COIN = "\N{DAGGER}"


def _ranked_attacks(audit: MembershipAudit) -> list[AttackResult]:
    """Return the attacks from the most accurate down, the strongest first by its measure."""
    return sorted(
        audit.attacks, key=lambda one: (one.attack != audit.strongest, -one.figures.accuracy.value)
    )


def _attack_row(one: AttackResult) -> tuple[str, ...]:
    figures = one.figures
    shares = (figures.precision, figures.recall, figures.accuracy)
    return (
        *(
            _attack_name(one),
            ", ".join(one.needs),
            f"{one.shadow_models:,}",
            *map(_share_cell, shares),
        ),
        _auc_cell(figures),
        _gain_cell(one),
        *(_tpr_cell(rate) for rate in figures.tpr_at_fpr),
    )


def _attack_name(one: AttackResult) -> str:
    return f"{one.attack}\ndegenerate" if one.degenerate else one.attack


def _gain_cell(one: AttackResult) -> str:
    if isinstance(one.gain, NotApplicable):
        return "-"
    more = one.gain.auc.difference
    return f"{more.value:+.3f}\n{more.low:+.3f} to {more.high:+.3f}"


def _auc_cell(figures: Figures) -> str:
    return f"{figures.auc.value:.3f}\n{figures.auc.low:.3f} to {figures.auc.high:.3f}"


def _share_cell(estimate: Estimate | NotApplicable) -> str:
    if isinstance(estimate, NotApplicable):
        return f"n/a\n{estimate.reason}"
    return f"{share_text(estimate.value)}\n{interval_text(estimate)}"


def _tpr_cell(rate: TprAtFpr) -> str:
    marks = ("" if beats_guessing(rate) else " *") + (f" {_COIN}" if rate.randomised else "")
    return f"{share_text(rate.tpr.value)}{marks}\n{interval_text(rate.tpr)}"


def _priors(audit: MembershipAudit) -> Iterator[Table]:
    priors = audit.attacks[0].figures.at_priors
    if not priors:
        return
    head = ("attack", *(f"{rate_text(one.prior)} are members" for one in priors))
    rows = [
        (one.attack, *(_share_cell(prior.precision) for prior in one.figures.at_priors))
        for one in _ranked_attacks(audit)
    ]
    caption = "How likely a record that is called a member is one, by the share of members"
    yield Table(caption, head, rows)


def _curves(audit: MembershipAudit) -> PagePicture:
    caption = (
        "Every threshold of every attack; the names are in the order of the curves, from the top. "
        "Between two thresholds the choice is random. An attack that only says yes or no is a "
        "single point. The strongest is drawn thick."
    )
    lines = [
        RocLine(one.attack, one.roc, one.figures.non_members, one.ranks) for one in audit.attacks
    ]
    drawing = roc_chart(lines, audit.strongest)
    return picture("Receiver operating characteristic", drawing, caption)


def _classes(audit: MembershipAudit) -> PagePicture | None:
    best = audit.attack(audit.strongest)
    if not best.classes:
        return None
    means = f"{_mean_cell(best.mean_precision)} and {_mean_cell(best.mean_recall)}"
    caption = f"Precision and recall of {best.attack}; their means over the classes are {means}."
    head = ("class", "members", "non-members", "precision", "recall", "accuracy")
    rows = [(one.name, *_slice_cells(one.figures)) for one in best.classes]
    return picture("Precision and recall", classes_chart(best), caption, Table("", head, rows))


def _mean_cell(value: float | NotApplicable) -> str:
    return "n/a" if isinstance(value, NotApplicable) else share_text(value)


def _slice_cells(figures: Figures) -> tuple[str, ...]:
    shares = (figures.precision, figures.recall, figures.accuracy)
    return f"{figures.members:,}", f"{figures.non_members:,}", *map(_share_cell, shares)


def _worst(audit: MembershipAudit) -> dict[str, str]:
    """Return which slice is the worst of how many, or the reason why it is not known."""
    best = audit.attack(audit.strongest)
    if isinstance(best.worst, NotApplicable):
        return {"reason": format_reason(best.worst)}
    among = f"{len(best.slices) + len(best.classes):,}"
    return {
        "reason": "",
        "attack": best.attack,
        "slice": slice_text(best.worst),
        "among": among,
    }


def _slices(audit: MembershipAudit) -> Table:
    best = audit.attack(audit.strongest)
    worst = best.worst
    parts: Sequence[Slice] = best.slices
    if isinstance(worst, Slice) and worst not in parts:
        parts = (worst, *parts)
    marked = [place for place, one in enumerate(parts) if one == worst]
    head = ("slice", "members", "non-members", "precision", "recall", "accuracy", "AUC")
    rows = [(slice_text(one), *_slice_cells(one.figures), _auc_cell(one.figures)) for one in parts]
    return Table("The worst is marked", head, rows, marked=marked)


def _scores(audit: MembershipAudit) -> list[PagePicture]:
    attacks = [one for one in _ranked_attacks(audit) if one.ranks][:_MOST_HISTOGRAMS]
    return [_score(one, place) for place, one in enumerate(attacks)]


def _score(one: AttackResult, place: int) -> PagePicture:
    accuracy = one.figures.accuracy
    caption = f"Right about {share_text(accuracy.value)} ({interval_text(accuracy)})."
    return picture(one.attack, scores_chart(one.histogram, place), caption)


def _games(audit: MembershipAudit) -> Table:
    rows = [
        (
            one.attack,
            f"{one.records:,}",
            f"{one.repetitions:,}",
            f"{one.models:,}",
            _share_cell(one.single),
            _share_cell(one.set),
        )
        for one in audit.games
    ]
    head = ("attack", "members drawn", "repetitions", "models", "single", "set")
    return Table("", head, rows)


def _audited_table(audit: MembershipAudit) -> Table:
    rows = [
        ("data", f"{audit.data}, {audit.records:,} records, {audit.features:,} features"),
        ("sha-256 of the data", audit.data_digest),
        ("classes", f"{len(audit.classes):,}: {_first_names(audit.classes)}"),
        ("model", _architecture(audit)),
        (
            "the target's members",
            _format_side(audit.target_train.records, audit.target_train.accuracy),
        ),
        (
            "the target's others",
            _format_side(audit.target_test.records, audit.target_test.accuracy),
        ),
        ("shadow models", f"{audit.shadow_models:,}"),
        ("seed", str(audit.seed)),
        ("sha-256 of all splits", audit.splits_digest),
        ("made with", ", ".join(f"{name} {one}" for name, one in audit.versions.items())),
    ]
    return Table("", ("", ""), rows, (1,))


def _encoding(audit: MembershipAudit) -> Table:
    head = ("column", "how it became features", "features", "")
    rows = [(one.name, one.kind, f"{one.width:,}", one.says) for one in audit.encoding]
    return Table("Encoding", head, rows, (1, 3))


def _first_names(names: Sequence[str]) -> str:
    text = ", ".join(names[:20])
    return f"{text}, ..." if len(names) > 20 else text


def _architecture(audit: MembershipAudit) -> str:
    model = audit.architecture
    return model if isinstance(model, str) else model.model_dump_json(exclude_none=True)


def _format_side(records: int, accuracy: float) -> str:
    return f"{records:,} records, {share_text(accuracy)} of them classified correctly"
