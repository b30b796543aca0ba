"""Catalogs of data in files: datasets, and where and how each is written, by DCAT and CSVW.

JSON-LD or YAML: the same words, in JSON-LD with their prefixes, and read by the same code, since
JSON is YAML too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from policy_engine.data.csv_format import CsvFormat
from policy_engine.data.declared_types import DATATYPES, Datatype
from policy_engine.data.places.spelling import DATABASE_FILES, is_place, redacted, scheme
from policy_engine.data.storage import local_path
from policy_engine.errors import DataError, PolicyError, Problem, did_you_mean, join_names
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS
from policy_engine.policy.syntax.short.problems import TextProblems
from policy_engine.policy.syntax.yaml_text import YamlPart, YamlText, read_yaml

NAMESPACES: Final = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "csvw": "http://www.w3.org/ns/csvw#",
    "dcterms": "http://purl.org/dc/terms/",
}
_TERMS: Final = {
    **dict.fromkeys(("dataset", "distribution", "downloadURL", "accessURL", "mediaType"), "dcat"),
    **dict.fromkeys(
        ("dialect", "delimiter", "encoding", "tableSchema", "column", "name", "datatype"), "csvw"
    ),
    **dict.fromkeys(("title", "description"), "dcterms"),
}
_KEYWORDS: Final = {"@id": "id", "@type": "type"}
_ABOUT: Final = ("type", "title", "description")
_CLASSES: Final = ("Catalog", "Dataset", "Distribution", "Dialect", "Schema", "Column")
MEDIA_TYPES: Final = {
    "text/csv": ("csv", "csv.gz"),
    "application/vnd.apache.parquet": ("parquet",),
    "application/vnd.apache.arrow.file": ("arrow", "feather"),
    "application/vnd.apache.arrow.stream": ("arrow",),
    "application/x-ndjson": ("jsonl", "ndjson"),
    "application/jsonl": ("jsonl", "ndjson"),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ("xlsx",),
    "application/vnd.ms-excel": ("xls",),
    "application/vnd.oasis.opendocument.spreadsheet": ("ods",),
}
"""The endings of files by their media type."""


@dataclass(frozen=True)
class DescribedData:
    """Where a dataset is, and how it is written: what is not said is found out.

    `place` is a path from the root, or a place as `is_place` tells it; `media_type` is one of
    `MEDIA_TYPES`, or empty; `types` are those of columns, by their names.
    """

    iri: str
    place: str
    media_type: str = ""
    form: CsvFormat = field(default_factory=CsvFormat)
    types: Mapping[str, Datatype] = field(default_factory=dict)


def read_data_catalog(text: str | bytes, path: Path) -> tuple[DescribedData, ...]:
    """Return the datasets of a catalog file, relative paths from its folder.

    Raises DataError (C020) with everything that is not known or of the wrong shape, each with its
    place in the text.
    """
    try:
        yaml_text = read_yaml(text, str(path), DEFAULT_LIMITS)
    except PolicyError as error:
        raise DataError(*map(_as_ours, error.problems), source=str(path)) from None
    reader = _Reader(yaml_text, path)
    datasets = tuple(reader.datasets())
    problems = [*yaml_text.problems, *reader.problems.items]
    if problems:
        raise DataError(*map(_as_ours, problems), source=str(path))
    return datasets


def _as_ours(problem: Problem) -> Problem:
    return Problem("C020", problem.message, problem.hint, problem.place)


class _Reader:
    """Reads one catalog; `problems` grow on the way."""

    def __init__(self, yaml_text: YamlText, path: Path) -> None:
        self.path = path
        self.problems = TextProblems(yaml_text.text)
        self.prefixes = self._prefixes(yaml_text.root)
        self.root = self._words(yaml_text.root)

    def datasets(self) -> Iterator[DescribedData]:
        """Yield the datasets that can be read."""
        members = self._members(self.root, "a catalog", ("id", "dataset"), ("dataset",))
        iris: set[str] = set()
        for part in members["dataset"].items if "dataset" in members else ():
            one = self._dataset(part)
            if one and one.iri in iris:
                self._add(f"The dataset {one.iri!r} is described twice.", part)
            elif one:
                iris.add(one.iri)
                yield one

    def _dataset(self, part: YamlPart) -> DescribedData | None:
        members = self._members(part, "a dataset", ("id", "distribution"), ("id", "distribution"))
        if not {"id", "distribution"} <= members.keys():
            return None
        iri, distribution = self._text(members["id"]), members["distribution"]
        allowed = ("downloadURL", "accessURL", "mediaType", "dialect", "tableSchema")
        about = self._members(distribution, "a distribution", allowed)
        places = [about[key] for key in ("downloadURL", "accessURL") if key in about]
        if distribution.members and len(places) != 1:
            self._add("A distribution has one 'downloadURL', or one 'accessURL'.", distribution)
        if not iri or len(places) != 1:
            return None
        place = self._place(self._text(places[0]))
        types = self._types(about["tableSchema"]) if "tableSchema" in about else {}
        form = self._form(about["dialect"]) if "dialect" in about else CsvFormat()
        kind = self._media_type(about["mediaType"]) if "mediaType" in about else ""
        return DescribedData(iri, place, kind, form, types)

    def _media_type(self, part: YamlPart) -> str:
        kind = self._text(part).rpartition("media-types/")[2]
        if kind and kind not in MEDIA_TYPES:
            hint = did_you_mean(kind, MEDIA_TYPES) or f"Known are {join_names(MEDIA_TYPES)}."
            self._add(f"The media type {kind!r} is not known.", part, hint)
        return kind if kind in MEDIA_TYPES else ""

    def _form(self, part: YamlPart) -> CsvFormat:
        words = ("delimiter", "encoding")
        texts = {
            key: self._text(one) for key, one in self._members(part, "a dialect", words).items()
        }
        try:
            return CsvFormat(**{key: text for key, text in texts.items() if key in words})
        except DataError as error:
            self._add(error.problems[0].message, part, error.problems[0].hint)
            return CsvFormat()

    def _types(self, part: YamlPart) -> dict[str, Datatype]:
        types: dict[str, Datatype] = {}
        schema = self._members(part, "a table schema", ("column",), ("column",))
        for one in schema["column"].items if "column" in schema else ():
            both = ("name", "datatype")
            members = self._members(one, "a column", both, both)
            texts = [self._text(members[key]) for key in both if key in members]
            if len(texts) < len(both) or not all(texts):
                continue
            name, kind = texts[0], next((one for one in DATATYPES if one == texts[1]), None)
            if name in types:
                self._add(f"The column {name!r} is described twice.", one)
            elif kind is None:
                hint = did_you_mean(texts[1], DATATYPES)
                message = f"The datatype {texts[1]!r} is not known."
                self._add(
                    f"{message} Known are {join_names(DATATYPES)}.", members["datatype"], hint
                )
            else:
                types[name] = kind
        return types

    def _place(self, text: str) -> str:
        """Return a place with its path, if it has one, from the folder of the catalog."""
        folder = self.path.absolute().parent
        if not is_place(text):
            return str(folder / local_path(text))
        kind = scheme(text)
        return f"{kind}:{folder / text[len(kind) + 1 :]}" if kind in DATABASE_FILES else text

    def _members(
        self, part: YamlPart, what: str, allowed: tuple[str, ...], required: tuple[str, ...] = ()
    ) -> dict[str, YamlPart]:
        """Return the members of a mapping, after noting those that it has not to have, or lacks."""
        if not part.members:
            self._add(f"{what.capitalize()} is a mapping of keys to values.", part)
            return {}
        for key, one in part.members.items():
            if key not in (*allowed, *_ABOUT):
                message = (
                    f"{redacted(key)!r} is not a key of {what}. Allowed are {join_names(allowed)}."
                )
                self._add(message, one.key or one, did_you_mean(key, allowed))
        for key in (one for one in required if one not in part.members):
            self._add(f"{what.capitalize()} lacks the key {key!r}.", part)
        if "type" in part.members and self._text(part.members["type"]) not in _CLASSES:
            message = f"The type of {what} is not known. Known are {join_names(_CLASSES)}."
            self._add(message, part.members["type"])
        return part.members

    def _text(self, part: YamlPart) -> str:
        """Return a text, also of `{"@id": ...}` or `{"@value": ...}`; "" after noting another."""
        keys = part.members.keys()
        is_literal = "@value" in keys and keys <= {"@value", "type", "@language"}
        wrapped = "id" if keys == {"id"} else "@value" if is_literal else ""
        value = (part.members[wrapped] if wrapped else part).value
        if isinstance(value, str) and value:
            return value
        self._add("A text is expected.", part)
        return ""

    def _prefixes(self, root: YamlPart) -> dict[str, str] | None:
        """Return the namespaces of prefixes; None of a text that has no context and needs none."""
        context = root.members.get("@context")
        if context is None:
            return None
        prefixes = {key: one.value for key, one in context.members.items()}
        for key, one in context.members.items():
            if one.value not in NAMESPACES.values():
                message = f"The prefix {key!r} is of no namespace that is known."
                self._add(message, one, f"Known are {join_names(NAMESPACES.values())}.")
        if not prefixes:
            hint = f"""Write {{"dcat": "{NAMESPACES["dcat"]}", "csvw": "{NAMESPACES["csvw"]}"}}."""
            self._add("The context is a mapping of prefixes to namespaces.", context, hint)
        return prefixes

    def _words(self, part: YamlPart) -> YamlPart:
        """Return a part with its keys, and the classes that it names, as words without prefix."""
        if isinstance(part.value, list):
            items = [self._words(one) for one in part.value]
            return YamlPart(items, part.start, part.end, part.pointer, part.key, part.text)
        if not isinstance(part.value, dict):
            return part
        members: dict[str, YamlPart] = {}
        for key, one in part.value.items():
            if key != "@context" or part.pointer:
                word = self._word(key, one.key or one)
                value = self._words(one)
                members |= {word: self._class(value) if word == "type" else value} if word else {}
        return YamlPart(members, part.start, part.end, part.pointer, part.key, part.text)

    def _class(self, part: YamlPart) -> YamlPart:
        name = part.value.rpartition(":")[2] if isinstance(part.value, str) else part.value
        return YamlPart(name, part.start, part.end, part.pointer, part.key, part.text)

    def _word(self, key: str, part: YamlPart) -> str:
        """Return the word of a key; "" after noting one that has a prefix and is no term."""
        if self.prefixes is None or key.startswith("@"):
            return _KEYWORDS.get(key, key)
        prefix, _, local = key.partition(":")
        whole = self.prefixes.get(prefix, "") + local if local else key
        for word, owner in _TERMS.items():
            if whole == NAMESPACES[owner] + word:
                return word
        self._add(f"{key!r} is not a term of a catalog.", part, _spelling(local or key))
        return ""

    def _add(self, message: str, part: YamlPart, hint: str = "") -> None:
        self.problems.add("C020", message, part, hint=hint)


def _spelling(name: str) -> str:
    """Return how a term is written that is nearest to a name."""
    return did_you_mean(f"{_TERMS.get(name, '')}:{name}", (f"{o}:{w}" for w, o in _TERMS.items()))
