"""The commands that attack: what a model reveals of the records it was trained on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, progress_bar
from policy_engine.cli.attributes import attribute
from policy_engine.cli.audit_options import (
    AuditedOption,
    BinsOption,
    Domain,
    LabelOption,
    ModelOption,
    OutOption,
    RangesOption,
    SeedOption,
    ShadowsOption,
    TargetOption,
    TargetsOption,
)
from policy_engine.cli.disclosing import disclosure
from policy_engine.cli.fitted import (
    ClassesOption,
    FeaturesOption,
    FittedOption,
    ModelClassOption,
    OutputsOption,
    ReferenceOption,
    RetrainOption,
    TimeLimitOption,
    TrustOption,
    ViewsOption,
    fitted_model,
)
from policy_engine.cli.generating import generative
from policy_engine.cli.options import Format, FormatOption, InputOption, OwnersOption
from policy_engine.cli.parsing import parse_names, parse_numbers, usage_error
from policy_engine.cli.shared_options import with_acting_options, with_reading_options
from policy_engine.cli.table_options import with_table_options
from policy_engine.cli.trainers import trainer_of

if TYPE_CHECKING:
    from policy_engine.audits.membership.result import MembershipAudit
    from policy_engine.policy import Reading

audits = typer.Typer(
    help="Attack what is to be released: models, synthetic data, tables.",
    no_args_is_help=True,
)
audits.command()(disclosure)
audits.command()(generative)
audits.command()(attribute)


@audits.command()
@with_table_options("data", "predictions")
@with_reading_options()
@with_acting_options()
def membership(
    data: AuditedOption = None,
    label: LabelOption = "",
    model: ModelOption = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead of --data: a model's answers with the labels and who was a member.",
        ),
    ] = None,
    members: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="The column that says which records the target was trained on."
        ),
    ] = "",
    fitted: FittedOption = None,
    trust_pickle: TrustOption = False,
    model_class: ModelClassOption = "",
    features: FeaturesOption = "",
    classes: ClassesOption = "",
    outputs: OutputsOption = None,
    time_limit: TimeLimitOption = 600,
    retrain: RetrainOption = False,
    references: ReferenceOption = [],  # noqa: B006
    views: ViewsOption = 1,
    attacks: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME,...", help="The attacks, for example shokri,lira. Default: all."
        ),
    ] = "",
    shadows: ShadowsOption = 10,
    targets: TargetsOption = 1,
    seed: SeedOption = 0,
    slices: Annotated[
        list[str],
        typer.Option(
            "--slice",
            metavar="COLUMN",
            help="Also report the attacks for each value of this column.",
        ),
    ] = [],  # noqa: B006
    local_epsilon: Annotated[
        float | None,
        typer.Option(metavar="EPSILON", help="Train on records perturbed by randomized response."),
    ] = None,
    bins: BinsOption = 10,
    ranges: RangesOption = [],  # noqa: B006
    attack_domain: Annotated[
        Domain, typer.Option(help="Whether the attacker has the original or the perturbed records.")
    ] = Domain.ORIGINAL,
    fail_above: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="ACCURACY",
            help="Exit with 1 if an attack is right more often than this.",
        ),
    ] = None,
    out: OutOption = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an HTML report with tables and charts."),
    ] = None,
    target: TargetOption = "",
    owners: OwnersOption = None,
    certificate: InputOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Measure how well an attacker can tell which records a model was trained on."""
    from policy_engine.api.auditing import audit_membership, audit_predictions_file  # noqa: PLC0415
    from policy_engine.audits.membership.settings import Settings  # noqa: PLC0415

    if (data is None) == (predictions is None):
        records = "--data FILE with records, alone or beside --fitted FILE with a model"
        raise usage_error(f"Give either {records}, or --predictions FILE with answers.")
    made_by = trainer_of(target, reading, acting, owners, certificate)
    fitted_target = fitted_model(
        fitted,
        trust_pickle=trust_pickle,
        model_class=model_class,
        features=parse_names(features),
        classes=parse_names(classes),
        outputs=outputs,
        time_limit=time_limit,
        retrain=retrain,
        references=references,
        views=views,
    )
    settings = Settings(
        attacks=parse_names(attacks),
        shadows=shadows,
        targets=targets,
        seed=seed,
        slices=tuple(slices),
        local_epsilon=local_epsilon,
        attack_domain=attack_domain.value,
        bins=bins,
        ranges=_parse_ranges(ranges),
    )
    with resumable(out), progress_bar(time_left=True) as progress:
        if predictions is not None:
            _check_no_training(label, model, members, local_epsilon, fitted, targets)
            audit = audit_predictions_file(
                predictions,
                settings=settings,
                out=out,
                report=report,
                progress=progress,
                made_by=made_by,
            )
        else:
            audit = audit_membership(
                data,
                label,
                model,
                settings=settings,
                members=members,
                fitted=fitted_target,
                out=out,
                report=report,
                progress=progress,
                made_by=made_by,
            )
    _print_audit(audit, output_format, [*_written_files(out), *filter(None, [report])])
    if fail_above is not None and _strongest_accuracy(audit) > fail_above:
        raise typer.Exit(1)


def _strongest_accuracy(audit: "MembershipAudit") -> float:
    """Return how often the strongest attack is right, or one turned round is shown to be."""
    from policy_engine.audits.membership.verdict import inverted_accuracy  # noqa: PLC0415

    strongest = audit.attack(audit.strongest).figures.accuracy.value
    return max(strongest, inverted_accuracy(audit.attacks))


@contextmanager
def resumable(out: Path | None) -> Iterator[None]:
    """Say of an interrupted audit what is kept of it, and end with 130."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {_cache_note(out) if out else 'nothing was written'}", err=True)
        raise typer.Exit(130) from None


def _cache_note(out: Path) -> str:
    cache = out / "cache"
    if cache.is_dir() and any(cache.iterdir()):
        return f"{cache} keeps the answers of models, to go on from"
    return f"{out} keeps no model's words to go on from"


def _parse_ranges(texts: list[str]) -> tuple[tuple[str, float, float], ...]:
    """Return columns and the ends of their ranges, of texts such as `age=18:100`."""
    ranges = []
    for text in texts:
        name, _, ends = text.rpartition("=")
        try:
            low, high = map(float, ends.split(":"))
        except ValueError:
            raise usage_error(f"--range takes COLUMN=LOW:HIGH. {text!r} was given.") from None
        ranges.append((name, low, high))
    return tuple(ranges)


def _check_no_training(
    label: str,
    model: Path | None,
    members: str,
    local_epsilon: float | None,
    fitted: Path | None,
    targets: int,
) -> None:
    """Raise RequestError for what an audit of predictions, where nothing is trained, ignores."""
    ignored = {
        "--label": label,
        "--model": model,
        "--members": members,
        "--local-epsilon": local_epsilon,
        "--fitted": fitted,
        "--targets": targets if targets > 1 else None,
    }
    for name, value in ignored.items():
        if value not in ("", None):
            raise usage_error(
                f"{name} is for --data. A file of --predictions has all of it already."
            )


def _written_files(out: Path | None) -> list[Path]:
    names = ("audit.json", "scores.csv", "audit.html", "splits.npz")
    return [] if out is None else [out / name for name in names if (out / name).is_file()]


def _print_audit(audit: "MembershipAudit", output_format: Format, written: list[Path]) -> None:
    if output_format is Format.JSON:
        print_json(audit.model_dump(mode="json"))
        return
    from policy_engine.cli.tables.audits import (  # noqa: PLC0415
        attacks_table,
        audit_lines,
        marks_lines,
        targets_table,
    )
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415
    from policy_engine.kernels.estimates import NotApplicable  # noqa: PLC0415

    out = console()
    for line in audit_lines(audit):
        out.print(line, soft_wrap=not out.is_terminal)
    print_fitting(out, attacks_table(audit))
    for line in marks_lines(audit):
        out.print(line, soft_wrap=not out.is_terminal)
    if not isinstance(audit.over_targets, NotApplicable):
        print_fitting(out, targets_table(audit.over_targets))
    for path in written:
        out.print(f"written: {path}", markup=False, soft_wrap=True)


@audits.command()
@with_table_options("data")
@with_reading_options()
@with_acting_options()
def tradeoff(
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help="Records: CSV, CSV.gz, Parquet or npz.")
    ],
    label: LabelOption = "",
    model: ModelOption = None,
    noise: Annotated[
        str, typer.Option(metavar="Z,Z,...", help="Noise multipliers of the training (DP-SGD).")
    ] = "2,4,6,8,16",
    local_epsilon: Annotated[
        str, typer.Option(metavar="E,E,...", help="Epsilons per attribute (randomized response).")
    ] = "8,5,3,1,0.1",
    bins: BinsOption = 10,
    ranges: RangesOption = [],  # noqa: B006
    attack: Annotated[str, typer.Option(metavar="NAME", help="The attack to run.")] = "shokri",
    shadows: ShadowsOption = 10,
    seed: SeedOption = 0,
    out: OutOption = None,
    target: TargetOption = "",
    owners: OwnersOption = None,
    certificate: InputOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Show how differential privacy lowers an attack's success, and the model's accuracy."""
    from policy_engine.api.auditing import audit_tradeoff  # noqa: PLC0415
    from policy_engine.audits.membership.settings import Settings  # noqa: PLC0415
    from policy_engine.audits.membership.tradeoff import Grid  # noqa: PLC0415

    made_by = trainer_of(target, reading, acting, owners, certificate)
    grid = Grid(
        noise_multipliers=parse_numbers(noise, "--noise"),
        local_epsilons=parse_numbers(local_epsilon, "--local-epsilon"),
    )
    settings = Settings(
        attacks=parse_names(attack),
        shadows=shadows,
        seed=seed,
        bins=bins,
        ranges=_parse_ranges(ranges),
    )
    with resumable(out), progress_bar(time_left=True) as progress:
        result = audit_tradeoff(
            data,
            label,
            model,
            settings=settings,
            grid=grid,
            out=out,
            progress=progress,
            made_by=made_by,
        )
    if output_format is Format.JSON:
        print_json(result.model_dump(mode="json"))
        return
    from policy_engine.cli.tables.audits import tradeoff_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    print_fitting(console(), tradeoff_table(result))
    for line in result.bins:
        console().print(line, markup=False)
    for name in ("tradeoff.json", "tradeoff.svg", "tradeoff.png"):
        if out is not None:
            console().print(f"written: {out / name}", markup=False, soft_wrap=True)
