"""RDF/XML to statements (RDF 1.1 XML Syntax, section 7), without entities and without a network.

rdflib's reader is not used: it skips what RDF/XML does not allow, such as text beside elements or
an attribute beside `rdf:datatype`, which has to be refused here.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

from policy_engine import terms
from policy_engine.data.rdf.statements import (
    FIRST,
    NIL,
    REST,
    STRING,
    TYPE,
    Collector,
    Literal,
    Spot,
    Term,
)

_RDF = terms.RDF
_XML = "http://www.w3.org/XML/1998/namespace"
_SYNTAX = {f"{_RDF}{name}" for name in ("RDF", "ID", "about", "parseType", "resource", "nodeID")}
_SYNTAX |= {f"{_RDF}{name}" for name in ("datatype", "bagID", "aboutEach", "aboutEachPrefix")}
_LETTER = "A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff"
_NAME = re.compile(f"[{_LETTER}][{_LETTER}0-9.\u00b7\u0300-\u036f-]*")
_SPACE = " \t\r\n"
_LANGUAGE = re.compile("[A-Za-z]+(-[A-Za-z0-9]+)*")


def read_rdf_xml(collector: Collector) -> None:
    """Collect the statements of a text in RDF/XML.

    Raises the error of `collector` with the place of what is not RDF/XML, of a document type, of an
    entity and of `rdf:parseType` other than Resource and Collection (F001); of a relative IRI
    without `xml:base` (L006); of what is nested too deeply or has too many statements (J003).
    """
    _Reader(collector).read()


@dataclass
class _Element:
    """An open element: what it may hold, and what it is about."""

    takes: str
    base: str = ""
    language: str = ""
    subject: str = ""
    predicate: str = ""
    type: str = ""
    statement: str = ""
    spot: Spot = (0, 0)
    has_value: bool = False
    members: int = 0
    items: list[tuple[str, Spot]] = field(default_factory=list)


class _Reader:
    """Follows the elements of a text, the open ones on a stack.

    An element takes `nodes` (the document), `properties` (a node), one node or text (`value`),
    text alone (`text`), a `collection` of nodes, or `nothing`.
    """

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.open = [_Element("nodes")]
        self.texts: list[str] = []
        self.ids: set[str] = set()
        self.parser = expat.ParserCreate(namespace_separator=" ")

    def read(self) -> None:
        parser = self.parser
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self.texts.append
        parser.StartNamespaceDeclHandler = self._prefix
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self._refuse_type
        parser.XmlDeclHandler = self._declaration
        try:
            parser.Parse(self.collector.text.encode(), True)  # noqa: FBT003
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            spot = (error.lineno, error.offset + 1)
            self.collector.fail("F001", f"The text is not well-formed XML: {what}.", spot)

    # -- calls of the parser ---------------------------------------------------------------------

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding and encoding.lower() not in ("utf-8", "us-ascii"):
            self._fail(f"The text says that it is in {encoding!r}. RDF/XML is read in UTF-8.")

    def _refuse_type(self, *_: Any) -> None:
        message = "The text has a document type (<!DOCTYPE>) or entities, which are not read."
        self._fail(message, "Write namespaces and values in full.")

    def _prefix(self, prefix: str | None, namespace: str | None) -> None:
        self.collector.check_namespace(namespace or "", self._spot())
        self.collector.prefixes.setdefault(prefix or "", namespace or "")

    def _start(self, tag: str, values_by_name: Mapping[str, str]) -> None:
        parent = self.open[-1]
        if self._text_of(parent).strip(_SPACE):
            self._fail("An element is mixed with text. A property holds one of them.")
        self.collector.check_depth(len(self.open) // 2, self._spot())
        base = values_by_name.get(f"{_XML} base")
        base = self.collector.iri(base, parent.base, self._spot()) if base else parent.base
        language = values_by_name.get(f"{_XML} lang", parent.language)
        if language and not _LANGUAGE.fullmatch(language):
            self._fail(f"{language!r} is not a language tag.")
        element = _Element("nodes", base, language, spot=self._spot())
        attributes = {self._attribute(name): value for name, value in values_by_name.items()}
        attributes.pop("", None)
        name = self._iri_of(tag)
        if parent.takes == "nodes" and len(self.open) == 1 and name == f"{_RDF}RDF":
            if attributes:
                self._fail("rdf:RDF has no attributes but those of XML.")
        elif parent.takes in ("nodes", "value", "collection"):
            self._node(name, attributes, element, parent)
        elif parent.takes == "properties":
            self._property(name, attributes, element, parent)
        else:
            self._fail(f"No element is allowed here. Given: {terms.compact(name)!r}.")
        self.open.append(element)

    def _end(self, _tag: str) -> None:
        element = self.open.pop()
        text = self._text_of(element)
        if element.takes == "collection":
            self._add_value(element, self._list(element))
        elif element.takes in ("value", "text") and not element.has_value:
            kind = element.type or (f"{_RDF}langString" if element.language else STRING)
            self._add_value(element, Literal(text, kind, "" if element.type else element.language))

    # -- elements --------------------------------------------------------------------------------

    def _node(
        self, name: str, attributes: dict[str, str], element: _Element, parent: _Element
    ) -> None:
        """Read a node element (section 7.2.11)."""
        if name in _SYNTAX or name == f"{_RDF}li":
            self._fail(f"{terms.compact(name)!r} is not a type of a node.")
        if parent.takes == "value" and parent.has_value:
            self._fail("A property element holds one node. This is a second one.")
        element.takes = "properties"
        element.subject = self._subject(attributes, element)
        self.collector.note_subject(element.subject, element.spot)
        if parent.takes == "value":
            self._add_value(parent, element.subject)
        elif parent.takes == "collection":
            parent.items.append((element.subject, element.spot))
        if name != f"{_RDF}Description":
            self._add(element, TYPE, self._iri(name, element))
        self._attributes(attributes, element, element.subject)

    def _subject(self, attributes: dict[str, str], element: _Element) -> str:
        names = [name for name in ("ID", "nodeID", "about") if f"{_RDF}{name}" in attributes]
        if len(names) > 1:
            self._fail("A node has one of rdf:ID, rdf:nodeID and rdf:about.")
        if not names:
            return self.collector.blank()
        value = attributes.pop(f"{_RDF}{names[0]}")
        if names == ["about"]:
            return self._iri(value, element)
        return self._id(value, element) if names == ["ID"] else self._labelled_node(value)

    def _property(
        self, name: str, attributes: dict[str, str], element: _Element, parent: _Element
    ) -> None:
        """Read a property element (section 7.2.14)."""
        if name in _SYNTAX or name == f"{_RDF}Description":
            self._fail(f"{terms.compact(name)!r} is not a property.")
        if name == f"{_RDF}li":
            parent.members += 1
            name = f"{_RDF}_{parent.members}"
        element.subject, element.predicate = parent.subject, self._iri(name, element)
        if f"{_RDF}ID" in attributes:
            element.statement = self._id(attributes.pop(f"{_RDF}ID"), element)
        kind = attributes.pop(f"{_RDF}parseType", None)
        if kind is not None:
            self._parse_type(kind, attributes, element)
        elif f"{_RDF}datatype" in attributes:
            element.takes, element.type = (
                "text",
                self._iri(attributes.pop(f"{_RDF}datatype"), element),
            )
            self._refuse(attributes)
        elif attributes:
            self._reference(attributes, element)
        else:
            element.takes = "value"

    def _parse_type(self, kind: str, attributes: dict[str, str], element: _Element) -> None:
        self._refuse(attributes)
        if kind == "Resource":
            node = self.collector.blank()
            self.collector.note_subject(node, element.spot)
            self._add_value(element, node)
            element.takes, element.subject = "properties", node
        elif kind == "Collection":
            element.takes = "collection"
        else:
            self._fail(f"rdf:parseType={kind!r} is not read. Allowed: Resource and Collection.")

    def _reference(self, attributes: dict[str, str], element: _Element) -> None:
        """Read a property whose object is named or described by attributes (section 7.2.21)."""
        resource, label = (attributes.pop(f"{_RDF}{name}", None) for name in ("resource", "nodeID"))
        if resource is not None and label is not None:
            self._fail("A property has one of rdf:resource and rdf:nodeID.")
        if resource is not None:
            node = self._iri(resource, element)
        else:
            node = self.collector.blank() if label is None else self._labelled_node(label)
        self._add_value(element, node)
        element.takes = "nothing"
        self._attributes(attributes, element, node)

    def _attributes(self, values_by_name: Mapping[str, str], element: _Element, node: str) -> None:
        """Read attributes that are properties of a node (section 7.2.5)."""
        self._refuse({name for name in values_by_name if name in _SYNTAX or name == f"{_RDF}li"})
        for name, value in values_by_name.items():
            kind = f"{_RDF}langString" if element.language else STRING
            is_type = name == TYPE
            term = self._iri(value, element) if is_type else Literal(value, kind, element.language)
            self.collector.note_subject(node, element.spot)
            self.collector.add_statement(
                node, self._iri(name, element), term, element.spot, element.spot
            )

    # -- statements ------------------------------------------------------------------------------

    def _add_value(self, element: _Element, value: Term) -> None:
        element.has_value = True
        spot = element.spot
        self.collector.add_statement(element.subject, element.predicate, value, spot, spot)
        if element.statement:
            parts = {"subject": element.subject, "predicate": element.predicate, "object": value}
            self.collector.note_subject(element.statement, spot)
            self.collector.add_statement(element.statement, TYPE, f"{_RDF}Statement", spot, spot)
            for name, part in parts.items():
                self.collector.add_statement(element.statement, f"{_RDF}{name}", part, spot, spot)

    def _add(self, element: _Element, predicate: str, value: Term) -> None:
        self.collector.add_statement(element.subject, predicate, value, element.spot, element.spot)

    def _list(self, element: _Element) -> str:
        cells = [self.collector.blank() for _ in element.items]
        for cell, rest, (item, spot) in zip(cells, [*cells[1:], NIL], element.items, strict=False):
            self.collector.note_subject(cell, spot)
            self.collector.add_statement(cell, FIRST, item, spot, spot)
            self.collector.add_statement(cell, REST, rest, spot, spot)
        return cells[0] if cells else NIL

    # -- names and texts -------------------------------------------------------------------------

    def _attribute(self, name: str) -> str:
        """Return the IRI of an attribute, or nothing for one of XML's own."""
        if name.startswith(f"{_XML} "):
            return ""
        # RDF/XML of 1999 wrote these four without a prefix (section 6.1.4).
        return (
            f"{_RDF}{name}" if name in ("ID", "about", "resource", "type") else self._iri_of(name)
        )

    def _iri_of(self, name: str) -> str:
        namespace, separator, local = name.rpartition(" ")
        if not separator:
            self._fail(f"The name {name!r} has no namespace.")
        self.collector.check_name(namespace + local, self._spot())
        return namespace + local

    def _iri(self, reference: str, element: _Element) -> str:
        return self.collector.iri(reference, element.base, self._spot())

    def _id(self, name: str, element: _Element) -> str:
        iri = self._iri(f"#{self._check_name(name)}", element)
        if iri in self.ids:
            self._fail(f"rdf:ID={name!r} appears twice.")
        self.ids.add(iri)
        return iri

    def _labelled_node(self, name: str) -> str:
        return self.collector.blank(self._check_name(name))

    def _check_name(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            self._fail(f"{name!r} is not a name in XML.")
        return name

    def _refuse(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            self._fail(f"The attribute {terms.compact(name)!r} is not allowed here.")

    def _text_of(self, element: _Element) -> str:
        """Return the text since the last tag; only space is allowed where text is not."""
        text = "".join(self.texts)
        self.texts.clear()
        may_hold = element.takes in ("value", "text") and not element.has_value
        if text.strip(_SPACE) and not may_hold:
            self._fail(f"No text is allowed here. Given: {text.strip()!r:.40}.")
        return text

    def _spot(self) -> Spot:
        return self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1

    def _fail(self, message: str, hint: str = "") -> NoReturn:
        self.collector.fail("F001", message, self._spot(), hint)
