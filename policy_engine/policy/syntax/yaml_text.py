"""YAML text as nodes that know their position, within limits and without surprises.

YAML 1.2 in its core schema (section 10.3): `no` is a text, and a date is one. Tags, anchors and
aliases are refused, so that a text is as long as it looks.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.syntax.json_text import MAX_DIGITS, decoded, escape, line_starts, place_of
from policy_engine.policy.syntax.limits import MAX_PROBLEMS, Limits
from policy_engine.policy.xsd.values import read_float

if TYPE_CHECKING:
    from yaml import MappingNode, Node, ScalarNode

_TEXT = "tag:yaml.org,2002:str"
_KINDS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
_WORDS = {"null": None, "Null": None, "NULL": None, "~": None, "": None} | {
    word: truth for truth in (True, False) for word in (str(truth), str(truth).lower())
}
_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)


@dataclass(frozen=True)
class YamlPart:
    """A value, and where in the text it begins and ends, in characters.

    A mapping's value is a dict of parts by key, a sequence's a list of parts. `pointer` is its JSON
    pointer (RFC 6901), `key` the part of a member's key, `text` a scalar as it is written.
    """

    value: Any
    start: int
    end: int
    pointer: str
    key: "YamlPart | None" = None
    text: str = ""

    @property
    def members(self) -> dict[str, "YamlPart"]:
        """The members of a mapping; none for any other value."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list["YamlPart"]:
        """The items of a sequence; for any other value, only itself."""
        return self.value if isinstance(self.value, list) else [self]

    @property
    def is_scalar(self) -> bool:
        """Whether the value is a text, a number, a truth value or nothing."""
        return not isinstance(self.value, dict | list)

    def plain(self) -> Any:
        """Return the value without positions."""
        if isinstance(self.value, dict):
            return {key: part.plain() for key, part in self.value.items()}
        if isinstance(self.value, list):
            return [part.plain() for part in self.value]
        return self.value


@dataclass(frozen=True)
class YamlText:
    """A text of YAML, its root, and the keys that appear twice in it."""

    text: str
    root: YamlPart
    problems: tuple[Problem, ...]


def read_yaml(text: str | bytes, source: str, limits: Limits) -> YamlText:
    """Read one document of YAML. Raises PolicyError: J001 where it is not YAML or uses what is not
    read, J003 beyond the limits, J004 where it is not UTF-8."""
    plain = decoded(text, source, limits)
    reader = _Reader(plain.removeprefix("\ufeff"), source, limits)
    root = reader.part(reader.compose(), "", 0)
    return YamlText(reader.text, root, tuple(reader.problems))


def plain_value(text: str) -> Any:
    """Return what a scalar without quotes means: a number, a truth value, nothing, or a text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= MAX_DIGITS else text
    return read_float(text) if _NUMBER.fullmatch(text) else text


class _Reader:
    """Turns nodes into parts, and collects keys that appear twice."""

    def __init__(self, text: str, source: str, limits: Limits) -> None:
        self.text, self.source, self.limits = text, source, limits
        self.lines = line_starts(text)
        self.values = 0
        self.problems: list[Problem] = []

    def compose(self) -> "Node":
        """Return the root node. Raises PolicyError (J001, J003)."""
        import yaml  # noqa: PLC0415 (only where a text is YAML)

        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        try:
            self._check_events(yaml.parse(self.text, Loader=loader))
            node: Node | None = yaml.compose(self.text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            reason = " ".join(filter(None, [error.context, error.problem]))
            self._fail(f"The text is not YAML: {reason}.", error.problem_mark)
        except yaml.YAMLError as error:
            self._fail(f"The text is not YAML: {str(error).splitlines()[0]}.")
        if node is None:
            self._fail("The text is empty.")
        return node

    def _check_events(self, events: Iterator[Any]) -> None:
        """Refuse a text that would take long to read, or that means more than it says."""
        import yaml  # noqa: PLC0415

        depth = 0
        for number, event in enumerate(events):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > self.limits.depth or number > 2 * self.limits.values:
                allowed = f"{self.limits.depth} levels and {self.limits.values:,} values"
                message = f"The text is nested too deeply or too long. {allowed} are allowed."
                self._fail(message, event.start_mark, "J003")
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                self._fail("Anchors and aliases are not read.", event.start_mark)
            if (getattr(event, "tag", None) or _TEXT) not in _KINDS and event.tag != "!":
                self._fail(f"Tags are not read. Given: {event.tag!r:.80}.", event.start_mark)

    def part(self, node: "Node", pointer: str, depth: int, key: YamlPart | None = None) -> YamlPart:
        """Return a node as a part."""
        import yaml  # noqa: PLC0415

        self.values += 1
        start, end = node.start_mark.index, node.end_mark.index
        if isinstance(node, yaml.MappingNode):
            return YamlPart(self._members(node, pointer, depth), start, end, pointer, key)
        if isinstance(node, yaml.SequenceNode):
            items = [
                self.part(one, f"{pointer}/{n}", depth + 1) for n, one in enumerate(node.value)
            ]
            return YamlPart(items, start, end, pointer, key)
        assert isinstance(node, yaml.ScalarNode)  # noqa: S101 (there are no other nodes)
        return YamlPart(self._scalar(node), start, end, pointer, key, node.value)

    def _scalar(self, node: "ScalarNode") -> Any:
        value = node.value if node.style else plain_value(node.value)
        if isinstance(value, float) and math.isinf(value):
            self._fail("The number is too large.", node.start_mark)
        return value

    def _members(self, node: "MappingNode", pointer: str, depth: int) -> dict[str, YamlPart]:
        members: dict[str, YamlPart] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node.value, str):
                self._fail("A key is a text.", key_node.start_mark)
            name = key_node.value
            at = f"{pointer}/{escape(name)}"
            key = YamlPart(name, key_node.start_mark.index, key_node.end_mark.index, at)
            if name in members and len(self.problems) < MAX_PROBLEMS:
                first = place_of(self.lines, members[name].start).line
                message = f"The key {name!r} appears twice in one mapping, first in line {first}."
                place = place_of(self.lines, key.start, at)
                self.problems.append(Problem("J002", message, "", place))
            members[name] = self.part(value_node, at, depth + 1, key)
        return members

    def _fail(self, message: str, mark: Any = None, code: str = "J001") -> NoReturn:
        # A mark's own line also counts separators of Unicode, at which editors begin none.
        place = place_of(self.lines, min(mark.index, len(self.text))) if mark else Place()
        raise PolicyError(Problem(code, message, "", place), source=self.source)


def write_yaml(value: dict[str, Any]) -> str:
    """Return a mapping as YAML that `read_yaml` reads as the same, short lists in one line."""
    import yaml  # noqa: PLC0415

    node = _node(value, 0)
    return str(yaml.serialize(node, Dumper=yaml.BaseDumper, allow_unicode=True, width=_WIDTH))


_WIDTH, _FEW = 100, 4


def _node(value: Any, depth: int) -> "Node":
    """Return the node of a value; what BaseDumper writes of it is what `plain_value` reads."""
    from yaml import MappingNode, ScalarNode, SequenceNode  # noqa: PLC0415

    if isinstance(value, dict):
        pairs = [(_node(key, depth), _node(one, depth + 1)) for key, one in value.items()]
        is_flow = depth > 1 and len(pairs) <= _FEW and _are_short([*value.values()])
        return MappingNode("tag:yaml.org,2002:map", pairs, flow_style=is_flow)
    if isinstance(value, list):
        items = [_node(one, depth + 1) for one in value]
        return SequenceNode("tag:yaml.org,2002:seq", items, flow_style=_are_short(value))
    if isinstance(value, str):
        is_text = isinstance(plain_value(value), str) and value.isprintable()
        return ScalarNode(_TEXT, value, style=None if is_text else '"')
    if value is None or isinstance(value, bool | int | float):
        return ScalarNode(_TEXT, "" if value is None else json.dumps(value))
    return _node(str(value), depth)  # dates, and whatever else says what it is as a text


def _are_short(values: list[Any]) -> bool:
    """Tell whether values are scalars, none of them missing."""
    return not any(one is None or isinstance(one, dict | list) for one in values)
