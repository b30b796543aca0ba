"""Which model is trained, and how: a network layer by layer, or an estimator, as JSON."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)

from policy_engine.errors import AuditError, Problem

Activation = Literal["relu", "tanh", "sigmoid", "elu", "selu", "softplus", "linear"]
EstimatorName = Literal[
    "RandomForestClassifier",
    "ExtraTreesClassifier",
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",
    "DecisionTreeClassifier",
    "LogisticRegression",
    "KNeighborsClassifier",
    "GaussianNB",
    "BernoulliNB",
    "MLPClassifier",
    "LinearSVC",
]
"""The classifiers of scikit-learn that a description may name. No other code is ever called."""

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Scalar = bool | int | float | str | None


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Layer(_Frozen):
    """A dense layer; `dropout` is the share of its outputs left out of every training step."""

    units: Annotated[int, Field(ge=1, le=100_000)]
    activation: Activation = "relu"
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0


class CentralPrivacy(_Frozen):
    """Differential privacy of the training (Abadi et al., CCS 2016).

    Gradients are clipped to `clipping_norm` record by record and their sum is given Gaussian
    noise of deviation `noise_multiplier * clipping_norm`; or the noise is calibrated so that
    all epochs together spend `epsilon`. Training stops before it would spend more than
    `max_epsilon`. Without `delta` it is one over the number of training records.
    """

    clipping_norm: Positive = 1.0
    noise_multiplier: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    epsilon: Positive | None = None
    max_epsilon: Positive | None = None
    delta: Annotated[float, Field(gt=0, lt=1)] | None = None


class Network(_Frozen):
    """A feed-forward classifier: hidden layers, then a softmax over the classes.

    Every epoch goes through the training records once, in batches and in an order of its own;
    with `privacy`, a batch is a Poisson sample of `batch_size` records on average.
    """

    kind: Literal["network"] = "network"
    layers: Annotated[tuple[Layer, ...], Field(max_length=100)] = Field(
        default_factory=lambda: (Layer(units=128, activation="tanh"),)
    )
    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: Positive = 1e-3
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0
    l2: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    epochs: Annotated[int, Field(ge=1, le=100_000)] = 50
    batch_size: Annotated[int, Field(ge=1, le=1_000_000)] = 32
    privacy: CentralPrivacy | None = None

    @property
    def keeps_records(self) -> str:
        """What its file keeps of the training records: nothing, for it holds weights."""
        return ""


INTEGRAL = "DecisionTreeClassifier"
"""The classifier of which generators are counted: other trees are hardly ever grown twice."""
FEW, MANY = 2, 100
"""How many generators can be asked for: the search takes as much longer."""
_NO_GENERATORS = ("generators", None)
_LEAF = "min_samples_leaf"
_DEFAULT_LEAVES: Mapping[str, int] = {
    "RandomForestClassifier": 1,
    "ExtraTreesClassifier": 1,
    "GradientBoostingClassifier": 1,
    "HistGradientBoostingClassifier": 20,
    "DecisionTreeClassifier": 1,
}
"""The classifiers that have leaves, and how many records scikit-learn leaves in one at least."""


class Estimator(_Frozen):
    """A classifier of scikit-learn with its parameters.

    With `generators`, it is a decision tree that at least so many samples of the records lead to,
    which have no record in common (Torra and Navarro-Arribas: Integral privacy, CANS 2016).
    """

    kind: Literal["estimator"] = "estimator"
    name: EstimatorName
    parameters: Mapping[str, Scalar | tuple[Scalar, ...]] = Field(default_factory=dict)
    generators: Annotated[int, Field(ge=FEW, le=MANY)] | None = None

    @model_validator(mode="after")
    def _check_generators(self) -> "Estimator":
        if self.generators is not None and self.name != INTEGRAL:
            raise ValueError(f"generators are counted of a {INTEGRAL}, not of a {self.name}")
        return self

    @model_serializer(mode="wrap")
    def _omit_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `generators` where none are asked for, as descriptions did before there were any."""
        values: dict[str, Any] = serialize(self)
        return {name: value for name, value in values.items() if (name, value) != _NO_GENERATORS}

    @property
    def smallest_leaf(self) -> int | float | None:
        """The fewest records in a leaf of its trees, None where that is not given.

        A share of the records is returned as it is: it is below 1.
        """
        leaf = self.parameters.get(_LEAF)
        return leaf if isinstance(leaf, int | float) and not isinstance(leaf, bool) else None

    def with_smallest_leaf(self, fewest: int) -> "Estimator":
        """Return the classifier with at least so many records in every leaf.

        One without leaves, or with a size of its own, is returned as it is.
        """
        if self.name not in _DEFAULT_LEAVES or self.parameters.get(_LEAF) is not None:
            return self
        leaf = max(fewest, _DEFAULT_LEAVES[self.name])
        return self.model_copy(update={"parameters": {**self.parameters, _LEAF: leaf}})

    @property
    def keeps_records(self) -> str:
        """What its file keeps of the training records, in words; empty where that is nothing."""
        if self.name == "KNeighborsClassifier":
            return "the records that it learnt from"
        return "a figure of each record (oob_score)" if self.parameters.get("oob_score") else ""


Architecture = Annotated[Network | Estimator, Field(discriminator="kind")]


def read_architecture(text: str | bytes, source: str = "") -> Network | Estimator:
    """Read a description of a model. Raises AuditError (A009) with every problem in it."""
    try:
        description = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise AuditError.of("A009", f"The text is not JSON: {why}.", source=source) from None
    if isinstance(description, dict) and "kind" not in description:
        description = {"kind": "estimator" if "name" in description else "network", **description}
    try:
        return _adapter().validate_python(_to_tuples(description))
    except RecursionError:
        raise AuditError.of("A009", "The description is nested too deep.", source=source) from None
    except ValidationError as error:
        problems = [Problem("A009", _format_error(detail)) for detail in error.errors()]
        raise AuditError(*problems, source=source) from None


@cache
def _adapter() -> TypeAdapter[Network | Estimator]:
    """Return the validator of descriptions, built when first used, for that is slow."""
    return TypeAdapter(Architecture)


def _to_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_to_tuples, value))
    if isinstance(value, dict):
        return {name: _to_tuples(part) for name, part in value.items()}
    return value


def _format_error(detail: Mapping[str, Any]) -> str:
    parts = (
        detail["loc"][1:] if detail["loc"][:1] in (("network",), ("estimator",)) else detail["loc"]
    )
    where = ".".join(map(str, parts)) or "the description"
    if detail["type"] == "extra_forbidden":
        return f"{where} is not known."
    why = detail["msg"].removeprefix("Value error, ")
    return f"{where}: {why[:1].lower()}{why[1:]}. Given: {detail['input']!r:.60}."
