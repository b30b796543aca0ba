"""JSON-LD that knows which part of a text each of its values was made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policy_engine.errors import Place
from policy_engine.policy.syntax.json_text import Document, escape, place_of
from policy_engine.policy.syntax.yaml_text import YamlPart


@dataclass(frozen=True)
class Made:
    """A value of JSON-LD, what it was made of, and what its key was made of.

    The parts of lists and objects are made in turn.
    """

    value: Any
    part: YamlPart
    key: YamlPart | None = None


@dataclass(frozen=True)
class Compiled(Document):
    """The JSON-LD of a text in the short form; its places are those of that text."""

    parts: Mapping[str, YamlPart] = field(default_factory=dict, repr=False, kw_only=True)
    key_parts: Mapping[str, YamlPart] = field(default_factory=dict, repr=False, kw_only=True)

    @property
    def has_contexts(self) -> bool:
        """Whether contexts declare the prefixes of its names."""
        return False

    def place(self, pointer: str, *, of_key: bool = False) -> Place:
        """Return the place of what a value (or its key) was made of, with its pointer there."""
        part = self._part(pointer, of_key=of_key)
        return place_of(self.lines, part.start, part.pointer)

    def string(self, pointer: str, *, of_key: bool = False) -> str | None:
        """Return the text that a value (or its key) was made of, None where it is none."""
        part = self._part(pointer, of_key=of_key)
        return part.value if isinstance(part.value, str) else None

    def span(self, pointer: str, *, of_key: bool = False) -> tuple[Place, Place]:
        """Return where the text of a value (or of a key) begins and ends."""
        part = self._part(pointer, of_key=of_key)
        ends = (place_of(self.lines, offset, part.pointer) for offset in (part.start, part.end))
        start, end = ends
        return start, end

    def opening(self, pointer: str) -> Place | None:
        """Return None: a member of JSON-LD is not inserted into another text."""
        del pointer
        return None

    def _part(self, pointer: str, *, of_key: bool) -> YamlPart:
        """Return what a value was made of; of one that was added, what it was added to."""
        if of_key and pointer in self.key_parts:
            return self.key_parts[pointer]
        while pointer not in self.parts:
            pointer = pointer.rpartition("/")[0]
        return self.parts[pointer]


def flatten(made: Made) -> tuple[Any, dict[str, YamlPart], dict[str, YamlPart]]:
    """Return the JSON value, and what its values and its keys were made of, by JSON pointer."""
    parts: dict[str, YamlPart] = {}
    key_parts: dict[str, YamlPart] = {}

    def visit(one: Made, pointer: str) -> Any:
        parts[pointer] = one.part
        if one.key is not None:
            key_parts[pointer] = one.key
        if isinstance(one.value, dict):
            members = one.value.items()
            return {key: visit(value, f"{pointer}/{escape(key)}") for key, value in members}
        if isinstance(one.value, list):
            return [visit(item, f"{pointer}/{n}") for n, item in enumerate(one.value)]
        return one.value

    return visit(made, ""), parts, key_parts


def as_json(part: YamlPart) -> Made:
    """Return a part as the JSON-LD that it is."""
    value: Any = part.value
    if isinstance(value, dict):
        value = {key: as_json(one) for key, one in value.items()}
    elif isinstance(value, list):
        value = [as_json(one) for one in value]
    return Made(value, part, part.key)
