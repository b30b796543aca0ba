"""Policies from files."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypedDict, TypeGuard, Unpack

from policy_engine.data.storage import open_to_read
from policy_engine.errors import DataError, PolicyError, Problem
from policy_engine.policy.collecting.collecting import PolicyCollector, Text
from policy_engine.policy.collecting.force import InForce
from policy_engine.policy.collecting.registry import is_folder, is_registry
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import Policy
from policy_engine.policy.reading.reader import read_drafts, read_hierarchy, read_policies
from policy_engine.policy.syntax import Syntax
from policy_engine.policy.syntax.detection import read_document, syntax_of
from policy_engine.policy.syntax.json_text import Document
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.vocabulary import NONE, Vocabulary, joined


class PolicyText(NamedTuple):
    """The text of a policy or a vocabulary, in any syntax, that is in no file.

    `name` is what messages call it; its ending tells the syntax, as that of a file does.
    `document` is what the text was read as, where it was.
    """

    text: bytes
    name: str = ""
    document: Document | None = None

    def parsed(self, limits: Limits = DEFAULT_LIMITS) -> "PolicyText":
        """Return the text with its document, so that it is read once; as it is where it has none:
        whoever needs the document is told why."""
        try:
            return self._replace(document=read_document(*text_of(self), limits))
        except PolicyError:
            return self


_Given = tuple[str | bytes | Document, str, Syntax]
Source = str | Path | Mapping[str, Any] | Policy | PolicyText
"""A policy: the path of its file, its text, its JSON as Python has it, or read already.

Where several are taken, the path may be of a folder or of a registry of policies.
"""
VocabularySource = str | Path | Mapping[str, Any] | Vocabulary | PolicyText
"""A vocabulary: the path of its file, its JSON as Python has it, or read already."""


class ReadingOptions(TypedDict, total=False):
    """The options by which policies are read: the fields of `Reading`."""

    contexts: Mapping[str, Any] | None
    parents: Sequence[Source]
    limits: Limits
    vocabularies: Sequence[VocabularySource]


@dataclass(frozen=True)
class Reading:
    """What policies are read with, beside their own texts.

    `contexts` are JSON-LD contexts beyond the bundled ones, by URL; `parents` the policies that
    others may inherit from; `limits` how large each text may be; `vocabularies` define terms of
    one's own, for all of the policies.
    """

    contexts: Mapping[str, Any] | None = None
    parents: Sequence[Source] = ()
    limits: Limits = DEFAULT_LIMITS
    vocabularies: Sequence[VocabularySource] = ()

    @property
    def keywords(self) -> dict[str, Any]:
        """The same as the keyword arguments that the verbs of the API take."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def policy(self, source: Source) -> Policy:
        """Return the one policy of a source. Raises as `load_policy`."""
        policies = self.policies(source)
        if len(policies) != 1:
            message = f"One policy is expected. The text has {len(policies)}."
            raise PolicyError(
                Problem("P001", message, "", policies[1].place), source=policies[0].source
            )
        return policies[0]

    def policies(self, *sources: Source) -> InForce:
        """Return every policy of the sources that is in force now, in their order.

        Raises as `load_policy`, and PolicyError (P012) where every one was replaced.
        """
        policies = self.policies_in_force(*sources)
        if not policies and policies.notes:
            for source in sources:
                self._refuse_replaced(source)
            raise PolicyError.of("P012", f"No policy is in force. {' '.join(policies.notes)}")
        return policies

    def _refuse_replaced(self, source: Source) -> None:
        """Raise PolicyError (P012) where a text says of its policies that they were replaced."""
        if not isinstance(source, Policy) and not is_collection(source):
            text, name, syntax = text_of(source)
            read_policies(text, source=name, parents=self._parents, syntax=syntax, **self._how)

    def policies_in_force(self, *sources: Source, time: datetime | None = None) -> InForce:
        """Return the policies of files, folders and registries that are in force at a moment.

        Without `time` that is now. One that was replaced or withdrawn is skipped, with a note that
        says why. Raises as `load_policy`, with the file that cannot be read, and RequestError
        (D002) for two policies of one uid of which none is known to be the newer.
        """
        collector = PolicyCollector(time or datetime.now(UTC), text_of, self._read, self._drafts)
        for source in sources:
            if isinstance(source, Policy):
                collector.add([self._read_texts(source)])
            elif is_path(source):
                collector.add_file(Path(source))
            else:
                collector.add(self._read(_given(source), ()))
        return collector.collect()

    def hierarchy(self, sources: Sequence[str | Path | PolicyText]) -> Hierarchy:
        """Return what files or texts say of who and what belongs to what, taken together.

        Raises DataError where a file does not exist, PolicyError where it says anything else.
        """
        hierarchies = []
        for source in sources:
            text, name, syntax = text_of(source if isinstance(source, PolicyText) else Path(source))
            hierarchies.append(read_hierarchy(text, source=name, syntax=syntax, **self._how))
        return Hierarchy().joined(hierarchies)

    @property
    def _how(self) -> dict[str, Any]:
        """What the readers of a single text take of this."""
        return {**self._how_vocabularies, "vocabulary": self.vocabulary}

    @property
    def _how_vocabularies(self) -> dict[str, Any]:
        return {"contexts": self.contexts, "limits": self.limits}

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the vocabularies define, each of them read once.

        Raises DataError where a file does not exist, PolicyError for what cannot be understood.
        """
        if not self.vocabularies:
            return NONE
        from policy_engine.policy.reading.vocabulary_reader import check_wider  # noqa: PLC0415

        vocabulary = joined(map(self._vocabulary, self.vocabularies))
        check_wider(vocabulary)
        return vocabulary

    def _vocabulary(self, source: VocabularySource) -> Vocabulary:
        if isinstance(source, Vocabulary):
            return source
        from policy_engine.policy.reading.vocabulary_reader import read_vocabulary  # noqa: PLC0415

        text, name, syntax = text_of(source)
        return read_vocabulary(text, source=name, syntax=syntax, **self._how_vocabularies)

    @cached_property
    def _parents(self) -> tuple[Policy, ...]:
        """The parents, each read once."""
        return tuple(draft for parent in self.parents for draft in self._parent(parent))

    def _read(self, source: _Given, beside: Sequence[Policy]) -> tuple[Policy, ...]:
        """Return the policies of a text, replaced ones among them."""
        text, name, syntax = source
        options = {**self._how, "syntax": syntax, "keep_replaced": True}
        return read_policies(text, source=name, parents=self._parents, beside=beside, **options)

    def _drafts(self, source: Text) -> tuple[Policy, ...]:
        text, name, syntax = source
        return read_drafts(text, source=name, syntax=syntax, keep_replaced=True, **self._how)

    def _read_texts(self, policy: Policy) -> Policy:
        """Return a policy. Raises PolicyError (P018) where it was read without what is given."""
        if set(self.vocabulary.digests) <= set(policy.vocabulary.digests):
            return policy
        message = f"{policy.uid!r} was read without the vocabularies that are given now."
        raise PolicyError.of("P018", message, "Read it with them.", policy.source)

    def _parent(self, source: Source) -> tuple[Policy, ...]:
        if isinstance(source, Policy):
            return (self._read_texts(source),)
        text, name, syntax = text_of(source)
        return read_drafts(text, source=name, syntax=syntax, **self._how)


def load_policy(source: Source, **reading: Unpack[ReadingOptions]) -> Policy:
    """Return a policy, read from its file or its JSON (as text or as Python has it).

    A file's ending tells its syntax, and how it begins where the ending is none of JSON-LD's or
    RDF's. The rest is as in `Reading`. Raises DataError where there is no such file,
    PolicyError where it is not a valid policy, or not a single one.
    """
    return Reading(**reading).policy(source)


def load_policies(source: Source, **reading: Unpack[ReadingOptions]) -> tuple[Policy, ...]:
    """Return every policy that a file or a JSON text holds. Raises as `load_policy`."""
    return Reading(**reading).policies(source)


def kind_of(
    source: Path | PolicyText, limits: Limits = DEFAULT_LIMITS
) -> Literal["policies", "hierarchy", "vocabulary"]:
    """Return what a file or a text holds, as far as its keys and types tell.

    A hierarchy says what belongs to what, a vocabulary what terms there are, and neither what only
    a policy says.
    """
    try:
        document = read_document(*_given(source), limits)
    except PolicyError:
        return "policies"
    if isinstance(document.value, dict) and any(
        _last(key) in _OF_POLICIES for key in document.value
    ):
        return "policies"
    names_and_types = [*_document_keys(document.value)]
    keys, types = ({one[part] for one in names_and_types} for part in (0, 1))
    if keys & _OF_POLICIES:
        return "policies"
    if types & _OF_VOCABULARIES:
        return "vocabulary"
    return "hierarchy" if keys & _OF_HIERARCHIES else "policies"


_OF_HIERARCHIES = {"belongsTo", "partOf", "includedIn", "implies", "declinationOf", "broader"}
_OF_VOCABULARIES = {"Action", "action", "LeftOperand", "purpose", "Concept", "ConceptScheme"}
_OF_VOCABULARIES |= {"Ontology", "Profile"}
_OF_POLICIES = {"permission", "prohibition", "obligation", "profile", "conflict", "inheritFrom"}


def _document_keys(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the keys and the types, the last parts of their names, of all objects."""
    for one in value if isinstance(value, list) else [value]:
        for key, content in one.items() if isinstance(one, dict) else ():
            names = content if isinstance(content, list) else [content]
            is_type = key in ("@type", "type")
            yield _last(key), ""
            yield from (("", _last(name)) for name in names if is_type and isinstance(name, str))
            yield from _document_keys(content) if key != "@context" else ()


def _last(name: str) -> str:
    return name.replace("/", ":").replace("#", ":").rsplit(":", 1)[-1]


def text_of(source: Source | VocabularySource) -> Text:
    """Return the text of a policy, its name in messages, and its syntax."""
    if isinstance(source, PolicyText):
        return source.text, source.name, syntax_of(source.name, source.text)
    if isinstance(source, Mapping | list):
        return _written(source), "", "json-ld"
    if isinstance(source, str) and not is_path(source):
        return source, "", syntax_of("", source.encode(errors="replace"))
    if not isinstance(source, str | Path):
        message = f"A policy is a path, JSON or a Policy. Given: a {type(source).__name__}."
        raise DataError.of("C010", message)
    text = read_file(Path(source))
    return text, str(source), syntax_of(str(source), text)


def _given(source: Source) -> _Given:
    """Return the text of a policy as `text_of`, or what it was read as, where it was."""
    text, name, syntax = text_of(source)
    document = source.document if isinstance(source, PolicyText) else None
    return text if document is None else document, name, syntax


def is_path(source: object) -> TypeGuard[str | Path]:
    """Tell whether a source is a path, and not the text of a policy, which is JSON or has lines."""
    is_name = isinstance(source, str) and source.lstrip()[:1] not in ("{", "[")
    return isinstance(source, Path) or (is_name and "\n" not in str(source))


def is_collection(source: object) -> bool:
    """Tell whether a source is a folder of policies, or a registry of them."""
    if not is_path(source):
        return False
    if is_folder(Path(source)):
        return True
    with suppress(DataError):
        return is_registry(read_file(Path(source)))
    return False


def _written(source: Mapping[str, Any] | list[Any]) -> str:
    """Return a value as JSON. Raises PolicyError where JSON has no such value (J001, J003)."""
    try:
        return json.dumps(source)
    except RecursionError:
        raise PolicyError.of("J003", "The JSON is nested too deeply to be written.") from None
    except (TypeError, ValueError):
        message = "A policy or a vocabulary holds what JSON has no form for."
        hint = "JSON has dict, list, str, int, float, bool and None, none of them within itself."
        raise PolicyError.of("J001", message, hint) from None


def read_file(path: Path) -> bytes:
    """Return a file's bytes; of `-`, those of standard input, which is read once.

    Raises DataError where it is missing or cannot be read.
    """
    try:
        if str(path) == "-":
            return _read_once(sys.stdin.buffer)
        with open_to_read(path) as file:
            return file.read()
    except FileNotFoundError:
        raise DataError.of("C002", f"There is no file {str(path)!r}.") from None
    except (OSError, ValueError) as error:
        message = f"The file cannot be read: {getattr(error, 'strerror', None) or error}."
        raise DataError.of("C003", message, source=str(path)) from None


@lru_cache(maxsize=1)
def _read_once(stream: BinaryIO) -> bytes:
    return stream.read()
