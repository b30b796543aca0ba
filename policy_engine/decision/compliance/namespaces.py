"""The namespaces whose terms texts are read for, and what passes for them at a glance."""

import re
from collections.abc import Mapping

from policy_engine import terms
from policy_engine.decision.compliance.names import DUBLIN_CORE, ELEMENTS
from policy_engine.policy.owners.described import DCT_PROPERTIES
from policy_engine.policy.reading.lenient import is_nearly_odrl

RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
_W3 = r"https?://(www\.)?w3\.org(:[0-9]+)?/+"
_W3ID = r"https?://(www\.)?w3id\.org(:[0-9]+)?/+"
_LIKE: Mapping[str, str] = {
    terms.SOTW: rf"sotw:|{_W3ID}force/+sotw([/#]|$)",
    terms.REPORT: rf"report:|{_W3ID}force/+compliance-report([/#]|$)",
    DUBLIN_CORE: r"dct(erms)?:(issued|isReplacedBy)$"
    r"|https?://(www\.)?purl\.org(:[0-9]+)?/+dc/+.*[/#](issued|isReplacedBy)$",
    terms.MOSAICROWN: r"mosaicrown:"
    r"|https?://((www\.)?mosaicrown\.(eu|org)|localhost)(:[0-9]+)?/+ns/+mosaicrown([/#]|$)",
    terms.PE: rf"pe:|{_W3ID}policy-engine/+ns([/#]|$)",
    terms.SKOS: rf"skos:|{_W3}([0-9]+/+[0-9]+/+|ns/+)?skos(/+core)?([/#]|$)",
    RDFS: rf"rdfs:|{_W3}([0-9]+/+[0-9]+/+)?rdf-schema([/#]|$)",
    terms.RDF: rf"rdf:|{_W3}([0-9]+/+[0-9]+/+)?(22-)?rdf-syntax-ns([/#]|$)",
    OWL: rf"owl:|{_W3}([0-9]+/+[0-9]+/+)?owl([/#]|$)",
    terms.DPV: rf"dpv:|({_W3ID}|{_W3}ns/+)dpv([-/#]|$)",
}
_NEARLY = {read: re.compile(like, re.IGNORECASE) for read, like in _LIKE.items()}
_DPV_EXTENSION = re.compile(
    r"https://w3id\.org/dpv/(dpv-)?(ai|gdpr|justifications|legal|loc|pd|rights|risk|sector"
    r"|standards|tech)(/[a-z0-9-]+)*#"
)
"""The vocabularies that extend the Data Privacy Vocabulary, and are others than that."""
_OF_SKOS = (
    *("Collection", "Concept", "ConceptScheme", "OrderedCollection", "altLabel", "broadMatch"),
    *("broader", "broaderTransitive", "changeNote", "closeMatch", "definition", "editorialNote"),
    *("exactMatch", "example", "hasTopConcept", "hiddenLabel", "historyNote", "inScheme"),
    *("mappingRelation", "member", "memberList", "narrowMatch", "narrower", "narrowerTransitive"),
    *("notation", "note", "prefLabel", "related", "relatedMatch", "scopeNote", "semanticRelation"),
    "topConceptOf",
)
_OF_RDFS = (
    *("Class", "Container", "ContainerMembershipProperty", "Datatype", "Literal", "Resource"),
    *("comment", "domain", "isDefinedBy", "label", "member", "range", "seeAlso", "subClassOf"),
    "subPropertyOf",
)
_OF_RDF = (
    *("Alt", "Bag", "CompoundLiteral", "HTML", "JSON", "List", "Property", "Seq", "Statement"),
    *("XMLLiteral", "direction", "first", "langString", "language", "nil", "object", "predicate"),
    *("rest", "subject", "type", "value"),
)
_CLASSES_OF_DCMI = (
    *("Agent", "AgentClass", "BibliographicResource", "Box", "DCMIType", "DDC", "FileFormat"),
    *("Frequency", "IMT", "ISO3166", "ISO639-2", "ISO639-3", "Jurisdiction", "LCC", "LCSH"),
    *("LicenseDocument", "LinguisticSystem", "Location", "LocationPeriodOrJurisdiction", "MESH"),
    *("MediaType", "MediaTypeOrExtent", "MethodOfAccrual", "MethodOfInstruction", "NLM"),
    *("Period", "PeriodOfTime", "PhysicalMedium", "PhysicalResource", "Point", "Policy"),
    *("ProvenanceStatement", "RFC1766", "RFC3066", "RFC4646", "RFC5646", "RightsStatement"),
    *("SizeOrDuration", "Standard", "TGN", "UDC", "URI", "W3CDTF"),
)
"""The classes, encoding schemes and data types of the DCMI Metadata Terms."""
_ELEMENTS = (
    *("contributor", "coverage", "creator", "date", "description", "format", "identifier"),
    *("language", "publisher", "relation", "rights", "source", "subject", "title", "type"),
)
"""The Dublin Core Metadata Element Set 1.1."""
_COMPLETE: Mapping[str, frozenset[str]] = {
    terms.SKOS: frozenset(_OF_SKOS),
    RDFS: frozenset(_OF_RDFS),
    terms.RDF: frozenset(_OF_RDF),
    DUBLIN_CORE: DCT_PROPERTIES.union(_CLASSES_OF_DCMI),
    ELEMENTS: frozenset(_ELEMENTS),
}
"""The local names of the vocabularies of others that are read, all of them."""
_NUMBERED = re.compile("_[1-9][0-9]*")
_TITLES = {terms.ODRL: "ODRL", terms.MOSAICROWN: "the MOSAICrOWN profile"}
_TITLES |= {terms.PE: "policy_engine", terms.SKOS: "SKOS", RDFS: "RDF Schema", terms.RDF: "RDF"}
_TITLES |= dict.fromkeys((DUBLIN_CORE, ELEMENTS), "DCMI")


def unknown_term(name: str, defined: Mapping[str, object]) -> str:
    """Return the title of the vocabulary that a name is said to be of, and is not; else nothing.

    Some may be `defined` by vocabularies that were given.
    """
    for namespace, title in _TITLES.items():
        if name.startswith(namespace) and name != namespace:
            local, names = name.removeprefix(namespace), _COMPLETE.get(namespace)
            if names is None:
                return "" if name in terms.vocabulary() or name in defined else title
            is_numbered = namespace == terms.RDF and _NUMBERED.fullmatch(local)
            return "" if local in names or is_numbered else title
    return ""


def nearly(name: str) -> str:
    """Return the namespace that a name is almost in; empty if there is none."""
    if is_nearly_odrl(name):
        return terms.ODRL
    for read, pattern in _NEARLY.items():
        if not name.startswith(read) and pattern.match(name) and not _is_other(name):
            return read
    return ""


def _is_other(name: str) -> bool:
    is_profile = name == terms.MOSAICROWN.rstrip("/")
    return is_profile or _DPV_EXTENSION.match(name) is not None
