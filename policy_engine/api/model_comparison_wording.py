"""What models are worth by how classes were formed, in words: for the terminal and pictures."""

from policy_engine.api.class_methods import TITLES
from policy_engine.api.model_comparison import MethodRun, ModelComparison, ModelOutcome
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.classifier import Estimator, Network

MEASURES = {"accuracy": "accuracy", "R2": "R²"}


def estimate_words(one: Estimate) -> str:
    """Return a figure with its interval, in percent."""
    return f"{_percent(one.value)}% ({_percent(one.low)}% to {_percent(one.high)}%)"


def short_words(one: Estimate) -> str:
    """Return a figure and how far its interval, which is the same on both sides, reaches."""
    return f"{_percent(one.value)}% ± {_percent(one.high - one.value)}"


def _percent(figure: float) -> str:
    text = f"{100 * figure:.1f}"
    return "0.0" if text == "-0.0" else text


def parameter_words(run: MethodRun) -> str:
    """Return the setting of a run, as in `k = 5, l = 2`."""
    return ", ".join(f"{name} = {value:g}" for name, value in run.setting.items()) or "-"


def model_words(comparison: ModelComparison) -> str:
    """Return what learnt, in a few words."""
    model = comparison.model
    if isinstance(model, Network):
        return "a network"
    return model.name if isinstance(model, Estimator) else model


def choice_words(comparison: ModelComparison) -> str:
    """Return which way of forming classes trains the best model of those that the policy allows,
    and how that was found, in a few sentences."""
    run = comparison.chosen
    if run is None:
        return (
            "Nothing was chosen: with none of the settings is there a release that keeps the "
            "policy's bounds. Its k is the least that is chosen."
        )
    outcome = run.outcome
    assert isinstance(outcome, ModelOutcome)  # noqa: S101 (what is refused is not chosen)
    name, raw = MEASURES[comparison.measure], comparison.raw
    lost = estimate_words(outcome.lost)
    return (
        f"Of what a policy can ask for, with its own k or a greater one, {TITLES[run.method]} at "
        f"{parameter_words(run)} trains the best model of {comparison.label!r}: {name} "
        f"{estimate_words(outcome.right)}, by {lost} less than from the raw table, "
        f"{estimate_words(raw.right)}; {comparison.guessed:.1%} by guessing. It was chosen by the "
        "rows that it was tested on, so its figure is a little too good: ways whose intervals "
        "overlap are not told apart."
    )


def comparison_notes(comparison: ModelComparison) -> list[str]:
    """Return what the figures mean, and what they do not."""
    splits = (
        f"{comparison.splits} splits: {model_words(comparison)} learnt from releases of "
        f"{comparison.rows:,} rows, and {comparison.tested:,} rows, which neither guide nor model "
        "has seen, were predicted as they are. Intervals are of 95%."
    )
    return [splits, _ATTACK, _TRUE_LABELS, _PERMUTED]


_ATTACK = (
    "The attack asks about rows as they are, and takes those for members of whose label the model "
    "is surest: an AUC of 50% is guessing. It is a cheap one: audit a model before you release it."
)
_TRUE_LABELS = (
    "Classes by the true labels are for comparison alone: a policy cannot ask for them, since they "
    "show the labels of their rows."
)
_PERMUTED = (
    "Permuted values are not k-anonymous: every value is released as it is, in a row of its class. "
    "A policy that asks for k-anonymity is not given them; their classes are shown to nobody."
)


def error_words(outcome: ModelOutcome) -> str:
    """Return the median error of counts."""
    error = outcome.query_error
    return "-" if isinstance(error, NotApplicable) else f"{error:.1%}"
