"""The commands that attack: what a model tells of the records it was trained on."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, progress_bar
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
from policy_engine.cli.options import (
    Format,
    FormatOption,
    InputOption,
    OwnersOption,
    acts,
    folder_of,
    numbers_of,
    reads_policies,
    usage,
)

if TYPE_CHECKING:
    from policy_engine.audits.membership.result import MembershipAudit
    from policy_engine.plan.lineage import MadeBy
    from policy_engine.policy import Reading

audits = typer.Typer(
    help="Attack what is to be released: membership inference.", no_args_is_help=True
)


class Domain(StrEnum):
    """In which form the attacker has the records that he asks about."""

    ORIGINAL = "original"
    PERTURBED = "perturbed"


AuditedOption = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE", help="Records: CSV, CSV.gz, Parquet or npz."),
]
LabelOption = Annotated[
    str, typer.Option("--label", metavar="COLUMN", help="The classes; else the last column.")
]
ModelOption = Annotated[
    Path | None,
    typer.Option("--model", metavar="FILE", help="The model, in JSON; else a small network."),
]
ShadowsOption = Annotated[
    int, typer.Option("--shadows", min=0, max=10_000, help="How many shadow models to train.")
]
TargetsOption = Annotated[
    int,
    typer.Option(min=1, max=10_000, help="How many models to attack, each of another half."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The same seed, the same figures.")]
BinsOption = Annotated[
    int, typer.Option(help="In how many ranges numbers are answered under a local epsilon.")
]
RangesOption = Annotated[
    list[str],
    typer.Option("--range", metavar="COLUMN=LOW:HIGH", help="Declare the ends of these ranges."),
]
TargetOption = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="IRI",
        help="Which asset the records are, for --as; else the policies' only dataset.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        parser=folder_of,
        help="Keep all figures, the page and the splits there.",
    ),
]


@audits.command()
@reads_policies()
@acts()
def membership(
    data: AuditedOption = None,
    label: LabelOption = "",
    model: ModelOption = None,
    predictions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Instead: a model's answers, the labels, who was in."),
    ] = None,
    members: Annotated[
        str, typer.Option(metavar="COLUMN", help="Which records the target was trained on.")
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
        str, typer.Option(metavar="NAME,NAME,...", help="Such as shokri,lira; else all.")
    ] = "",
    shadows: ShadowsOption = 10,
    targets: TargetsOption = 1,
    seed: SeedOption = 0,
    slices: Annotated[
        list[str],
        typer.Option("--slice", metavar="COLUMN", help="Attack each of its values by itself."),
    ] = [],  # noqa: B006
    local_epsilon: Annotated[
        float | None,
        typer.Option(metavar="EPSILON", help="Train on records with randomized response."),
    ] = None,
    bins: BinsOption = 10,
    ranges: RangesOption = [],  # noqa: B006
    attack_domain: Annotated[
        Domain, typer.Option(help="What the attacker has: records as they were, or perturbed.")
    ] = Domain.ORIGINAL,
    fail_above: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, metavar="ACCURACY", help="Exit 1 where an attack is right more often."
        ),
    ] = None,
    out: OutOption = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with tables and pictures.")
    ] = None,
    target: TargetOption = "",
    owners: OwnersOption = None,
    certificate: InputOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Measure how well an attacker tells who was in a model's training data."""
    from policy_engine.api.auditing import audit_membership, audit_predictions_file  # noqa: PLC0415
    from policy_engine.audits.membership.settings import Settings  # noqa: PLC0415

    if (data is None) == (predictions is None):
        records = "--data FILE with records, alone or beside --fitted FILE with a model"
        raise usage(f"Give either {records}, or --predictions FILE with answers.")
    made_by = _made_by(target, reading, acting, owners, certificate)
    known = fitted_model(
        fitted,
        trust_pickle=trust_pickle,
        model_class=model_class,
        features=_names(features),
        classes=_names(classes),
        outputs=outputs,
        time_limit=time_limit,
        retrain=retrain,
        references=references,
        views=views,
    )
    settings = Settings(
        attacks=_names(attacks),
        shadows=shadows,
        targets=targets,
        seed=seed,
        slices=tuple(slices),
        local_epsilon=local_epsilon,
        attack_domain=attack_domain.value,
        bins=bins,
        ranges=_ranges(ranges),
    )
    with resumable(out), progress_bar(time_left=True) as progress:
        if predictions is not None:
            _refuse_training(label, model, members, local_epsilon, fitted, targets)
            found = audit_predictions_file(
                predictions,
                settings=settings,
                out=out,
                report=report,
                progress=progress,
                made_by=made_by,
            )
        else:
            found = audit_membership(
                data,
                label,
                model,
                settings=settings,
                members=members,
                fitted=known,
                out=out,
                report=report,
                progress=progress,
                made_by=made_by,
            )
    _print_audit(found, output_format, [*_written(out), *filter(None, [report])])
    if fail_above is not None and _right(found) > fail_above:
        raise typer.Exit(1)


def _made_by(
    target: str,
    reading: "Reading",
    acting: dict[str, Any],
    owners: Path | None,
    certificates: list[Path],
) -> "MadeBy":
    """Return who has models trained on the records. Raises DeniedError (D007) for a party that
    may not."""
    if acting["party"] is None:
        if target or owners or certificates:
            given = "--target" if target else "--owners" if owners else "--certificate"
            raise usage(f"{given} is for --as PARTY. Without it the owner acts.")
        return "owner"
    from policy_engine.api.acting import Acting, may_train  # noqa: PLC0415

    return may_train(target, reading, Acting(**acting), owners, certificates)


def _right(found: "MembershipAudit") -> float:
    """Return how often the strongest attack is right, or one turned round is shown to be."""
    from policy_engine.audits.membership.verdict import shown_if_turned  # noqa: PLC0415

    strongest = found.attack(found.strongest).figures.accuracy.value
    return max(strongest, shown_if_turned(found.attacks))


@contextmanager
def resumable(out: Path | None) -> Iterator[None]:
    """Say of an interrupted audit what is kept of it, and end with 130."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {_kept_in(out) if out else 'nothing was written'}", err=True)
        raise typer.Exit(130) from None


def _kept_in(out: Path) -> str:
    cache = out / "cache"
    if cache.is_dir() and any(cache.iterdir()):
        return f"{cache} keeps what models said, to go on from"
    return f"{out} keeps no model's words to go on from"


def _ranges(given: list[str]) -> tuple[tuple[str, float, float], ...]:
    """Return columns and the ends of their ranges, of texts such as `age=18:100`."""
    found = []
    for text in given:
        name, _, ends = text.rpartition("=")
        try:
            low, high = map(float, ends.split(":"))
        except ValueError:
            raise usage(f"--range takes COLUMN=LOW:HIGH. {text!r} was given.") from None
        found.append((name, low, high))
    return tuple(found)


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def _refuse_training(
    label: str,
    model: Path | None,
    members: str,
    local_epsilon: float | None,
    fitted: Path | None,
    targets: int,
) -> None:
    """Raise RequestError for what an audit of predictions, where nothing is trained, ignores."""
    given = {
        "--label": label,
        "--model": model,
        "--members": members,
        "--local-epsilon": local_epsilon,
        "--fitted": fitted,
        "--targets": targets if targets > 1 else None,
    }
    for name, value in given.items():
        if value not in ("", None):
            raise usage(f"{name} is for --data. A file of --predictions has all of it already.")


def _written(out: Path | None) -> list[Path]:
    names = ("audit.json", "scores.csv", "audit.html", "splits.npz")
    return [] if out is None else [out / name for name in names if (out / name).is_file()]


def _print_audit(found: "MembershipAudit", output_format: Format, written: list[Path]) -> None:
    if output_format is Format.JSON:
        print_json(found.model_dump(mode="json"))
        return
    from policy_engine.cli.tables.audits import (  # noqa: PLC0415
        attacks_table,
        audit_lines,
        marks_lines,
        over_targets_table,
    )
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415
    from policy_engine.kernels.estimates import NotApplicable  # noqa: PLC0415

    out = console()
    for line in audit_lines(found):
        out.print(line, soft_wrap=not out.is_terminal)
    print_fitting(out, attacks_table(found))
    for line in marks_lines(found):
        out.print(line, soft_wrap=not out.is_terminal)
    if not isinstance(found.over_targets, NotApplicable):
        print_fitting(out, over_targets_table(found.over_targets))
    for path in written:
        out.print(f"written: {path}", markup=False, soft_wrap=True)


@audits.command()
@reads_policies()
@acts()
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
    attack: Annotated[str, typer.Option(metavar="NAME", help="Which attack.")] = "shokri",
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
    """Show what differential privacy takes from an attacker, and from the model's accuracy."""
    from policy_engine.api.auditing import audit_tradeoff  # noqa: PLC0415
    from policy_engine.audits.membership.settings import Settings  # noqa: PLC0415
    from policy_engine.audits.membership.tradeoff import Grid  # noqa: PLC0415

    made_by = _made_by(target, reading, acting, owners, certificate)
    grid = Grid(
        noise_multipliers=numbers_of(noise, "--noise"),
        local_epsilons=numbers_of(local_epsilon, "--local-epsilon"),
    )
    settings = Settings(
        attacks=_names(attack), shadows=shadows, seed=seed, bins=bins, ranges=_ranges(ranges)
    )
    with resumable(out), progress_bar(time_left=True) as progress:
        found = audit_tradeoff(
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
        print_json(found.model_dump(mode="json"))
        return
    from policy_engine.cli.tables.audits import tradeoff_table  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    print_fitting(console(), tradeoff_table(found))
    for said in found.bins:
        console().print(said, markup=False)
    for name in ("tradeoff.json", "tradeoff.svg", "tradeoff.png"):
        if out is not None:
            console().print(f"written: {out / name}", markup=False, soft_wrap=True)
