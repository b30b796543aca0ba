"""Walk an expanded graph, gathering problems rather than stopping at the first."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
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
    property_values,
)
from policy_engine.policy.structure import SOURCE, odrl_properties
from policy_engine.policy.syntax.contexts import replaced
from policy_engine.policy.syntax.json_ld import MAX_PROBLEMS, POINTER, Graph, Node
from policy_engine.policy.vocabulary import NONE, Vocabulary
from policy_engine.terms import has_known_namespace, is_absolute, relative_iri_problem

_ODRL, _MC = terms.ODRL, terms.MOSAICROWN
_WIDER = {
    f"{_MC}belongsTo": "party",
    f"{_ODRL}partOf": "party asset",
    f"{_ODRL}includedIn": "action",
    f"{_ODRL}implies": "implied",
    f"{_MC}declinationOf": "purpose",
    f"{terms.SKOS}broader": "purpose",
}
_OF_ACTIONS = (f"{_ODRL}includedIn", f"{_ODRL}implies")
_OF_PURPOSES = (f"{_MC}declinationOf", f"{terms.SKOS}broader")
_OF_MEMBERS = ("party", "asset", "party asset")
_CLASSES = {
    "party": (f"{_ODRL}Party", f"{_ODRL}PartyCollection"),
    "asset": (f"{_ODRL}Asset", f"{_ODRL}AssetCollection"),
    "action": (f"{_ODRL}Action",),
    "purpose": (f"{_MC}purpose",),
}


class Walker:
    """Reads values off nodes; `problems` and `edges` of the hierarchies grow on the way.

    A value that is no more than a name stands for the node of that name elsewhere in the text.
    The terms of the `vocabulary` are known beside those of the language. `descriptions` is how
    properties begin that change nothing. Where it `is_lenient`, what `lenient.py` tells is let
    pass.
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
        self._read: set[str] = set()
        self._told: dict[str, int] = {}
        self._plain: dict[str, set[str]] = defaultdict(set)
        self._named: dict[str, list[Node]] = defaultdict(list)
        for top in graph.nodes:
            # Read leniently, all nodes are at the top, and one that has but a type has its place.
            found = [(top.data["@id"], top)] if is_lenient else described_nodes(top.data)
            for name, node in found:
                self._named[name].append(node)

    def hierarchy(self) -> Hierarchy:
        """Return what the nodes walked so far say of who and what belongs to what."""
        return Hierarchy(**{part: tuple(dict.fromkeys(all_)) for part, all_ in self.edges.items()})

    def names(self, node: Node, prop: str, role: str) -> tuple[str, ...]:
        """Return the IRIs of the parties, assets or purposes that a property names."""
        return tuple(iri for iri, _ in self.iris(node, prop, role=role))

    def iris(
        self, node: Node, prop: str, *, role: str = "", terms_too: bool = False
    ) -> list[tuple[str, int]]:
        """Return the IRIs that are the values of a property, each with its place among them.

        With a `role`, what their nodes say of wider things is taken up; with `terms_too`, names
        that are no IRIs are left for the caller to judge.
        """
        found = []
        for index in range(len(node.data.get(prop, []))):
            iri = self.iri(node, prop, index, role=role, terms_too=terms_too)
            if iri is not None:
                found.append((iri, index))
        return found

    def iri(
        self, node: Node, prop: str, index: int, *, role: str = "", terms_too: bool = False
    ) -> str | None:
        """Return the IRI that is the nth value of a property, None where it is none."""
        data = node.data[prop][index]
        iri = terms.canonical(data.get("@id", ""))
        if "@id" not in data:
            message = f"{terms.compact(prop)} takes an IRI. Given: {format_value(data)}."
            self.add("P007", message, "", node, prop, -1 if "@list" in data else index)
        elif not self.is_name(iri) and not terms_too:
            purposes = self.purposes() if role == "purpose" else ()
            found = [one for one in purposes if terms.local_name(one) == iri]
            hint = f"Write {terms.compact(found[0])!r}." if found else ""
            near = [] if hint else map(terms.local_name, purposes)
            self.add(
                "L006", *relative_iri_problem(iri, hint), node, prop, index, given=iri, known=near
            )
        elif role == "purpose" and self.is_unknown_purpose(iri):
            self.unknown_purpose(iri, node, prop, index)
        elif role in _OF_MEMBERS and has_known_namespace(iri) and not self.is_lenient:
            what = role.replace(" ", " and no ")
            message = f"{terms.compact(iri)!r} is a term of the language, and names no {what}."
            self.add("P005", message, "", node, prop, index)
        else:
            named = Node(data, data.get(POINTER, ""))
            if role:
                self.reference(named, role=role)
            else:
                self.known_properties(named, set(), "a name")
            return iri
        return None

    def reference(self, node: Node, role: str = "party asset action purpose") -> None:
        """Take up what a node says of the wider thing that it is part of."""
        role = f"{role} implied" if "action" in role else role
        node = self.linked(node.data) if self.is_lenient else node
        iri = terms.canonical(node.data.get("@id", ""))
        inside = _inside_of(role)
        if not self.is_name(iri):
            message = (
                f"Who or what this is about is named by a whole IRI as its uid. Given: {iri!r}."
            )
            self.add("L006", message, "", node, "@id")
        self.check_types(node, role)
        is_collection = bool({"party", "asset"} & set(role.split()))
        known = inside | ({SOURCE} if is_collection else set())
        what = "a party, an asset, an action or a purpose"
        self.known_or_foreign(node, known, what)
        if {*_OF_PURPOSES} & node.data.keys() & inside and self.is_unknown_purpose(iri):
            self.unknown_purpose(iri, node, "@id")
        if not self.is_lenient:
            self._take_up(node, role)

    def take_up_all(self) -> None:
        """Take up what all nodes say of the wider things that they are part of, read or not."""
        for node in self.graph.nodes:
            self._take_up(node, " ".join(self.edges))

    def _take_up(self, node: Node, role: str) -> None:
        iri = terms.canonical(node.data.get("@id", ""))
        for prop in sorted(_inside_of(role) & node.data.keys()):
            of_wide = "" if self.is_lenient else _role_of(prop, role)
            for wide, _ in self.iris(node, prop, role=of_wide):
                self._edge(_WIDER[prop], role, iri, wide)
        for source, _ in self.iris(node, SOURCE) if {"party", "asset"} & set(role.split()) else ():
            self._edge("party asset", role, source, iri)

    def check_types(self, node: Node, role: str) -> None:
        """Note a type of the language that what a node stands for does not have.

        What may be several things, as in a vocabulary, is left alone, and so are foreign types.
        """
        known = () if self.is_lenient else _CLASSES.get(role, ())
        for index, name in enumerate(node.data.get("@type", []) if known else ()):
            iri = terms.canonical(name)
            if iri not in known and (has_known_namespace(iri) or not is_absolute(iri)):
                names = [terms.local_name(one) for one in known]
                message = (
                    f"The type is {join_names(names, 'or')} here. Given: {terms.compact(iri)!r}."
                )
                given = terms.local_name(iri)
                self.add("P007", message, "", node, "@type", index, given=given, known=names)

    def beside(self, node: Node) -> None:
        """Take up what a node that nothing refers to says of the wider thing it is part of."""
        said = [prop for prop in node.data if not prop.startswith(("@", *DESCRIPTIONS))]
        if said and not {*_WIDER, SOURCE} & set(said):
            self._read.add(node.pointer)
            found = join_names(sorted(map(terms.compact, said)))
            message = f"No policy refers to this object, so what it says would be lost: {found}."
            self.add("P006", message, "Refer to it by its uid, or remove it.", node)
        else:
            self.reference(node)

    def _edge(self, parts: str, role: str, narrow: str, wide: str) -> None:
        for part in self.edges:
            if part in parts.split() and part in role.split() and narrow != wide:
                are_actions = part in ("action", "implied")
                edge = (self.action_of(narrow), self.action_of(wide)) if are_actions else ()
                self.edges[part].append(edge or (narrow, wide))

    def action_of(self, iri: str) -> str:
        """Return an action, by ODRL's name where the vocabulary defines no other."""
        return self.vocabulary.action(iri)

    def purposes(self) -> tuple[str, ...]:
        """Return the purposes that are known by name, as IRIs."""
        return (*terms.instances(f"{_MC}purpose"), *self.vocabulary.purposes)

    def is_unknown_purpose(self, iri: str) -> bool:
        """Tell whether an IRI is in a namespace whose purposes we know, and is none of them."""
        if self.is_lenient:
            return False
        if iri.startswith(terms.DPV):
            return not (iri in self.vocabulary.purposes or terms.is_in_dpv(iri, "Purpose"))
        return has_known_namespace(iri) and iri not in self.purposes()

    def unknown_purpose(self, iri: str, node: Node, prop: str, index: int = 0) -> None:
        """Note a purpose that its namespace does not have."""
        scheme, known = "the MOSAICrOWN profile", self.purposes()
        if iri.startswith(terms.DPV):
            scheme, known = "the Data Privacy Vocabulary", (*terms.dpv_terms("Purpose"),)
        message = f"{terms.compact(iri)!r} is not a purpose of {scheme}."
        given, locals_ = terms.local_name(iri), map(terms.local_name, known)
        self.add("P005", message, "", node, prop, index, given=given, known=locals_)

    def linked(self, data: Mapping[str, Any]) -> Node:
        """Return the node that a value is, or that stands elsewhere in the text under its name."""
        node = Node(data, data.get(POINTER, ""))
        if "@id" not in data or has_statements(data):
            return node
        found = self._named.get(terms.canonical(data["@id"]))
        return found[0] if found else node

    def said_once(self, node: Node, code: str, what: str) -> None:
        """Note a node whose name another one has before it: in RDF they would be one."""
        name = terms.canonical(node.data["@id"]) if "@id" in node.data else None
        first = self._named[name][0] if name in self._named else node
        if first.pointer != node.pointer:
            line = self.graph.place(first).line
            message = f"{what} the uid {name!r}; the first is in line {line}."
            self.add(code, message, "", node)

    def nodes(self, node: Node, prop: str) -> Iterator[Node]:
        """Yield the objects that are the values of a property, each with what is said of it."""
        for index, data in enumerate(property_values(node, prop)):
            found = self.linked(data)
            if "@value" not in data and (self.is_lenient or found.data.keys() - {"@id", POINTER}):
                yield found
                continue
            message = f"{terms.compact(prop)} takes an object. Given: {format_value(data)}."
            hint = "Nothing in the text says what it is." if "@id" in data else ""
            self.add("P007", message, hint, node, prop, index)

    def known_or_foreign(self, node: Node, known: AbstractSet[str], what: str) -> None:
        """Note what `known_properties` does; read leniently, but those of other vocabularies."""
        if self.is_lenient:
            known = known | {prop for prop in node.data if not prop.startswith(("@", _ODRL))}
        self.known_properties(node, known, what)

    def known_properties(self, node: Node, known: AbstractSet[str], what: str) -> None:
        """Note every property of a node that is neither known nor a mere description."""
        self._read.add(node.pointer)
        for prop in map(terms.canonical, node.data):
            if prop in known or prop.startswith(("@", *self.descriptions)):
                continue
            name = terms.compact(prop)
            if prop.startswith(_ODRL) and prop.removeprefix(_ODRL) in odrl_properties():
                message = f"{name} may not stand on {what}, or means nothing there."
                self.add("P006", message, "", node, prop, of_key=True)
            else:
                names = sorted(map(terms.compact, known))
                allowed = f"Allowed are {join_names(names)}." if names else "None is allowed."
                allowed = self.once(allowed, "allowed", node, prop) if names else allowed
                message = f"{name!r} is not a property of {what}. {allowed}"
                given, locals_ = terms.local_name(prop), map(terms.local_name, known)
                self.add("P005", message, "", node, prop, of_key=True, given=given, known=locals_)

    def uid_of(self, node: Node) -> str:
        """Return the name of a node, empty where it has none or one for this text alone."""
        uid = str(terms.canonical(node.data.get("@id", "_:")))
        if uid.startswith("_:"):
            return uid if self.is_lenient else ""
        if not is_absolute(uid):
            self.add("L006", *relative_iri_problem(uid), node, "@id")
        return uid

    def mentions(self, node: Node, namespace: str) -> bool:
        """Tell whether a node, or one that it leads to, uses a name of a namespace."""
        plain = self._plain[namespace]
        seen, queue = {node.pointer}, [node.data]
        for data in queue:
            names = [data.get("@id", ""), *data.get("@type", []), *data]
            if any(isinstance(name, str) and name.startswith(namespace) for name in names):
                return True
            for inner in map(self.linked, child_values(data)):
                is_new = inner.pointer not in seen and inner.pointer not in plain
                if is_new or (POINTER not in inner.data and "@value" not in inner.data):
                    seen.add(inner.pointer)
                    queue.append(inner.data)
        plain |= seen - {""}
        return False

    def is_name(self, iri: str) -> bool:
        """Tell whether an IRI names something: a whole one does, and leniently a blank node."""
        return is_absolute(iri) or (self.is_lenient and iri.startswith("_:"))

    def unread(self) -> Iterator[Node]:
        """Yield the nodes at the top of the text that were not read yet."""
        if not self.is_lenient:
            yield from (node for node in self.graph.nodes if node.pointer not in self._read)

    def refuse_unread(self) -> None:
        """Note every object that says something and was never read: nothing goes unheeded.

        Where there are problems already, what is unread may follow from them.
        """
        for node in self.graph.nodes if not (self.problems or self.is_lenient) else ():
            self._refuse_unread(node.data)

    def _refuse_unread(self, data: Mapping[str, Any]) -> None:
        pointer = data.get(POINTER, "")
        inner = [prop for prop in data if not prop.startswith(("@", *DESCRIPTIONS))]
        if inner and pointer not in self._read:
            message = "What stands in this object is not evaluated here, so it is refused."
            hint = f"Found: {join_names(sorted(map(terms.compact, inner)))}."
            self.problems.append(Problem("P006", message, hint, self.graph.document.place(pointer)))
            return
        for value in child_values(data):
            self._refuse_unread(value)

    def add_strict(
        self, code: str, message: str, hint: str, node: Node, prop: str = "", index: int = 0
    ) -> None:
        """Note a problem (`add`) of what passes when reading leniently."""
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
        given: str = "",
        known: Iterable[str] = (),
        mended: str = "",
    ) -> None:
        """Note a problem at a node, or at the nth value (or the key) of one of its properties.

        What was `given` is `mended`, or by the nearest of the `known` names. No more than
        MAX_PROBLEMS are noted.
        """
        if len(self.problems) >= MAX_PROBLEMS:
            return
        place = self.graph.place(node, prop, index, of_key=of_key)
        names = list(known) if given else []
        hint = did_you_mean(given, names) or hint
        near = mended or nearest(given, names)
        fix = self._fix(place.pointer, given, near, of_key=of_key) if near else None
        self.problems.append(Problem(code, message, hint, place, fix))

    def once(self, sentence: str, what: str, node: Node, prop: str) -> str:
        """Return a long sentence, and where it stands if it was told before."""
        line = self.graph.place(node, prop).line
        first = self._told.setdefault(sentence, line)
        return sentence if first == line else f"See line {first} for what is {what}."

    def _fix(self, pointer: str, given: str, near: str, *, of_key: bool) -> Fix | None:
        """Return the text that stands at a pointer with one name for another, prefix kept."""
        written = self.graph.document.string(pointer, of_key=of_key)
        if written is None or not written.endswith(given):
            return None
        text = written.removesuffix(given) + near
        return replaced(self.graph.document, pointer, text, of_key=of_key)

    def first_member(self, node: Node, text: str) -> Fix | None:
        """Return the text as the first member of the object that a node is in the text."""
        place = self.graph.document.opening(node.pointer)
        return Fix(place, place, f"{text}, ") if place else None


def _inside_of(role: str) -> set[str]:
    """Return the properties that say what something in a role is part of."""
    return {prop for prop, parts in _WIDER.items() if set(parts.split()) & set(role.split())}


def _role_of(prop: str, role: str) -> str:
    """Return what the values of a property are that says what something is part of."""
    parts = ("action",) if prop in _OF_ACTIONS else _WIDER[prop].split()
    return " ".join(part for part in parts if part in role.split())
