"""A model as a policy has it: by its name, in JSON, or in a file beside the policy."""

from pathlib import Path
from typing import get_args

from policy_engine import terms
from policy_engine.errors import PolicyEngineError, Problem, did_you_mean, join_names
from policy_engine.methods.audits.classifier import (
    Estimator,
    EstimatorName,
    Network,
    read_architecture,
)
from policy_engine.policy import Value
from policy_engine.policy.collecting.files import read_file

NETWORK = "network"
_CODE = "M012"


def read_description(
    value: Value, source: str, others: str = ""
) -> tuple[Network | Estimator | None, list[Problem]]:
    """Return the model that a text of a policy means, None where there are problems (M012).

    `source` is the file of the policy, beside which a file of the model lies; `others` says what
    else the text could be.
    """
    text = str(value.value)
    if text == NETWORK:
        return Network(), []
    if text in get_args(EstimatorName):
        return Estimator.model_validate({"name": text}), []
    if not text.lstrip().startswith("{") and not _is_file_name(text):
        models = (NETWORK, *get_args(EstimatorName))
        message = f"There is no model {text!r}. Known are {join_names(models)}; "
        message += f"or it is described in JSON, or in a .json file beside the policy{others}."
        return None, [Problem(_CODE, message, did_you_mean(text, models), value.place)]
    try:
        content = read_file(Path(source).parent / text) if _is_file_name(text) else text
        return read_architecture(content), []
    except PolicyEngineError as error:
        return None, [
            Problem(_CODE, f"The model: {problem.message}", problem.hint, value.place)
            for problem in error.problems
        ]


def names_column(value: Value) -> bool:
    """Tell whether a guide is meant as a column, and not as a model."""
    text = str(value.value)
    return value.is_iri or (not text.lstrip().startswith("{") and terms.is_absolute(text))


def _is_file_name(text: str) -> bool:
    """Tell whether a text is the name of a JSON file, and no path: that could lead anywhere."""
    return text.endswith(".json") and not set("/\\\0{") & set(text)
