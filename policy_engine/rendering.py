"""What people read on a terminal: plans, certificates, decisions, methods."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from policy_engine import terms
from policy_engine.certificate import Certificate
from policy_engine.columns import QuasiIdentifier
from policy_engine.decision import Decision, Match
from policy_engine.decision.explaining import ways
from policy_engine.estimates import NotApplicable
from policy_engine.plan import Plan

if TYPE_CHECKING:
    from policy_engine.comparison import Comparison
    from policy_engine.exploration import Run
from policy_engine.reference import Parameter


def plan_table(plan: Plan) -> Table:
    """Return what will be done, a row a step."""
    table = _table(f"Plan for {plan.publish.asset}", "step", "what", "how")
    asked, columns_of = plan.anonymize, plan.anonymize.columns
    location = plan.read.location or "wherever it lies"
    columns = f"{escape(location)}: {_list(plan.read.columns)}"
    table.add_row("read", escape(plan.read.asset), columns)
    table.add_row("drop", "identifiers", _list(plan.drop.identifiers))
    table.add_row("", "not mentioned", _list(plan.drop.unmentioned))
    bounds = dict.fromkeys(f"{b.name} {b.sense} {b.asked:g}" for b in asked.bounds())
    table.add_row("anonymize", f"{', '.join(asked.methods)}: {', '.join(bounds)}", _how(plan))
    table.add_row("", "generalise", escape(", ".join(map(_with_how, columns_of.quasi_identifier))))
    for what, names in (
        ("keep", (*columns_of.sensitive_names, *columns_of.insensitive)),
        ("pseudonymise", columns_of.pseudonymize),
        ("redact", columns_of.redact),
        ("count persons by", tuple(filter(None, [columns_of.privacy_unit]))),
    ):
        if names or what == "keep":
            table.add_row("", what, _list(names))
    table.add_row(
        "publish", escape(plan.publish.asset), "once every bound is measured on what was written"
    )
    readers = _list(plan.assignees) if plan.assignees else "anybody"
    purposes = _list(tuple(map(terms.compact, plan.purposes))) if plan.purposes else "any purpose"
    table.add_row("", "for", f"{readers}, {purposes}")
    return table


def _how(plan: Plan) -> str:
    """Return the algorithm with the options that it has, and where it runs."""
    options = plan.anonymize.recoding
    if options.algorithm == "full-domain":
        parts = [f"least {options.loss}", f"at most {options.max_suppression:.0%} suppressed"]
    else:
        parts = [options.partitioning, f"{options.dimensionality}-dimensional"]
        parts += [f"score {options.score}", *(["polished"] if options.polish else [])]
    if options.missing == "wildcard":
        parts.append("missing values match any")
    if plan.engine == "spark":
        parts.append("first cuts at quantiles where a column has too many values to be counted")
    return f"{options.algorithm} ({', '.join(parts)}), {plan.engine}"


def _with_how(column: QuasiIdentifier) -> str:
    how = column.taxonomy or column.generalization
    return f"{column.name} ({how})" if how else column.name


def certificate_table(certificate: Certificate) -> Table:
    """Return what was asked and what was measured, a row a bound; then the loss."""
    table = _table("Certificate", "measure", "asked", "achieved", "")
    for m in certificate.measurements:
        name = f"{m.bound} of {m.column}" if m.column else m.bound
        verdict = "[green]holds[/]" if m.holds else "[red]broken[/]"
        asked = f"{m.sense} {m.asked:g}"
        table.add_row(escape(name), asked, _figure(m.achieved, m.sense), verdict)
    table.add_section()
    for name, value in _figures(certificate):
        table.add_row(name, "", value, "")
    return table


def comparison_tables(found: "Comparison") -> Iterator[Table]:
    """Yield what a comparison found: the whole, each column, the correlations most changed."""
    whole = _table(f"{found.release.name} against {found.original.name}", "measure", "")
    whole.add_row("rows", f"{found.release.rows:,} of {found.original.rows:,}")
    whole.add_row("global certainty penalty", _loss(found.certainty_penalty))
    whole.add_row("information lost", f"{found.entropy:.1%}")
    whole.add_row("average class size over k", f"{found.average_class_ratio:.2f}")
    whole.add_row("discernability", f"{found.discernability:,}")
    whole.add_row("error of queries", _query_error(found))
    whole.add_row("accuracy of a classifier", _accuracy(found))
    if found.is_certified_input is False:
        whole.add_row("[red]beware[/]", "the original is not what the release was made from")
    yield whole
    names = ("column", "role", "loss", "information lost", "Hellinger", "total variation")
    columns = _table("Columns", *names)
    for one in found.columns:
        loss = _loss(one.loss)
        entropy = "-" if one.entropy is None else f"{one.entropy:.1%}"
        distances = f"{one.hellinger:.4f}", f"{one.total_variation:.4f}"
        columns.add_row(escape(one.name), one.role, loss, entropy, *distances)
    yield columns
    pairs = _table("Correlations most changed", "columns", "measure", "before", "after")
    changed = [pair for pair in found.pairs if pair.change is not None]
    for pair in sorted(changed, key=lambda pair: -abs(pair.change or 0.0))[:_MOST_PAIRS]:
        name = escape(f"{pair.first}, {pair.second}")
        pairs.add_row(name, pair.measure, f"{pair.before:.3f}", f"{pair.after:.3f}")
    if changed:
        yield pairs


_MOST_PAIRS = 5


def _loss(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _query_error(found: "Comparison") -> str:
    errors = found.queries
    if isinstance(errors, NotApplicable):
        return escape(errors.reason)
    return f"median {errors.median:.1%}, mean {errors.mean:.1%} of {errors.queries:,} range counts"


def _accuracy(found: "Comparison") -> str:
    model = found.classification
    if isinstance(model, NotApplicable):
        return escape(model.reason)
    return (
        f"{model.anonymised:.1%} learnt from anonymised rows, {model.original:.1%} from the "
        f"original, {model.majority:.1%} by always saying the most frequent value "
        f"(of {escape(model.target)})"
    )


def runs_table(runs: "Sequence[Run]") -> Table:
    """Return what each setting would lose, or why it cannot be had."""
    names = ("setting", "GCP", "C_avg", "classes", "discernability", "suppressed", "achieved", "s")
    table = _table("What a release would lose", *names)
    for run in runs:
        setting = escape(", ".join(f"{name} = {value:g}" for name, value in run.setting.items()))
        if isinstance(run.outcome, NotApplicable):
            table.add_row(setting, *[""] * 5, escape(run.outcome.reason), "")
            continue
        one = run.outcome
        achieved = [
            f"{m.bound} {_figure(m.achieved, m.sense)}" + (f" of {m.column}" if m.column else "")
            for m in one.measurements
        ]
        table.add_row(
            setting,
            _loss(one.global_certainty_penalty),
            f"{one.average_class_ratio:.2f}",
            f"{one.classes:,}",
            f"{one.discernability:,}",
            f"{one.suppressed:,}",
            escape(", ".join(achieved)),
            f"{one.seconds:.1f}",
        )
    return table


def rows_table(title: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Table:
    """Return the rows of a table, missing values empty."""
    table = _table(title, *map(escape, columns))
    for row in rows:
        table.add_row(*("" if value is None else escape(str(value)) for value in row))
    return table


def parameters_table(title: str, parameters: list[Parameter]) -> Table:
    """Return what can be given, a row each."""
    table = _table(title, "parameter", "type", "default", "engines", "")
    table.columns[0].no_wrap = True
    for one in parameters:
        cells = one.name, one.type, one.default, _engines(one), one.definition
        table.add_row(*map(escape, cells))
    return table


def _engines(one: Parameter) -> str:
    """Return the engines that have a parameter, and a line for each that has its default alone."""
    others = [name for name in terms.engines() if name not in one.engines]
    alone = [] if one.default == "required" else [f"{name}: default only" for name in others]
    return "\n".join([", ".join(one.engines), *alone])


def decision_lines(decision: Decision) -> Iterator[str]:
    """Yield the answer, then what of its derivation the reason does not say."""
    colour = "green" if decision.permitted else "red"
    yield f"[bold {colour}]{decision.effect}[/]: {escape(decision.reason)}"
    yield from (
        f"  - {escape(line)}" for line in decision.derivation if line not in decision.reason
    )


def explanation(decision: Decision) -> Iterator[str]:
    """Yield the answer as one would give it to a person: who, what, when, why, what is owed."""
    asked = decision.request
    purpose = f" for {terms.compact(asked.purpose)}" if asked.purpose else ", for no purpose said"
    targets = " together with ".join(asked.targets)
    when = f"{decision.time:%Y-%m-%d %H:%M:%S %Z}" if decision.time else "a time not said"
    clock = " by the clock" if decision.time_by == "clock" else ""
    yield escape(
        f"{asked.assignee} asks to {terms.local_name(asked.action)} {targets}{purpose}, "
        f"at {when}{clock}."
    )
    yield from decision_lines(decision)
    for match in decision.matches:
        yield escape(_matched(match))
        is_told = decision.derivation and (match.policy, match.rule) == (
            decision.policy,
            decision.rule,
        )
        yield from () if is_told else (f"  - {escape(line)}" for line in _ways(match))
    if decision.strategy:
        yield escape(f"The conflict strategy that decided is {decision.strategy!r}.")
    for owed in decision.duties:
        actions = " and ".join(map(terms.compact, owed.actions))
        by = f" by {_list(owed.by)}" if owed.by else ""
        yield escape(f"{owed.state.capitalize()}: {actions}{by} ({owed.duty}, of {owed.rule}).")
    yield escape(f"Looked at: policies {', '.join(one[:12] for one in decision.policy_digests)}.")


def _matched(match: Match) -> str:
    verb = "permits" if match.kind == "permission" else "prohibits"
    if match.applies:
        return f"{match.rule} of {match.policy} {verb} it."
    return f"{match.rule} of {match.policy} covers it, but does not hold now."


def _ways(match: Match) -> Iterator[str]:
    """Yield how a rule covers a request, and what its conditions came to."""
    yield from ways(match.steps)
    yield from (f"{verdict.state}: {verdict.reason}" for verdict in match.conditions)


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, and wide enough for tables when piped."""
    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=120)


def _figures(certificate: Certificate) -> Iterator[tuple[str, str]]:
    utility = certificate.utility
    rows = f"{certificate.rows_out:,}"
    if certificate.rows_in is not None:
        rows += f" of {certificate.rows_in:,}"
    if certificate.rows_suppressed:
        rows += f", {certificate.rows_suppressed:,} suppressed"
    yield "rows", rows
    unit = certificate.plan.anonymize.columns.privacy_unit
    if unit:
        yield "counted in", f"distinct {escape(unit)}"
    yield "classes", f"{utility.classes:,}"
    yield "average class size", f"{utility.average_class_size:.2f}"
    yield "global certainty penalty", _loss(utility.global_certainty_penalty)
    for name, loss in utility.column_losses.items():
        yield f"  loss of {escape(name)}", f"{loss:.4f}"
    if certificate.approximated:
        yield "first cut at quantiles", escape(", ".join(certificate.approximated))
    if utility.perturbed:
        yield "perturbed, loss not known", escape(", ".join(utility.perturbed))
    yield "discernability", f"{utility.discernability:,}"


def _figure(value: float, sense: str) -> str:
    """Return a figure of at most five digits, never rounded to the better side."""
    if isinstance(value, int) or not math.isfinite(value) or value == round(value):
        return f"{value:g}"
    digits = 4 - math.floor(math.log10(abs(value)))
    step = 10.0**-digits
    towards = math.floor if sense == "at least" else math.ceil
    return f"{towards(round(value / step, 6)) * step:.{max(digits, 0)}f}"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=escape(title), title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _list(names: tuple[str, ...]) -> str:
    return escape(", ".join(names)) or "-"
