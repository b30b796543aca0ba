"""The command that attacks synthetic records and generative models."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.answers import print_json, print_unsigned, progress_bar
from policy_engine.cli.options import Format, FormatOption, StatusOption, TrustOption
from policy_engine.cli.shared_options import with_quiet_option
from policy_engine.cli.table_options import with_table_options

if TYPE_CHECKING:
    from policy_engine.audits.generative.result import GenerativeAudit


@with_table_options("members", "holdout", "synthetic", "reference")
@with_quiet_option
def generative(
    members: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="Records that the generator was fitted on; repeated for each of several models, "
            "as are the next two and the model.",
        ),
    ],
    holdout: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE", help="Records of the same population that the generator has not seen."
        ),
    ],
    synthetic: Annotated[
        list[Path], typer.Option(metavar="FILE", help="The synthetic records that it made.")
    ] = [],  # noqa: B006
    reference: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Other records of the population, to calibrate scores."),
    ] = None,
    model: Annotated[
        list[str],
        typer.Option(
            metavar="MODEL",
            help="The generator: package.module:object with a method sample, a Keras file, or the "
            "folder of a released generator.",
        ),
    ] = [],  # noqa: B006
    models: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="NUMBER",
            help="Fit so many models, each on a random half of members and holdout, by the model's "
            "method fit, or a generator by name.",
        ),
    ] = 0,
    generator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Fit the product's own: sequential-trees, gaussian-copula or "
            "independent-marginals.",
        ),
    ] = "",
    label: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="Compare records only within the same value of this column."
        ),
    ] = "",
    privacy_unit: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="The column that identifies persons who have several records: figures are then "
            "about persons.",
        ),
    ] = "",
    secret: Annotated[
        list[str],
        typer.Option(metavar="COLUMN", help="A sensitive column. Can be repeated."),
    ] = [],  # noqa: B006
    attack: Annotated[
        list[str], typer.Option(metavar="NAME", help="Make only this attack. Can be repeated.")
    ] = [],  # noqa: B006
    space: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Where images are near: pca-40, hog, colour-histogram or pixels. "
            "[default: pca-40]",
        ),
    ] = "",
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="How many samples of a model are drawn. [default: 100000; of --generator, as many "
            "as it has learnt]",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Stop drawing samples then; the next run with the same --out goes on.",
        ),
    ] = None,
    allow_shift: Annotated[
        bool,
        typer.Option(
            "--allow-shift",
            metavar="",
            help="Accept members and holdout that differ in distribution.",
        ),
    ] = False,
    epsilon: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="The epsilon that is promised, told beside what attacks prove. "
            "[default: the certificate's]",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Repeats all random choices.")
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write generative.json and generative.html there."),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the scores of records to a file that only you can read."
        ),
    ] = None,
    fail_above: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="AUC",
            help="Exit with 1 if an area under an ROC curve is greater, or there is none.",
        ),
    ] = None,
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Tell what synthetic records, or a generative model, disclose of the records they are made of.

    All files are tables (CSV, Parquet) or arrays (npz: features and labels). If no attack could be
    made, the exit status is 1, and where --fail-above has no area to be compared with.
    """
    from policy_engine.api.auditing_generators import audit_generative  # noqa: PLC0415
    from policy_engine.api.loading_generators import is_release  # noqa: PLC0415
    from policy_engine.api.trusting import believed_beside  # noqa: PLC0415

    with progress_bar() as progress:
        audit = audit_generative(
            members,
            holdout,
            synthetic or None,
            reference=reference,
            model=model or None,
            models=models,
            generator=generator,
            label=label,
            privacy_unit=privacy_unit,
            secrets=secret,
            attacks=attack,
            samples=samples,
            seconds=budget,
            space=space,
            allow_shift=allow_shift,
            epsilon=epsilon,
            seed=seed,
            out=out,
            records=records,
            progress=progress,
            trust=trust,
            status=status,
        )
        if is_release(*model) or any(map(believed_beside, synthetic)):
            print_unsigned(trust, is_data=output_format is Format.JSON)
    if output_format is Format.JSON:
        print_json(audit.model_dump(mode="json"))
    else:
        _print_audit(audit, out, records)
    from policy_engine.audits.generative.wording import strength  # noqa: PLC0415

    among = len(audit.attacks)
    areas = [strength(one, among) for one in audit.attacks]
    if not (audit.attacks or audit.risks):
        raise typer.Exit(1)
    if fail_above is not None and not areas:
        typer.echo("note: no area under the ROC curve was compared with --fail-above", err=True)
        raise typer.Exit(1)
    if fail_above is not None and max(areas) > fail_above:
        raise typer.Exit(1)


def _print_audit(audit: "GenerativeAudit", out: Path | None, records: Path | None) -> None:
    from policy_engine.cli.tables.generative import print_generative  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console  # noqa: PLC0415

    print_generative(audit)
    if out is not None:
        files = f"{out / 'generative.json'} and {out / 'generative.html'}"
        console().print(f"written: {files}", markup=False)
    if records is not None:
        console().print(f"written, for its owner alone: {records}", markup=False)
