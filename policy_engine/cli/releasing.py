"""The commands of a release: plan it, make it, certify it, compare it, explore others."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, progress_bar, summary, warnings_of
from policy_engine.cli.options import (
    AssetOption,
    AttemptsOption,
    CellFormat,
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
    TaxonomyOption,
    acts,
    engine_of,
    folder_of,
    numbers_of,
    paths_of,
    quotes_values,
    reads_policies,
    unanswered,
)
from policy_engine.data.storage import read_errors
from policy_engine.errors import PlanError, PolicyError

if TYPE_CHECKING:
    from policy_engine.api.releasing import VerifiedRelease
    from policy_engine.kernels.estimates import NotApplicable
    from policy_engine.plan.effort import Effort
    from policy_engine.plan.plan import Plan
    from policy_engine.policy import Reading
    from policy_engine.release.cost import Cost

TimeLimitOption = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="End the search for classes then with the best found; the certificate says so.",
    ),
]


@reads_policies()
@acts()
def plan(
    policy: PolicyArgument,
    data: DataOption = [],  # noqa: B006
    taxonomy: TaxonomyOption = [],  # noqa: B006
    engine: EngineOption = EngineChoice.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    owners: OwnersOption = None,
    certificate: InputOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    asset: AssetOption = "",
    *,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Show what would be done, and how long it and its audits would take; write nothing.

    Of a policy with several outputs for each, or for the one that --asset names.
    """
    from policy_engine.api.planning import plan_all, plan_policy  # noqa: PLC0415

    taxonomies, chosen = paths_of(taxonomy, "--taxonomy"), engine_of(engine, master, conf)
    given, how = paths_of(data), {"taxonomies": taxonomies, **reading.keywords}
    asked = {"engine": chosen, "owners": owners, "certificates": certificate, **acting, **how}
    if asset:
        made: tuple[Plan, ...] = (plan_policy(policy, given, asset=asset, **asked),)
    else:
        made = plan_all(policy, given, **asked)
    shown = [_estimated(policy, one, given, certificate, engine, how) for one in made]
    if output_format is Format.JSON:
        found = [one.as_json() for one in shown]
        print_json(found[0] if len(found) == 1 else found)
        return
    for one in shown:
        one.print()


@dataclass(frozen=True)
class _Shown:
    """A plan, with what its audits would cost and how large its search is, as far as is known."""

    plan: "Plan"
    cost: "Cost | NotApplicable | None"
    effort: "Effort | NotApplicable | None"

    def as_json(self) -> dict[str, Any]:
        estimated = {"estimate": self.cost.model_dump(mode="json")} if self.cost else {}
        estimated |= {"search": self.effort.model_dump(mode="json")} if self.effort else {}
        return {**self.plan.model_dump(mode="json"), **estimated}

    def print(self) -> None:
        from policy_engine.cli.tables.plans import (  # noqa: PLC0415
            cost_line,
            plan_table,
            search_line,
        )
        from policy_engine.cli.tables.tables import console  # noqa: PLC0415

        console().print(plan_table(self.plan))
        if self.effort:
            is_long = getattr(self.effort, "is_long", False)
            hint = " apply --time-limit SECONDS bounds it." if is_long else ""
            console().print(f"{search_line(self.effort)}{hint}", markup=False)
        if self.cost:
            console().print(cost_line(self.cost), markup=False)


def _estimated(
    policy: Path,
    plan: "Plan",
    data: dict[str, str],
    certificates: list[Path],
    engine: EngineChoice,
    how: dict[str, Any],
) -> _Shown:
    from policy_engine.api.planning import estimate_policy, estimate_search  # noqa: PLC0415

    asset, cost, effort = plan.publish.asset, None, None
    if plan.audits and data:
        cost = estimate_policy(policy, data, certificates=certificates, asset=asset, **how)
    if plan.anonymize and engine is EngineChoice.LOCAL:
        effort = estimate_search(policy, data, asset=asset, **how)
    return _Shown(plan, cost, effort)


@quotes_values
@reads_policies()
@acts()
def apply(
    policy: PolicyArgument,
    output: Annotated[
        str, typer.Option("--output", metavar="DIR_OR_FILE", help="Where the release goes.")
    ],
    data: DataOption,
    engine: EngineOption = EngineChoice.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    overwrite: Annotated[
        bool, typer.Option(metavar="", help="Replace an output that exists.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait", metavar="", help="Wait for a run that makes a release in the same place."
        ),
    ] = False,
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    cells: Annotated[
        CellFormat, typer.Option(help="Ranges as text, or as two columns of their ends.")
    ] = CellFormat.TEXT,
    owners: OwnersOption = None,
    output_format: FormatOption = Format.TEXT,
    report: Annotated[
        Path | None,
        typer.Option(metavar="DIR", parser=folder_of, help="Write all that its audits found."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Makes its audits repeatable; keep it secret then."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep, for its owner alone, what opens the certificate's commitment to the "
            "input; without it nobody ever can.",
        ),
    ] = None,
    attempts: AttemptsOption = None,
    allow_pickle: Annotated[
        bool,
        typer.Option(
            "--allow-pickle",
            metavar="",
            help="Write a model of scikit-learn by joblib: who loads it runs its code.",
        ),
    ] = False,
    time_limit: TimeLimitOption = None,
    certificate: InputOption = [],  # noqa: B006
    asset: AssetOption = "",
    *,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Make of data what a policy asks, prove it on the output, and write it.

    Of a policy with several outputs all, into one folder, or the one that --asset names.
    """
    from policy_engine.api.applying import apply_all, apply_policy  # noqa: PLC0415

    with progress_bar(time_left=True) as progress:
        how: dict[str, Any] = {
            "overwrite": overwrite,
            "wait": wait,
            "progress": progress,
            "taxonomies": paths_of(taxonomy, "--taxonomy"),
            "key": key,
            "cells": cells.value,
            "engine": engine_of(engine, master, conf),
            "report": report,
            "seed": seed,
            "record": record,
            "attempts": attempts,
            "allow_pickle": allow_pickle,
            "owners": owners,
            "time_limit": time_limit,
            "certificates": certificate,
            **acting,
            **reading.keywords,
        }
        given = paths_of(data)
        if asset:
            made: tuple[VerifiedRelease, ...] = (
                apply_policy(policy, given, output, asset=asset, **how),
            )
        else:
            made = apply_all(policy, given, output, **how)
    if output_format is Format.JSON:
        found = [summary(one) for one in made]
        print_json(found[0] if len(found) == 1 else found)
        return
    for one in made:
        _print(one)
    if record is not None:
        several = " (of each output, by its name)" if len(made) > 1 else ""
        told = f"its record, for the owner alone: {record}{several}"
        typer.echo(told)


def _print(release: "VerifiedRelease") -> None:
    from policy_engine.cli.tables.certificates import certificate_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console  # noqa: PLC0415

    out = console()
    out.print(certificate_table(release.certificate, release.record))
    drop = release.plan.drop
    for what, names in (("dropped", drop.identifiers), ("not mentioned", drop.unmentioned)):
        out.print(f"{what}, not released: {', '.join(names) or 'none'}", markup=False)
    for said in warnings_of(release):
        out.print(f"beware: {said}", markup=False)
    out.print(f"written: {release.path}", markup=False, soft_wrap=True)


def show(
    table: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="CSV, CSV.gz or Parquet, or the folder of a release."),
    ],
    rows: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 5,
) -> None:
    """Print the first rows of a table."""
    from policy_engine.certificate.beside import names_of_certificates, only_output  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, rows_table  # noqa: PLC0415
    from policy_engine.engines.tables import first_rows  # noqa: PLC0415

    with read_errors(table):
        is_of_releases = bool(names_of_certificates(table))
    if is_of_releases:
        table = Path(only_output(table))
    names, values = first_rows(table, rows)
    console().print(rows_table(table.name, names, values))


@quotes_values
@reads_policies()
@acts("more")
def certify(
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="The output, or its folder.")],
    policy: Annotated[
        list[Path],
        typer.Option(
            "--policy",
            metavar="POLICY",
            help="What the output has to hold; further ones to decide by, with --as.",
        ),
    ],
    data: Annotated[
        list[str],
        typer.Option(
            "--data",
            metavar="IRI=PATH",
            help="The input, where k counts persons by a column of it, or for --record.",
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
            help="The record that is to open the certificate beside the output, and to be of "
            "the input given with --data.",
        ),
    ] = None,
    attempts: AttemptsOption = None,
    owners: OwnersOption = None,
    certificate: InputOption = [],  # noqa: B006
    asset: AssetOption = "",
    *,
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            metavar="",
            help="Renew the certificate beside the output, where all of it holds.",
        ),
    ] = False,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Measure an existing output again: exit 1 where it does not hold what the policy asks.

    A policy whose meaning changed needs a certificate of its own: --write renews it.
    """
    from policy_engine.api.certifying import certify_output  # noqa: PLC0415

    with unanswered(PolicyError, PlanError):
        found = certify_output(
            output,
            policy[0],
            taxonomies=paths_of(taxonomy, "--taxonomy"),
            data=paths_of(data),
            key=key,
            engine=engine_of(engine, master, conf),
            record=record,
            attempts=attempts,
            write=write,
            owners=owners,
            certificates=certificate,
            asset=asset,
            **acting,
            **reading.keywords,
        )
    if output_format is Format.JSON:
        print_json(json.loads(found.to_jsonld()))
        return
    from policy_engine.cli.tables.certificates import certificate_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console  # noqa: PLC0415

    console().print(certificate_table(found))
    if not found.tells_making:
        told = "how the output was made is not known: by this certificate nobody may read it"
        console().print(told, markup=False)
    if write:
        kept = " with its commitment to the owner's record" if found.commitment else ""
        console().print(f"the certificate was renewed{kept}", markup=False)
    if record is not None:
        what = "and is of the input given" if data else "the input was not given to be compared"
        console().print(f"the record opens the certificate, {what}", markup=False)


@quotes_values
@reads_policies()
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
        str, typer.Option(metavar="COLUMN", help="What a classifier is to predict.")
    ] = "",
    queries: Annotated[int, typer.Option(min=1, max=100_000, help="How many are asked.")] = 1_000,
    seed: Annotated[int, typer.Option(help="The same seed asks the same.")] = 0,
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    output_format: FormatOption = Format.TEXT,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Tells whether the release is of this original."),
    ] = None,
    asset: AssetOption = "",
    *,
    no_classifier: Annotated[
        bool,
        typer.Option(
            "--no-classifier", metavar="", help="Let none learn, which takes the longest."
        ),
    ] = False,
    shareable: Annotated[
        bool,
        typer.Option(
            "--shareable", metavar="", help="Tell of the release alone, nothing of the original."
        ),
    ] = False,
    reading: "Reading",
) -> None:
    """Show what a release lost against its original, and what it is still good for."""
    from policy_engine.api.comparing import compare_release  # noqa: PLC0415

    if report is not None:
        from policy_engine.audits.reports.comparison import check_report  # noqa: PLC0415

        check_report(report)
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
            record=record,
            classifier=not no_classifier,
            shareable=shareable,
            asset=asset,
            **reading.keywords,
        )
        if report is not None:
            from policy_engine.audits.reports.comparison import write_report  # noqa: PLC0415

            progress("drawing", 0, 0)
            write_report(found, report, original, release)
    if output_format is Format.JSON:
        print_json(found.model_dump(mode="json"))
        return
    from policy_engine.cli.tables.comparisons import comparison_tables  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console  # noqa: PLC0415

    for table in comparison_tables(found):
        console().print(table)
    if report is not None:
        console().print(f"written: {report}", markup=False, soft_wrap=True)


@quotes_values
@reads_policies()
@acts()
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
    """Show what the release would lose at several settings; write no release."""
    from policy_engine.api.exploring import explore_policy  # noqa: PLC0415

    choices = {"k": numbers_of(k, "--k"), "l": numbers_of(l, "--l"), "t": numbers_of(t, "--t")}
    with progress_bar() as progress:
        runs = explore_policy(
            policy,
            paths_of(data),
            choices,
            taxonomies=paths_of(taxonomy, "--taxonomy"),
            key=key,
            engine=engine_of(engine, master, conf),
            progress=progress,
            time_limit=time_limit,
            owners=owners,
            certificates=certificate,
            asset=asset,
            **acting,
            **reading.keywords,
        )
    if chart is not None:
        from policy_engine.api.exploring import trade_off_chart  # noqa: PLC0415

        trade_off_chart(runs, chart)
    if output_format is Format.JSON:
        print_json([run.model_dump(mode="json") for run in runs])
        return
    from policy_engine.cli.tables.comparisons import runs_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console  # noqa: PLC0415

    console().print(runs_table(runs))
    if chart is not None:
        console().print(f"written: {chart}", markup=False, soft_wrap=True)
