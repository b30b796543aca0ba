"""Check the arguments of public functions against their annotations."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from inspect import BoundArguments, Parameter, formatannotation, signature
from numbers import Integral, Real
from types import MappingProxyType, NoneType, UnionType
from typing import Any, ForwardRef, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from policy_engine.errors import ArgumentError, Problem

_P = ParamSpec("_P")
_T = TypeVar("_T")
_MODULES = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")
_NUMBERS: Mapping[type, type] = MappingProxyType({int: Integral, float: Real})
"""The types accepted for a number's type: numpy's numbers, too."""


def check_arguments(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return a function that refuses arguments of other types than its annotations.

    Before doing anything, it raises ArgumentError (U002) with every argument of a wrong type, or
    with missing or unknown ones. Whatever an annotation leaves open, or gives as text, the function
    checks itself.
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            problems = list(_type_problems(signature(function).bind(*args, **kwargs)))
        except TypeError as error:
            raise ArgumentError.of("U002", f"{function.__name__}: {error}.") from None
        if problems:
            raise ArgumentError(*problems)
        return function(*args, **kwargs)

    return call


def _type_problems(bound: BoundArguments) -> Iterator[Problem]:
    for name, value, annotation in _arguments(bound):
        is_open = isinstance(annotation, str | ForwardRef) or annotation is Parameter.empty
        mismatch = None if is_open else _mismatch(value, annotation)
        if mismatch is not None:
            where, part = mismatch
            message = f"{name}{where} is of the wrong type. Given: {type(part).__name__}."
            yield Problem("U002", f"{message} {name} may be {_format_annotation(annotation)}.")


def _arguments(bound: BoundArguments) -> Iterator[tuple[str, Any, Any]]:
    """Yield the arguments with their annotations; keywords one by one, of a TypedDict by its own.

    Raises TypeError for a keyword that it does not name.
    """
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.kind is not Parameter.VAR_KEYWORD:
            yield name, value, parameter.annotation
            continue
        options = get_args(parameter.annotation)
        annotations = options[0].__annotations__ if options else dict.fromkeys(value, Any)
        for key, one in value.items():
            if key not in annotations:
                raise TypeError(f"got an unexpected keyword argument {key!r}")
            yield key, one, annotations[key]


def _mismatch(value: Any, annotation: Any) -> tuple[str, Any] | None:
    """Return where a value has a part of the wrong type, and that part; None if all parts fit."""
    parts = _parts(value, annotation)
    if parts is None:
        return None if _matches_any(value, annotation) else ("", value)
    for where, part, expected in parts:
        inner = _mismatch(part, expected)
        if inner is not None:
            return f"[{where!r}]{inner[0]}", inner[1]
    return None


def _parts(value: Any, annotation: Any) -> Iterator[tuple[Any, Any, Any]] | None:
    """Yield each part of a mapping or a sequence with its place and type; None for other values."""
    for choice in _choices(annotation):
        origin, arguments = get_origin(choice), get_args(choice)
        if origin is Mapping and isinstance(value, Mapping):
            return ((key, part, arguments[1]) for key, part in value.items())
        if origin is Sequence and _is_sequence(value):
            return ((index, part, arguments[0]) for index, part in enumerate(value))
    return None


def _matches_any(value: Any, annotation: Any) -> bool:
    return any(_is_instance(value, choice) for choice in _choices(annotation))


def _is_instance(value: Any, choice: Any) -> bool:
    kind = get_origin(choice) or choice
    if kind is Literal:
        return isinstance(value, str)  # the function itself gives a better error for unknown texts
    if kind is Sequence:
        return _is_sequence(value)
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind]) and not isinstance(value, bool)
    return not isinstance(kind, type) or kind is Any or isinstance(value, kind)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _choices(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) in (Union, UnionType):
        return get_args(annotation)
    return (NoneType if annotation is None else annotation,)


def _format_annotation(annotation: Any) -> str:
    return _MODULES.sub("", formatannotation(annotation))
