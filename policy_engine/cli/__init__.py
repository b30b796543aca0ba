"""The command line: `policy-engine`, another front door to the five verbs."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from policy_engine import terms
from policy_engine.cli.answers import plain, print_json, progress_bar, summary
from policy_engine.cli.options import (
    Cells,
    ConfOption,
    ContextOption,
    DataOption,
    Engine,
    EngineOption,
    Format,
    FormatOption,
    KeyOption,
    Kind,
    MasterOption,
    PolicyArgument,
    Sample,
    TaxonomyOption,
    contexts_of,
    engine_of,
    numbers_of,
    paths_of,
    unanswered,
)
from policy_engine.errors import PlanError, PolicyEngineError, PolicyError, Problem, locate
from policy_engine.writing import write_whole

app = typer.Typer(
    help="One policy from text to a verified, anonymised release and the decisions about it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


hierarchies = typer.Typer(
    help="Generalisation hierarchies: propose one for a column, to be edited by hand.",
    no_args_is_help=True,
)
app.add_typer(hierarchies, name="hierarchy")


@app.command()
def validate(
    policies: Annotated[list[Path], typer.Argument(metavar="POLICY...")],
    output_format: FormatOption = Format.TEXT,
    context: ContextOption = [],  # noqa: B006
) -> None:
    """Read policies strictly: exit 0, or 1 with every problem and its place."""
    from policy_engine.policy import load_policy  # noqa: PLC0415
    from policy_engine.transformation import check_transformation  # noqa: PLC0415

    contexts, status, report = contexts_of(context), 0, []
    for path in policies:
        problems: tuple[Problem, ...] = ()
        hints: tuple[Problem, ...] = ()
        try:
            policy = load_policy(path, contexts)
            check_transformation(policy)
            hints = policy.hints
        except PolicyEngineError as error:
            problems, status = error.problems, max(status, error.exit_code)
        report.append(
            {
                "file": str(path),
                "valid": not problems,
                "problems": [*map(plain, problems)],
                "hints": [*map(plain, hints)],
            }
        )
        if output_format is Format.TEXT:
            for problem in problems:
                typer.echo(locate(problem, str(path)))
            for hint in hints:
                typer.echo(locate(hint, str(path)), err=True)
            if not problems:
                typer.echo(f"{path}: valid")
    if output_format is Format.JSON:
        print_json(report)
    raise typer.Exit(status)


@app.command()
def plan(
    policy: PolicyArgument,
    data: DataOption = [],  # noqa: B006
    taxonomy: TaxonomyOption = [],  # noqa: B006
    engine: EngineOption = Engine.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    context: ContextOption = [],  # noqa: B006
) -> None:
    """Show what would be done, step by step; write nothing."""
    from policy_engine.api import plan_policy  # noqa: PLC0415

    taxonomies, chosen = paths_of(taxonomy, "--taxonomy"), engine_of(engine, master, conf)
    made = plan_policy(policy, paths_of(data), contexts_of(context), taxonomies, chosen)
    if output_format is Format.JSON:
        print_json(made.model_dump(mode="json"))
        return
    from policy_engine.rendering import console, plan_table  # noqa: PLC0415

    console().print(plan_table(made))


@app.command()
def apply(
    policy: PolicyArgument,
    output: Annotated[
        str, typer.Option("--output", metavar="DIR_OR_FILE", help="Where the release goes.")
    ],
    data: DataOption,
    engine: EngineOption = Engine.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    overwrite: Annotated[bool, typer.Option(help="Replace an output that exists.")] = False,
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    cells: Annotated[
        Cells, typer.Option(help="Ranges as text, or as two columns of their ends.")
    ] = Cells.TEXT,
    output_format: FormatOption = Format.TEXT,
    context: ContextOption = [],  # noqa: B006
) -> None:
    """Anonymise data as a policy asks, prove it on the output, and write it."""
    from policy_engine.api import apply_policy  # noqa: PLC0415

    with progress_bar() as progress:
        release = apply_policy(
            policy,
            paths_of(data),
            output,
            overwrite=overwrite,
            progress=progress,
            contexts=contexts_of(context),
            taxonomies=paths_of(taxonomy, "--taxonomy"),
            key=key,
            cells=cells.value,
            engine=engine_of(engine, master, conf),
        )
    if output_format is Format.JSON:
        print_json(summary(release))
        return
    from policy_engine.rendering import certificate_table, console  # noqa: PLC0415

    out = console()
    out.print(certificate_table(release.certificate))
    drop = release.plan.drop
    for what, names in (("dropped", drop.identifiers), ("not mentioned", drop.unmentioned)):
        out.print(f"{what}, not released: {', '.join(names) or 'none'}", markup=False)
    out.print(f"written: {release.path}", markup=False, soft_wrap=True)


@app.command()
def show(
    table: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, CSV.gz or Parquet.")],
    rows: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 5,
) -> None:
    """Print the first rows of a table."""
    from policy_engine.engines.tables import first_rows  # noqa: PLC0415
    from policy_engine.rendering import console, rows_table  # noqa: PLC0415

    names, values = first_rows(table, rows)
    console().print(rows_table(table.name, names, values))


@app.command()
def certify(
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="The output, or its folder.")],
    policy: Annotated[
        Path, typer.Option("--policy", metavar="POLICY", help="What the output has to hold.")
    ],
    data: Annotated[
        list[str],
        typer.Option(
            "--data",
            metavar="IRI=PATH",
            help="The input, where k counts persons by a column of it.",
        ),
    ] = [],  # noqa: B006
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    engine: EngineOption = Engine.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    context: ContextOption = [],  # noqa: B006
) -> None:
    """Measure an existing output again: exit 1 where it does not hold what the policy asks."""
    from policy_engine.api import certify_output  # noqa: PLC0415

    with unanswered(PolicyError, PlanError):
        certificate = certify_output(
            output,
            policy,
            contexts_of(context),
            paths_of(taxonomy, "--taxonomy"),
            paths_of(data),
            key=key,
            engine=engine_of(engine, master, conf),
        )
    if output_format is Format.JSON:
        print_json(json.loads(certificate.to_jsonld()))
        return
    from policy_engine.rendering import certificate_table, console  # noqa: PLC0415

    console().print(certificate_table(certificate))


@app.command()
def compare(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", help="The input, a file.")],
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A file, or its folder.")],
    policy: Annotated[
        Path | None,
        typer.Option(metavar="POLICY", help="Where no certificate lies beside the release."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with tables and pictures.")
    ] = None,
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="What a classifier is to foretell.")
    ] = "",
    queries: Annotated[int, typer.Option(min=1, max=100_000, help="How many are asked.")] = 1_000,
    seed: Annotated[int, typer.Option(help="The same seed asks the same.")] = 0,
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Show what a release lost against its original, and what it is still good for."""
    from policy_engine.api import compare_release  # noqa: PLC0415

    with progress_bar() as progress:
        found = compare_release(
            original,
            release,
            policy=policy,
            taxonomies=paths_of(taxonomy, "--taxonomy"),
            key=key,
            target=target,
            queries=queries,
            seed=seed,
            progress=progress,
        )
        if report is not None:
            from policy_engine.report import write_report  # noqa: PLC0415

            progress("drawing", 0, 0)
            write_report(found, report, original, release)
    if output_format is Format.JSON:
        print_json(found.model_dump(mode="json"))
        return
    from policy_engine.rendering import comparison_tables, console  # noqa: PLC0415

    for table in comparison_tables(found):
        console().print(table)
    if report is not None:
        console().print(f"written: {report}", markup=False, soft_wrap=True)


@app.command()
def explore(
    policy: PolicyArgument,
    data: DataOption,
    k: Annotated[str, typer.Option(metavar="K,K,...", help="Values of k.")] = "2,5,10,50,100",
    l: Annotated[str, typer.Option(metavar="L,L,...", help="Values of l.")] = "",  # noqa: E741
    t: Annotated[str, typer.Option(metavar="T,T,...", help="Values of t.")] = "",
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw loss against k: .svg or .png.")
    ] = None,
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Show what the release would lose at several settings; write no release."""
    from policy_engine.api import explore_policy  # noqa: PLC0415

    choices = {"k": numbers_of(k, "--k"), "l": numbers_of(l, "--l"), "t": numbers_of(t, "--t")}
    with progress_bar() as progress:
        runs = explore_policy(
            policy,
            paths_of(data),
            choices,
            taxonomies=paths_of(taxonomy, "--taxonomy"),
            key=key,
            progress=progress,
        )
    if chart is not None:
        from policy_engine.exploration import trade_off_chart  # noqa: PLC0415

        trade_off_chart(runs, chart)
    if output_format is Format.JSON:
        print_json([run.model_dump(mode="json") for run in runs])
        return
    from policy_engine.rendering import console, runs_table  # noqa: PLC0415

    console().print(runs_table(runs))
    if chart is not None:
        console().print(f"written: {chart}", markup=False, soft_wrap=True)


@app.command()
def decide(
    policy: Annotated[
        list[Path], typer.Option("--policy", metavar="POLICY", help="May be given several times.")
    ],
    assignee: Annotated[str, typer.Option(metavar="IRI", help="Who asks.")],
    target: Annotated[
        list[str], typer.Option(metavar="IRI", help="The asset; several are read together.")
    ],
    action: Annotated[str, typer.Option(help="What to do with it.")] = "read",
    purpose: Annotated[str, typer.Option(metavar="IRI", help="To what end.")] = "",
    certificate: Annotated[
        list[Path], typer.Option(metavar="FILE_OR_DIR", help="The certificates of outputs.")
    ] = [],  # noqa: B006
    hierarchy: Annotated[
        list[Path], typer.Option(metavar="FILE", help="Who and what belongs to what (JSON-LD).")
    ] = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    context: ContextOption = [],  # noqa: B006
) -> None:
    """Answer a request: permit (exit 0) or deny (exit 1), with the rule and the reason."""
    from policy_engine.api import decide_request, read_request  # noqa: PLC0415
    from policy_engine.policy import Hierarchy, read_file, read_hierarchy  # noqa: PLC0415

    contexts = contexts_of(context)
    with unanswered(PolicyEngineError):
        facts = [
            read_hierarchy(read_file(path), source=str(path), contexts=contexts)
            for path in hierarchy
        ]
        request = read_request(assignee, action, target, purpose)
        decision = decide_request(policy, certificate, request, Hierarchy().joined(facts), contexts)
    if output_format is Format.JSON:
        print_json(decision.model_dump(mode="json"))
    else:
        from policy_engine.rendering import console, decision_lines  # noqa: PLC0415

        for line in decision_lines(decision):
            console().print(line, soft_wrap=True)
    raise typer.Exit(0 if decision.permitted else 1)


@hierarchies.command()
def suggest(
    table: Annotated[Path, typer.Argument(metavar="DATA", help="CSV, CSV.gz or Parquet.")],
    column: Annotated[str, typer.Argument(metavar="COLUMN")],
    kind: Annotated[Kind | None, typer.Option(help="Else the values decide.")] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Else printed.")] = None,
) -> None:
    """Propose a hierarchy for a column as CSV: a row a value, from itself to everything."""
    from policy_engine.api import suggest_hierarchy  # noqa: PLC0415

    found = suggest_hierarchy(table, column, kind.value if kind else None)
    if output is None:
        typer.echo(found.to_csv(), nl=False)
    else:
        write_whole(output, found.to_csv(), table)
    typer.echo(f"{found.kind}: {found.reason}", err=True)


@app.command()
def methods(output_format: FormatOption = Format.TEXT) -> None:
    """List what a policy can ask for: methods, what all share, settings of single columns."""
    from policy_engine import reference  # noqa: PLC0415 (slow to import)

    known = {name: (term, reference.of_method(name)) for name, term in terms.methods().items()}
    shared, columns = reference.shared(), reference.of_columns()
    if output_format is Format.JSON:
        listing = {
            name: {
                "definition": term.definition,
                "engines": term.texts("engine"),
                "parameters": [one._asdict() for one in own],
            }
            for name, (term, own) in known.items()
        }
        settings = {role: [one._asdict() for one in found] for role, found in columns.items()}
        whole = {"methods": listing, "shared": [one._asdict() for one in shared]}
        print_json({**whole, "columns": settings})
        return
    from policy_engine.rendering import console, parameters_table  # noqa: PLC0415

    for name, (term, own) in known.items():
        console().print(parameters_table(f"{name}: {term.definition}", own))
    console().print(parameters_table("Every method", shared))
    for role, found in columns.items():
        console().print(parameters_table(f"A column under {role}", found))


@app.command()
def sample(
    dataset: Annotated[Sample, typer.Argument(help="What to make up.")],
    rows: Annotated[int, typer.Option(min=1, max=10_000_000)] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Else printed.")] = None,
) -> None:
    """Make up data to try policies on."""
    from policy_engine import samples  # noqa: PLC0415

    text = getattr(samples, dataset.value)(rows, seed)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(output, text)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415 (slow to import)

        typer.echo(f"policy-engine {installed('policy-engine')}")
        raise typer.Exit


def main() -> NoReturn:
    """Run the command line; a user's mistake is a coded line, never a traceback."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            number = getattr(signal, name)
            signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    try:
        app()
    except PolicyEngineError as error:
        typer.echo(str(error), err=True)
        if "json" in sys.argv or "--format=json" in sys.argv:
            print_json({"problems": [*map(plain, error.problems)]})
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("interrupted; nothing was written", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:
        if "POLICY_ENGINE_DEBUG" in os.environ:
            raise
        message = f"X001 This is a bug in the engine: {type(error).__name__}."
        typer.echo(f"{message} Set POLICY_ENGINE_DEBUG=1 for the traceback.", err=True)
        sys.exit(2)
    sys.exit(0)
