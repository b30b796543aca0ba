"""Walk an expanded graph, gathering problems rather than stopping at the first."""

from collections.abc import Iterator, Mapping
from typing import Any

from policy_engine import terms
from policy_engine.errors import Problem, did_you_mean, listed
from policy_engine.policy.hierarchy import PARTS, Hierarchy
from policy_engine.policy.linked_data import POINTER, Graph, Node

_ODRL, _MC = terms.ODRL, terms.MOSAICROWN
_OBJECTS = {f"{_ODRL}{name}" for name in ("permission", "prohibition", "refinement")}
_WIDER = {
    f"{_MC}belongsTo": "party",
    f"{_ODRL}partOf": "party asset",
    f"{_ODRL}includedIn": "action",
    f"{_MC}declinationOf": "purpose",
    f"{terms.SKOS}broader": "purpose",
}
_DESCRIPTIONS = (
    *terms.ANNOTATIONS,
    "http://www.w3.org/2006/vcard/ns#",
    "http://xmlns.com/foaf/0.1/",
)


class Walker:
    """Reads values off nodes; `problems` and `edges` of the hierarchies grow on the way."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.problems = list(graph.problems)
        self.edges: dict[str, list[tuple[str, str]]] = {part: [] for part in PARTS}
        self._read: set[str] = set()

    def hierarchy(self) -> Hierarchy:
        """Return what the nodes walked so far say of who and what belongs to what."""
        return Hierarchy(**{part: tuple(edges) for part, edges in self.edges.items()})

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
        for index, data in enumerate(node.data.get(prop, [])):
            iri = terms.canonical(data.get("@id", ""))
            if "@id" not in data:
                message = f"{terms.compact(prop)} takes an IRI. Given: {shown(data)}."
                self.add("P007", message, "", node, prop, index)
            elif not is_absolute(iri) and not terms_too:
                purposes = terms.instances(f"{_MC}purpose") if role == "purpose" else ()
                hint = did_you_mean(iri, map(terms.local_name, purposes))
                self.add("L006", *relative(iri, hint), node, prop, index)
            elif role == "purpose" and _is_unknown_purpose(iri):
                known = map(terms.local_name, terms.instances(f"{_MC}purpose"))
                message = f"{terms.compact(iri)!r} is not a purpose of the MOSAICrOWN profile."
                hint = did_you_mean(terms.local_name(iri), known)
                self.add("P005", message, hint, node, prop, index)
            else:
                found.append((iri, index))
                named = Node(data, data.get(POINTER, ""))
                if role:
                    self.reference(named, role=role)
                else:
                    self.known_properties(named, set(), "a name")
        return found

    def reference(self, node: Node, role: str = "party asset action purpose") -> None:
        """Take up what a node says of the wider thing that it is part of."""
        iri = terms.canonical(node.data.get("@id", ""))
        inside = {prop for prop, parts in _WIDER.items() if set(parts.split()) & set(role.split())}
        if not is_absolute(iri):
            message = (
                f"Who or what this is about is named by a whole IRI as its uid. Given: {iri!r}."
            )
            self.add("L006", message, "", node, "@id")
        self.known_properties(node, inside, "a party, an asset, an action or a purpose")
        for prop in sorted(inside & node.data.keys()):
            for wide, _ in self.iris(node, prop, role=role):
                for part in set(_WIDER[prop].split()) & set(role.split()):
                    self.edges[part].append((iri, wide))

    def nodes(self, node: Node, prop: str) -> Iterator[Node]:
        """Yield the objects that are the values of a property."""
        for index, data in enumerate(node.data.get(prop, [])):
            if POINTER in data and "@value" not in data:
                yield Node(data, data[POINTER])
            elif prop in _OBJECTS:
                message = f"{terms.compact(prop)} takes an object. Given: {shown(data)}."
                self.add("P007", message, "", node, prop, index)

    def known_properties(self, node: Node, known: set[str], what: str) -> None:
        """Note every property of a node that is neither known nor a mere description."""
        self._read.add(node.pointer)
        for prop in map(terms.canonical, node.data):
            if prop in known or prop.startswith(("@", *_DESCRIPTIONS)):
                continue
            name = terms.compact(prop)
            if prop.startswith(_ODRL) and prop.removeprefix(_ODRL) in _odrl_properties():
                message = f"{name} on {what} is not evaluated by this version, so it is refused."
                self.add("P006", message, "", node, prop, of_key=True)
            else:
                hint = did_you_mean(terms.local_name(prop), map(terms.local_name, known))
                names = sorted(map(terms.compact, known))
                allowed = f"Allowed are {listed(names)}." if names else "None is allowed."
                message = f"{name!r} is no property of {what}. {allowed}"
                self.add("P005", message, hint, node, prop, of_key=True)

    def refuse_unread(self) -> None:
        """Note every object that says something and was never read: nothing goes unheeded.

        Where there are problems already, what is unread may follow from them.
        """
        for node in self.graph.nodes if not self.problems else ():
            self._refuse_unread(node.data)

    def _refuse_unread(self, data: Mapping[str, Any]) -> None:
        pointer = data.get(POINTER, "")
        inner = {prop: values for prop, values in data.items() if not prop.startswith("@")}
        if inner and pointer not in self._read:
            message = "What stands in this object is not evaluated here, so it is refused."
            hint = f"Found: {listed(sorted(map(terms.compact, inner)))}."
            self.problems.append(Problem("P006", message, hint, self.graph.document.place(pointer)))
            return
        for prop, values in inner.items():
            if not prop.startswith(_DESCRIPTIONS) or prop in _WIDER:
                for value in values:
                    self._refuse_unread(value)
        for value in data.get("@list", []):
            self._refuse_unread(value)

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
    ) -> None:
        """Note a problem at a node, or at the nth value (or the key) of one of its properties."""
        place = self.graph.place(node, prop, index, of_key=of_key)
        self.problems.append(Problem(code, message, hint, place))


def _is_unknown_purpose(iri: str) -> bool:
    """Tell whether an IRI is in a namespace whose purposes we know, and is none of them."""
    return iri.startswith((_ODRL, _MC, terms.PE)) and iri not in terms.instances(f"{_MC}purpose")


def _odrl_properties() -> set[str]:
    context = terms.bundled_contexts()["http://www.w3.org/ns/odrl.jsonld"]["@context"]
    return {name for name in context if name[0].islower()}


def is_absolute(iri: str) -> bool:
    """Tell whether an IRI is absolute (RFC 3986, section 3)."""
    scheme, colon, _ = iri.partition(":")
    return bool(colon) and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()


def relative(iri: str, hint: str = "") -> tuple[str, str]:
    """Return what is wrong with a relative IRI, and how to mend it."""
    hint = hint or "Write the whole IRI, such as 'http://example.com/...'."
    return f"{iri!r} is a relative IRI; it would mean something else in another place.", hint


def shown(data: Mapping[str, Any]) -> str:
    """Return an expanded value as a message names it."""
    if "@list" in data:
        return "a list"
    given = data.get("@value", data.get("@id"))
    return "an object without uid" if given is None else repr(given)
