"""The vocabulary: namespaces, terms and contexts, read from `vocab/` and never fetched."""

import json
import re
import string
import unicodedata
from collections.abc import Container, Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from policy_engine.errors import InternalError

ODRL = "http://www.w3.org/ns/odrl/2/"
MOSAICROWN = "https://www.mosaicrown.eu/ns/mosaicrown/1/"
PE = "https://w3id.org/policy-engine/ns#"
DPV = "https://w3id.org/dpv#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SOTW, REPORT = (f"https://w3id.org/force/{name}#" for name in ("sotw", "compliance-report"))
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
"""Prefixes of the properties that describe a policy without changing what it means."""

_NAME_OPERANDS = frozenset(
    f"{ODRL}{name}"
    for name in (
        *("purpose", "recipient", "spatial", "event", "industry", "product", "media"),
        *("deliveryChannel", "device", "system", "systemDevice", "unitOfCount"),
    )
) | {f"{PE}{name}" for name in ("label", "feature", "guide", "jointly", "readSoFar", "release")}
_UNRESERVED = f"{string.ascii_letters}{string.digits}-._~"
_IRI_CHARACTERS = f"{_UNRESERVED}%:/?#[]@!$&'()*+,;="
_HOST = re.compile("[^:/]+:(//[^/?#]*)?/?")
_PORTS = {"http": "80", "https": "443"}
_PLAIN_IRI = re.compile(
    r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*(?:/(?:[\w~:@!$&'()*+,;=-][\w~:@!$&'()*+,;=.-]*)?)*"
    r"(?:[?#][\w~:@!$&'()*+,;=.#?-]*)?",
    re.ASCII,
)
"""Most IRIs: whole, in the spelling that is taken, without escapes, ports and dot segments."""
_ESCAPE = re.compile("(%[0-9A-F]{2})")
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+|%")
_SURROGATE = re.compile("[\udc00-\udcff]")
MOST_CHARACTERS = 10_000
"""How many characters a name may have."""
MOST_MARKS = 30
"""How many combining marks may follow one another (UAX #15, section 13, Stream-Safe Text)."""
_LONGER_RUN = re.compile(f"[^\x00-\u02ff]{{{MOST_MARKS + 1}}}")
_NOT_IN_ASCII_IRIS = re.compile("[^!-~]")
"""Blanks, control characters, and all that is beyond ASCII."""
_STRUCK_SIGN = re.compile("[\udc3c-\udc3e](?=\u0338)")
_OLD_MOSAICROWN = "http://localhost:8000/ns/mosaicrown/"
_CORRECTIONS = {f"{ODRL}neg": f"{ODRL}neq", f"{ODRL}datatype": f"{ODRL}dataType"}
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
_MOSAICROWN_CONTEXTS = frozenset(url for url, name in _CONTEXTS.items() if name == "mosaicrown")


class Term(NamedTuple):
    """One entry of the vocabulary; `facts` holds its other keys as they are written there."""

    iri: str
    types: tuple[str, ...]
    definition: str
    facts: Mapping[str, Any]

    def iris(self, key: str) -> tuple[str, ...]:
        """Return the terms that a key of the entry names, in full; none without the key."""
        value = self.facts.get(key, ())
        return _expanded((value,) if isinstance(value, str) else tuple(value))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts that a key of the entry lists; none without the key."""
        return tuple(self.facts.get(key, ()))

    def flag(self, key: str) -> bool:
        """Return the truth value of a key of the entry, False without the key."""
        return self.facts.get(key) is True


@cache
def vocabulary() -> Mapping[str, Term]:
    """Return every term of the language, by IRI."""
    names = ("odrl", "mosaicrown", "policy-engine")
    return MappingProxyType({iri: term for name in names for iri, term in _terms(name)})


@cache
def data_privacy_vocabulary() -> Mapping[str, Term]:
    """Return the purposes and the processing operations of the DPV, by IRI.

    They are read when first needed, not with the rest.
    """
    return MappingProxyType(dict(_terms("dpv")))


def is_in_dpv(iri: str, kind: Literal["Purpose", "Processing"]) -> bool:
    """Tell whether an IRI is a purpose of the DPV, or one of its processing operations."""
    return iri.startswith(DPV) and iri in dpv_terms(kind)


@cache
def dpv_terms(kind: Literal["Purpose", "Processing"]) -> Mapping[str, Term]:
    """Return the purposes of the DPV, or its processing operations, by IRI."""
    entries = data_privacy_vocabulary().items()
    return MappingProxyType({iri: term for iri, term in entries if f"{DPV}{kind}" in term.types})


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


@cache
def settings() -> Mapping[str, frozenset[str]]:
    """Return the properties of what stands under a parameter, by the parameter."""
    properties: dict[str, set[str]] = {}
    for iri, term in vocabulary().items():
        for parameter in term.iris("domain"):
            properties.setdefault(parameter, set()).add(iri)
    return MappingProxyType({key: frozenset(iris) for key, iris in properties.items()})


def names_columns(operand: str) -> bool:
    """Tell whether a left operand is a parameter that has columns on its right."""
    return operand in _column_operands()


@cache
def _column_operands() -> frozenset[str]:
    entries = vocabulary().items()
    return frozenset(iri for iri, term in entries if term.iris("range") == (f"{ODRL}Asset",))


def takes_names(operand: str) -> bool:
    """Tell whether a left operand has names on its right: of columns, parties, places, purposes."""
    return operand in _NAME_OPERANDS or names_columns(operand)


def methods() -> Mapping[str, Term]:
    """Return the methods (`pe:Method`) by their notation: privacy models, and `masking`."""
    return _by_notation(f"{PE}Method")


def privacy_models() -> Mapping[str, Term]:
    """Return the privacy models (`pe:PrivacyModel`) by their notation, such as `l-diversity`."""
    return _by_notation(f"{PE}PrivacyModel")


def method_operands(
    term: Term, key: Literal["requires", "requiresOne", "allows"]
) -> tuple[str, ...]:
    """Return the operands that a method requires, or one of which it does, or that it allows, as
    one of its classes and itself."""
    kinds = [vocabulary()[kind] for kind in term.types]
    return tuple(dict.fromkeys(iri for one in (*kinds, term) for iri in one.iris(key)))


def maskings() -> Mapping[str, Term]:
    """Return the maskings of single columns by their notation, such as `rounding`."""
    return _by_notation(f"{PE}Masking")


@cache
def _by_notation(kind: str) -> Mapping[str, Term]:
    return MappingProxyType({one.facts["notation"]: one for one in instances(kind).values()})


def randomisers() -> Mapping[str, Term]:
    """Return the randomisers of single columns by their notation, such as `piecewise`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}Randomiser").values()}


def synthesisers() -> Mapping[str, Term]:
    """Return the generators of synthetic rows by their notation, such as `sequential-trees`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}Synthesiser").values()}


def audit_methods() -> Mapping[str, Term]:
    """Return the methods of audits by their notation, such as `membership-inference`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}AuditMethod").values()}


def attacks() -> Mapping[str, Term]:
    """Return the membership-inference attacks by their notation, such as `shokri`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}Attack").values()}


def generative_attacks() -> Mapping[str, Term]:
    """Return the attacks on synthetic rows by their notation, such as `nearest-sample`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}GenerativeAttack").values()}


def linkage_attacks() -> Mapping[str, Term]:
    """Return the attacks by record linkage by their notation, such as `distance-linkage`."""
    return {term.facts["notation"]: term for term in instances(f"{PE}LinkageAttack").values()}


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

    The original MOSAICrOWN policies name theirs by a relative path. Any other
    reference is returned as it is.
    """
    return _OLD_CONTEXT if _RELATIVE_CONTEXT.fullmatch(reference) else reference


def names_mosaicrown(reference: str) -> bool:
    """Tell whether a reference to a context means the bundled one of MOSAICrOWN."""
    return bundled_url(reference) in _MOSAICROWN_CONTEXTS


def has_known_scheme(iri: str) -> bool:
    """Tell whether an IRI begins with a scheme (RFC 3986, section 3.1), not a misspelt prefix.

    Known are common schemes, and any that is followed by `//`.
    """
    scheme, colon, rest = iri.partition(":")
    return bool(colon) and (rest.startswith("//") or scheme.lower() in _SCHEMES)


def has_known_namespace(iri: str) -> bool:
    """Tell whether an IRI is in a namespace whose terms are all known here."""
    return iri.startswith((ODRL, MOSAICROWN, PE))


def is_plain(iri: str) -> bool:
    """Tell whether an IRI is, by its form alone, a whole one of the web in its one spelling.

    It has no character that no IRI has. Others may be in their one spelling as well.
    """
    return _PLAIN_IRI.fullmatch(iri) is not None


def is_absolute(iri: str) -> bool:
    """Tell whether an IRI is absolute (RFC 3986, section 3)."""
    return bool(_ABSOLUTE.match(iri))


def relative_iri_problem(iri: str, hint: str = "") -> tuple[str, str]:
    """Return the message and the hint for a relative IRI."""
    hint = hint or "Write the whole IRI, such as 'http://example.com/...'."
    if iri.startswith("_:"):
        return f"{iri!r} is a blank node, which has no name outside this text.", hint
    return f"{iri!r} is a relative IRI; it would mean something else elsewhere.", hint


@cache
def _not_in_iris() -> re.Pattern[str]:
    """Return what matches blanks, control characters, and what no IRI has beyond ASCII (RFC 3987,
    section 2.2). It takes long to compile, and few names need it."""
    planes = "".join(
        f"{chr(plane + (0x1000 if plane == 0xE0000 else 0))}-{chr(plane + 0xFFFD)}"
        for plane in range(0x10000, 0x110000, 0x10000)
    )
    return re.compile(f"[^!-~\u00a0-\ud7ff\ue000-\ufdcf\ufdf0-\uffef{planes}]")


@lru_cache(maxsize=16_384)
def name_problem(name: str, most_characters: int = MOST_CHARACTERS) -> tuple[str, str] | None:
    """Return the code and the message for a name that no IRI has or that is too long, else None.

    Nothing is cut from names, so that none passes a rule about another.
    """
    character = (_NOT_IN_ASCII_IRIS if name.isascii() else _not_in_iris()).search(name)
    if character and character[0] <= " ":
        message = f"White space is not allowed in an IRI: a blank is %20. Given: {name!r:.80}."
        return "F001", message
    if character:
        message = f"The character {character[0]!r} is not allowed in an IRI. Given: {name!r:.80}."
        return "F001", message
    if len(name) > most_characters:
        message = f"The name {name[:40] + '...'!r} is too long."
        return "J003", f"{message} {most_characters:,} characters are allowed."
    if not (name.isascii() and "%" not in name) and _has_long_run(_decode(name)):
        message = f"The name {name[:40] + '...'!r} has too many combining marks in a row."
        return "J003", f"{message} {MOST_MARKS} are allowed."
    return None


MOST_LEVELS = 256
"""How many levels an asset's IRI may have: each is a name that it may be part of."""


def count_levels(iri: str) -> int:
    """Return how many slashes, question marks and hashes an IRI has."""
    return sum(map(iri.count, "/?#"))


def expand(name: str) -> str:
    """Return the IRI of a compact name such as `odrl:read`; anything else as it is."""
    prefix, colon, local = name.partition(":")
    return PREFIXES[prefix] + local if colon and prefix in PREFIXES else name


@lru_cache(maxsize=4_096)
def _expanded(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(expand, names))


def expand_term(name: str) -> str:
    """Return the IRI of a compact name, or of a term of the bundled contexts such as `read`."""
    name = canonical(name)
    for document in bundled_contexts().values():
        definition = document["@context"].get(name)
        if definition and not name.startswith("@"):
            name = definition if isinstance(definition, str) else definition["@id"]
            break
    return canonical(expand(name))


@lru_cache(maxsize=8_192)
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
    `%41` for `A`, or an accent apart from its letter. Applied to its result, it changes nothing.
    """
    if is_plain(iri):
        return _CORRECTIONS.get(iri, iri)
    iri = _normalize_spelling(iri)
    if iri.startswith(_OLD_MOSAICROWN):
        iri = MOSAICROWN + iri.removeprefix(_OLD_MOSAICROWN)
    return _CORRECTIONS.get(iri, iri)


def action(iri: str, own: Container[str] = ()) -> str:
    """Return the action of ODRL that one of the original MOSAICrOWN vocabulary stands for.

    Any other is returned as it is, and so is one of the `own`, which a vocabulary defines.
    """
    return iri if iri in own else OLD_ACTIONS.get(iri, iri)


def dataset_of(iri: str) -> str:
    """Return the dataset of a column by the column's IRI; empty for any other IRI.

    A column's IRI is its dataset's, a slash, and the name with `/`, `?` and `#` encoded. A path
    directly below a host is not a column's, for a host is not a dataset.
    """
    dataset, slash, name = iri.rpartition("/")
    is_name = bool(slash and name) and name not in (".", "..") and not set("?#") & set(name)
    return dataset if is_name and not _HOST.fullmatch(dataset) and dataset[-1:] != "/" else ""


def _normalize_spelling(iri: str) -> str:
    iri = _normalize_unicode(iri)
    scheme, colon, rest = iri.partition(":")
    if not colon or "/" in scheme:
        return iri
    scheme = _lower(scheme)
    if rest.startswith("//"):
        end = re.search(r"[/?#]|$", rest[2:]).start() + 2  # type: ignore[union-attr]
        user, at, host = rest[2:end].rpartition("@")  # who logs in is not in lower case
        host = _strip_default_port(_lower(host), _PORTS.get(scheme, ""))
        rest = f"//{user}{at}{host}{remove_dot_segments(rest[end:])}"
    elif rest.startswith("/"):
        path = remove_dot_segments(rest)
        rest = rest if path.startswith("//") else path
    return quote(f"{scheme}:{rest}", safe=_IRI_CHARACTERS)


def _lower(text: str) -> str:
    """Return a scheme or a host in lower case and form C, its escapes as they are."""
    if text.isascii() and "%" not in text:
        return text.lower()
    # At the end of a word, a capital sigma has another lower-case form than within it.
    parts = _ESCAPE.split(text.replace("\u03a3", "\u03c3"))
    parts[::2] = [compose(part.lower()) for part in parts[::2]]
    return "".join(parts)


def _strip_default_port(host: str, default: str) -> str:
    """Return a host without a port that is empty or the default of its scheme."""
    name, colon, port = host.rpartition(":")
    address = name.rpartition("@")[2]
    is_whole = ":" not in address or (address.startswith("[") and address.endswith("]"))
    return name if colon and port in ("", default) and is_whole else host


def remove_dot_segments(path: str) -> str:
    """Return a path, a query and a fragment without dot segments (RFC 3986, section 5.2.4)."""
    if "/." not in path and path[:1] != ".":
        return path
    end = re.search(r"[?#]|$", path).start()  # type: ignore[union-attr]
    segments: list[str] = []
    parts = path[:end].split("/")
    for part in parts:
        if part == "..":
            segments = segments[:-1] if len(segments) > 1 else segments
        elif part != ".":
            segments.append(part)
    if parts[-1] in (".", ".."):
        segments.append("")
    return "/".join(segments) + path[end:]


def _normalize_unicode(iri: str) -> str:
    """Return an IRI in Unicode's form C, with no escapes but those that change its meaning.

    Escapes are decoded first, for a letter and its accent may be in several of them.
    Those that stay are surrogates meanwhile, which no accent joins: that of %3D is U+DC3D.
    """
    if iri.isascii() and "%" not in iri:
        return iri
    text = compose(_decode(iri))
    # The three signs that compose with a stroke though they are not letters: <, = and >.
    struck = _STRUCK_SIGN.sub(lambda sign: chr(ord(sign[0]) - 0xDC00), text)
    return _SURROGATE.sub(_escape_surrogate, compose(struck))


def _decode(iri: str) -> str:
    decoded = iri.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    return _ESCAPES.sub(_decode_escapes, decoded)


def compose(text: str) -> str:
    """Return a text in Unicode's form C, in linear time whatever the text.

    A long run of combining marks takes `unicodedata` quadratic time, unless it is in order.
    """
    if _has_long_run(text):
        letters = [one for letter in text for one in unicodedata.normalize("NFD", letter)]
        runs = groupby(letters, key=lambda one: unicodedata.combining(one) > 0)
        ordered = (sorted(run, key=unicodedata.combining) for _, run in runs)
        text = "".join(map("".join, ordered))
    return unicodedata.normalize("NFC", text)


def _has_long_run(text: str) -> bool:
    """Tell whether more than MOST_MARKS combining marks follow one another."""
    run = 0
    for letter in text if _LONGER_RUN.search(text) else "":
        first = unicodedata.normalize("NFD", letter)[0]
        run = run + 1 if unicodedata.combining(first) else 0
        if run > MOST_MARKS:
            return True
    return False


def _decode_escapes(match: re.Match[str]) -> str:
    escapes = match[0] if len(match[0]) > 1 else "%25"
    text = bytes.fromhex(escapes.replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(
        letter if letter in _UNRESERVED or not letter.isascii() else chr(0xDC00 + ord(letter))
        for letter in text
    )


def _escape_surrogate(match: re.Match[str]) -> str:
    return f"%{ord(match[0]) - 0xDC00:02X}"


def _load(name: str) -> Any:
    """Read a file of `vocab/`: inside the package where installed, beside it in a checkout."""
    package = Path(__file__).parent
    for folder in (package / "vocab", package.parent / "vocab"):
        if (folder / name).is_file():
            return json.loads((folder / name).read_text(encoding="utf-8"))
    raise InternalError.of("X001", f"The vocabulary file {name!r} is not installed.")
