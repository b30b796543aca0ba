"""A vocabulary's text to a Vocabulary: as strict as a policy is read, and as offline."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal

from policy_engine import terms
from policy_engine.errors import Place, PolicyError, Problem, did_you_mean, join_names, place_order
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.structure import SOURCE
from policy_engine.policy.syntax import Syntax
from policy_engine.policy.syntax.detection import read_document
from policy_engine.policy.syntax.json_ld import POINTER, Graph, Node, expand
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, MAX_PROBLEMS, Limits
from policy_engine.policy.vocabulary import ACTION, OPERAND, PURPOSE, Vocabulary
from policy_engine.policy.xsd.literals import can_be_read
from policy_engine.terms import has_known_namespace, is_absolute, relative_iri_problem

_ODRL, _MC, _SKOS = terms.ODRL, terms.MOSAICROWN, terms.SKOS
_RDFS, _OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
_RANGE, _SCHEMES = f"{_RDFS}range", (f"{_RDFS}isDefinedBy", f"{_SKOS}inScheme")
_PARTY, _ASSET, _PROFILE, _NOTHING = "party", "asset", "profile", "nothing"
_KINDS: Mapping[str, tuple[str, ...]] = {
    # The original MOSAICrOWN vocabulary has its actions of the type `odrl:action`.
    ACTION: (ACTION, f"{_ODRL}action", f"{terms.DPV}Processing"),
    OPERAND: (OPERAND,),
    PURPOSE: (PURPOSE, f"{terms.DPV}Purpose"),
    _PARTY: (f"{_ODRL}Party", f"{_ODRL}PartyCollection"),
    _ASSET: (f"{_ODRL}Asset", f"{_ODRL}AssetCollection"),
    _PROFILE: (
        *(f"{_OWL}Ontology", f"{_SKOS}ConceptScheme", f"{_ODRL}Profile"),
        "http://www.w3.org/ns/dx/prof/Profile",
    ),
    _NOTHING: (
        *(f"{terms.RDF}Property", f"{_RDFS}Class", f"{_OWL}Class", f"{_SKOS}Collection"),
        *(f"{_OWL}{name}Property" for name in ("Object", "Datatype", "Annotation", "Transitive")),
    ),
}
"""What is defined by an object of some type."""
_PROPERTIES_BY_KIND: Mapping[str, tuple[str, ...]] = {
    ACTION: (f"{_ODRL}includedIn", f"{_ODRL}implies"),
    OPERAND: (_RANGE,),
    PURPOSE: (f"{_MC}declinationOf", f"{_SKOS}broader"),
    _PARTY: (f"{_MC}belongsTo", f"{_ODRL}partOf", SOURCE),
    _ASSET: (f"{_ODRL}partOf", SOURCE),
}
"""The properties that count, of each kind; by them something without a type is known, too."""
_ROLES: Mapping[str, Part] = {ACTION: "action", PURPOSE: "purpose", _PARTY: "party"}
_NAMES = {ACTION: "an action", OPERAND: "a left operand", PURPOSE: "a purpose"}
_NAMES |= {_PARTY: "a party", _ASSET: "an asset", _PROFILE: "a profile", _NOTHING: "a property"}
_DPV_SCHEMES: Mapping[str, Literal["Purpose", "Processing"]] = {
    PURPOSE: "Purpose",
    ACTION: "Processing",
}
_REMARKS = (
    *("inScheme", "topConceptOf", "hasTopConcept", "member", "notation", "hiddenLabel"),
    *("scopeNote", "editorialNote", "changeNote", "historyNote"),
)
_DESCRIPTIONS = (
    *(f"{_SKOS}{name}" for name in _REMARKS),
    *(f"{_OWL}{name}" for name in ("versionInfo", "versionIRI", "deprecated")),
    *("http://purl.org/vocab/vann/", "http://creativecommons.org/ns#"),
    "http://www.w3.org/2003/06/sw-vocab-status/ns#",
)
_DEFINABLE = "An action, a left operand, a purpose, a party, an asset or a profile"


def read_vocabulary(
    text: str | bytes,
    *,
    source: str = "",
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    syntax: Syntax = "json-ld",
) -> Vocabulary:
    """Read what a text defines: JSON-LD, or another syntax of RDF.

    Actions are of the type `odrl:Action` and have `odrl:includedIn` and `odrl:implies`, left
    operands are of the type `odrl:LeftOperand` and have an `rdfs:range`, purposes are of the type
    `mosaicrown:purpose` or concepts of SKOS and have `mosaicrown:declinationOf` or
    `skos:broader`, parties and assets have what they are part of. Profiles are what terms are
    defined by. Raises PolicyError with every problem found, each with its place: what is not
    understood, and what changes a term of the language.
    """
    graph = expand(read_document(text, source, syntax, limits), contexts or {}, limits)
    reader = _VocabularyReader(graph, source)
    raw = text if isinstance(text, bytes) else text.encode()
    vocabulary = reader.read(sha256(raw).hexdigest())
    if reader.problems:
        problems = sorted(dict.fromkeys(reader.problems), key=place_order)
        raise PolicyError(*problems, source=source)
    return vocabulary


def check_wider(vocabulary: Vocabulary) -> None:
    """Raise PolicyError (P005) for actions that none of the vocabularies, nor ODRL, defines.

    What others are included in by a misspelt name would be found by no rule about it.
    """
    known_actions = {**terms.instances(ACTION), **vocabulary.actions}
    actions = (
        (vocabulary.action(action), source, place) for action, source, place in vocabulary.wider
    )
    undefined = [
        one
        for one in actions
        if one[0] not in known_actions and not terms.is_in_dpv(one[0], "Processing")
    ]
    source = undefined[0][1] if undefined else ""
    reported = [(iri, place) for iri, other, place in undefined if other == source][:MAX_PROBLEMS]
    names = [*map(terms.compact, known_actions)] if reported else []
    problems: list[Problem] = []
    for iri, place in reported:
        message = f"The action {terms.compact(iri)!r} is not defined by ODRL or a vocabulary given."
        hint = did_you_mean(terms.compact(iri), names) or "Define it, with the type odrl:Action."
        problems.append(Problem("P005", message, hint, place))
    if problems:
        raise PolicyError(*sorted(problems, key=place_order), source=source)


class _VocabularyReader(Walker):
    """Reads the terms of one graph."""

    descriptions = (*Walker.descriptions, *_DESCRIPTIONS)

    def __init__(self, graph: Graph, source: str) -> None:
        super().__init__(graph)
        self.source = source
        self.terms: dict[str, terms.Term] = {}
        self.profiles: set[str] = set()
        self.wider: list[tuple[str, str, Place]] = []
        self._kinds_by_iri: dict[str, set[str]] = {}

    def read(self, digest: str) -> Vocabulary:
        for top in self.graph.nodes:
            for node in _nested_nodes(top):
                self._node(node)
        self.refuse_unread()
        if not (self.problems or self.terms or self.profiles or any(self.edges.values())):
            message = f"The vocabulary defines nothing. {_DEFINABLE} may be defined."
            place = self.graph.document.place("")
            self.problems.append(Problem("P018", message, "", place))
        hierarchy = self.hierarchy()
        terms_ = MappingProxyType(self.terms)
        profiles = frozenset(self.profiles)
        return Vocabulary(terms_, hierarchy, profiles, (digest,), tuple(self.wider))

    def canonical_action(self, iri: str) -> str:
        """Return an action as it is: which are defined is known once all vocabularies are read."""
        return iri

    def check_types(self, node: Node, role: str) -> None:
        """Leave types alone: they say here what is defined, and were looked at for that."""

    # -- one thing ----------------------------------------------------------------------------

    def _node(self, node: Node) -> None:
        kinds = self._kinds(node)
        iri = terms.canonical(node.data.get("@id", ""))
        known_kinds = self._kinds_by_iri.setdefault(iri, set()) if is_absolute(iri) else set()
        known_kinds |= kinds - {_NOTHING}
        if len(known_kinds) > 1 and known_kinds != {_PARTY, _ASSET}:
            names = join_names([_NAMES[kind] for kind in sorted(known_kinds)])
            message = f"{terms.compact(iri)!r} is defined as {names}."
            self.add("P007", message, "Give each a name of its own.", node)
            return
        properties = {prop for kind in kinds for prop in _PROPERTIES_BY_KIND.get(kind, ())}
        subject = join_names([_NAMES[kind] for kind in sorted(kinds)], "or") if kinds else "a term"
        before = len(self.problems)
        self.check_properties(node, properties, subject)
        if not is_absolute(iri) or iri.startswith("_:"):
            if kinds - {_NOTHING}:
                self.add("L006", *relative_iri_problem(iri or "_:"), node, "@id" if iri else "")
            return
        self._check_language(node, iri, kinds)
        if len(self.problems) == before:
            self._define(node, iri, kinds)

    def _kinds(self, node: Node) -> set[str]:
        """Return what an object defines, by its types or, without any, by what it says."""
        matched, properties = set(), []
        for index, name in enumerate(node.data.get("@type", [])):
            iri = terms.canonical(name)
            kinds = {kind for kind, types in _KINDS.items() if iri in types}
            matched |= kinds
            properties.append(iri)
            if not kinds and (has_known_namespace(iri) or not is_absolute(iri)):
                message = f"{_DEFINABLE} is defined by a vocabulary. Given: {terms.compact(iri)!r}."
                types = [terms.local_name(one) for iris in _KINDS.values() for one in iris[:1]]
                self.add("P007", message, "", node, "@type", index, allowed=types, word=name)
        if matched:
            return matched - {_NOTHING} or matched
        implied = {
            kind for kind, props in _PROPERTIES_BY_KIND.items() if set(props) & node.data.keys()
        }
        implied -= {OPERAND}
        if _PARTY in implied and f"{_MC}belongsTo" in node.data:
            implied.discard(_ASSET)
        return implied or ({PURPOSE} if f"{_SKOS}Concept" in properties else set())

    def _define(self, node: Node, iri: str, kinds: set[str]) -> None:
        for prop in _SCHEMES if kinds - {_NOTHING} else ():
            schemes = (iri for iri, _ in _property_iris(node, prop))
            self.profiles |= {
                iri for iri in schemes if is_absolute(iri) and not has_known_namespace(iri)
            }
        if _PROFILE in kinds:
            self.profiles.add(iri)
            return
        role = " ".join(
            _ROLES.get(kind, kind) for kind in sorted(kinds) if kind in _PROPERTIES_BY_KIND
        )
        if OPERAND not in kinds and role:
            self.read_membership(node, role=role)
        for kind in kinds & {ACTION, OPERAND, PURPOSE}:
            facts = {"takes": self._takes(node)} if kind == OPERAND else {}
            term = terms.Term(iri, (kind,), _definition(node), MappingProxyType(facts))
            first = self.terms.setdefault(iri, term)
            if set(first.iris("takes")) != set(term.iris("takes")):
                message = f"{terms.compact(iri)!r} is already defined, with other data types."
                self.add("P018", message, "Define it once.", node, _RANGE)
            elif term.definition and not first.definition:
                self.terms[iri] = term
        for prop in _PROPERTIES_BY_KIND[ACTION] if ACTION in kinds else ():
            for wider, index in _property_iris(node, prop):
                self.wider.append((wider, self.source, self.graph.place(node, prop, index)))

    def _takes(self, node: Node) -> tuple[str, ...]:
        """Return the data types that the values of a left operand have; none for names."""
        data_types = []
        for kind, index in self.iris(node, _RANGE):
            if kind.startswith(terms.XSD) and not can_be_read(kind):
                message = f"{terms.compact(kind)!r} is not a data type that can be read."
                self.add("P007", message, "", node, _RANGE, index)
            data_types.append(kind)
        return tuple(data_types) if all(one.startswith(terms.XSD) for one in data_types) else ()

    # -- the terms of the language ------------------------------------------------------------

    def _check_language(self, node: Node, iri: str, kinds: set[str]) -> None:
        """Note statements on a term of the language that contradict the language."""
        if iri.startswith(terms.DPV):
            self._check_dpv(node, iri, kinds)
            return
        term = terms.vocabulary().get(iri)
        is_new = iri.startswith(_MC) and term is None and not kinds & {_PARTY, _ASSET}
        if not has_known_namespace(iri) or is_new or not kinds or kinds == {_PROFILE}:
            return
        if term is None:
            language_terms = [one for one in terms.vocabulary() if has_known_namespace(one)]
            message = f"{terms.compact(iri)!r} is not a term of ODRL or of the profile."
            names = map(terms.local_name, language_terms)
            word = terms.local_name(iri)
            self.add("P005", message, "", node, "@id", word=word, allowed=names)
            return
        for kind in kinds - {_NOTHING}:
            if kind not in term.types:
                name = terms.compact(iri)
                message = f"{name!r} is a term of the language, not {_NAMES[kind]}."
                self.add("P018", message, "Define a term of your own.", node, "@id")
                return
            for prop in _PROPERTIES_BY_KIND[kind]:
                self._check_stated(node, prop, term)

    def _check_stated(self, node: Node, prop: str, term: terms.Term) -> None:
        for value, index in _property_iris(node, prop):
            if value not in _stated_values(prop, term):
                name = terms.compact(term.iri)
                scheme = "the DPV" if term.iri.startswith(terms.DPV) else "the language"
                message = (
                    f"{name!r} is a term of {scheme}, which does not say that its "
                    f"{terms.local_name(prop)} is {terms.compact(value)!r}."
                )
                self.add("P018", message, "Define a term of your own.", node, prop, index)

    def _check_dpv(self, node: Node, iri: str, kinds: set[str]) -> None:
        schemes = {kind: terms.dpv_terms(name) for kind, name in _DPV_SCHEMES.items()}
        for kind, scheme in schemes.items():
            if kind in kinds and iri not in scheme:
                names = map(terms.local_name, scheme)
                message = f"{terms.compact(iri)!r} is not {_NAMES[kind]} of the DPV."
                word = terms.local_name(iri)
                self.add("P005", message, "", node, "@id", word=word, allowed=names)
        for prop in (
            _PROPERTIES_BY_KIND[PURPOSE] if PURPOSE in kinds and iri in schemes[PURPOSE] else ()
        ):
            self._check_stated(node, prop, schemes[PURPOSE][iri])


def _property_iris(node: Node, prop: str) -> Iterator[tuple[str, int]]:
    """Yield the IRIs under a property, each with its place among the values."""
    for index, data in enumerate(node.data.get(prop, [])):
        if "@id" in data:
            yield terms.canonical(data["@id"]), index


def _stated_values(prop: str, term: terms.Term) -> set[str]:
    """Return what the language says under a property of a term of its own."""
    if prop == _RANGE:
        return {*term.iris("takes"), *term.iris("range")}
    if prop == f"{_ODRL}implies":
        return set(Hierarchy().needs(term.iri))
    part: Part = "action" if prop == f"{_ODRL}includedIn" else "purpose"
    return set(Hierarchy().wider(part, term.iri))


def _definition(node: Node) -> str:
    """Return what a term means in words, where the text says it."""
    for prop in (f"{_SKOS}definition", f"{_SKOS}prefLabel", f"{_RDFS}label", f"{_RDFS}comment"):
        for data in node.data.get(prop, []):
            if isinstance(data.get("@value"), str):
                return str(data["@value"])
    return ""


def _nested_nodes(node: Node) -> Iterator[Node]:
    """Yield an object and those within it that are more than names, at any depth.

    A nested description says as much as one beside it: RDF does not nest.
    """
    if node.data.keys() - {"@id", "@list", POINTER}:
        yield node
    for prop, values in node.data.items():
        for data in values if prop == "@list" or not prop.startswith("@") else ():
            if "@value" not in data:
                yield from _nested_nodes(Node(data, data.get(POINTER, "")))
