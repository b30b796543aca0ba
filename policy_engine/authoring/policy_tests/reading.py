"""Reads a file of policy tests strictly: every problem at once, each with its position."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, get_args

from pydantic import ValidationError

from policy_engine.authoring.policy_tests.model import (
    EarlierDuty,
    EarlierEntry,
    EarlierRequest,
    Expectation,
    PolicyTest,
    Suite,
)
from policy_engine.authoring.policy_tests.yaml_text import Item, read_yaml
from policy_engine.decision.model import Effect, Performance, Request, World
from policy_engine.decision.requests import check_name
from policy_engine.decision.worlds import WorldPath, world_faults
from policy_engine.errors import (
    Problem,
    RequestError,
    did_you_mean,
    join_names,
    place_order,
)
from policy_engine.policy.naming import Names

_FILES = ("policies", "parents", "certificates", "hierarchies", "vocabularies")
_FILE_KEYS = (*_FILES, "owners", "world", "log", "tests")
_TEST_KEYS = ("name", "request", "world", "log", "expect")
_REQUEST_ENTRY_KEYS = ("request", "time", "times", "expect")
_DUTY_ENTRY_KEYS = (*get_args(Performance), "by", "of", "time")
_MOST_TIMES = 10_000
_REQUEST_KEYS = ("assignee", "action", "target", "purpose")
_EXPECTATION_KEYS = ("effect", "rule", "duties")
_WORLD_KEYS = tuple(World.model_fields)
_DENY = Expectation("deny")


def _no_names(_files: Suite) -> Names:
    return Names()


def read_suite(text: bytes, source: str, names_for: Callable[[Suite], Names] = _no_names) -> Suite:
    """Return the tests in a YAML text.

    `names_for` returns the meanings of short names, given the files that the tests use. Raises
    RequestError with every problem (K001, and D001 for invalid names), and what `names_for` raises.
    """
    top = read_yaml(text, source)
    reader = _Reader()
    files = reader.files(top)
    reader.names = Names() if reader.problems else names_for(files)
    suite = replace(files, tests=reader.tests(top))
    if reader.problems:
        raise RequestError(*sorted(reader.problems, key=place_order), source=source)
    return suite


class _Reader:
    """Reads items as what they should be, and collects problems."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.names = Names()

    def files(self, top: Item) -> Suite:
        """Return the files that the tests use, without the tests."""
        self._check_keys(top, _FILE_KEYS, ("policies", "tests"), "A file of policy tests")
        policies, *other_files = (self._texts(top, key, some=key == "policies") for key in _FILES)
        parents, certificates, hierarchies, vocabularies = other_files
        owners = self._owners(top.keys.get("owners"))
        return Suite(policies, parents, certificates, hierarchies, vocabularies, owners)

    def _owners(self, item: Item | None) -> str | Mapping[str, Any]:
        """Return the file that says who owns what, or the owners if they are given in place."""
        if item is not None and isinstance(item.value, dict):
            owners: Mapping[str, Any] = item.plain()
            return owners
        text = _text_of(item) if item else ""
        if item is not None and not text:
            self._add(
                f"'owners' must be a file or a mapping of assets. Given: {_describe(item)}.", item
            )
        return text

    def tests(self, top: Item) -> tuple[PolicyTest, ...]:
        """Return the tests."""
        world = self._plain_world(top.keys.get("world"))
        if "world" in top.keys:
            self._world(world, top.keys["world"])
        tests = self._items(top, "tests")
        if "tests" in top.keys and not tests:
            self._add("The file contains no tests.", top.keys["tests"])
        logged = self._logged(top, world)
        parsed = tuple(self._test(one, world, logged) for one in tests)
        self._check_names(tests)
        return parsed

    def _test(
        self, item: Item, default: Mapping[str, Any], before: tuple[EarlierEntry, ...] | None
    ) -> PolicyTest:
        self._check_keys(item, _TEST_KEYS, ("name", "request", "expect"), "A test")
        own = item.keys.get("world")
        world = _overlay(self._plain_world(own), default)
        logged = self._logged(item, world)
        if before is not None or logged is not None:
            logged = (*(before or ()), *(logged or ()))
            if world.get("counts"):
                self._add(
                    "The log already gives the counts. Leave out one of the two.", own or item
                )
        return PolicyTest(
            name=self._text(item, "name"),
            request=self._request(item.keys.get("request")),
            world=self._world(world, own),
            expect=self._expectation(item.keys.get("expect")),
            place=item.place,
            log=logged,
        )

    # -- what was logged before ---------------------------------------------------------------

    def _logged(self, item: Item, world: Mapping[str, Any]) -> tuple[EarlierEntry, ...] | None:
        """Return the entries of the log, in order; None if there is none."""
        if "log" not in item.keys:
            return None
        return tuple(self._entry(one, world) for one in self._items(item, "log"))

    def _entry(self, item: Item, default: Mapping[str, Any]) -> EarlierEntry:
        own = item.keys.get("time")
        world = self._world({**default, **({"time": own.plain()} if own else {})}, item)
        duty_keys = [key for key in get_args(Performance) if key in item.keys]
        if not duty_keys:
            self._check_keys(item, _REQUEST_ENTRY_KEYS, ("request",), "A request in the log")
            expected = item.keys.get("expect")
            effect = self._effect(expected) if expected else "permit"
            request = self._request(item.keys.get("request"))
            return EarlierRequest(
                request, world, item.place, effect, self._times(item.keys.get("times"))
            )
        self._check_keys(item, _DUTY_ENTRY_KEYS, ("by",), "A duty in the log")
        if len(duty_keys) > 1:
            self._add("A duty was either fulfilled or violated. Write one entry for each.", item)
        [by] = self._names(item, "by", "assignee") or ("",)
        duty, of = self._text(item, duty_keys[0]), self._text(item, "of")
        return EarlierDuty(duty_keys[0], duty, by, world.time, item.place, of)

    def _times(self, item: Item | None) -> int:
        times = 1 if item is None else item.value
        if isinstance(times, int) and not isinstance(times, bool) and 1 <= times <= _MOST_TIMES:
            return times
        self._add(f"'times' must be from 1 to {_MOST_TIMES:,}. Given: {_describe(item)}.", item)  # type: ignore[arg-type]
        return 1

    def _check_names(self, tests: Iterable[Item]) -> None:
        lines: dict[Any, int] = {}
        for test in tests:
            name = test.keys.get("name")
            if name and isinstance(name.value, str):
                if name.value in lines:
                    self._add(
                        f"Two tests have the name {name.value!r}, the first in line "
                        f"{lines[name.value]}.",
                        name,
                    )
                lines.setdefault(name.value, name.place.line)

    # -- requests and expectations ------------------------------------------------------------

    def _request(self, item: Item | None) -> Request:
        nothing = Request(assignee="", action="", targets=("",))
        if item is None:
            return nothing
        self._check_keys(item, _REQUEST_KEYS, ("assignee", "action", "target"), "A request")
        parts = {key: self._names(item, key) for key in _REQUEST_KEYS}
        for key in ("assignee", "action", "purpose"):
            if len(parts[key]) > 1:
                self._add(
                    f"A request has exactly one {key}. Given: {len(parts[key])}.", item.keys[key]
                )
        if not all(parts[key] for key in _REQUEST_KEYS[:3]):
            return nothing
        return Request(
            assignee=parts["assignee"][0],
            action=parts["action"][0],
            targets=parts["target"],
            purpose=(*parts["purpose"], "")[0],
        )

    def _names(self, item: Item, key: str, part: str = "") -> tuple[str, ...]:
        """Return the full names for a part, from IRIs or short names."""
        if key not in item.keys:
            return ()
        full_names = []
        for one, text in zip(item.keys[key].parts, self._texts(item, key, some=True), strict=False):
            try:
                full_names.append(self.names.full(text, part or key))
                check_name(part or key, full_names[-1])
            except RequestError as error:
                [problem] = error.problems
                self.problems.append(replace(problem, place=one.place))
        return tuple(full_names)

    def _expectation(self, item: Item | None) -> Expectation:
        if item is None:
            return _DENY
        if not isinstance(item.value, dict):
            return Expectation(self._effect(item))
        self._check_keys(item, _EXPECTATION_KEYS, ("effect",), "An expectation")
        effect = self._effect(item.keys["effect"]) if "effect" in item.keys else "deny"
        rule = self._text(item, "rule") if "rule" in item.keys else None
        duties = self._texts(item, "duties") if "duties" in item.keys else None
        return Expectation(effect, rule, duties)

    def _effect(self, item: Item) -> Effect:
        for effect in get_args(Effect):
            if item.value == effect:
                return effect  # type: ignore[no-any-return]
        hint = did_you_mean(str(item.value), get_args(Effect))
        self._add(
            f"The expected answer must be 'permit' or 'deny'. Given: {item.value!r}.", item, hint
        )
        return "deny"

    # -- the world ----------------------------------------------------------------------------

    def _plain_world(self, item: Item | None) -> Mapping[str, Any]:
        """Return a state of the world as written, with full names of left operands."""
        if item is None:
            return {}
        self._check_keys(item, _WORLD_KEYS, (), "A state of the world")
        try:
            return self.names.world(item.plain() if isinstance(item.value, dict) else {})
        except RequestError as error:
            [problem] = error.problems
            self.problems.append(replace(problem, place=item.place))
            return {}

    def _world(self, plain: Mapping[str, Any], item: Item | None) -> World:
        """Return a state of the world; its problems are reported at their positions."""
        try:
            return World.model_validate(plain)
        except ValidationError as error:
            for way, (message, hint) in world_faults(error).items():
                if len(way) != 1 or way[0] in _WORLD_KEYS:  # other keys are reported already
                    self._add(message, item and self._find_part(item, way), hint)
            return World()

    def _find_part(self, item: Item, way: WorldPath) -> Item:
        """Return the part of an item at a path, as far as the path exists."""
        for step in way:
            key = self.names.written(item.keys, step) if isinstance(step, str) else ""
            if key:
                item = item.keys[key]
            elif isinstance(step, int) and isinstance(item.value, tuple) and step < len(item.value):
                item = item.value[step]
            else:
                break
        return item

    # -- parts of mappings --------------------------------------------------------------------

    def _check_keys(
        self, item: Item, allowed: tuple[str, ...], required: tuple[str, ...], subject: str
    ) -> None:
        """Report unknown and missing keys."""
        if not isinstance(item.value, dict):
            self._add(f"{subject} must be a mapping with the keys {join_names(allowed)}.", item)
            return
        for key, value in item.keys.items():
            if key not in allowed:
                hint = did_you_mean(key, allowed)
                message = f"{subject} has no key {key!r}. It has {join_names(allowed)}."
                self.problems.append(Problem("K001", message, hint, value.key))
        for key in required:
            if key not in item.keys:
                self._add(f"{subject} needs the key {key!r}.", item)

    def _items(self, item: Item, key: str) -> tuple[Item, ...]:
        member = item.keys.get(key)
        if member is None:
            return ()
        if not isinstance(member.value, tuple):
            self._add(f"{key!r} must be a list.", member)
            return ()
        return member.value

    def _texts(self, item: Item, key: str, *, some: bool = False) -> tuple[str, ...]:
        """Return the texts of a list, or a single one; `some` requires at least one."""
        member = item.keys.get(key)
        if member is None:
            return ()
        if some and not member.parts:
            self._add(f"{key!r} is empty.", member)
        texts = [(one, _text_of(one)) for one in member.parts]
        for one, text in texts:
            if not text:
                hint = "Put it in quotes if it is meant as one." if one.value else ""
                self._add(f"{key!r} must contain texts. Given: {_describe(one)}.", one, hint)
        return tuple(text for _, text in texts if text)

    def _text(self, item: Item, key: str) -> str:
        texts = self._texts(item, key)
        if len(texts) > 1:
            self._add(f"{key!r} must be a single text. Given: {len(texts)}.", item.keys[key])
        return (*texts, "")[0]

    def _add(self, message: str, item: Item | None, hint: str = "") -> None:
        """Report a problem with an item; without an item, it was reported elsewhere."""
        if item is not None:
            self.problems.append(Problem("K001", message, hint, item.place))


def _text_of(item: Item) -> str:
    """Return a text; a date without quotes, which YAML turns into a date, as written."""
    if type(item.value) is date:
        return item.value.isoformat()
    return item.value if isinstance(item.value, str) else ""


def _describe(item: Item) -> str:
    kinds = {dict: "a mapping", tuple: "a list", type(None): "nothing"}
    return kinds.get(type(item.value)) or repr(item.value)


def _overlay(own: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state of the world laid over another: its own values, else the other's.

    Its null values unset a fact, a duty, a count, or all of them.
    """
    joined = {**default, **own}
    for key, value in own.items():
        below = default.get(key)
        if isinstance(value, dict):
            joined[key] = _overlay_part(value, below if isinstance(below, dict) else {})
    return {key: value for key, value in joined.items() if value is not None}


def _overlay_part(own: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a state of the world laid over another, without unset values."""
    joined = {**below, **own}
    for key, value in own.items():
        default = below.get(key)
        if isinstance(value, dict) and None in value.values():
            inner = {**(default if isinstance(default, dict) else {}), **value}
            joined[key] = {name: one for name, one in inner.items() if one is not None}
    return {key: value for key, value in joined.items() if value is not None}
