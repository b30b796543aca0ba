"""The options by which a model that is fitted already is named, opened and asked."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.parsing import usage_error

if TYPE_CHECKING:
    from policy_engine.audits.membership.fitted.target import FittedModel


class Outputs(StrEnum):
    """What a model's answers are."""

    PROBABILITIES = "probabilities"
    LOGITS = "logits"


FittedOption = Annotated[
    Path | None,
    typer.Option(
        "--fitted",
        metavar="FILE",
        help="A trained model to attack: skops, XGBoost, LightGBM, .keras, PyTorch or ONNX.",
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust-pickle",
        metavar="",
        help="Open a pickle, TorchScript or .pt2 file, which may run any code.",
    ),
]
ModelClassOption = Annotated[
    str,
    typer.Option(
        "--model-class",
        metavar="FILE.py:CLASS",
        help="The class of a PyTorch state_dict; its code is run.",
    ),
]
FeaturesOption = Annotated[
    str,
    typer.Option(
        "--features",
        metavar="COLUMN,...",
        help="The columns that the fitted model takes. Default: all others.",
    ),
]
ClassesOption = Annotated[
    str,
    typer.Option(
        "--classes",
        metavar="CLASS,...",
        help="The classes in the order of the model's answers, if the model does not name them.",
    ),
]
OutputsOption = Annotated[
    Outputs | None,
    typer.Option(
        "--outputs", help="The kind of answers the model gives, if it is not clear from them."
    ),
]
RetrainOption = Annotated[
    bool,
    typer.Option(
        "--retrain", metavar="", help="Train shadow models with the fitted model's own settings."
    ),
]
ReferenceOption = Annotated[
    list[Path],
    typer.Option(
        "--reference",
        metavar="FILE",
        help="A model of the same kind that was trained on none of the records. Can be repeated.",
    ),
]
ViewsOption = Annotated[
    int,
    typer.Option(
        "--views",
        min=1,
        max=21,
        help="How many variants of each record to ask for: images mirrored and "
        "shifted, others with noise.",
    ),
]
TimeLimitOption = Annotated[
    float,
    typer.Option(
        "--time-limit",
        min=0,
        metavar="SECONDS",
        help="How long opening the model, or one answer, may take.",
    ),
]


def fitted_model(
    fitted: Path | None,
    *,
    trust_pickle: bool,
    model_class: str,
    features: tuple[str, ...],
    classes: tuple[str, ...],
    outputs: Outputs | None,
    time_limit: float,
    retrain: bool,
    references: list[Path],
    views: int,
) -> "FittedModel | None":
    """Return the fitted model that options name, None where they name none.

    Raises RequestError for options of a fitted model where none is given.
    """
    options = {
        "--trust-pickle": trust_pickle,
        "--model-class": model_class,
        "--features": features,
        "--classes": classes,
        "--outputs": outputs,
        "--retrain": retrain,
        "--reference": references,
        "--views": views > 1,
    }
    if fitted is None:
        for name, value in options.items():
            if value:
                raise usage_error(f"{name} is for --fitted FILE, a model that is fitted already.")
        return None
    from policy_engine.audits.membership.fitted.target import FittedModel  # noqa: PLC0415

    return FittedModel(
        fitted,
        trust_pickle=trust_pickle,
        model_class=model_class,
        features=features,
        classes=classes,
        outputs=outputs.value if outputs else "",
        time_limit=time_limit,
        retrain=retrain,
        references=tuple(references),
        views=views,
    )
