"""`explore --for-model`: which way of forming classes trains the best model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.answers import print_json, progress_bar
from policy_engine.cli.options import Format
from policy_engine.cli.parsing import usage_error

if TYPE_CHECKING:
    from policy_engine.api.model_comparison import ModelComparison
    from policy_engine.methods.audits.classifier import Estimator, Network
    from policy_engine.policy import Reading

ForModelOption = Annotated[
    str,
    typer.Option(
        "--for-model",
        metavar="COLUMN",
        help="Compare ways of forming classes by the models that learn this column from the "
        "release, at k = 10 to 1000; draws are splits of the rows (default 5).",
    ),
]
LearnerOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FILE",
        help="With --for-model: a description of the model in JSON. Default: boosted trees.",
    ),
]
WritePolicyOption = Annotated[
    Path | None,
    typer.Option(
        "--write-policy",
        metavar="FILE",
        help="With --for-model: write the policy with the way of forming classes that is best.",
    ),
]


@dataclass(frozen=True)
class ModelExploration:
    """What `explore --for-model` is asked: the label, and where files are read and written."""

    label: str
    model: Path | None
    chart: Path | None
    report: Path | None
    write_policy: Path | None

    def check(self) -> None:
        """Raise RequestError for options that do not go together, and as `check_chart` does."""
        if not self.label:
            files = {"--model": self.model, "--write-policy": self.write_policy}
            for name, value in files.items():
                if value is not None:
                    raise usage_error(f"{name} is for --for-model COLUMN.")
            return
        if self.report is not None:
            raise usage_error("--report is not for --for-model, whose picture is --chart FILE.")
        if self.chart is not None:
            from policy_engine.api.drawing_exploration import check_chart  # noqa: PLC0415

            check_chart(self.chart)


def compare_models(
    exploration: ModelExploration,
    policy: Path,
    paths: Mapping[str, str],
    choices: Mapping[str, Any] | None,
    reading: "Reading",
    output_format: Format,
    **options: Any,
) -> None:
    """Compare ways of forming classes for a policy's data, print that and write what is asked for:
    exit 1 if none of them keeps the policy's bounds."""
    from policy_engine.api.exploring_models import explore_policy_for_model  # noqa: PLC0415

    with progress_bar() as progress:
        comparison, choice = explore_policy_for_model(
            policy,
            paths,
            exploration.label,
            choices,
            model=_architecture(exploration.model),
            progress=progress,
            **options,
            **reading.keywords,
        )
    written = []
    inputs = [one for one in (policy, *map(Path, paths.values())) if one.exists()]
    if exploration.chart is not None:
        from policy_engine.api.drawing_model_comparison import model_chart  # noqa: PLC0415

        model_chart(comparison, exploration.chart, *inputs)
        written.append(exploration.chart)
    if exploration.write_policy is not None and choice is not None:
        choice.write(exploration.write_policy, policy, reading)
        written.append(exploration.write_policy)
    if output_format is Format.JSON:
        print_json(comparison.model_dump(mode="json"))
    else:
        _print(comparison, written)
    if choice is None:
        raise typer.Exit(1)


def _architecture(model: Path | None) -> "Network | Estimator | None":
    if model is None:
        return None
    from policy_engine.methods.audits.classifier import read_architecture  # noqa: PLC0415
    from policy_engine.policy import read_file  # noqa: PLC0415

    return read_architecture(read_file(model), str(model))


def _print(comparison: "ModelComparison", written: list[Path]) -> None:
    from policy_engine.api.model_comparison_wording import (  # noqa: PLC0415
        choice_words,
        comparison_notes,
    )
    from policy_engine.cli.tables.model_comparisons import model_tables  # noqa: PLC0415
    from policy_engine.cli.tables.tables import console, print_fitting  # noqa: PLC0415

    for table in model_tables(comparison):
        print_fitting(console(), table)
    for line in (choice_words(comparison), *comparison_notes(comparison)):
        console().print(line, markup=False)
    for file in written:
        console().print(f"written: {file}", markup=False, soft_wrap=True)
