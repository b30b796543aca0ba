"""YAML text as values that know their position, within limits and without surprises."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from policy_engine.errors import NOWHERE, Place, Problem, RequestError, place_order
from policy_engine.policy.syntax.json_text import escape

if TYPE_CHECKING:
    from yaml import MappingNode, Node, ScalarNode

MAX_BYTES = 1_000_000
MAX_DEPTH = 20
MAX_VALUES = 100_000
MAX_ALIASES = 100
_TAG = "tag:yaml.org,2002:"
_SCALARS = ("str", "int", "float", "bool", "null", "timestamp")


@dataclass(frozen=True)
class Item:
    """A value and its position; the parts of a sequence or mapping are items in turn.

    For a part of a mapping, `key` is the position of its key.
    """

    value: Any
    place: Place
    key: Place = NOWHERE

    @property
    def keys(self) -> Mapping[str, "Item"]:
        """The parts of a mapping by their keys; none for any other value."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def parts(self) -> tuple["Item", ...]:
        """The parts of a sequence; for any other value, only itself."""
        return self.value if isinstance(self.value, tuple) else (self,)

    def plain(self) -> Any:
        """Return the value without positions."""
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        if isinstance(self.value, tuple):
            return [item.plain() for item in self.value]
        return self.value


def read_yaml(text: bytes, source: str) -> Item:
    """Read one YAML document of plain values, with texts as keys.

    Aliases count as everything they stand for.

    Raises RequestError (K001) with every key that appears twice and every value of a kind that is
    not allowed; a text that is not YAML, or exceeds a limit, is reported alone.
    """
    if len(text) > MAX_BYTES:
        _fail(f"The text is too large. {MAX_BYTES:,} bytes are allowed.", source)
    node = _compose(text, source)
    reader = _Reader(source)
    item = reader.item(node, "", 0)
    if reader.problems:
        raise RequestError(*sorted(reader.problems, key=place_order), source=source)
    return item


def _compose(text: bytes, source: str) -> "Node":
    import yaml  # noqa: PLC0415 (only for the tests of policies)

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        decoded = text.decode("utf-8-sig")
        _check_events(yaml.parse(decoded, Loader=loader), source)
        node: Node | None = yaml.compose(decoded, Loader=loader)
    except UnicodeDecodeError:
        _fail("The text is not UTF-8.", source)
    except yaml.MarkedYAMLError as error:
        reason = " ".join(filter(None, [error.context, error.problem]))
        _fail(f"The text is not YAML: {reason}.", source, error.problem_mark)
    except yaml.YAMLError as error:
        _fail(f"The text is not YAML: {str(error).splitlines()[0]}.", source)
    if node is None:
        _fail("The text is empty.", source)
    return node


def _check_events(events: Iterator[Any], source: str) -> None:
    """Refuse a text that would take long to read, or multiply, before building anything."""
    import yaml  # noqa: PLC0415

    depth = aliases = 0
    for number, event in enumerate(events):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        if depth > MAX_DEPTH or number > MAX_VALUES or aliases > MAX_ALIASES:
            _too_large(source, event.start_mark)


def _too_large(source: str, mark: Any) -> NoReturn:
    limits = f"{MAX_DEPTH} levels, {MAX_VALUES:,} values and {MAX_ALIASES} aliases are allowed."
    _fail(f"The text is nested too deeply or has too many values. {limits}", source, mark)


def _fail(message: str, source: str, mark: Any = None) -> NoReturn:
    place = _place(mark, "") if mark else Place()
    raise RequestError(Problem("K001", message, "", place), source=source)


def _place(mark: Any, pointer: str) -> Place:
    return Place(pointer, mark.line + 1, mark.column + 1)


class _Reader:
    """Turns nodes into items, and collects problems."""

    def __init__(self, source: str) -> None:
        from yaml import SafeLoader  # noqa: PLC0415

        self.source = source
        self.values = 0
        self.scalars = SafeLoader("")
        self.problems: list[Problem] = []

    def item(self, node: "Node", pointer: str, depth: int) -> Item:
        """Return a node as an item. The target of an alias is counted each time."""
        import yaml  # noqa: PLC0415

        self.values += 1
        if depth > MAX_DEPTH or self.values > MAX_VALUES:
            _too_large(self.source, node.start_mark)
        place = _place(node.start_mark, pointer)
        kinds = _SCALARS if isinstance(node, yaml.ScalarNode) else ("map", "seq")
        if node.tag not in [f"{_TAG}{kind}" for kind in kinds]:
            self._add(f"A value of the kind {node.tag!r} is not allowed here.", place)
            return Item(None, place)
        if isinstance(node, yaml.MappingNode):
            return Item(self._members(node, pointer, depth), place)
        if isinstance(node, yaml.SequenceNode):
            parts = (
                self.item(one, f"{pointer}/{n}", depth + 1) for n, one in enumerate(node.value)
            )
            return Item(tuple(parts), place)
        assert isinstance(node, yaml.ScalarNode)  # noqa: S101 (there are no other nodes)
        return Item(self._scalar(node, place), place)

    def _members(self, node: "MappingNode", pointer: str, depth: int) -> dict[str, Item]:
        members: dict[str, Item] = {}
        for key, value in node.value:
            name = key.value if key.tag == f"{_TAG}str" else None
            place = _place(key.start_mark, pointer)
            if not isinstance(name, str):
                self._add("A key must be a text. Put it in quotes if it is meant as one.", place)
                continue
            if name in members:
                first = members[name].key.line
                self._add(f"The key {name!r} appears twice, first in line {first}.", place)
            item = self.item(value, f"{pointer}/{escape(name)}", depth + 1)
            members[name] = replace(item, key=place)
        return members

    def _scalar(self, node: "ScalarNode", place: Place) -> Any:
        try:
            return self.scalars.construct_object(node)
        except (ValueError, OverflowError, ArithmeticError):
            kind = node.tag.removeprefix(_TAG)
            self._add(f"{node.value!r} looks like {kind}, but is not one. Is it a text?", place)
            return None

    def _add(self, message: str, place: Place) -> None:
        self.problems.append(Problem("K001", message, "", place))
