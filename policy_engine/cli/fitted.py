"""The options by which a model that is fitted already is named, opened and asked."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.options import usage

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
        help="A model that is fitted already: skops, XGBoost, LightGBM, .keras, PyTorch, ONNX.",
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust-pickle",
        metavar="",
        help="Open a pickle, TorchScript or .pt2: it may run any code.",
    ),
]
ModelClassOption = Annotated[
    str,
    typer.Option(
        "--model-class", metavar="FILE.py:CLASS", help="Of a state_dict; its code is run."
    ),
]
FeaturesOption = Annotated[
    str,
    typer.Option(
        "--features", metavar="COLUMN,...", help="What the fitted model takes; else all others."
    ),
]
ClassesOption = Annotated[
    str,
    typer.Option(
        "--classes", metavar="CLASS,...", help="In the order of its answers, if it does not tell."
    ),
]
OutputsOption = Annotated[
    Outputs | None, typer.Option("--outputs", help="What its answers are, if that is not plain.")
]
RetrainOption = Annotated[
    bool,
    typer.Option(
        "--retrain", metavar="", help="Train shadow models with the settings that it carries."
    ),
]
ReferenceOption = Annotated[
    list[Path],
    typer.Option(
        "--reference",
        metavar="FILE",
        help="A model of its kind that saw none of the records. May be given several times.",
    ),
]
ViewsOption = Annotated[
    int,
    typer.Option(
        "--views",
        min=1,
        max=21,
        help="In how many ways to ask: images mirrored and shifted, others noisy.",
    ),
]
TimeLimitOption = Annotated[
    float,
    typer.Option("--time-limit", min=0, metavar="SECONDS", help="For opening it, and an answer."),
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

    Raises RequestError for options that are of a fitted model and stand without one.
    """
    given = {
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
        for name, value in given.items():
            if value:
                raise usage(f"{name} is for --fitted FILE, a model that is fitted already.")
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
