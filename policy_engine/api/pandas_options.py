"""Options of pandas for tables: those that a session takes, and what to do in place of others."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from policy_engine.errors import RequestError, did_you_mean, join_names

_LACKING = (
    "Rows that lack a key are in no group. Give what is missing a label: "
    "data.assign(key=data.key.fillna('missing'))."
)
_ORDER = (
    "Rows are in the order of their keys; that of the data says something of it. "
    "Sort the table that is released."
)
_BLANK = (
    "A blank cell may be withheld, and would look like a figure. "
    "Fill the table that is released, where that is meant."
)
_ADVICE: Mapping[str, tuple[tuple[Any, ...], str]] = MappingProxyType(
    {
        "dropna": ((True,), _LACKING),
        "sort": ((True,), _ORDER),
        "observed": ((True, False), "It is True or False."),
        "as_index": ((True,), "Keys are the index of .to_pandas(): reset it there."),
        "fill_value": ((None,), _BLANK),
    }
)
"""The values of each option that are taken, and what to do in place of others."""


def check_options(offered: Sequence[str], options: Mapping[str, Any]) -> None:
    """Refuse options that would show what a session withholds, or that it does not have.

    Raises RequestError (K025) with what to do instead.
    """
    for name, value in options.items():
        if name not in offered:
            message = f"The option {name!r} is not understood. Allowed is {join_names(offered)}."
            raise RequestError.of("K025", message, did_you_mean(name, offered))
        allowed, advice = _ADVICE[name]
        if not any(value is one for one in allowed):
            raise RequestError.of("K025", f"{name}={value!r} is not understood here.", advice)


def key_names(names: Any, keys: Sequence[Any], option: str) -> tuple[str, ...]:
    """Return the names that keys are shown under, none where none are given.

    Raises RequestError (K025) where there are not as many as keys.
    """
    if names is None:
        return ()
    some = [names] if isinstance(names, str) else [*names]
    if len(some) != len(keys) or not all(isinstance(one, str) for one in some):
        message = f"{option} has a name for each of the {len(keys)} keys. Given: {names!r}."
        raise RequestError.of("K025", message)
    return tuple(some)
