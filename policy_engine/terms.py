"""The vocabulary: namespaces, terms and contexts, read from `vocab/` and never fetched."""

import json
import re
import string
import unicodedata
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import quote

from policy_engine.errors import InternalError

ODRL = "http://www.w3.org/ns/odrl/2/"
MOSAICROWN = "https://www.mosaicrown.eu/ns/mosaicrown/1/"
PE = "https://w3id.org/policy-engine/ns#"
DPV = "https://w3id.org/dpv#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"

PREFIXES: Mapping[str, str] = MappingProxyType(
    {"odrl": ODRL, "mosaicrown": MOSAICROWN, "pe": PE, "dpv": DPV, "rdf": RDF, "skos": SKOS}
    | {"xsd": XSD}
)

ANNOTATIONS = (
    "http://purl.org/dc/terms/",
    "http://purl.org/dc/elements/1.1/",
    "http://www.w3.org/ns/prov#",
    "http://schema.org/",
    *(f"http://www.w3.org/2000/01/rdf-schema#{name}" for name in ("label", "comment", "seeAlso")),
    *(f"{SKOS}{name}" for name in ("prefLabel", "altLabel", "definition", "note", "example")),
)
"""How the properties begin that describe a policy and do not change what it means."""

_NAMING = frozenset(
    f"{ODRL}{name}"
    for name in (
        *("purpose", "recipient", "spatial", "event", "industry", "product", "media"),
        *("deliveryChannel", "device", "system", "systemDevice", "unitOfCount"),
    )
) | {f"{PE}{name}" for name in ("label", "feature", "jointly", "readSoFar")}
_UNRESERVED = f"{string.ascii_letters}{string.digits}-._~"
_IRI_CHARACTERS = f"{_UNRESERVED}%:/?#[]@!$&'()*+,;="
_HOST = re.compile("[^:/]+:(//[^/?#]*)?/?")
_PORTS = {"http": "80", "https": "443"}
_ESCAPE = re.compile("(%[0-9A-F]{2})")
_ENCODED = re.compile("(?:%[0-9A-Fa-f]{2})+|%")
_KEPT = re.compile("[\udc00-\udcff]")
_STRUCK = re.compile("[\udc3c-\udc3e](?=\u0338)")
_OLD_MOSAICROWN = "http://localhost:8000/ns/mosaicrown/"
_MENDED = {f"{ODRL}neg": f"{ODRL}neq", f"{ODRL}datatype": f"{ODRL}dataType"}
OLD_ACTIONS: Mapping[str, str] = MappingProxyType(
    {f"{MOSAICROWN}{name}": f"{ODRL}{name}" for name in ("use", "read", "write", "sell")}
)
"""What the original MOSAICrOWN vocabulary called actions that ODRL has, and ODRL's names."""
_SCHEMES = frozenset(
    (
        *("about", "acct", "ark", "arn", "cid", "data", "did", "dns", "doi", "example", "file"),
        *("geo", "hdl", "http", "https", "info", "ipfs", "isbn", "jdbc", "magnet", "mailto", "mid"),
        *("ni", "oid", "orcid", "sip", "sips", "sms", "swh", "tag", "tel", "urn", "uuid", "xmpp"),
    )
)
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_OLD_CONTEXT = "http://localhost:8000/ns/mosaicrown/namespace.jsonld"
_RELATIVE_CONTEXT = re.compile(r"(\.{0,2}/)*ns/mosaicrown/namespace\.jsonld")

_CONTEXTS = {
    "http://www.w3.org/ns/odrl.jsonld": "odrl",
    "https://www.w3.org/ns/odrl.jsonld": "odrl",
    "https://www.mosaicrown.eu/ns/mosaicrown.jsonld": "mosaicrown",
    _OLD_CONTEXT: "mosaicrown",
}
_OF_MOSAICROWN = frozenset(url for url, name in _CONTEXTS.items() if name == "mosaicrown")


@dataclass(frozen=True)
class Term:
    """One entry of the vocabulary; `facts` holds its other keys as they are written there."""

    iri: str
    types: tuple[str, ...]
    definition: str
    facts: Mapping[str, Any]

    def iris(self, key: str) -> tuple[str, ...]:
        """Return the terms that a key of the entry names, in full; none without the key."""
        value = self.facts.get(key, [])
        return tuple(expand(name) for name in ([value] if isinstance(value, str) else value))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts that a key of the entry lists; none without the key."""
        return tuple(self.facts.get(key, ()))

    def tells(self, key: str) -> bool:
        """Tell whether the entry says that a key holds; without the key it does not."""
        return self.facts.get(key) is True


@cache
def vocabulary() -> Mapping[str, Term]:
    """Return every term of the language, by IRI."""
    names = ("odrl", "mosaicrown", "policy-engine")
    return MappingProxyType({iri: term for name in names for iri, term in _terms(name)})


@cache
def data_privacy_vocabulary() -> Mapping[str, Term]:
    """Return the purposes and the processing operations of the DPV, by IRI.

    They are read when one is asked for, not with the rest.
    """
    return MappingProxyType(dict(_terms("dpv")))


def is_in_dpv(iri: str, kind: Literal["Purpose", "Processing"]) -> bool:
    """Tell whether an IRI is a term of the DPV of a kind: a purpose, a processing operation."""
    return iri.startswith(DPV) and iri in terms_of_dpv(kind)


@cache
def terms_of_dpv(kind: Literal["Purpose", "Processing"]) -> Mapping[str, Term]:
    """Return the purposes of the DPV, or its processing operations, by IRI."""
    known = data_privacy_vocabulary().items()
    return MappingProxyType({iri: one for iri, one in known if f"{DPV}{kind}" in one.types})


def _terms(name: str) -> Iterator[tuple[str, Term]]:
    for entry in _load(f"{name}.jsonld")["@graph"]:
        kinds = entry["@type"] if isinstance(entry["@type"], list) else [entry["@type"]]
        term = Term(
            expand(entry["@id"]),
            tuple(expand(kind) for kind in kinds),
            entry.get("definition", ""),
            MappingProxyType(entry),
        )
        yield term.iri, term


@cache
def instances(kind: str) -> Mapping[str, Term]:
    """Return the terms of one class, by IRI, in the order of the vocabulary."""
    return MappingProxyType({iri: term for iri, term in vocabulary().items() if kind in term.types})


def names_columns(operand: str) -> bool:
    """Tell whether a left operand is a parameter that has columns on its right."""
    term = vocabulary().get(operand)
    return term is not None and term.iris("range") == (f"{ODRL}Asset",)


def names_things(operand: str) -> bool:
    """Tell whether a left operand has names on its right: of columns, parties, places, purposes."""
    return operand in _NAMING or names_columns(operand)


def methods() -> Mapping[str, Term]:
    """Return the methods of sanitisation by their notation, such as `l-diversity`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}Method").values()}


def maskings() -> Mapping[str, Term]:
    """Return the maskings of single columns by their notation, such as `rounding`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}Masking").values()}


def audit_methods() -> Mapping[str, Term]:
    """Return the methods of audits by their notation, such as `membership-inference`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}AuditMethod").values()}


def attacks() -> Mapping[str, Term]:
    """Return the membership-inference attacks by their notation, such as `shokri`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}Attack").values()}


@cache
def engines() -> tuple[str, ...]:
    """Return the engines that have some method, in the order of the vocabulary."""
    return tuple(
        dict.fromkeys(name for term in methods().values() for name in term.texts("engine"))
    )


@cache
def bundled_contexts() -> Mapping[str, Any]:
    """Return the JSON-LD contexts that policies may name, by URL."""
    documents = {name: _load(f"contexts/{name}.jsonld") for name in set(_CONTEXTS.values())}
    return MappingProxyType({url: documents[name] for url, name in _CONTEXTS.items()})


def bundled_url(reference: str) -> str:
    """Return the URL of the bundled context that a relative reference is known to mean.

    The original MOSAICrOWN policies name theirs by where it lies beside them. Any other
    reference is returned as it is.
    """
    return _OLD_CONTEXT if _RELATIVE_CONTEXT.fullmatch(reference) else reference


def names_mosaicrown(reference: str) -> bool:
    """Tell whether a reference to a context means the bundled one of MOSAICrOWN."""
    return bundled_url(reference) in _OF_MOSAICROWN


def has_known_scheme(iri: str) -> bool:
    """Tell whether an IRI begins with a scheme (RFC 3986, section 3.1) and no misspelt prefix.

    Well known schemes are, and any that `//` follows.
    """
    scheme, colon, rest = iri.partition(":")
    return bool(colon) and (rest.startswith("//") or scheme.lower() in _SCHEMES)


def is_ours(iri: str) -> bool:
    """Tell whether an IRI is in a namespace all of whose terms are known here."""
    return iri.startswith((ODRL, MOSAICROWN, PE))


def is_absolute(iri: str) -> bool:
    """Tell whether an IRI is absolute (RFC 3986, section 3)."""
    return bool(_ABSOLUTE.match(iri))


def relative(iri: str, hint: str = "") -> tuple[str, str]:
    """Return what is wrong with a relative IRI, and how to mend it."""
    hint = hint or "Write the whole IRI, such as 'http://example.com/...'."
    if iri.startswith("_:"):
        return f"{iri!r} is a blank node, which has no name outside this text.", hint
    return f"{iri!r} is a relative IRI; it would mean something else in another place.", hint


MOST_LEVELS = 256
"""How many levels an asset's IRI may have: each of them is a name that it might be a part of."""


def levels(iri: str) -> int:
    """Return how often an IRI goes on behind a slash, a question mark or a hash."""
    return sum(map(iri.count, "/?#"))


def expand(name: str) -> str:
    """Return the IRI of a compact name such as `odrl:read`; anything else as it is."""
    prefix, colon, local = name.partition(":")
    return PREFIXES[prefix] + local if colon and prefix in PREFIXES else name


def in_full(name: str) -> str:
    """Return the IRI of a compact name, or of a term of the bundled contexts such as `read`."""
    name = canonical(name)
    for document in bundled_contexts().values():
        definition = document["@context"].get(name)
        if definition and not name.startswith("@"):
            name = definition if isinstance(definition, str) else definition["@id"]
            break
    return canonical(expand(name))


def compact(iri: str) -> str:
    """Return the compact name of an IRI in a known namespace; anything else as it is."""
    for prefix, namespace in PREFIXES.items():
        if iri.startswith(namespace) and iri != namespace:
            return f"{prefix}:{iri.removeprefix(namespace)}"
    return iri


def local_name(iri: str) -> str:
    """Return the part of an IRI behind its last `/`, `#` or `:`."""
    return iri.rstrip("/").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1]


@lru_cache(maxsize=65_536)
def canonical(iri: str) -> str:
    """Return the IRI that an old or misprinted one stands for; any other as it is.

    The original MOSAICrOWN namespace is read as today's, and `odrl:neg`, as the published ODRL
    context has it, as `odrl:neq`. Of the spellings that RFC 3986 (section 6.2.2) and RFC 3987
    (section 5.3.2) hold equal, one is taken, so that nothing passes a prohibition by writing
    `%41` for `A`, or an accent apart from its letter. What is returned stands for itself.
    """
    iri = _one_spelling(iri)
    if iri.startswith(_OLD_MOSAICROWN):
        iri = MOSAICROWN + iri.removeprefix(_OLD_MOSAICROWN)
    return _MENDED.get(iri, iri)


def action(iri: str, own: Container[str] = ()) -> str:
    """Return the action of ODRL that one of the original MOSAICrOWN vocabulary stands for.

    Any other is returned as it is, and so is one that is among the `own`: a vocabulary says what
    that means.
    """
    return iri if iri in own else OLD_ACTIONS.get(iri, iri)


def dataset_of(iri: str) -> str:
    """Return the dataset that an IRI is a column of by its name, or nothing.

    A column's IRI is its dataset's, a slash, and the name with `/`, `?` and `#` encoded. What
    lies directly on a host is not a column, for a host is not a dataset.
    """
    dataset, slash, name = iri.rpartition("/")
    is_name = bool(slash and name) and name not in (".", "..") and not set("?#") & set(name)
    return dataset if is_name and not _HOST.fullmatch(dataset) and dataset[-1:] != "/" else ""


def _one_spelling(iri: str) -> str:
    iri = _normal(iri.strip())
    scheme, colon, rest = iri.partition(":")
    if not colon or "/" in scheme:
        return iri.strip()
    scheme = _lower(scheme)
    if rest.startswith("//"):
        end = re.search(r"[/?#]|$", rest[2:]).start() + 2  # type: ignore[union-attr]
        host = _without_port(_lower(rest[2:end]), _PORTS.get(scheme, ""))
        rest = f"//{host}{without_dots(rest[end:])}"
    elif rest.startswith("/"):
        path = without_dots(rest)
        rest = rest if path.startswith("//") else path
    return quote(f"{scheme}:{rest}", safe=_IRI_CHARACTERS)


def _lower(text: str) -> str:
    """Return a scheme or a host in lower case, and in form C again, but for its escapes."""
    if text.isascii() and "%" not in text:
        return text.lower()
    # As it ends a word, a capital sigma would have another small one than within it.
    parts = _ESCAPE.split(text.replace("\u03a3", "\u03c3"))
    parts[::2] = [unicodedata.normalize("NFC", part.lower()) for part in parts[::2]]
    return "".join(parts)


def _without_port(host: str, usual: str) -> str:
    """Return a host without its port where that is empty or the usual one of its scheme."""
    name, colon, port = host.rpartition(":")
    bare = name.rpartition("@")[2]
    is_whole = ":" not in bare or (bare.startswith("[") and bare.endswith("]"))
    return name if colon and port in ("", usual) and is_whole else host


def without_dots(path: str) -> str:
    """Return a path, a query and a fragment without dot segments (RFC 3986, section 5.2.4)."""
    end = re.search(r"[?#]|$", path).start()  # type: ignore[union-attr]
    kept: list[str] = []
    steps = path[:end].split("/")
    for step in steps:
        if step == "..":
            kept = kept[:-1] if len(kept) > 1 else kept
        elif step != ".":
            kept.append(step)
    if steps[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept) + path[end:]


def _normal(iri: str) -> str:
    """Return an IRI in Unicode's form C, with no more escapes than those that mean something.

    What is escaped is decoded first, for a letter and its accent may stand in several escapes.
    Escapes that stay are surrogates meanwhile, which no accent joins: that of %3D is U+DC3D.
    """
    if iri.isascii() and "%" not in iri:
        return iri
    whole = iri.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    text = unicodedata.normalize("NFC", _ENCODED.sub(_decoded, whole))
    # The three signs that are not letters and yet one with what strikes them through.
    struck = _STRUCK.sub(lambda sign: chr(ord(sign[0]) - 0xDC00), text)
    return _KEPT.sub(_escaped, unicodedata.normalize("NFC", struck))


def _decoded(match: re.Match[str]) -> str:
    escapes = match[0] if len(match[0]) > 1 else "%25"
    text = bytes.fromhex(escapes.replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(
        one if one in _UNRESERVED or not one.isascii() else chr(0xDC00 + ord(one)) for one in text
    )


def _escaped(kept: re.Match[str]) -> str:
    return f"%{ord(kept[0]) - 0xDC00:02X}"


def _load(name: str) -> Any:
    """Read a file of `vocab/`: inside the package where installed, beside it in a checkout."""
    package = Path(__file__).parent
    for folder in (package / "vocab", package.parent / "vocab"):
        if (folder / name).is_file():
            return json.loads((folder / name).read_text(encoding="utf-8"))
    raise InternalError.of("X001", f"The vocabulary file {name!r} is not installed.")
