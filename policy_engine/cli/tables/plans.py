"""A plan on a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from policy_engine import terms
from policy_engine.cli.tables.randomised import add_randomised
from policy_engine.cli.tables.statistics import add_statistics
from policy_engine.cli.tables.synthetic_rows import add_generator, add_synthetic
from policy_engine.cli.tables.tables import new_table, printed_list
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.audits.classifier import Architecture, Estimator
from policy_engine.methods.audits.record_linkage import RecordLinkage
from policy_engine.methods.columns import QuasiIdentifier
from policy_engine.methods.conflicts import default_generalization
from policy_engine.methods.guide import Guide
from policy_engine.methods.model_secrets import SECRET_ATTACK_NAMES
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize, AuditStep, DisclosureStep
from policy_engine.plan.training import Modelling

if TYPE_CHECKING:
    from policy_engine.audits.disclosure.unique_rows import UniqueRows
    from policy_engine.plan.effort import Effort
    from policy_engine.release.cost import Cost
    from policy_engine.release.left_out_rows import LeftOutRows


def plan_table(plan: Plan) -> Table:
    """Return what will be done, a row a step."""
    table = new_table(f"Plan for {plan.publish.asset}", "step", "what", "how")
    for read in plan.reads:
        location = read.location or "not bound to data"
        columns = f"{escape(location)}: {printed_list(read.columns)}"
        table.add_row("read", escape(read.asset), columns)
        if read.generalised:
            generalised = ", ".join(f"{one.name}{one.how}" for one in read.generalised)
            table.add_row("", "generalised before", escape(generalised))
    if plan.join:
        rows = "rows of one key; those without a partner are left out"
        keys = printed_list(tuple(f"{one.asset}/{one.on}" for one in plan.join.inputs))
        table.add_row("join", keys, rows)
    table.add_row("drop", "identifiers", printed_list(plan.drop.identifiers))
    table.add_row("", "not mentioned", printed_list(plan.drop.unmentioned))
    _add_making(table, plan)
    if plan.train is not None:
        table.add_row("train", *_training(plan.train))
    for audit in plan.audits:
        _add_audit(table, audit, plan)
    for secrets in plan.secret_audits:
        names = ", ".join(SECRET_ATTACK_NAMES)
        bound = f"{AttributeInference.notation}: {secrets.method.bound}"
        table.add_row("audit", escape(bound), names)
        table.add_row("", "of each value of", printed_list(secrets.method.learned))
    for one in plan.disclosures:
        table.add_row(*_attacking(one))
    table.add_row("publish", escape(plan.publish.asset), f"once {_condition(plan)}")
    for consent in plan.by_consent:
        bounds = ", ".join(consent.bounds) or "in any way"
        consent_line = escape(f"by leave of {consent.rule}")
        table.add_row("", consent_line, escape(f"{consent.asset}: {bounds}"))
    readers = printed_list(plan.assignees) if plan.assignees else "anybody"
    purposes = tuple(map(terms.compact, plan.purposes))
    purposes_listed = printed_list(purposes) if purposes else "any purpose"
    table.add_row("", "for", f"{readers}, {purposes_listed}")
    return table


def _condition(plan: Plan) -> str:
    """Return what has to be before an output is published."""
    condition = "every bound is measured on what was written"
    if plan.aggregate is not None:
        condition = "epsilon and delta are charged to the ledger, and the noise is drawn"
    elif plan.randomise is not None:
        condition = "every cell is found to be one that may be drawn"
    elif plan.generation is not None:
        condition = "every cell is found to lie within what its column has in the input"
    if plan.audits or plan.disclosures or plan.synthetic_audits:
        condition += ", and every attack stays below its bounds"
    return condition


def _add_making(table: Table, plan: Plan) -> None:
    """Add what becomes of the rows and columns before a model is trained on them."""
    if plan.sample is not None:
        unit = f" by {plan.sample.unit}" if plan.sample.unit else ""
        table.add_row("sample", escape(f"{plan.sample.units}{unit}"), escape(str(plan.sample)))
    if plan.mask is not None:
        table.add_row("mask", "columns", escape(", ".join(map(str, plan.mask.columns))))
    if plan.anonymize is not None:
        _add_anonymization(table, plan, plan.anonymize)
    if plan.aggregate is not None:
        add_statistics(table, plan.aggregate)
    if plan.randomise is not None:
        add_randomised(table, plan.randomise)
    if plan.synthesise is not None:
        add_synthetic(table, plan.synthesise, plan.synthetic_audits)
    if plan.train_generator is not None:
        add_generator(table, plan.train_generator, plan.synthetic_audits)


def _add_anonymization(table: Table, plan: Plan, anonymize: Anonymize) -> None:
    columns_of = anonymize.columns
    if anonymize.models:
        _add_classes(table, plan, anonymize)
    else:
        rows = "sampled rows" if plan.sample else "all rows"
        bounded = "attacks alone are" if plan.disclosures else "nothing is"
        table.add_row("release", rows, f"no privacy model: {bounded} bounded, {plan.engine}")
    for heading, names in (
        *_kept(anonymize),
        ("pseudonymise", columns_of.pseudonymize),
        ("in all releases of", tuple(filter(None, [columns_of.pseudonym_scope]))),
        ("redact", columns_of.redact),
        ("count persons by", tuple(filter(None, [columns_of.privacy_unit]))),
    ):
        if names or heading == "keep":
            table.add_row("", heading, printed_list(names))


def _kept(anonymize: Anonymize) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the columns whose values are released, and where."""
    columns = anonymize.columns
    if anonymize.is_in_buckets:
        yield "by bucket, apart", columns.sensitive_names
        yield "keep", columns.insensitive
    else:
        yield "keep", (*columns.sensitive_names, *columns.insensitive)


def _add_classes(table: Table, plan: Plan, anonymize: Anonymize) -> None:
    bounded = (*anonymize.class_bounds(), *anonymize.bounds_of_unique())
    bounds = dict.fromkeys(f"{b.name} {b.sense} {b.asked:g}" for b in bounded)
    algorithm = _how(anonymize, plan.engine)
    table.add_row("anonymize", f"{', '.join(anonymize.methods)}: {', '.join(bounds)}", algorithm)
    doing = "release as they are" if anonymize.is_in_buckets else "generalise"
    doing = "permute in classes" if anonymize.is_permuted else doing
    guide = anonymize.recoding.guide
    usual = default_generalization(anonymize.recoding.algorithm, guide and guide.representative)
    quasi = anonymize.columns.quasi_identifier
    columns = (_format_column(one, usual if guide else None) for one in quasi)
    table.add_row("", doing, escape(", ".join(columns)))
    for heading, text in _guiding(guide, is_permuted=anonymize.is_permuted) if guide else ():
        table.add_row("", heading, escape(text))


def _guiding(guide: Guide, *, is_permuted: bool) -> Iterator[tuple[str, str]]:
    """Yield for which label classes are formed, by which predictions, and what stands for one."""
    yield "for models of", f"{guide.label}, which is released as it is"
    if guide.column:
        yield "cut by", f"{guide.column}, predictions that are read and not learnt here"
    else:
        model = described(guide.architecture) if guide.architecture else "boosted trees"
        yield "cut by", f"{_PREDICTIONS[guide.labels]} {model}, trained on the same rows"
    if not is_permuted:
        yield "released as", _REPRESENTATIVES[guide.representative]
    yield "or as they are", "if rows that agree in all quasi-identifiers keep every bound already"


_PREDICTIONS = {
    "soft": "what is predicted for rows that the model has not seen, by",
    "hard": "the class that is predicted for rows that the model has learnt from, by",
}
_REPRESENTATIVES = {
    "median-mode": "the median or the mode of each column in the class",
    "nearest": "the row of the class nearest to its median, of those with its most frequent label",
    "cell": "a cell of each column that covers the class",
}


def _training(modelling: Modelling) -> tuple[str, str]:
    """Return what is trained, and of what."""
    share = f"on {modelling.share:.0%} of the records, from {printed_list(modelling.features)}"
    return escape(f"{described(modelling.architecture)} for {modelling.label}"), share


def _add_audit(table: Table, audit: AuditStep, plan: Plan) -> None:
    method = audit.method
    attacks = f"{', '.join(method.attacks)}, {method.shadow_models} shadow models"
    table.add_row("audit", f"{method.notation}: {', '.join(map(str, method.bounds))}", attacks)
    if method.gate_attacks:
        table.add_row("", "in every audit", ", ".join(method.gate_attacks))
    if plan.train is None:
        table.add_row("", "of a model", " ".join(_training(audit.modelling)))
    unseen = f"{1 - audit.modelling.share:.0%} of the records, which the model never sees"
    table.add_row("", "against", unseen)


def _attacking(step: DisclosureStep) -> tuple[str, str, str]:
    """Return with what a table is attacked, or what risk is told, and by which columns."""
    method = step.method
    kind = "attack" if isinstance(method, RecordLinkage) else "risk"
    how = f"{', '.join(method.attacks)}, " if isinstance(method, RecordLinkage) else ""
    return kind, escape(f"{method.notation}: {method}"), f"{how}by {printed_list(method.known)}"


def cost_line(cost: "Cost | NotApplicable") -> str:
    """Return what audits would cost, in a line; why that is not known, where it is not."""
    if isinstance(cost, NotApplicable):
        return cost.reason
    models = f"{cost.models} models of {cost.records:,} records"
    return (
        f"The audit trains {models}: about {cost.cpu_seconds:,.1f} s of CPU here, judged by one "
        f"model of {cost.calibrated_on:,} records."
    )


def search_line(effort: "Effort | NotApplicable") -> str:
    """Return how large a search is, in a line; why that is not known, where it is not."""
    if isinstance(effort, NotApplicable):
        return effort.reason
    return f"The search is over {effort}{' It may take long.' if effort.is_long else ''}"


def left_out_line(rows: "LeftOutRows | NotApplicable") -> str:
    """Return how many rows would be left out of classes, and what that would gain, in a line."""
    if isinstance(rows, NotApplicable):
        return f"Rows to leave out were not counted: {rows.reason}"
    return f"suppression: {rows}"


def unique_lines(figures: "UniqueRows | NotApplicable | None") -> Iterator[str]:
    """Yield how many rows of an input are unique on what would be kept exact, or why that was not
    counted, a line each; nothing without data."""
    if isinstance(figures, NotApplicable):
        yield f"Unique rows were not counted: {figures.reason}"
    elif figures is not None:
        yield from (f"warning: {one}" for one in figures.sentences(is_planned=True))


def described(architecture: Architecture) -> str:
    """Return what a model is, in a few words."""
    if isinstance(architecture, Estimator):
        least = architecture.generators
        return f"{architecture.name}, {least} generators or more" if least else architecture.name
    layers = "-".join(f"{layer.units} {layer.activation}" for layer in architecture.layers)
    private = ", differentially private" if architecture.privacy else ""
    return f"network ({layers}, {architecture.epochs} epochs{private})"


def _how(anonymize: Anonymize, engine: str) -> str:
    """Return the algorithm with the options that it has, and where it runs."""
    options = anonymize.recoding
    if options.algorithm == "full-domain":
        parts = [f"least {options.loss}", f"at most {options.max_suppression:.0%} suppressed"]
    elif options.algorithm == "microaggregation":
        parts = ["MDAV"]
    elif options.algorithm == "local-suppression":
        parts = ["fewest cells"]
    elif options.algorithm == "bucketization":
        parts = [options.buckets]
    elif options.guide is not None:
        parts = [f"for {options.guide.label}"]
        parts += [] if anonymize.is_permuted else [options.guide.representative]
    else:
        parts = [options.partitioning, f"{options.dimensionality}-dimensional"]
        parts += [f"score {options.score}", *(["polished"] if options.polish else [])]
        most = options.max_suppression
        parts += [f"at most {most:.4g} of the rows suppressed"] if most else []
    if options.missing == "wildcard":
        parts.append("missing values match any")
    if engine == "spark" and options.algorithm == "mondrian":
        parts.append("first cuts at quantiles where a column has too many values to be counted")
    return f"{options.algorithm} ({', '.join(parts)}), {engine}"


def _format_column(column: QuasiIdentifier, usual: str | None = None) -> str:
    """Return a column and what becomes of it, unless that is as `usual` for all."""
    how = column.taxonomy or column.generalization or ""
    how = "" if how == usual else how
    if column.max_suppression is not None:
        how += f", at most {column.max_suppression:.4g} of the cells"
    return f"{column.name} ({how})" if how else column.name
