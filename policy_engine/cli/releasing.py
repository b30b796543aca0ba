"""The commands of a release: plan it, make it, show it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import (
    composition_of,
    print_json,
    progress_bar,
    release_json,
    release_warnings,
)
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
    LedgerKeyOption,
    LedgerOption,
    MasterOption,
    OwnersOption,
    PolicyArgument,
    SetOption,
    SignOption,
    StatusListOption,
    TaxonomyOption,
)
from policy_engine.cli.parsing import (
    check_keys,
    make_engine,
    parse_folder,
    parse_paths,
    with_overrides,
)
from policy_engine.cli.shared_options import (
    with_acting_options,
    with_quiet_option,
    with_reading_options,
)
from policy_engine.cli.streaming import streamed
from policy_engine.cli.table_options import with_table_options
from policy_engine.data.storage import read_errors

if TYPE_CHECKING:
    from policy_engine.api.verified_release import VerifiedRelease
    from policy_engine.audits.disclosure.unique_rows import UniqueRows
    from policy_engine.kernels.estimates import NotApplicable
    from policy_engine.plan.effort import Effort
    from policy_engine.plan.output_checks import RuleCheck
    from policy_engine.plan.plan import Plan
    from policy_engine.policy import Reading, Source
    from policy_engine.release.composition.figures import Composition
    from policy_engine.release.cost import Cost
    from policy_engine.release.left_out_rows import LeftOutRows

TimeLimitOption = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="Stop searching for classes after this time and use the best result; the "
        "certificate says so. Microaggregation, which searches for none, is not shortened.",
    ),
]


@with_table_options("data")
@with_reading_options()
@with_acting_options()
def plan(
    policy: PolicyArgument,
    data: DataOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    taxonomy: TaxonomyOption = [],  # noqa: B006
    engine: EngineOption = EngineChoice.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    owners: OwnersOption = None,
    certificate: InputOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    asset: AssetOption = "",
    *,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Show what apply would do and how long it would take; write nothing.

    If the policy has several outputs, all are planned, or only the one that --asset names. With
    --data and --ledger, the release is made in memory, and what it would tell together with the
    earlier releases of the same persons is said: exit 1 where apply refuses it for that, or asks
    for a ledger that is not given. Of a policy that makes nothing and lets checked answers be read,
    it says how to ask, and how the owner is told what protecting them costs.
    """
    from policy_engine.api.planning import plan_all, plan_checks, plan_policy  # noqa: PLC0415

    check_keys(None, None, ledger, ledger_key)
    taxonomies, chosen_engine = (
        parse_paths(taxonomy, "--taxonomy"),
        make_engine(engine, master, conf),
    )
    paths, reading_options = parse_paths(data), {"taxonomies": taxonomies, **reading.keywords}
    options = {
        "engine": chosen_engine,
        "owners": owners,
        "certificates": certificate,
        **acting,
        **reading_options,
    }
    source = with_overrides(policy, set_, reading)
    if checks := () if asset else plan_checks(source, **reading.keywords):
        _print_checks(checks, output_format)
        return
    if asset:
        plans: tuple[Plan, ...] = (plan_policy(source, paths, asset=asset, **options),)
    else:
        plans = plan_all(source, paths, **options)
    looked = {**options, "ledger": ledger, "ledger_key": ledger_key}
    estimated = [
        _estimate(source, one, paths, certificate, engine, reading_options) for one in plans
    ]
    estimates = [_looked_back(one, source, paths, looked) for one in estimated]
    if output_format is Format.JSON:
        documents = [one.as_json() for one in estimates]
        print_json(documents[0] if len(documents) == 1 else documents)
    else:
        for one in estimates:
            one.print()
    _note_refused(estimates, has_data=bool(paths))


def _note_refused(estimates: "Sequence[_PlanEstimate]", *, has_data: bool) -> None:
    """Say which releases apply would refuse because of earlier ones: exit 1 where it has data."""
    for one in estimates:
        if one.is_refused:
            name, why = one.plan.publish.asset, one.needed or f"{_TOGETHER} (B013)"
            typer.echo(f"note: {name} would not be released: {why}", err=True)
    if has_data and any(one.is_refused for one in estimates):
        raise typer.Exit(1)


_WITHOUT_LEDGER = "no ledger of them is given with --ledger"
_TOGETHER = "the policy's bounds do not hold together with earlier releases"


def _print_checks(checks: "Sequence[RuleCheck]", output_format: Format) -> None:
    from policy_engine.cli.tables.planned_checks import (  # noqa: PLC0415
        planned_checks_json,
        planned_checks_lines,
    )

    if output_format is Format.JSON:
        print_json(planned_checks_json(checks))
        return
    for line in planned_checks_lines(checks):
        typer.echo(line)


@dataclass(frozen=True)
class _PlanEstimate:
    """A plan, with what its audits would cost, how large its search is, how many rows of the data
    are unique on what it keeps exact and how many it would leave out, as far as is known."""

    plan: "Plan"
    cost: "Cost | NotApplicable | None"
    effort: "Effort | NotApplicable | None"
    unique_rows: "UniqueRows | NotApplicable | None"
    left_out: "LeftOutRows | NotApplicable | None"
    composition: "Composition | NotApplicable | None" = None
    needed: str = ""
    """What the policy needs a ledger of earlier releases for, where none is given."""

    @property
    def is_refused(self) -> bool:
        """Whether apply refuses the release for what it tells together with earlier ones."""
        return bool(self.needed) or getattr(self.composition, "is_refused", False)

    def as_json(self) -> dict[str, Any]:
        estimates = {"estimate": self.cost.model_dump(mode="json")} if self.cost else {}
        estimates |= {"search": self.effort.model_dump(mode="json")} if self.effort else {}
        unique = self.unique_rows
        estimates |= {"unique_rows": unique.model_dump(mode="json")} if unique else {}
        left_out = self.left_out
        estimates |= {"left_out_rows": left_out.model_dump(mode="json")} if left_out else {}
        composed = self.composition
        estimates |= {"composition": composed.model_dump(mode="json")} if composed else {}
        return {**self.plan.model_dump(mode="json"), **estimates}

    def print(self) -> None:
        from policy_engine.cli.tables.compositions import composition_lines  # noqa: PLC0415
        from policy_engine.cli.tables.plans import (  # noqa: PLC0415
            cost_line,
            left_out_line,
            plan_table,
            search_line,
            unique_lines,
        )
        from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

        print_fitting(console(), plan_table(self.plan))
        if self.effort:
            is_long = getattr(self.effort, "is_long", False)
            hint = " apply --time-limit SECONDS bounds it." if is_long else ""
            console().print(f"{search_line(self.effort)}{hint}", markup=False)
        if self.cost:
            console().print(cost_line(self.cost), markup=False)
        if self.left_out:
            console().print(left_out_line(self.left_out), markup=False)
        for line in (*unique_lines(self.unique_rows), *composition_lines(self.composition)):
            console().print(line, markup=False)


def _looked_back(
    estimate: _PlanEstimate, policy: "Source", data: dict[str, str], options: dict[str, Any]
) -> _PlanEstimate:
    """Return an estimate with what its release would tell together with those of a ledger."""
    if options["ledger"] is None:
        return _without_ledger(estimate)
    if not data:
        return estimate
    from policy_engine.api.looking_back import look_back  # noqa: PLC0415

    asset = estimate.plan.publish.asset
    return replace(estimate, composition=look_back(policy, data, asset=asset, **options))


def _without_ledger(estimate: _PlanEstimate) -> _PlanEstimate:
    from policy_engine.kernels.estimates import NotApplicable  # noqa: PLC0415
    from policy_engine.release.composition.needed_ledger import ledger_needed  # noqa: PLC0415

    error = ledger_needed(estimate.plan)
    if error is None:
        return estimate
    why, needed = NotApplicable(reason=_WITHOUT_LEDGER), error.problems[0]
    return replace(estimate, composition=why, needed=f"{needed.message} ({needed.code})")


def _estimate(
    policy: "Source",
    plan: "Plan",
    data: dict[str, str],
    certificates: list[Path],
    engine: EngineChoice,
    options: dict[str, Any],
) -> _PlanEstimate:
    from policy_engine.api.planning import (  # noqa: PLC0415
        count_left_out_rows,
        count_unique_rows,
        estimate_policy,
        estimate_search,
    )

    asset, cost, effort, unique_rows, left_out = plan.publish.asset, None, None, None, None
    if plan.audits and data:
        cost = estimate_policy(policy, data, certificates=certificates, asset=asset, **options)
    if plan.anonymize and engine is EngineChoice.LOCAL:
        effort = estimate_search(policy, data, asset=asset, **options)
    if plan.makes_rows and data and engine is EngineChoice.LOCAL:
        unique_rows = count_unique_rows(
            policy, data, certificates=certificates, asset=asset, **options
        )
    if plan.anonymize and plan.anonymize.suppresses_outlying_rows and unique_rows:
        left_out = count_left_out_rows(
            policy, data, certificates=certificates, asset=asset, **options
        )
    return _PlanEstimate(plan, cost, effort, unique_rows, left_out)


@with_table_options("data")
@with_quiet_option
@with_reading_options()
@with_acting_options()
def apply(
    policy: PolicyArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            metavar="DIR_OR_FILE",
            help="Where to write the release; - is standard output.",
        ),
    ],
    data: DataOption,
    engine: EngineOption = EngineChoice.LOCAL,
    master: MasterOption = "",
    conf: ConfOption = [],  # noqa: B006
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", metavar="", help="Replace an existing release."),
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait", metavar="", help="Wait until another run that writes there has finished."
        ),
    ] = False,
    taxonomy: TaxonomyOption = [],  # noqa: B006
    key: KeyOption = None,
    cells: Annotated[
        CellFormat, typer.Option(help="Write ranges as text, or as two columns with their bounds.")
    ] = CellFormat.TEXT,
    owners: OwnersOption = None,
    output_format: FormatOption = Format.TEXT,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", parser=parse_folder, help="Write the full results of the audits there."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Make the audits repeatable. Keep the seed secret."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the owner's private record of the input. Only this file can open "
            "the certificate's commitment.",
        ),
    ] = None,
    attempts: AttemptsOption = None,
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    allow_pickle: Annotated[
        bool,
        typer.Option(
            "--allow-pickle",
            metavar="",
            help="Write scikit-learn models with joblib. Loading such a file runs code.",
        ),
    ] = False,
    time_limit: TimeLimitOption = None,
    sign: SignOption = None,
    status_list: StatusListOption = None,
    certificate: InputOption = [],  # noqa: B006
    certificate_to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --output -: where to write the certificate. It is named after the file that "
            "the output goes to, whose ending is the format: people.csv.certificate.jsonld.",
        ),
    ] = None,
    asset: AssetOption = "",
    *,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Apply a policy to data, verify the output, and write it with its certificate.

    If the policy has several outputs, all go into one folder, or only the one that --asset names.
    """
    from policy_engine.api.applying import apply_all, apply_policy  # noqa: PLC0415
    from policy_engine.data.keys import read_key  # noqa: PLC0415

    check_keys(None, None, ledger, ledger_key)
    with streamed(output, certificate_to, engine, overwrite=overwrite) as stream:
        with progress_bar(time_left=True) as progress:
            options: dict[str, Any] = {
                "overwrite": overwrite,
                "wait": wait,
                "progress": progress,
                "taxonomies": parse_paths(taxonomy, "--taxonomy"),
                "key": key,
                "cells": cells.value,
                "engine": make_engine(engine, master, conf),
                "report": report,
                "seed": seed,
                "record": record,
                "attempts": attempts,
                "ledger": ledger,
                "ledger_key": ledger_key,
                "allow_pickle": allow_pickle,
                "owners": owners,
                "time_limit": time_limit,
                "sign": sign,
                "status_list": status_list,
                "certificates": certificate,
                **acting,
                **reading.keywords,
            }
            paths, place = parse_paths(data), stream.file if stream else output
            if asset:
                releases: tuple[VerifiedRelease, ...] = (
                    apply_policy(policy, paths, place, asset=asset, **options),
                )
            else:
                releases = apply_all(policy, paths, place, **options)
        if stream:
            releases = (stream.send(*releases),)
        _print_releases(releases, output_format, record, has_key=read_key(key) is not None)


def _print_releases(
    releases: Sequence["VerifiedRelease"],
    output_format: Format,
    record: Path | None,
    *,
    has_key: bool,
) -> None:
    if output_format is Format.JSON:
        summaries = [release_json(one) for one in releases]
        print_json(summaries[0] if len(summaries) == 1 else summaries)
        return
    for one in releases:
        _print_release(one, has_key=has_key)
    if record is not None:
        several = " (of each output, by its name)" if len(releases) > 1 else ""
        note = f"its record, for the owner alone: {record}{several}"
        typer.echo(note)


def _print_release(release: "VerifiedRelease", *, has_key: bool) -> None:
    from policy_engine.certificate.remaking import drawn_by_key  # noqa: PLC0415
    from policy_engine.cli.tables.certificates import certificate_table  # noqa: PLC0415
    from policy_engine.cli.tables.compositions import composition_lines  # noqa: PLC0415
    from policy_engine.cli.tables.statistics import receipt_lines  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    out = console()
    print_fitting(out, certificate_table(release.certificate, release.record))
    drop = release.plan.drop
    for heading, names in (("dropped", drop.identifiers), ("not mentioned", drop.unmentioned)):
        out.print(f"{heading}, not released: {', '.join(names) or 'none'}", markup=False)
    for warning in release_warnings(release):
        out.print(f"warning: {warning}", markup=False)
    if not has_key and (release.plan.sample or drawn_by_key(release.plan)):
        out.print(f"warning: {_KEYLESS}", markup=False)
    for line in composition_lines(composition_of(release)):
        out.print(line, markup=False, soft_wrap=True)
    if release.receipt is not None:
        for line in receipt_lines(release.receipt):
            out.print(line, markup=False, soft_wrap=True)
    out.print(f"written: {release.path}", markup=False, soft_wrap=True)


_KEYLESS = (
    "no key was given, so what was drawn cannot be drawn again, and certify can never make this "
    "release again from the data; give --key FILE, and keep the file"
)


@with_table_options("table")
def show(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="CSV, CSV.gz, Parquet, npy or npz, or the folder of a release."
        ),
    ],
    rows: Annotated[int, typer.Option(min=1, max=1000, help="How many to print.")] = 5,
) -> None:
    """Print the first rows of a table."""
    from policy_engine.certificate.beside import certificate_names, single_output  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting, rows_table  # noqa: PLC0415
    from policy_engine.engines.tables import first_rows  # noqa: PLC0415

    with read_errors(table):
        is_of_releases = bool(certificate_names(table))
    if is_of_releases:
        table = Path(single_output(table))
    names, values = first_rows(table, rows)
    print_fitting(console(), rows_table(table.name, names, values))
