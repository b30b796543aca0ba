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
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper
from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.audit import (
    classes_chart,
    epsilon_chart,
    roc_chart,
    scores_chart,
)
from policy_engine.audits.reports.html import PagePicture, Table, html_page, picture
from policy_engine.data.atomic_file import write_whole
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.classifier import Estimator, Network

_MOST_HISTOGRAMS = 4


def write_audit_report(audit: MembershipAudit, path: Path, *inputs: Path) -> None:
    """Write an audit as one HTML page, over what is there, unless that is an input.

    Raises OutputError where the file cannot be written (O002) or is one of the `inputs` (O001),
    DataError (C011) without matplotlib.
    """
    write_whole(path, audit_page(audit), *inputs)


def audit_page(audit: MembershipAudit) -> str:
    """Return an audit as HTML that refers to nothing outside itself."""
    need_matplotlib()
    return html_page(
        "audit.html",
        title=f"Membership inference against {audit.data}",
        found=audit,
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
        unbounded=[*_unbounded(audit)],
        epsilon=_epsilon(audit),
        games=_games(audit),
        audited=_audited_table(audit),
        encoding=_encoding(audit),
    )


def _provenance(fitted: FittedTarget) -> str:
    versions = ", ".join(f"{name} {one}" for name, one in fitted.versions.items())
    digest = f"sha-256 {fitted.digest}; " if fitted.digest else ""
    views = f", in {fitted.views} views of each record" if fitted.views > 1 else ""
    few = len(fitted.references)
    others = f"; compared with {few} reference models" if few else ""
    opened = f"opened with {versions}; " if versions else ""
    return f"{digest}{opened}it gives {' and '.join(fitted.gives)}{views}{others}."


def _describe_model(found: MembershipAudit) -> str:
    model = found.architecture
    if isinstance(model, Network):
        layers = ", ".join(f"{one.units} {one.activation}" for one in model.layers)
        private = ", differentially private" if model.privacy else ""
        return f"a network of {layers}, trained for {model.epochs} epochs{private}"
    return f"a {model.name}" if isinstance(model, Estimator) else model


def _key_figures(found: MembershipAudit) -> dict[str, str]:
    best = found.attack(found.strongest)
    known = {one.attack for one in found.attacks}
    baseline = found.attack(found.baseline).figures.accuracy if found.baseline in known else None
    by = "" if found.strongest_by == "accuracy" else f" by {found.strongest_by}"
    return {
        f"strongest attack{by}": best.attack,
        "tells members from others": share_text(best.figures.accuracy.value),
        "baseline (label-only)": share_text(baseline.value) if baseline else "not run",
        "AUC": f"{best.figures.auc.value:.3f}",
        "model right on members": share_text(found.target_train.accuracy),
        "model right on others": share_text(found.target_test.accuracy),
    }


def _attacks(found: MembershipAudit) -> Table:
    fprs = [f"found at {rate_text(at.fpr)}" for at in found.attacks[0].figures.tpr_at_fpr]
    shares = ("precision", "recall", "accuracy", "AUC", "AUC less the baseline's")
    head = ("attack", "sees", "shadows", *shares, *fprs)
    order = _ranked_attacks(found)
    marked = [place for place, one in enumerate(order) if one.attack == found.strongest]
    caption = f"The strongest, by {found.strongest_by}, stands out"
    return Table(caption, head, [*map(_attack_row, order)], (1,), marked)


def _target_tables(found: MembershipAudit) -> Iterator[Table]:
    if isinstance(found.over_targets, NotApplicable):
        return
    over = found.over_targets
    head, rows = target_spread_rows(over)
    yield Table(f"Over {over.targets} targets: mean \u00b1 standard deviation", head, rows)


def _footnotes(found: MembershipAudit) -> Iterator[str]:
    """Yield what the marks in the table of attacks stand for, where there are some."""
    rates = [at for one in found.attacks for at in one.figures.tpr_at_fpr]
    if any(isinstance(one.gain, Gain) for one in found.attacks):
        yield (
            "Against the label-only baseline on the same records (DeLong). Where the interval "
            "holds 0, so many records could not tell the two apart; another may yet gain more."
        )
    if not all(map(beats_guessing, rates)):
        yield "* Guessing may find as many: so few records could not tell."
    if any(at.randomised for at in rates):
        yield (
            f"{_COIN} Too many others share one score: no threshold has so few false alarms, and a "
            "coin among them has. It says nothing of what a finer score would find."
        )
    for one in found.attacks:
        if one.degenerate:
            yield f"{one.attack} is degenerate: {one.degenerate}. Its low figures prove nothing."


_COIN = "\N{DAGGER}"


def _ranked_attacks(found: MembershipAudit) -> list[AttackResult]:
    """Return the attacks from the most accurate down, the strongest first by its measure."""
    return sorted(
        found.attacks, key=lambda one: (one.attack != found.strongest, -one.figures.accuracy.value)
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
        *(_tpr_cell(at) for at in figures.tpr_at_fpr),
    )


def _attack_name(one: AttackResult) -> str:
    return f"{one.attack}\ndegenerate" if one.degenerate else one.attack


def _gain_cell(one: AttackResult) -> str:
    if isinstance(one.gain, NotApplicable):
        return "-"
    more = one.gain.auc.difference
    return f"{more.value:+.3f}\n{more.low:+.3f} to {more.high:+.3f}"


def _reason(missing: NotApplicable) -> str:
    reason = missing.reason.rstrip(".")
    return reason[:1].lower() + reason[1:]


def _auc_cell(figures: Figures) -> str:
    return f"{figures.auc.value:.3f}\n{figures.auc.low:.3f} to {figures.auc.high:.3f}"


def _share_cell(estimate: Estimate | NotApplicable) -> str:
    if isinstance(estimate, NotApplicable):
        return f"n/a\n{estimate.reason}"
    return f"{share_text(estimate.value)}\n{interval_text(estimate)}"


def _tpr_cell(at: TprAtFpr) -> str:
    marks = ("" if beats_guessing(at) else " *") + (f" {_COIN}" if at.randomised else "")
    return f"{share_text(at.tpr.value)}{marks}\n{interval_text(at.tpr)}"


def _priors(found: MembershipAudit) -> Iterator[Table]:
    priors = found.attacks[0].figures.at_priors
    if not priors:
        return
    head = ("attack", *(f"{rate_text(one.prior)} are members" for one in priors))
    rows = [
        (one.attack, *(_share_cell(at.precision) for at in one.figures.at_priors))
        for one in _ranked_attacks(found)
    ]
    caption = "How likely a record that is called a member is one, by how many of all are"
    yield Table(caption, head, rows)


def _curves(found: MembershipAudit) -> PagePicture:
    caption = (
        "Every threshold of every attack, the names in the order of the curves from the top down. "
        "Between two thresholds a coin decides. An attack that says yes or no is a single point. "
        "The strongest is drawn thick."
    )
    drawing = roc_chart(found.attacks, found.strongest)
    return picture("Receiver operating characteristic", drawing, caption)


def _classes(found: MembershipAudit) -> PagePicture | None:
    best = found.attack(found.strongest)
    if not best.classes:
        return None
    means = f"{_mean_cell(best.mean_precision)} and {_mean_cell(best.mean_recall)}"
    caption = f"Precision and recall of {best.attack}; their means over the classes are {means}."
    head = ("class", "members", "others", "precision", "recall", "accuracy")
    rows = [(one.name, *_slice_cells(one.figures)) for one in best.classes]
    return picture("Precision and recall", classes_chart(best), caption, Table("", head, rows))


def _mean_cell(value: float | NotApplicable) -> str:
    return "n/a" if isinstance(value, NotApplicable) else share_text(value)


def _slice_cells(figures: Figures) -> tuple[str, ...]:
    shares = (figures.precision, figures.recall, figures.accuracy)
    return f"{figures.members:,}", f"{figures.non_members:,}", *map(_share_cell, shares)


def _worst(found: MembershipAudit) -> dict[str, str]:
    """Return which slice is the worst of how many, or the reason why it is not known."""
    best = found.attack(found.strongest)
    if isinstance(best.worst, NotApplicable):
        return {"reason": _reason(best.worst)}
    among = f"{len(best.slices) + len(best.classes):,}"
    return {
        "reason": "",
        "attack": best.attack,
        "slice": slice_text(best.worst),
        "among": among,
    }


def _slices(found: MembershipAudit) -> Table:
    best = found.attack(found.strongest)
    worst = best.worst
    parts: Sequence[Slice] = best.slices
    if isinstance(worst, Slice) and worst not in parts:
        parts = (worst, *parts)
    marked = [place for place, one in enumerate(parts) if one == worst]
    head = ("slice", "members", "others", "precision", "recall", "accuracy", "AUC")
    rows = [(slice_text(one), *_slice_cells(one.figures), _auc_cell(one.figures)) for one in parts]
    return Table("The worst stands out", head, rows, marked=marked)


def _scores(found: MembershipAudit) -> list[PagePicture]:
    shown = [one for one in _ranked_attacks(found) if one.ranks][:_MOST_HISTOGRAMS]
    return [_score(one, place) for place, one in enumerate(shown)]


def _score(one: AttackResult, place: int) -> PagePicture:
    accuracy = one.figures.accuracy
    caption = f"Right about {share_text(accuracy.value)} ({interval_text(accuracy)})."
    return picture(one.attack, scores_chart(one, place), caption)


def _unbounded(found: MembershipAudit) -> Iterator[str]:
    """Yield why there is no bound on epsilon, from above or from below."""
    bounds = {"accountant proves": found.epsilon_upper, "attack shows": found.epsilon_lower}
    for who, one in bounds.items():
        if isinstance(one, NotApplicable):
            yield f"The {who} no bound: {_reason(one)}."


def _epsilon(found: MembershipAudit) -> PagePicture | None:
    upper, lower = found.epsilon_upper, found.epsilon_lower
    if isinstance(upper, NotApplicable) and isinstance(lower, NotApplicable):
        return None
    table = Table("", ("figure", "value"), _epsilon_rows(upper, lower))
    caption = _epsilon_caption(upper, lower)
    return picture("Bounds on epsilon", epsilon_chart(upper, lower), caption, table)


def _epsilon_caption(
    upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable
) -> str:
    """Return what may be read off the bounds that there are."""
    said = [
        "An attack tells whether one record was exchanged for another, and so does its epsilon."
    ]
    if isinstance(lower, EpsilonLower) and lower.members == "told":
        said.append("Members were told, not drawn by lot: no bound on epsilon follows.")
    elif (
        isinstance(upper, EpsilonUpper)
        and isinstance(lower, EpsilonLower)
        and not bounds_contradict(upper, lower)
    ):
        said.append("The true one lies between what the attack shows and what is proven.")
    if isinstance(lower, EpsilonLower):
        said.append("An attack that shows little proves nothing.")
    return " ".join(said)


def _epsilon_rows(
    upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable
) -> list[tuple[str, str]]:
    rows = []
    if isinstance(upper, EpsilonUpper):
        rows += [
            ("proven at most, one record exchanged", f"{upper.substitution:.4g}"),
            ("at delta", f"{upper.substitution_delta:.3g}"),
            ("one record more or less (the smaller of RDP and PLD)", f"{upper.value:.4g}"),
            ("by Renyi differential privacy (RDP)", f"{upper.rdp:.4g}"),
            ("by privacy loss distributions (PLD)", f"{upper.pld:.4g}"),
            ("by RDP as converted in 2019", f"{upper.classic:.4g}"),
            ("delta", f"{upper.delta:.3g}"),
            ("noise multiplier", f"{upper.noise_multiplier:g}"),
            ("sampling rate", f"{upper.sampling_rate:.4g}"),
            ("steps", f"{upper.steps:,}"),
        ]
    if isinstance(lower, EpsilonLower):
        rows += [
            (f"{_SHOWN[lower.members]}, by {lower.attack}", f"{lower.value:.4g}"),
            ("right guesses", f"{lower.correct:,} of {lower.guesses:,} ({lower.pairs:,} pairs)"),
            ("the most that any attack could have shown", f"{lower.ceiling:.4g}"),
            ("at delta", f"{lower.delta:.3g}"),
        ]
    return rows


_SHOWN = {
    "drawn": "shown at least",
    "drawn-first": "shown at least, of training and features",
    "told": "what had been shown, had a lot drawn the members",
}


def _games(found: MembershipAudit) -> Table:
    rows = [
        (
            one.attack,
            f"{one.records:,}",
            f"{one.repetitions:,}",
            f"{one.models:,}",
            _share_cell(one.single),
            _share_cell(one.set),
        )
        for one in found.games
    ]
    head = ("attack", "members drawn", "repetitions", "models", "single", "set")
    return Table("", head, rows)


def _audited_table(found: MembershipAudit) -> Table:
    rows = [
        ("data", f"{found.data}, {found.records:,} records, {found.features:,} features"),
        ("sha-256 of the data", found.data_digest),
        ("classes", f"{len(found.classes):,}: {_first_names(found.classes)}"),
        ("model", _architecture(found)),
        (
            "the target's members",
            _format_side(found.target_train.records, found.target_train.accuracy),
        ),
        (
            "the target's others",
            _format_side(found.target_test.records, found.target_test.accuracy),
        ),
        ("shadow models", f"{found.shadow_models:,}"),
        ("seed", str(found.seed)),
        ("sha-256 of all splits", found.splits_digest),
        ("made with", ", ".join(f"{name} {one}" for name, one in found.versions.items())),
    ]
    return Table("", ("", ""), rows, (1,))


def _encoding(found: MembershipAudit) -> Table:
    head = ("column", "how it became features", "features", "")
    rows = [(one.name, one.kind, f"{one.width:,}", one.says) for one in found.encoding]
    return Table("Encoding", head, rows, (1, 3))


def _first_names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:20])
    return f"{shown}, ..." if len(names) > 20 else shown


def _architecture(found: MembershipAudit) -> str:
    model = found.architecture
    return model if isinstance(model, str) else model.model_dump_json(exclude_none=True)


def _format_side(records: int, accuracy: float) -> str:
    return f"{records:,} records, {share_text(accuracy)} of them classified rightly"
