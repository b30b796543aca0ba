import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import policy_engine
from policy_engine.api.arguments import check_arguments
from policy_engine.api.inputs import ApplyOptions, InputOptions, Inputs
from policy_engine.api.releasing import ReleaseOptions
from policy_engine.errors import ArgumentError, PolicyEngineError

FUNCTIONS = [
    name
    for name in policy_engine.__all__
    if name != "SparkEngine" and inspect.isfunction(getattr(policy_engine, name))
]


@check_arguments
def sample(
    place: str | Path | None = None,
    choices: Mapping[str, Sequence[float]] = {},
    count: int = 0,
    how: Literal["a", "b"] = "a",
    several: Iterable[str] | str = (),
    tell: Callable[[str], None] = print,
    anything: Any = None,
    left_open: "str | int" = 0,
):
    return count if (place, choices, how, several, tell, anything, left_open) else None


@pytest.mark.parametrize(
    "arguments",
    [
        {"place": "x"},
        {"place": Path()},
        {"place": None},
        {"choices": {"k": (1, 2.5), "l": range(3), "t": [np.float64(1), np.int64(1)]}},
        {"count": np.int64(3)},
        {"how": "b"},
        {"several": iter("ab")},
        {"tell": len},
        {"anything": object(), "left_open": object()},
    ],
    ids=" ".join,
)
def test_what_fits_is_passed_on(arguments):
    assert sample(**arguments) == arguments.get("count", 0)


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({"place": 1}, "place is"),
        ({"place": b"x"}, "place is"),
        ({"choices": 5}, "choices is"),
        ({"choices": {"k": 5}}, "choices['k'] is"),
        ({"choices": {"k": "5"}}, "choices['k'] is"),
        ({"choices": {"k": [1, "5"]}}, "choices['k'][1] is"),
        ({"count": True}, "count is"),
        ({"count": 1.0}, "count is"),
        ({"how": 1}, "how is"),
        ({"several": 5}, "several is"),
        ({"tell": "x"}, "tell is"),
        ({"unknown": 1}, "unexpected keyword argument 'unknown'"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_told_by_its_place(arguments, where):
    with pytest.raises(ArgumentError, match="U002") as caught:
        sample(**arguments)
    assert where in str(caught.value)


def test_every_misfit_is_told_at_once():
    with pytest.raises(ArgumentError) as caught:
        sample(place=1, count="x")
    assert [problem.code for problem in caught.value.problems] == ["U002", "U002"]
    assert str(caught.value.problems[0]) == (
        "U002 place is of the wrong type. Given: int. place may be str | Path | None."
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_refuse_wrong_arguments_with_a_code(name):
    function = getattr(policy_engine, name)
    parameters = inspect.signature(function).parameters.values()
    wrong = {one.name: object() for one in parameters if one.annotation is not Any}
    with pytest.raises(PolicyEngineError, match="U002") as caught:
        function(**(wrong or {"no_such_argument": 1}))
    assert caught.value.code == "U002"
    assert isinstance(caught.value, TypeError)


def test_what_is_missing_is_told():
    with pytest.raises(ArgumentError, match=r"U002 load_policy: missing .* 'source'"):
        policy_engine.load_policy()


def test_the_package_lists_its_public_names():
    assert set(policy_engine.__all__) <= set(dir(policy_engine))
    assert not [
        name for name in dir(policy_engine) if name.startswith("_") and name != "__version__"
    ]


def test_options_of_a_typed_dictionary_are_checked_one_by_one():
    with pytest.raises(ArgumentError, match=r"U002 .*: got an unexpected keyword argument 'party'"):
        policy_engine.load_policy("p.jsonld", party="x")
    with pytest.raises(ArgumentError, match=r"U002 parents\[1\] is of the wrong type. Given: int"):
        policy_engine.load_policy("p.jsonld", parents=["q.jsonld", 1])


def test_every_option_of_apply_is_of_what_is_given_or_of_how_it_is_made():
    given = {one.name for one in fields(Inputs)} - {"data"}
    assert set(InputOptions.__annotations__) == given
    how = {one.name for one in fields(ReleaseOptions)}
    assert set(ApplyOptions.__annotations__) == given | how
    assert given.isdisjoint(how)
