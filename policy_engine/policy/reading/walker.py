"""Walk an expanded graph, gathering problems rather than stopping at the first."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any

from policy_engine import terms
from policy_engine.errors import Fix, Problem, did_you_mean, join_names, nearest
from policy_engine.policy.hierarchy import PARTS, Hierarchy
from policy_engine.policy.reading.nodes import (
    DESCRIPTIONS,
    child_values,
    described_nodes,
    format_value,
    has_statements,
    is_name_alone,
    property_values,
    says_something_else,
    statements,
    stating_nodes,
)
from policy_engine.policy.structure import (
    KINDS,
    PURPOSE_PROPERTIES,
    SOURCE,
    WIDER_PROPERTIES,
    membership_properties,
    odrl_properties,
    wider_role,
)
from policy_engine.policy.syntax.contexts import replacement_fix
from policy_engine.policy.syntax.json_ld import POINTER, Graph, Node
from policy_engine.policy.syntax.limits import MAX_PROBLEMS
from policy_engine.policy.vocabulary import NONE, Vocabulary
from policy_engine.terms import has_known_namespace, is_absolute, relative_iri_problem

_ODRL, _MC = terms.ODRL, terms.MOSAICROWN
_RULES = {f"{_ODRL}{kind}" for kind in KINDS}
_ABOUT_NODES = frozenset((POINTER, "@id", "@type"))
_MEMBER_ROLES = {"party": "a party", "asset": "an asset", "party asset": "a party or an asset"}
_CLASSES = {
    "party": (f"{_ODRL}Party", f"{_ODRL}PartyCollection"),
    "asset": (f"{_ODRL}Asset", f"{_ODRL}AssetCollection"),
    "action": (f"{_ODRL}Action",),
    "purpose": (f"{_MC}purpose",),
}


class Walker:
    """Reads values off nodes; `problems` and `edges` of the hierarchies grow on the way.

    A value that is only a name refers to the node of that name elsewhere in the text. The terms
    of the `vocabulary` are known beside those of the language. Properties that begin with one of
    the `descriptions` change nothing. Where it `is_lenient`, what `lenient.py` lists is allowed.
    """

    descriptions: tuple[str, ...] = DESCRIPTIONS

    def __init__(
        self, graph: Graph, vocabulary: Vocabulary = NONE, *, is_lenient: bool = False
    ) -> None:
        self.graph = graph
        self.vocabulary = vocabulary
        self.is_lenient = is_lenient
        self.problems = list(graph.problems)
        self.edges: dict[str, list[tuple[str, str]]] = {part: [] for part in (*PARTS, "implied")}
        self._silent = ("@", *self.descriptions)
        self._read_pointers: set[str] = set()
        self._first_lines: dict[str, int] = {}
        self._without_namespace: dict[str, set[str]] = defaultdict(set)
        self._nodes_by_name: dict[str, list[Node]] = defaultdict(list)
        # Names that were found to be right, in the roles and ways that they were read in.
        self._plain_names: dict[tuple[str, bool], dict[str, str]] = defaultdict(dict)
        self._stating: list[Mapping[str, Any]] | None = None
        if graph.inner is not None and not is_lenient:
            self._stating = stating_nodes(graph.inner)
            for data in self._stating:
                if "@id" in data:
                    name = terms.canonical(data["@id"])
                    self._nodes_by_name[name].append(Node(data, data[POINTER]))
            return
        for top in graph.nodes:
            # Read leniently, all nodes are at the top, and one that has but a type has its place.
            named_nodes = [(top.data["@id"], top)] if is_lenient else described_nodes(top.data)
            for name, node in named_nodes:
                self._nodes_by_name[name].append(node)

    def hierarchy(self) -> Hierarchy:
        """Return the hierarchy that the nodes read so far state."""
        return Hierarchy(**{part: tuple(dict.fromkeys(all_)) for part, all_ in self.edges.items()})

    def names(self, node: Node, prop: str, role: str) -> tuple[str, ...]:
        """Return the IRIs of the parties, assets or purposes that a property names."""
        return tuple(iri for iri, _ in self.iris(node, prop, role=role))

    def iris(
        self, node: Node, prop: str, *, role: str = "", terms_too: bool = False
    ) -> list[tuple[str, int]]:
        """Return the IRIs that are the values of a property, each with its place among them.

        With a `role`, the memberships that their nodes state are read; with `terms_too`, names
        that are not IRIs are left for the caller to check.
        """
        values = node.data.get(prop)
        if values is None:
            return []
        plain_names = self._plain_names[role, terms_too]
        iris = []
        for index, data in enumerate(values):
            iri = plain_names.get(data.get("@id", "")) if len(data) == 1 else None
            if iri is None:
                iri = self.iri(node, prop, index, role=role, terms_too=terms_too)
            if iri is not None:
                iris.append((iri, index))
        return iris

    def iri(
        self, node: Node, prop: str, index: int, *, role: str = "", terms_too: bool = False
    ) -> str | None:
        """Return the IRI that is the nth value of a property, None where it is not an IRI."""
        data = node.data[prop][index]
        problem_count = len(self.problems)
        iri = self._named(node, prop, index, role=role, terms_too=terms_too)
        if (
            iri is not None
            and is_name_alone(data)
            and len(self.problems) == problem_count < MAX_PROBLEMS
        ):
            self._plain_names[role, terms_too][data["@id"]] = iri
        return iri

    def _named(
        self, node: Node, prop: str, index: int, *, role: str, terms_too: bool
    ) -> str | None:
        data = node.data[prop][index]
        iri = terms.canonical(data.get("@id", ""))
        if "@id" not in data:
            message = f"{terms.compact(prop)} takes an IRI. Given: {format_value(data)}."
            self.add("P007", message, "", node, prop, -1 if "@list" in data else index)
        elif not self.is_name(iri) and not terms_too:
            purposes = self.purposes() if role == "purpose" else ()
            matches = [one for one in purposes if terms.local_name(one) == iri]
            hint = f"Write {terms.compact(matches[0])!r}." if matches else ""
            local_names = [] if hint else map(terms.local_name, purposes)
            self.add(
                "L006",
                *relative_iri_problem(iri, hint),
                node,
                prop,
                index,
                word=iri,
                allowed=local_names,
            )
        elif role == "purpose" and self.is_unknown_purpose(iri):
            self.add_unknown_purpose(iri, node, prop, index)
        elif role in _MEMBER_ROLES and has_known_namespace(iri) and not self.is_lenient:
            message = (
                f"{terms.compact(iri)!r} is a term of the language, not {_MEMBER_ROLES[role]}."
            )
            self.add("P005", message, "", node, prop, index)
        else:
            value_node = Node(data, data.get(POINTER, ""))
            if role:
                self.read_membership(value_node, role=role)
            else:
                self.check_properties(value_node, set(), "a name")
            return iri
        return None

    def read_membership(self, node: Node, role: str = "party asset action purpose") -> None:
        """Read which wider things a node says that it is part of."""
        role = f"{role} implied" if "action" in role else role
        node = self.resolve(node.data) if self.is_lenient else node
        iri = terms.canonical(node.data.get("@id", ""))
        properties = membership_properties(role)
        if not self.is_name(iri):
            message = f"The uid of what an object describes is an absolute IRI. Given: {iri!r}."
            self.add("L006", message, "", node, "@id")
        self.check_types(node, role)
        is_collection = bool({"party", "asset"} & set(role.split()))
        allowed = properties | ({SOURCE} if is_collection else set())
        subject = "a party, an asset, an action or a purpose"
        self.check_odrl_properties(node, allowed, subject)
        if {*PURPOSE_PROPERTIES} & node.data.keys() & properties and self.is_unknown_purpose(iri):
            self.add_unknown_purpose(iri, node, "@id")
        if not self.is_lenient:
            self._read_memberships(node, role)

    def read_all_memberships(self) -> None:
        """Read the memberships that all nodes state, whether they were read or not."""
        for node in self.graph.nodes:
            self._read_memberships(node, " ".join(self.edges))

    def _read_memberships(self, node: Node, role: str) -> None:
        iri = terms.canonical(node.data.get("@id", ""))
        for prop in sorted(membership_properties(role) & node.data.keys()):
            part_role = "" if self.is_lenient else wider_role(prop, role)
            for wider, _ in self.iris(node, prop, role=part_role):
                self._add_edges(WIDER_PROPERTIES[prop], role, iri, wider)
        for source, _ in self.iris(node, SOURCE) if {"party", "asset"} & set(role.split()) else ():
            self._add_edges("party asset", role, source, iri)

    def check_types(self, node: Node, role: str) -> None:
        """Note a type of the language that does not fit the role of a node.

        What may be several things, as in a vocabulary, is left alone, and so are foreign types.
        """
        if "@type" not in node.data:
            return
        types = () if self.is_lenient else _CLASSES.get(role, ())
        for index, name in enumerate(node.data.get("@type", []) if types else ()):
            iri = terms.canonical(name)
            if iri not in types and (has_known_namespace(iri) or not is_absolute(iri)):
                names = [terms.local_name(one) for one in types]
                message = (
                    f"The type must be {join_names(names, 'or')}. Given: {terms.compact(iri)!r}."
                )
                word = terms.local_name(iri)
                self.add("P007", message, "", node, "@type", index, word=word, allowed=names)

    def read_unreferenced(self, node: Node) -> None:
        """Read the memberships of a node that nothing refers to."""
        properties = statements(node.data)
        if properties and not {*WIDER_PROPERTIES, SOURCE} & set(properties):
            self._read_pointers.add(node.pointer)
            names = join_names(sorted(map(terms.compact, properties)))
            message = f"No policy refers to this object, so what it says would be lost: {names}."
            self.add("P006", message, "Refer to it by its uid, or remove it.", node)
        else:
            self.read_membership(node)

    def _add_edges(self, parts: str, role: str, narrower: str, wider: str) -> None:
        for part in self.edges:
            if part in parts.split() and part in role.split() and narrower != wider:
                are_actions = part in ("action", "implied")
                edge = (
                    (self.canonical_action(narrower), self.canonical_action(wider))
                    if are_actions
                    else ()
                )
                self.edges[part].append(edge or (narrower, wider))

    def canonical_action(self, iri: str) -> str:
        """Return an action, by ODRL's name where the vocabulary defines no other."""
        return self.vocabulary.action(iri)

    def purposes(self) -> tuple[str, ...]:
        """Return the purposes that are known by name, as IRIs."""
        return (*terms.instances(f"{_MC}purpose"), *self.vocabulary.purposes)

    def is_unknown_purpose(self, iri: str) -> bool:
        """Tell whether an IRI is in a namespace whose purposes we know, and is not one of them."""
        if self.is_lenient:
            return False
        if iri.startswith(terms.DPV):
            return not (iri in self.vocabulary.purposes or terms.is_in_dpv(iri, "Purpose"))
        return has_known_namespace(iri) and iri not in self.purposes()

    def add_unknown_purpose(self, iri: str, node: Node, prop: str, index: int = 0) -> None:
        """Note a purpose that its namespace does not have."""
        scheme, purposes = "the MOSAICrOWN profile", self.purposes()
        if iri.startswith(terms.DPV):
            scheme, purposes = "the Data Privacy Vocabulary", (*terms.dpv_terms("Purpose"),)
        message = f"{terms.compact(iri)!r} is not a purpose of {scheme}."
        word, locals_ = terms.local_name(iri), map(terms.local_name, purposes)
        self.add("P005", message, "", node, prop, index, word=word, allowed=locals_)

    def resolve(self, data: Mapping[str, Any]) -> Node:
        """Return the node that a value is, or that is described elsewhere under its name."""
        if "@id" in data and not has_statements(data):
            nodes = self._nodes_by_name.get(terms.canonical(data["@id"]))
            if nodes:
                return nodes[0]
        return Node(data, data.get(POINTER, ""))

    def check_unique(self, node: Node, code: str, subject: str) -> None:
        """Note a node with the name of an earlier one: in RDF they would be the same."""
        name = terms.canonical(node.data["@id"]) if "@id" in node.data else None
        first = self._nodes_by_name[name][0] if name in self._nodes_by_name else node
        if first.pointer != node.pointer:
            line = self.graph.place(first).line
            message = f"{subject} the uid {name!r}; the first is in line {line}."
            self.add(code, message, "", node)

    def nodes(self, node: Node, prop: str) -> Iterator[Node]:
        """Yield the objects that are the values of a property, as they are described."""
        for index, data in enumerate(property_values(node, prop)):
            value = self.resolve(data)
            if "@value" not in data and self._is_described(value, prop):
                yield value
                continue
            message = f"{terms.compact(prop)} takes an object. Given: {format_value(data)}."
            hint = "Nothing in the text says what it is." if "@id" in data else ""
            self.add("P007", message, hint, node, prop, index)

    def _is_described(self, node: Node, prop: str) -> bool:
        """Tell whether a node has properties; leniently, only a policy's rule needs them."""
        if not self.is_lenient:
            return bool(node.data.keys() - {"@id", POINTER})
        return prop not in _RULES or "@type" in node.data or has_statements(node.data)

    def check_odrl_properties(self, node: Node, allowed: AbstractSet[str], subject: str) -> None:
        """Note what `check_properties` does; leniently, other vocabularies' are allowed."""
        if self.is_lenient:
            allowed = allowed | {prop for prop in node.data if says_something_else(prop)}
        self.check_properties(node, allowed, subject)

    def check_properties(self, node: Node, properties: AbstractSet[str], subject: str) -> None:
        """Note every property of a node that is neither known nor a mere description."""
        self._read_pointers.add(node.pointer)
        # Most nodes have what is known, in its one spelling.
        if not node.data.keys() - properties - _ABOUT_NODES:
            return
        for prop in map(terms.canonical, node.data):
            if prop in properties or prop.startswith(self._silent):
                continue
            name = terms.compact(prop)
            if prop.startswith(_ODRL) and prop.removeprefix(_ODRL) in odrl_properties():
                message = f"{name} is not allowed on {subject}."
                self.add("P006", message, "", node, prop, of_key=True)
            else:
                names = sorted(map(terms.compact, properties))
                sentence = f"Allowed are {join_names(names)}." if names else "None is allowed."
                sentence = (
                    self.abbreviate_repeated(sentence, "allowed", node, prop) if names else sentence
                )
                message = f"{name!r} is not a property of {subject}. {sentence}"
                word, written = terms.local_name(prop), dict(map(_written, properties))
                self.add(
                    "P005",
                    message,
                    "",
                    node,
                    prop,
                    of_key=True,
                    word=word,
                    allowed=written,
                    written=written,
                )

    def read_uid(self, node: Node) -> str:
        """Return the name of a node, empty where it has none or one for this text alone."""
        if "@id" not in node.data:
            return "_:" if self.is_lenient else ""
        uid = str(terms.canonical(node.data["@id"]))
        if uid.startswith("_:"):
            return uid if self.is_lenient else ""
        if not is_absolute(uid):
            self.add("L006", *relative_iri_problem(uid), node, "@id")
        return uid

    def mentions(self, node: Node, namespace: str) -> bool:
        """Tell whether a node, or one that it leads to, uses a name of a namespace."""
        checked = self._without_namespace[namespace]
        visited, queue = {node.pointer}, [node.data]
        for data in queue:
            names = [data.get("@id", ""), *data.get("@type", []), *data]
            if any(isinstance(name, str) and name.startswith(namespace) for name in names):
                return True
            for child in map(self.resolve, child_values(data)):
                is_new = child.pointer not in visited and child.pointer not in checked
                if is_new or (POINTER not in child.data and "@value" not in child.data):
                    visited.add(child.pointer)
                    queue.append(child.data)
        checked |= visited - {""}
        return False

    def is_name(self, iri: str) -> bool:
        """Tell whether an IRI names something: a whole one does, and leniently a blank node."""
        return is_absolute(iri) or (self.is_lenient and iri.startswith("_:"))

    def unread_nodes(self) -> Iterator[Node]:
        """Yield the nodes at the top of the text that were not read yet."""
        if not self.is_lenient:
            yield from (
                node for node in self.graph.nodes if node.pointer not in self._read_pointers
            )

    def refuse_unread(self) -> None:
        """Note every object with statements that was never read: nothing is ignored.

        Where there are problems already, what is unread may follow from them.
        """
        if self.problems or self.is_lenient:
            return
        if self._stating is not None and self._read_pointers.issuperset(
            data[POINTER] for data in self._stating
        ):
            return
        for node in self.graph.nodes:
            self._refuse_unread_data(node.data)

    def _refuse_unread_data(self, data: Mapping[str, Any]) -> None:
        pointer, properties = data.get(POINTER, ""), statements(data)
        if properties and pointer not in self._read_pointers:
            message = "The content of this object is not evaluated here, so it is refused."
            hint = f"Found: {join_names(sorted(map(terms.compact, properties)))}."
            self.problems.append(Problem("P006", message, hint, self.graph.document.place(pointer)))
            return
        for value in child_values(data):
            self._refuse_unread_data(value)

    def add_strict(
        self, code: str, message: str, hint: str, node: Node, prop: str = "", index: int = 0
    ) -> None:
        """Note a problem (`add`), unless reading leniently."""
        if not self.is_lenient:
            self.add(code, message, hint, node, prop, index)

    def add(
        self,
        code: str,
        message: str,
        hint: str,
        node: Node,
        prop: str = "",
        index: int = 0,
        *,
        of_key: bool = False,
        word: str = "",
        allowed: Iterable[str] = (),
        written: Mapping[str, str] = MappingProxyType({}),
        corrected: str = "",
    ) -> None:
        """Note a problem at a node, or at the nth value (or the key) of one of its properties.

        The fix replaces `word` by what is `corrected`, or by the nearest of the names that are
        `allowed`, which the hint gives as they are `written`. At most MAX_PROBLEMS are noted.
        """
        if len(self.problems) >= MAX_PROBLEMS:
            return
        place = self.graph.place(node, prop, index, of_key=of_key)
        names = list(allowed) if word else []
        hint = did_you_mean(word, names, written) or hint
        replacement = corrected or nearest(word, names)
        fix = self._fix(place.pointer, word, replacement, of_key=of_key) if replacement else None
        self.problems.append(Problem(code, message, hint, place, fix))

    def abbreviate_repeated(self, sentence: str, role: str, node: Node, prop: str) -> str:
        """Return a long sentence, or where to find it if an earlier problem has it."""
        line = self.graph.place(node, prop).line
        first = self._first_lines.setdefault(sentence, line)
        return sentence if first == line else f"See line {first} for what is {role}."

    def _fix(self, pointer: str, word: str, replacement: str, *, of_key: bool) -> Fix | None:
        """Return the fix that replaces a name at a pointer, with its prefix kept."""
        current = self.graph.document.string(pointer, of_key=of_key)
        if current is None or not current.endswith(word):
            return None
        text = current.removesuffix(word) + replacement
        return replacement_fix(self.graph.document, pointer, text, of_key=of_key)

    def first_member_fix(self, node: Node, text: str) -> Fix | None:
        """Return the fix that inserts a text as the first member of a node's object."""
        place = self.graph.document.opening(node.pointer)
        return Fix(place, place, f"{text}, ") if place else None


def _written(prop: str) -> tuple[str, str]:
    """Return the local name of a property, and how policies write it."""
    name = terms.local_name(prop)
    return name, name if prop.startswith(_ODRL) else terms.compact(prop)
