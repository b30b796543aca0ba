"""The commands that measure: certify an output, compare it with its original, explore."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, print_unsigned, progress_bar
from policy_engine.cli.exploring_models import (
    ForModelOption,
    LearnerOption,
    ModelExploration,
    WritePolicyOption,
    compare_models,
)
from policy_engine.cli.options import (
    AssetOption,
    AttemptsOption,
    ConfOption,
    DataOption,
    EngineChoice,
    EngineOption,
    Format,
    FormatOption,
    InputOption,
    KeyOption,
    MasterOption,
    OwnersOption,
    PolicyArgument,
    SetOption,
    SignOption,
    TaxonomyOption,
    TrustOption,
)
from policy_engine.cli.parsing import (
    exit_with_two,
    make_engine,
    parse_choices,
    parse_paths,
    usage_error,
    with_overrides,
)
from policy_engine.cli.shared_options import (
    with_acting_options,
    with_quiet_option,
    with_reading_options,
)
from policy_engine.cli.table_options import with_table_options
from policy_engine.errors import PlanError, PolicyError

if TYPE_CHECKING:
    from policy_engine.api.exploration import Run
    from policy_engine.policy import Reading
from policy_engine.cli.releasing import TimeLimitOption


@with_table_options("data")
@with_quiet_option
@with_reading_options()
@with_acting_options("more", "unsigned")
def certify(
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="The output, or its folder.")],
    policy: Annotated[
        list[Path],
        typer.Option(
            "--policy",
            metavar="POLICY",
            help="The policy that the output has to satisfy; with --as, further ones to decide by.",
        ),
    ],
    data: Annotated[
        list[str],
        typer.Option(
            "--data",
            metavar="IRI=PATH",
            help="The input: needed if k counts persons, if columns are masked at random, if the "
            "policy bounds attacks, or to check --record. Can be repeated.",
        ),
    ] = [],  # noqa: B006
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    engine: EngineOption = EngineChoice.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The owner's record; it has to match the output's certificate and the "
            "input given with --data.",
        ),
    ] = None,
    attempts: AttemptsOption = None,
    owners: OwnersOption = None,
    certificate: InputOption = [],  # noqa: B006
    asset: AssetOption = "",
    sign: SignOption = None,
    *,
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            metavar="",
            help="Replace the output's certificate if every bound holds.",
        ),
    ] = False,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Measure an existing output against a policy: exit 1 if it does not satisfy the policy.

    After a change of the policy's meaning the output needs a new certificate: --write renews it.
    """
    from policy_engine.api.certifying import certify_output  # noqa: PLC0415

    with exit_with_two(PolicyError, PlanError):
        measured = certify_output(
            output,
            policy[0],
            taxonomies=parse_paths(taxonomy, "--taxonomy"),
            data=parse_paths(data),
            key=key,
            engine=make_engine(engine, master, conf),
            record=record,
            attempts=attempts,
            write=write,
            owners=owners,
            certificates=certificate,
            asset=asset,
            sign=sign,
            **acting,
            **reading.keywords,
        )
    print_unsigned(acting["trust"], is_data=output_format is Format.JSON)
    if output_format is Format.JSON:
        print_json(json.loads(measured.to_jsonld()))
        return
    from policy_engine.cli.tables.certificates import certificate_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    print_fitting(console(), certificate_table(measured))
    if not measured.tells_making:
        note = "how the output was made is not known: by this certificate nobody may read it"
        console().print(note, markup=False)
    if write:
        remark = " with its commitment to the owner's record" if measured.commitment else ""
        console().print(f"the certificate was renewed{remark}", markup=False)
    if record is not None:
        comparison = (
            "and is of the input given" if data else "the input was not given to be compared"
        )
        console().print(f"the record opens the certificate, {comparison}", markup=False)


@with_table_options("original")
@with_quiet_option
@with_reading_options()
def compare(
    original: Annotated[
        Path, typer.Argument(metavar="ORIGINAL", help="The file that the release was made from.")
    ],
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="The release: a file or its folder.")
    ],
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="POLICY", help="The policy, if the release has no certificate next to it."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an HTML report with tables and charts."),
    ] = None,
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column that a classifier should predict.")
    ] = "",
    queries: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many counting queries to compare.")
    ] = 1_000,
    seed: Annotated[int, typer.Option(help="Seed for the queries.")] = 0,
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    output_format: FormatOption = Format.TEXT,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The owner's record: check that the release was made from this original.",
        ),
    ] = None,
    asset: AssetOption = "",
    trust: TrustOption = None,
    *,
    no_classifier: Annotated[
        bool,
        typer.Option(
            "--no-classifier", metavar="", help="Do not train classifiers, which takes the longest."
        ),
    ] = False,
    shareable: Annotated[
        bool,
        typer.Option(
            "--shareable", metavar="", help="Leave out everything that reveals the original."
        ),
    ] = False,
    reading: "Reading",
) -> None:
    """Compare a release with its original: what was lost, and what it is still good for."""
    from policy_engine.api.comparing import compare_release  # noqa: PLC0415

    if report is not None:
        from policy_engine.audits.reports.comparison import check_report  # noqa: PLC0415

        check_report(report)
    with progress_bar() as progress:
        comparison = compare_release(
            original,
            release,
            policy=policy,
            taxonomies=parse_paths(taxonomy, "--taxonomy"),
            key=key,
            target=target,
            queries=queries,
            seed=seed,
            progress=progress,
            record=record,
            classifier=not no_classifier,
            shareable=shareable,
            asset=asset,
            trust=trust,
            **reading.keywords,
        )
        if report is not None:
            from policy_engine.audits.reports.comparison import write_report  # noqa: PLC0415

            progress("drawing", 0, 0)
            write_report(comparison, report, original, release)
    print_unsigned(trust, is_data=output_format is Format.JSON)
    if output_format is Format.JSON:
        print_json(comparison.model_dump(mode="json"))
        return
    from policy_engine.cli.tables.comparisons import compared_tables  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    for table in compared_tables(comparison):
        print_fitting(console(), table)
    if report is not None:
        console().print(f"written: {report}", markup=False, soft_wrap=True)


@with_table_options("data")
@with_quiet_option
@with_reading_options()
@with_acting_options()
def explore(
    policy: PolicyArgument,
    data: DataOption,
    k: Annotated[
        str,
        typer.Option(
            metavar="K,K,...",
            help="Values of k to try: 2,5,10,50,100 if nothing else is varied.",
        ),
    ] = "",
    l: Annotated[str, typer.Option(metavar="L,L,...", help="Values to try (l-diversity).")] = "",  # noqa: E741
    t: Annotated[str, typer.Option(metavar="T,T,...", help="Values to try (t-closeness).")] = "",
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="[COLUMN:]NAME=X,X,...",
            help="Values of another parameter to try: of a model, of the sample, or of the "
            "masking of a column, of all masked columns without one. Can be repeated: all "
            "combinations are tried. Releases are attacked.",
        ),
    ] = [],  # noqa: B006
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Draws per setting (default 3; with --key, 1), or splits (--for-model, 5).",
        ),
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw a chart of the loss against k or, of releases that were attacked, of what "
            "is linked against the loss (.svg or .png).",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Attack releases, and write a page with the map of what is linked and lost.",
        ),
    ] = None,
    for_model: ForModelOption = "",
    model: LearnerOption = None,
    write_policy: WritePolicyOption = None,
    set_: SetOption = [],  # noqa: B006
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    engine: EngineOption = EngineChoice.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    time_limit: TimeLimitOption = None,
    owners: OwnersOption = None,
    certificate: InputOption = [],  # noqa: B006
    asset: AssetOption = "",
    *,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Show what the release would lose and risk at several settings, without writing it: exit 1 if
    none of them allows it.
    """
    from policy_engine.api.drawing_exploration import (  # noqa: PLC0415
        check_chart,
        trade_off_chart,
        write_page,
    )
    from policy_engine.api.exploration_wording import subject_words  # noqa: PLC0415
    from policy_engine.api.exploring import explore_policy  # noqa: PLC0415

    choices = parse_choices({"k": k, "l": l, "t": t}, vary)
    exploration = ModelExploration(for_model, model, chart, report, write_policy)
    exploration.check()
    paths, source = parse_paths(data), with_overrides(policy, set_, reading)
    options = {
        "draws": draws,
        "taxonomies": parse_paths(taxonomy, "--taxonomy"),
        "key": key,
        "engine": make_engine(engine, master, conf),
        "time_limit": time_limit,
        "owners": owners,
        "certificates": certificate,
        "asset": asset,
        **acting,
    }
    if for_model:
        if set_:
            raise usage_error("--set is for explorations of parameters. Leave out --for-model.")
        compare_models(
            exploration, policy, paths, choices or None, reading, output_format, **options
        )
        return
    if chart is not None:
        check_chart(chart)
    if report is not None:
        from policy_engine.audits.reports.comparison import check_report  # noqa: PLC0415

        check_report(report)
    with progress_bar() as progress:
        runs = explore_policy(
            source,
            paths,
            choices or None,
            attack=report is not None,
            progress=progress,
            **options,
            **reading.keywords,
        )
    files = [policy, *(Path(one) for one in paths.values())]
    inputs = [one for one in files if one.exists()]
    subject = subject_words(str(policy), paths.values())
    if report is not None:
        write_page(runs, report, subject, *inputs)
    if chart is not None:
        trade_off_chart(runs, chart, subject, *inputs)
    if output_format is Format.JSON:
        print_json([run.model_dump(mode="json") for run in runs])
    else:
        _print_runs(runs, [one for one in (chart, report) if one is not None])
    if not any(run.can_be_released for run in runs):
        raise typer.Exit(1)


def _print_runs(runs: "Sequence[Run]", written: Iterable[Path]) -> None:
    from policy_engine.api.exploration import attacked_runs  # noqa: PLC0415
    from policy_engine.api.exploration_wording import verdict  # noqa: PLC0415
    from policy_engine.cli.tables.comparisons import runs_tables  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    for table in runs_tables(runs):
        print_fitting(console(), table)
    if any(attacked_runs(runs)):
        console().print(verdict(runs), markup=False)
    for file in written:
        console().print(f"written: {file}", markup=False, soft_wrap=True)
