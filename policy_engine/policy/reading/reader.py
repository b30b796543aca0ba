"""A policy's text to a Policy: strict, complete in its complaints, and offline."""

from collections.abc import Mapping, Sequence
from typing import Any

from policy_engine.errors import PolicyError, Problem, place_order
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import Policy
from policy_engine.policy.reading.collector import collector_paused
from policy_engine.policy.reading.inheritance import inherited
from policy_engine.policy.reading.policy_reader import PolicyReader
from policy_engine.policy.reading.queries import query_problems
from policy_engine.policy.syntax import Syntax
from policy_engine.policy.syntax.detection import read_document
from policy_engine.policy.syntax.json_ld import expand
from policy_engine.policy.syntax.json_text import Document
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.validation.checks import problems_of, with_warnings
from policy_engine.policy.vocabulary import NONE, Vocabulary


def read_policy(
    text: str | bytes | Document,
    *,
    source: str = "",
    contexts: Mapping[str, Any] | None = None,
    parents: Sequence[Policy] = (),
    limits: Limits = DEFAULT_LIMITS,
    syntax: Syntax = "json-ld",
    vocabulary: Vocabulary = NONE,
) -> Policy:
    """Read one policy: ODRL 2.2 in JSON-LD or another syntax of RDF, with the MOSAICrOWN profile.

    `source` names the text in messages; `contexts` are JSON-LD contexts beyond the bundled
    ones, by URL; `parents` the policies that it may inherit from; `vocabulary` has terms beyond
    those of the language. Raises PolicyError with every problem found, each with its place.
    """
    policies = read_policies(
        text,
        source=source,
        contexts=contexts,
        parents=parents,
        limits=limits,
        syntax=syntax,
        vocabulary=vocabulary,
    )
    if len(policies) != 1:
        message = f"One policy is expected. The text has {len(policies)}."
        raise PolicyError(Problem("P001", message, "", policies[1].place), source=source)
    return policies[0]


def read_policies(
    text: str | bytes | Document,
    *,
    source: str = "",
    contexts: Mapping[str, Any] | None = None,
    parents: Sequence[Policy] = (),
    limits: Limits = DEFAULT_LIMITS,
    syntax: Syntax = "json-ld",
    vocabulary: Vocabulary = NONE,
    keep_replaced: bool = False,
    beside: Sequence[Policy] = (),
) -> tuple[Policy, ...]:
    """Read every policy of a text; they may inherit from one another too.

    Raises PolicyError with every problem found, also where the text holds no policy; that one
    was replaced (P012) is none with `keep_replaced`. `beside` are possible parents that nobody gave
    as such, as in a folder (`inherited`).
    """
    with collector_paused():
        how = (contexts, limits, syntax, vocabulary)
        return _read_policies(text, source, how, parents, beside, keep_replaced=keep_replaced)


def _read_policies(
    text: str | bytes | Document,
    source: str,
    how: "_How",
    parents: Sequence[Policy],
    beside: Sequence[Policy],
    *,
    keep_replaced: bool,
) -> tuple[Policy, ...]:
    reader, drafts = _drafts(text, source, how, keep_replaced=keep_replaced)
    places, replace_text, limits = reader.parents_at, reader.replace_text, how[1]
    policies, problems = inherited(drafts, parents, places, limits, replace_text, beside)
    problems = [*reader.walker.problems, *problems]
    if not problems:
        problems += [*problems_of(policies), *query_problems(policies, replace_text)]
    if problems:
        raise PolicyError(*sorted(dict.fromkeys(problems), key=place_order), source=source)
    return tuple(with_warnings(policy) for policy in policies)


def read_drafts(
    text: str | bytes | Document,
    *,
    source: str = "",
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    syntax: Syntax = "json-ld",
    vocabulary: Vocabulary = NONE,
    keep_replaced: bool = False,
) -> tuple[Policy, ...]:
    """Read policies as they are written: without what they inherit, and perhaps not complete.

    A policy that others inherit from may leave out what these add. Raises PolicyError.
    """
    how = (contexts, limits, syntax, vocabulary)
    reader, drafts = _drafts(text, source, how, as_draft=True, keep_replaced=keep_replaced)
    if reader.walker.problems:
        raise PolicyError(*sorted(reader.walker.problems, key=place_order), source=source)
    return drafts


_How = tuple[Mapping[str, Any] | None, Limits, Syntax, Vocabulary]


def _drafts(
    text: str | bytes | Document,
    source: str,
    how: _How,
    *,
    as_draft: bool = False,
    keep_replaced: bool = False,
) -> tuple[PolicyReader, tuple[Policy, ...]]:
    reader = _reader(text, source, how)
    reader.as_draft, reader.keep_replaced = as_draft, keep_replaced
    return reader, reader.read(source)


def _reader(text: str | bytes | Document, source: str, how: _How) -> PolicyReader:
    contexts, limits, syntax, vocabulary = how
    document = read_document(text, source, syntax, limits)
    known_contexts = vocabulary.contexts(contexts, document.value)
    return PolicyReader(expand(document, known_contexts, limits), limits, vocabulary)


def read_hierarchy(
    text: str | bytes | Document,
    *,
    source: str = "",
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    syntax: Syntax = "json-ld",
    vocabulary: Vocabulary = NONE,
) -> Hierarchy:
    """Read what is part of what from a JSON-LD text, as strictly as a policy.

    Its nodes may say `belongsTo`, `partOf`, `includedIn`, `implies`, `declinationOf` and
    `skos:broader`. Raises PolicyError with every problem found.
    """
    reader = _reader(text, source, (contexts, limits, syntax, vocabulary))
    for node in reader.walker.graph.nodes:
        reader.walker.read_membership(node)
    reader.walker.refuse_unread()
    if reader.walker.problems:
        raise PolicyError(*sorted(reader.walker.problems, key=place_order), source=source)
    return reader.walker.hierarchy()
