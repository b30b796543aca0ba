"""What a release lost, and what others would lose, on a terminal."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from policy_engine.cli.tables.masking_losses import masking_rows, masking_tables
from policy_engine.cli.tables.randomised import estimate_tables
from policy_engine.cli.tables.synthetic import distance_tables
from policy_engine.cli.tables.tables import (
    new_table,
    printed_figure,
    printed_loss,
    table_without_dashes,
)
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement

if TYPE_CHECKING:
    from policy_engine.api.exploration import Run
    from policy_engine.audits.utility.estimating import EstimatedRelease
    from policy_engine.audits.utility.model import Comparison
    from policy_engine.audits.utility.synthetic import SyntheticComparison


def compared_tables(
    comparison: "Comparison | EstimatedRelease | SyntheticComparison",
) -> Iterator[Table]:
    """Yield what a comparison found; of records that were randomised, the estimates."""
    from policy_engine.audits.utility.model import Comparison  # noqa: PLC0415 (slow to import)
    from policy_engine.audits.utility.synthetic import SyntheticComparison  # noqa: PLC0415 (likewise)

    if isinstance(comparison, Comparison):
        return comparison_tables(comparison)
    if isinstance(comparison, SyntheticComparison):
        return distance_tables(comparison)
    return estimate_tables(comparison)


def comparison_tables(comparison: "Comparison") -> Iterator[Table]:
    """Yield what a comparison found: the whole, each column, the correlations most changed."""
    masking = comparison.masking
    yield _overview(comparison)
    yield _columns_table(comparison)
    if not isinstance(masking, NotApplicable):
        yield from masking_tables(masking)
    pairs = new_table("Correlations most changed", "columns", "measure", "before", "after")
    changed = [pair for pair in comparison.pairs if pair.change is not None]
    for pair in sorted(changed, key=lambda pair: -abs(pair.change or 0.0))[:_MOST_PAIRS]:
        name = escape(f"{pair.first}, {pair.second}")
        pairs.add_row(name, pair.measure, f"{pair.before:.3f}", f"{pair.after:.3f}")
    if changed:
        yield pairs


_MOST_PAIRS = 5


def _overview(comparison: "Comparison") -> Table:
    overview = new_table(comparison.title, "measure", "")
    original_rows = f" of {comparison.original.rows:,}" if comparison.original else ""
    sample = f", a sample of {comparison.sampled:,}" if comparison.sampled else ""
    overview.add_row("rows", f"{comparison.release.rows:,}{original_rows}{sample}")
    if comparison.certainty_penalty is not None:
        overview.add_row("global certainty penalty", printed_loss(comparison.certainty_penalty))
    if comparison.entropy is not None:
        overview.add_row("information lost", _percent(comparison.entropy))
    for row in _class_rows(comparison):
        overview.add_row(*row)
    overview.add_row("error of queries", _query_error(comparison))
    overview.add_row("accuracy of a classifier", _accuracy(comparison))
    for row in _uncompared_rows(comparison):
        overview.add_row(*row)
    masking = comparison.masking
    if not isinstance(masking, NotApplicable):
        for name, figure in masking_rows(masking):
            overview.add_row(name, escape(figure))
    if comparison.is_certified_input is False:
        overview.add_row("[red]warning[/]", "the original is not what the release was made from")
    return overview


def _columns_table(comparison: "Comparison") -> Table:
    names = (
        "column",
        "role",
        "certainty penalty",
        "information lost",
        "Hellinger",
        "total variation",
    )
    rows = [
        (
            *(escape(one.name), one.role, printed_loss(one.loss), _percent(one.entropy)),
            *(printed_loss(one.hellinger), printed_loss(one.total_variation)),
        )
        for one in comparison.columns
    ]
    are_binned = any(one.kind == "masked" and one.is_ordered for one in comparison.columns)
    title = "Columns (masked numbers in 20 bins)" if are_binned else "Columns"
    return table_without_dashes(title, names, rows)


def _class_rows(comparison: "Comparison") -> Iterator[tuple[str, str]]:
    """Yield the figures of classes, or why there are none."""
    ratio, discernability = comparison.average_class_ratio, comparison.discernability
    if isinstance(comparison.classes, NotApplicable):
        yield "classes", escape(comparison.classes.reason)
    if ratio is not None and discernability is not None:
        yield "average class size over k", f"{ratio:.2f}"
        yield "discernability", f"{discernability:,}"


def _uncompared_rows(comparison: "Comparison") -> Iterator[tuple[str, str]]:
    """Yield the columns that are not compared, by what they are."""
    for what, names in (("by bucket", comparison.apart), ("arrays", comparison.arrays)):
        if names:
            yield f"{what}, not compared", escape(", ".join(names))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _query_error(comparison: "Comparison") -> str:
    errors = comparison.queries
    if isinstance(errors, NotApplicable):
        return escape(errors.reason)
    return f"median {errors.median:.1%}, mean {errors.mean:.1%} of {errors.queries:,} range counts"


def _accuracy(comparison: "Comparison") -> str:
    model = comparison.classification
    if isinstance(model, NotApplicable):
        return escape(model.reason)
    return (
        f"{model.anonymised:.1%} learnt from anonymised rows, {model.original:.1%} from the "
        f"original, {model.majority:.1%} by always saying the most frequent value "
        f"(of {escape(model.target)})"
    )


def runs_tables(runs: "Sequence[Run]") -> Iterator[Table]:
    """Yield what each setting would lose and, where releases were attacked, what is linked."""
    from policy_engine.api.exploration import attacked_runs  # noqa: PLC0415

    made = [one.outcome for one in runs if not isinstance(one.outcome, NotApplicable)]
    attacked = list(attacked_runs(runs))
    if not attacked or any(one.classes is not None for one in made):
        yield runs_table(runs)
    if attacked:
        yield _risk_table(runs)


def _risk_table(runs: "Sequence[Run]") -> Table:
    """Return what attacks on each setting reach, and whether the policy's bounds hold."""
    from policy_engine.api import exploration_wording as words  # noqa: PLC0415
    from policy_engine.api.exploration import attacked_runs  # noqa: PLC0415

    attacked_settings = list(attacked_runs(runs))
    measure = words.MEASURES[attacked_settings[0][2].measure]
    names = ("setting", "records linked", "range over draws", "strongest attack", measure, "bound")
    table = new_table("What attacks on a release reach", *names)
    for run, risk, loss in attacked_settings:
        row = (
            words.setting_words(run),
            words.linked_words(risk.worst.linked),
            words.draws_words(risk),
            risk.worst.attack,
            words.loss_words(loss),
            words.bound_words(run, risk),
        )
        table.add_row(*map(escape, row), style="bold" if run.is_cheapest else None)
    attacked = [run for run, _, _ in attacked_settings]
    for run in runs:
        if run not in attacked:
            one = run.outcome
            reason = one.reason if isinstance(one, NotApplicable) else "no attack applies"
            table.add_row(*map(escape, (words.setting_words(run), reason)), *[""] * 4)
    return table


def runs_table(runs: "Sequence[Run]") -> Table:
    """Return what each setting would lose, or why it cannot be had."""
    names = (
        "setting",
        "certainty penalty",
        "average class size over k",
        "classes",
        "discernability",
        "suppressed",
        "achieved",
        "s",
    )
    table = new_table("What a release would lose", *names)
    for run in runs:
        setting = escape(", ".join(f"{name} = {value:g}" for name, value in run.setting.items()))
        if isinstance(run.outcome, NotApplicable):
            table.add_row(setting, *[""] * 5, escape(run.outcome.reason), "")
            continue
        one = run.outcome
        achieved = ", ".join(map(_achieved, one.measurements))
        table.add_row(
            setting,
            printed_loss(one.global_certainty_penalty),
            _optional(one.average_class_ratio, ".2f"),
            _optional(one.classes, ","),
            _optional(one.discernability, ","),
            f"{one.suppressed:,}{f' ({one.gain})' if one.gain else ''}",
            escape(achieved),
            f"{one.seconds:.1f}{' (ended)' if one.ended else ''}",
        )
    return table


def _optional(figure: float | None, form: str) -> str:
    return "-" if figure is None else format(figure, form)


def _achieved(one: Measurement) -> str:
    of_column = f" of {one.column}" if one.column else ""
    return f"{one.bound} {printed_figure(one.achieved, one.sense)}{of_column}"
