"""Columns that are masked: what all maskings have in common."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, Self, get_args

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, create_model

from policy_engine import terms
from policy_engine.methods import class_of, parameters
from policy_engine.methods.columns import Column
from policy_engine.methods.findings import Finding, words_of
from policy_engine.methods.privacy_model import Bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = int | Decimal
"""A value as it is masked and measured, exactly: an integer, or a decimal as it is written."""
_MOST_DIGITS = 15


def _check_digits(value: Any, info: ValidationInfo) -> Any:
    """Return a parameter. Raises ValueError where floats may round a number of so many digits."""
    is_decimal = isinstance(value, float | Decimal)
    digits = re.sub("[eE].*|[^0-9]", "", str(value)).strip("0") if is_decimal else ""
    if len(digits) > _MOST_DIGITS:
        message = f"{info.field_name} is not allowed to be {value!s:.80}. "
        raise ValueError(f"{message}Allowed are numbers of up to {_MOST_DIGITS} digits.")
    return value


_Exact = BeforeValidator(_check_digits)
Threshold = Annotated[
    float, Field(ge=-(10**12), le=10**12, strict=True, allow_inf_nan=False), _Exact
]
"""Where values are cut off: a number that is exact as it is written, up to 15 digits."""
Size = Annotated[float, Field(ge=0.0001, le=10**12, strict=True, allow_inf_nan=False), _Exact]
"""The step that values are rounded to: such a number above zero."""


class ColumnMasking(Column, ABC):
    """What becomes of the values of one column, and what it guarantees of the result.

    A missing value stays missing, an integer stays one, and the order of rows does not matter.
    There are five kinds, which the engine and the audits tell apart: a `CellMasking` is a function
    of the single number, among them a `TailCoding` that has to know the column first; an
    `ImageMasking` is one of the single image, a `Recoding` one of the taxonomy of a value; and a
    `Perturbation` draws at random or depends on other rows.
    """

    model_config = ConfigDict(populate_by_name=True)

    notation: ClassVar[str]
    is_perturbation: ClassVar[bool] = False
    """Whether it draws at random, or what a row becomes depends on other rows."""
    step: ClassVar[str] = "mask"
    row_counts: ClassVar[tuple[str, ...]] = ()
    """Its figures that count rows of the output."""

    masking: str

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:  # noqa: ARG003
        """Yield contradictions between parameters that are each valid."""
        yield from ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns whose values it depends on, its own first."""
        return (self.name,)

    @property
    def taxonomies(self) -> tuple[str, ...]:
        """The names of the taxonomies that it needs."""
        return ()

    @property
    def matrices(self) -> tuple[str, ...]:
        """The names of the matrices of transitions that it needs."""
        return ()

    def bound_to(self, matrices: "Mapping[str, GivenMatrix]") -> Self:  # noqa: ARG002
        """Return it with the matrices that it names."""
        return self

    @property
    def group(self) -> str:
        """What the maskings of columns that are masked together have in common, '' for none."""
        return ""

    @property
    def makes_labels(self) -> bool:
        """Whether texts may stand for values of any type."""
        return False

    @property
    def is_public(self) -> bool:
        """Whether what becomes of a value depends neither on chance nor on other rows."""
        return True

    @property
    def public_rule(self) -> "CellRule | None":
        """What becomes of any number, None where it stays none or that depends on other rows."""
        return None

    @property
    def is_of_categories(self) -> bool:
        """Whether its values are categories, also where they are written as numbers."""
        return False

    @property
    def makes_numbers(self) -> bool:
        """Whether it takes numbers alone, dates among them, and one becomes one."""
        return False

    @property
    def keeps_order(self) -> bool:
        """Whether a greater value never becomes a smaller one than a lesser value does."""
        return False

    @property
    def keeps_values(self) -> bool:
        """Whether rows have their values as they are, all but those of a tail."""
        return False

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that were given, by the names that policies use."""
        values = self.model_dump(by_alias=True, exclude={"name", "masking"}, exclude_defaults=True)
        return {name: value for name, value in values.items() if value not in (None, "", ())}

    @property
    def bound(self) -> Bound:
        """The measured bound: how many cells break the masking, of which none is allowed."""
        return Bound(self.masking, self.name, 0, "at most")

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        return {"unchanged": (0, 1)}

    def may_have_together(
        self,
        figures: Mapping[str, float],  # noqa: ARG002
        matrix: Sequence[Sequence[float]],  # noqa: ARG002
    ) -> bool:
        """Tell whether a certificate may have several figures, each in its range, beside one
        another and a matrix that it may have."""
        return True

    def may_have_of_rows(self, figures: Mapping[str, float], rows: int) -> bool:
        """Tell whether an output of so many rows may have several figures, each in its range.

        Those that count rows are whole numbers, and at most as many as there are. Shares are
        rounded to three decimals.
        """
        counts = (figures[name] for name in self.row_counts if name in figures)
        return all(count.is_integer() and count <= rows for count in counts)

    def may_have_matrix(self, matrix: Sequence[Sequence[float]]) -> bool:
        """Tell whether a certificate may have a matrix of probabilities, () for none.

        The rows are as many as its columns, and of numbers from 0 to 1.
        """
        return not matrix

    @property
    def how(self) -> str:
        """The masking with its parameters, in words."""
        parameters_ = (f"{name} {_words(value)}" for name, value in self.parameters.items())
        return ", ".join((self.masking, *parameters_))

    def __str__(self) -> str:
        """Return the column and its masking in words."""
        return f"{self.name} ({self.how})"


class GivenMatrix(Protocol):
    """The probabilities of each category (columns) given that of a row (rows)."""

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories, in the order of rows and columns."""
        ...

    @property
    def rows(self) -> tuple[tuple[float, ...], ...]:
        """The probabilities."""
        ...

    @property
    def digest(self) -> str:
        """A digest of both."""
        ...


class CellRule(Protocol):
    """What becomes of each value of a column, known before any is masked.

    What it allows in the output is told by `keeps`, which shares nothing with `mask`. A value may
    become the `label`, a text, in which case the column is one of texts.
    """

    @property
    def name(self) -> str:
        """The name of the column."""
        ...

    @property
    def masking(self) -> str:
        """The notation of its masking."""
        ...

    @property
    def figures(self) -> Mapping[str, float]:
        """The parameters that are numbers: of a column of integers, integers."""
        ...

    @property
    def label(self) -> str:
        """The text that values may become, empty where all stay numbers."""
        ...

    def mask(self, value: Number) -> Number | str:
        """Return what to publish for a value."""
        ...

    def keeps(self, value: Number) -> bool:
        """Tell whether a number may appear in what is published."""
        ...


class CellMasking(ColumnMasking, ABC):
    """A masking that is a function of the single value.

    What it guarantees is measured on the cells that were written, by `keeps`, which shares nothing
    with `mask`.
    """

    @abstractmethod
    def mask(self, value: Number) -> Number | str:
        """Return what to publish for a value."""

    @abstractmethod
    def keeps(self, value: Number) -> bool:
        """Tell whether a value may appear in what is published."""

    @property
    def public_rule(self) -> CellRule | None:
        """What becomes of any number: the masking itself."""
        return self

    @property
    def figures(self) -> Mapping[str, float]:
        """The parameters that are numbers: of a column of integers, integers."""
        values = self.parameters
        return {name: value for name, value in values.items() if isinstance(value, float)}

    @property
    def label(self) -> str:
        """The text that values may become, empty where all stay numbers."""
        return ""


class ImageMasking(ColumnMasking, ABC):
    """A masking that is a function of the single image, a cell that holds an array of numbers.

    Where images are flat lists of pixels, row by row and each with its channels, their shape is
    given: `height` times `width` times `channels`.
    """

    height: Annotated[int | None, Field(ge=1, le=2**31, strict=True)] = None
    width: Annotated[int | None, Field(ge=1, le=2**31, strict=True)] = None
    channels: Annotated[int | None, Field(ge=1, le=2**31, strict=True)] = None

    @abstractmethod
    def mask(self, images: "NDArray[Any]") -> "NDArray[Any]":
        """Return the images to publish, (images, height, width, channels), in their type."""

    @abstractmethod
    def count_broken(self, images: "NDArray[Any]") -> int:
        """Return how many images are not what the masking publishes."""

    @abstractmethod
    def count_unlike(self, before: "NDArray[Any]", after: "NDArray[Any]") -> int:
        """Return how many images are not what the masking makes of those before."""

    @property
    @abstractmethod
    def constants(self) -> Mapping[str, float]:
        """The parameters that count as pixels: of images of integers, integers."""

    @property
    @abstractmethod
    def smallest(self) -> int:
        """The least height and width of an image that it can mask."""


def _words(value: Any) -> str:
    if isinstance(value, tuple):
        return " and ".join(map(str, value))
    return exactly(value) if isinstance(value, float) else str(value).lower()


def one_of_conflicts(
    notation: str, values: Mapping[str, Any], names: tuple[str, str]
) -> Iterator[Finding]:
    """Yield that neither of two parameters is given (M002), or both are (M003)."""
    first, second = names
    if first not in values and second not in values:
        message = f"{notation} needs the parameter {first!r} or {second!r}."
        yield Finding("M002", first, message)
    if first in values and second in values:
        message = f"{first} and {second} are both given. Allowed is one of them."
        yield Finding("M003", second, message)


def number(parameter: float) -> Number:
    """Return a parameter as the exact number that its shortest text writes."""
    return int(parameter) if parameter.is_integer() else Decimal(repr(parameter))


def masking_class(notation: str) -> type[ColumnMasking]:
    """Return the class of a masking of the vocabulary; KeyError where there is none."""
    kind: type[ColumnMasking] = class_of(terms.maskings()[notation].facts["notation"])
    return kind


def exactly(parameter: float) -> str:
    """Return a parameter as a text, so that no two read alike: without an exponent, unless it is
    tiny."""
    exact = number(parameter)
    if not isinstance(exact, Decimal):
        return str(exact)
    return f"{exact:e}" if exact.adjusted() < _TINY else f"{exact:f}"


_TINY = -20


def number_text(value: Number) -> str:
    """Return a number as a text, in the one way in which masked numbers are written."""
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


@cache
def settings() -> type[Column]:
    """Return the model of all settings of a masked column, whatever its masking."""
    kinds = {notation: masking_class(notation) for notation in terms.maskings()}
    return all_settings("Masked", "masking", kinds)


def all_settings(model: str, choice: str, kinds: Mapping[str, type[Column]]) -> type[Column]:
    """Return the model of all settings of a column that is made in one of several ways, which
    `choice` names by their notation."""
    annotations: dict[str, Any] = {}
    for kind in kinds.values():
        for name, field in parameters(kind).items():
            annotation = field.rebuild_annotation()
            annotations[name] = _either(annotations.get(name, annotation), annotation)
    fields: dict[str, Any] = {
        name: (annotation | None, None)
        for name, annotation in annotations.items()
        if name not in ("name", choice)
    }
    fields[choice] = (Literal[tuple(kinds)], ...)
    return create_model(model, __base__=Column, **fields)


def _either(one: Any, other: Any) -> Any:
    """Return the type of a setting that two maskings have: of words, those of both."""
    words = [words_of(annotation) for annotation in (one, other)]
    return Literal[tuple(dict.fromkeys((*words[0], *words[1])))] if all(words) else one


def is_known(notation: Any) -> bool:
    """Tell whether a setting is the notation of a masking."""
    return notation in get_args(settings().model_fields["masking"].annotation)
