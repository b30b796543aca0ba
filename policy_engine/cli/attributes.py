"""The command that attacks what a model gives away about a column of those it was trained on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, progress_bar
from policy_engine.cli.audit_options import (
    AuditedOption,
    LabelOption,
    ModelOption,
    SeedOption,
    TargetOption,
    TargetsOption,
)
from policy_engine.cli.fitted import (
    ClassesOption,
    FeaturesOption,
    FittedOption,
    ModelClassOption,
    OutputsOption,
    TimeLimitOption,
    TrustOption,
    fitted_model,
)
from policy_engine.cli.options import Format, FormatOption, InputOption, OwnersOption
from policy_engine.cli.parsing import parse_folder, parse_names, usage_error
from policy_engine.cli.shared_options import with_acting_options, with_reading_options
from policy_engine.cli.table_options import with_table_options
from policy_engine.cli.trainers import trainer_of

if TYPE_CHECKING:
    from policy_engine.audits.attribute.result import AttributeAudit
    from policy_engine.policy import Reading


@with_table_options("data")
@with_reading_options()
@with_acting_options()
def attribute(
    data: AuditedOption = None,
    label: LabelOption = "",
    secret: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="The sensitive feature."),
    ] = "",
    model: ModelOption = None,
    members: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="The column that says which records the model was trained on."
        ),
    ] = "",
    fitted: FittedOption = None,
    trust_pickle: TrustOption = False,
    model_class: ModelClassOption = "",
    features: FeaturesOption = "",
    classes: ClassesOption = "",
    outputs: OutputsOption = None,
    time_limit: TimeLimitOption = 600,
    attacks: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME,...",
            help="The attacks, for example fredrikson,confidence. Default: all.",
        ),
    ] = "",
    bins: Annotated[
        int, typer.Option(help="The number of bins for a secret column of numbers.")
    ] = 4,
    targets: TargetsOption = 1,
    seed: SeedOption = 0,
    fail_above: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="ADVANTAGE",
            help="Exit with 1 if an attack guesses members' secrets more often than without the "
            "model by more than this.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=parse_folder,
            help="Write attribute.json and attribute.html there.",
        ),
    ] = None,
    target: TargetOption = "",
    owners: OwnersOption = None,
    certificate: InputOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
    acting: dict[str, Any],
) -> None:
    """Measure what a model gives away about a column of the records that it was trained on."""
    from policy_engine.api.auditing_secrets import audit_attribute  # noqa: PLC0415
    from policy_engine.audits.attribute.wording import greatest_advantage  # noqa: PLC0415

    if data is None or not secret:
        raise usage_error("Give --data FILE with records, and --secret COLUMN of them.")
    made_by = trainer_of(target, reading, acting, owners, certificate)
    target_model = fitted_model(
        fitted,
        trust_pickle=trust_pickle,
        model_class=model_class,
        features=parse_names(features),
        classes=parse_names(classes),
        outputs=outputs,
        time_limit=time_limit,
        retrain=False,
        references=[],
        views=1,
    )
    with progress_bar() as progress:
        audit = audit_attribute(
            data,
            label,
            secret,
            model,
            attacks=parse_names(attacks),
            bins=bins,
            targets=targets,
            seed=seed,
            members=members,
            fitted=target_model,
            out=out,
            progress=progress,
            made_by=made_by,
        )
    _print_audit(audit, output_format, out)
    if fail_above is not None and greatest_advantage(audit.attacks) > fail_above:
        raise typer.Exit(1)


def _print_audit(audit: "AttributeAudit", output_format: Format, out: Path | None) -> None:
    if output_format is Format.JSON:
        print_json(audit.model_dump(mode="json"))
        return
    from policy_engine.cli.tables.attribute import print_attribute  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console  # noqa: PLC0415

    print_attribute(audit)
    if out is not None:
        files = f"{out / 'attribute.json'} and {out / 'attribute.html'}"
        console().print(f"written: {files}", markup=False)
