"""Owners as a catalog of datasets says them (DCAT 3, in any syntax of RDF)."""

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from policy_engine import terms
from policy_engine.errors import PolicyError, Problem, RequestError, place_order
from policy_engine.policy.owners.model import Owners, OwnerStatement
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.syntax import Syntax
from policy_engine.policy.syntax.detection import read_document
from policy_engine.policy.syntax.json_ld import POINTER, Node, expand
from policy_engine.terms import has_known_namespace, is_absolute, relative_iri_problem

_DCT, _DCAT = "http://purl.org/dc/terms/", "http://www.w3.org/ns/dcat#"
_PUBLISHER, _OLD_PUBLISHER = f"{_DCT}publisher", "http://purl.org/dc/elements/1.1/publisher"
_POLICY = f"{terms.ODRL}hasPolicy"
_DELEGATES, _REGULATOR = f"{terms.PE}delegates", f"{terms.PE}regulator"
_CONTAINER_PROPERTIES = (f"{terms.ODRL}partOf", f"{_DCT}isPartOf", f"{_DCAT}inSeries")
_PARTS = f"{_DCT}hasPart"
_STATEMENT_PROPERTIES = (
    _PUBLISHER,
    _POLICY,
    _DELEGATES,
    _REGULATOR,
    _PARTS,
    *_CONTAINER_PROPERTIES,
)
_NON_ASSET_TYPES = {f"{_DCAT}{name}" for name in ("Catalog", "CatalogRecord", "Distribution")}
"""What has publishers who own no data by that."""
DCT_PROPERTIES = frozenset(
    (
        *("abstract", "accessRights", "accrualMethod", "accrualPeriodicity", "accrualPolicy"),
        *("alternative", "audience", "available", "bibliographicCitation", "conformsTo"),
        *("contributor", "coverage", "created", "creator", "date", "dateAccepted"),
        *("dateCopyrighted", "dateSubmitted", "description", "educationLevel", "extent"),
        *("format", "hasFormat", "hasPart", "hasVersion", "identifier", "instructionalMethod"),
        *("isFormatOf", "isPartOf", "isReferencedBy", "isReplacedBy", "isRequiredBy"),
        *("isVersionOf", "issued", "language", "license", "mediator", "medium", "modified"),
        *("provenance", "publisher", "references", "relation", "replaces", "requires"),
        *("rights", "rightsHolder", "source", "spatial", "subject", "tableOfContents"),
        *("temporal", "title", "type", "valid"),
    )
)
"""The properties of the DCMI Metadata Terms (2020, section 2)."""


def read_catalog(
    text: str | bytes,
    source: str = "",
    contexts: Mapping[str, Any] | None = None,
    syntax: Syntax = "json-ld",
) -> Owners:
    """Return who owns what a catalog describes.

    The `dct:publisher` of a dataset owns it; without one, the assigner of the policy that
    `odrl:hasPolicy` names does. `pe:delegates` speak for it beside its owner, and `pe:regulator`
    says whose prohibitions count. What is a part of what is said by `odrl:partOf`,
    `dct:isPartOf`, `dcat:inSeries` or `dct:hasPart`. All else that a catalog says is left aside,
    but for terms that ODRL, the profile and DCMI do not have. Raises RequestError (D004) with all
    that is wrong, each with its place.
    """
    try:
        graph = expand(read_document(text, source, syntax), contexts or {})
    except PolicyError as error:
        raise RequestError(*map(_as_owner_problem, error.problems), source=source) from None
    reader = _CatalogReader(graph)
    statements = () if reader.problems else tuple(reader.statements())
    if not (reader.problems or statements):
        message = "The catalog does not say who owns anything."
        reader.add("D004", message, "Say it by dct:publisher.", Node({}, ""))
    if reader.problems:
        problems = sorted(map(_as_owner_problem, dict.fromkeys(reader.problems)), key=place_order)
        raise RequestError(*problems, source=source)
    return Owners(statements, source)


def catalog_of(document: Mapping[str, Any], contexts: Mapping[str, Any] | None = None) -> Owners:
    """Return who owns what a catalog describes that is JSON-LD as Python has it."""
    try:
        text = json.dumps(document)
    except (TypeError, ValueError, RecursionError):
        raise RequestError.of("D004", "The owners hold what JSON has no form for.") from None
    return read_catalog(text, "", contexts)


def _as_owner_problem(problem: Problem) -> Problem:
    return replace(problem, code="D004")


class _CatalogReader(Walker):
    """Reads what a catalog states of assets."""

    def check_properties(self, node: Node, allowed: AbstractSet[str], subject: str) -> None:
        """Note the terms of the language that state nothing here, and misspelt ones of DCMI."""
        properties = {terms.canonical(prop): prop for prop in node.data}
        for prop in (one for one in properties if one.startswith(_DCT)):
            name, names = prop.removeprefix(_DCT), DCT_PROPERTIES
            if name not in names:
                message = f"{prop!r} is not a term of DCMI, so that it states nothing."
                self.add("D004", message, "", node, prop, of_key=True, word=name, allowed=names)
        foreign = {prop for prop in properties if not has_known_namespace(prop)}
        super().check_properties(node, {*allowed, *_STATEMENT_PROPERTIES, *foreign}, subject)

    def check_types(self, node: Node, role: str) -> None:
        """Leave types alone: a catalog has many of them."""

    def statements(self) -> Iterator[OwnerStatement]:
        first: dict[str, Node] = {}
        for node in (nested for top in self.graph.nodes for nested in _nested_nodes(top)):
            self.check_properties(node, set(), "an asset of a catalog")
            iri = terms.canonical(node.data.get("@id", ""))
            is_data = _NON_ASSET_TYPES.isdisjoint(map(terms.canonical, node.data.get("@type", ())))
            if not is_data:
                self._check_not_an_asset(node)
            elif _OLD_PUBLISHER in node.data and _PUBLISHER not in node.data:
                message = "The publisher of an asset is named by dct:publisher, as an IRI."
                self.add("D004", message, "", node, _OLD_PUBLISHER, of_key=True)
            if not is_data or not {*_STATEMENT_PROPERTIES} & node.data.keys():
                continue
            if not is_absolute(iri) or iri.startswith("_:"):
                self.add("D004", *relative_iri_problem(iri or "_:"), node, "@id" if iri else "")
            elif iri in first:
                line = self.graph.place(first[iri]).line
                message = f"{iri!r} is described twice; the first is in line {line}."
                self.add("D004", message, "Say all of it in one place.", node)
            else:
                first[iri] = node
                yield self._statement(iri, node)

    def _check_not_an_asset(self, node: Node) -> None:
        """Note what is stated of a catalog: of each of its datasets it would be lost."""
        for prop in {_DELEGATES, _REGULATOR} & node.data.keys():
            message = f"{terms.compact(prop)} describes an asset. A catalog or a distribution "
            self.add("D004", f"{message}is not one.", "", node, prop, of_key=True)

    def _statement(self, iri: str, node: Node) -> OwnerStatement:
        owners, policies = self._values(node, _PUBLISHER), self._values(node, _POLICY)
        if len(owners) > 1 or (len(policies) > 1 and not owners):
            prop_used, subjects = (_PUBLISHER, "publishers") if owners else (_POLICY, "policies")
            message = f"{iri!r} has one owner. Given are several {subjects}."
            self.add("D004", message, "Name one dct:publisher.", node, prop_used)
        if terms.count_levels(iri) > terms.MOST_LEVELS:
            message = f"The IRI of an asset has {terms.count_levels(iri):,} levels."
            self.add("D004", f"{message} Allowed are {terms.MOST_LEVELS}.", "", node)
        return OwnerStatement(
            iri,
            owners,
            "" if owners else next(iter(policies), ""),
            self._values(node, _DELEGATES),
            self._values(node, _REGULATOR),
            tuple(
                container
                for prop in _CONTAINER_PROPERTIES
                for container in self._values(node, prop)
            ),
            self._values(node, _PARTS),
            self.graph.place(node),
        )

    def _values(self, node: Node, prop: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(iri for iri, _ in self.iris(node, prop)))


def _nested_nodes(node: Node) -> Iterator[Node]:
    """Yield an object and those nested in it: RDF does not nest."""
    yield node
    for prop, values in node.data.items():
        for data in values if prop == "@list" or not prop.startswith("@") else ():
            if "@value" not in data:
                yield from _nested_nodes(Node(data, data.get(POINTER, "")))
