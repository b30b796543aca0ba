"""JSON-LD to expanded nodes, strictly and offline: nothing is dropped, nothing is fetched.

JSON-LD 1.1 ignores what it does not know. In a policy that would turn a bounded permission
into an unbounded one, so whatever an expansion would lose is a problem here. What remains is
expanded as the JSON-LD 1.1 API says (section 5.1); the tests compare it with another
implementation of that algorithm.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from policy_engine.errors import Place, Problem, Seek
from policy_engine.policy.syntax.contexts import Context, Definition, read_contexts
from policy_engine.policy.syntax.expanded_values import POINTER, expanded_node, expanded_values
from policy_engine.policy.syntax.expansion_checks import object_problems
from policy_engine.policy.syntax.json_text import Document, escape
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, MAX_PROBLEMS, Limits
from policy_engine.policy.syntax.plain_nodes import plain_nodes

__all__ = ["POINTER", "Graph", "Node", "expand"]


class Node(NamedTuple):
    """One expanded JSON-LD node, and the place of its object in the text."""

    data: Mapping[str, Any]
    pointer: str


@dataclass(frozen=True)
class Graph:
    """The expanded nodes at the top of a document, and what was wrong in getting there."""

    nodes: tuple[Node, ...]
    problems: tuple[Problem, ...]
    document: Document
    contexts: tuple[Context, ...]
    inner: tuple[Mapping[str, Any], ...] | None = field(default=None, repr=False)
    """All its nodes, those within others too, each before those within; None if not known."""

    def context_at(self, pointer: str) -> Context:
        """Return the terms in force at a place: those of its object at the top of the text."""
        return self._places.context_at(pointer)

    def place(self, node: Node, prop: str = "", index: int = 0, *, of_key: bool = False) -> Place:
        """Return the place of a node, or of the nth value of one of its properties."""
        return self._places.find(node.pointer, prop, index, of_key=of_key)

    def later_place(self, node: Node, prop: str = "", index: int = 0) -> Place:
        """Return the place of a node, or of a value, which is looked for when it is needed."""
        return Place.sought(self._find, node.pointer, prop, index)

    @cached_property
    def _places(self) -> "_Places":
        return _Places(self.document, self.contexts)

    @cached_property
    def _find(self) -> Seek:
        return self._places.find


class _Places:
    """Looks up where nodes and values stood; it outlasts the nodes."""

    def __init__(self, document: Document, contexts: tuple[Context, ...]) -> None:
        self.document = document
        self.contexts = contexts
        # An object with many keys is asked for many of them.
        self._members_at: dict[str, tuple[dict[str, Any], dict[str, str]]] = {}

    def context_at(self, pointer: str) -> Context:
        is_list = isinstance(self.document.value, list)
        return self.contexts[int(pointer.split("/", 2)[1]) if is_list and pointer else 0]

    def find(self, at: str, prop: str = "", index: int = 0, *, of_key: bool = False) -> Place:
        pointer = at
        if prop:
            members, keys = self._members(at)
            key = keys.get(prop)
            if key is not None:
                value, pointer = members[key], f"{at}/{escape(key)}"
                if not of_key and isinstance(value, list | dict):
                    pointer += _value_step(value, self.context_at(at), index)
        return self.document.place(pointer, of_key=of_key)

    def _members(self, pointer: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Return an object as it is written, and its keys by their IRIs, the first of those with
        the same one."""
        if pointer not in self._members_at:
            context, members = self.context_at(pointer), self.document.at(pointer)
            keys = {context.key(key).iri: key for key in reversed(members)}
            self._members_at[pointer] = members, keys
        return self._members_at[pointer]


def _value_step(value: Any, context: Context, index: int) -> str:
    """Return the relative pointer of the nth of a property's values.

    What is wrong with a list as a whole has an index below 0.
    """
    if index < 0:
        return ""
    if isinstance(value, list):
        return f"/{index}" if index < len(value) else ""
    if not isinstance(value, dict):
        return ""
    keys = [key for key in value if context.key(key).iri in ("@list", "@set")]
    return "" if not keys else f"/{escape(keys[0])}{_value_step(value[keys[0]], context, index)}"


def expand(
    document: Document, contexts: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS
) -> Graph:
    """Expand a document with the bundled contexts and those given, by URL.

    The graph's problems name every key, context and value that JSON-LD would drop or fetch.
    Where there are any, the graph has no nodes: it would not say what the text says.
    """
    value = document.value
    top_objects = (
        [(f"/{n}", top) for n, top in enumerate(value)]
        if isinstance(value, list)
        else [("", value)]
    )
    nodes: list[Node] = []
    inner: list[Mapping[str, Any]] | None = []
    problems = list(document.problems)
    declared: list[Context] = []
    for pointer, top in top_objects:
        declared.append(Context({}))
        if len(problems) >= MAX_PROBLEMS:
            continue
        if not isinstance(top, dict):
            message = f"The text must be a JSON object. Given: {top!r:.40}."
            problems.append(Problem("P001", message, "", document.place(pointer)))
            continue
        context, top_problems = read_contexts(document, top, pointer, contexts, limits)
        declared[-1] = context
        plain = None if top_problems or problems else plain_nodes(document, top, pointer, context)
        if plain is not None:
            nodes += (Node(one, one[POINTER]) for one in plain.tops)
            inner = None if inner is None else [*inner, *plain.all]
        else:
            inner = None
            problems_of_object = object_problems(document, top, pointer, context, None)
            top_problems = top_problems or list(islice(problems_of_object, MAX_PROBLEMS))
            problems += top_problems
            if not top_problems:
                nodes += _top_nodes(top, pointer, context)
    valid_nodes = () if problems else tuple(nodes)
    all_inner = None if problems or inner is None else tuple(inner)
    all_contexts = tuple(declared) or (Context({}),)
    return Graph(valid_nodes, tuple(problems), document, all_contexts, all_inner)


def _top_nodes(top: Mapping[str, Any], pointer: str, context: Context) -> Iterator[Node]:
    if "@graph" in top:
        parts = expanded_values(top["@graph"], f"{pointer}/@graph", context, Definition("@graph"))
    else:
        parts = [expanded_node(top, pointer, context)]
    yield from (Node(part, part[POINTER]) for part in parts)
