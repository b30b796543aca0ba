"""Texts of RDF that look like names with a prefix, where a constraint compares names.

In Turtle `"ex:Rome"` is a text and `ex:Rome` a name. Where names are compared the text equals none
of them, so that `neq` always holds: beside a declaration of `ex` it is refused, and so is such a
text of a language or of another type of texts.
"""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.data.rdf.statements import (
    FIRST,
    REST,
    STRING,
    Literal,
    Statement,
    Statements,
)
from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.structure import DATA_TYPE, LEFT, RIGHT
from policy_engine.policy.syntax.contexts import is_compact, name_like_text
from policy_engine.policy.syntax.limits import MAX_PROBLEMS
from policy_engine.policy.xsd.literals import TEXT_TYPES

_Parts = dict[str, dict[str, list[Statement]]]


def refuse_name_like_texts(statements: Statements) -> None:
    """Raise PolicyError (L007) for texts whose prefix the text declares for something else.

    Those of the language mean in a text what they mean in a name.
    """
    problems = []
    for one, prefix in name_like_texts(statements):
        namespace = statements.prefixes.get(prefix)
        if namespace is not None and terms.PREFIXES.get(prefix) != namespace:
            text = one.value.text if isinstance(one.value, Literal) else ""
            problems.append(Problem("L007", *name_like_text(text, prefix), Place("", *one.spot)))
    if problems:
        raise PolicyError(*problems[:MAX_PROBLEMS], source=statements.source)


def name_like_texts(statements: Statements) -> Iterator[tuple[Statement, str]]:
    """Yield the right operands that look like a name and are texts, each with its prefix."""
    parts: _Parts = {}
    for one in statements.items:
        parts.setdefault(one.subject, {}).setdefault(one.predicate, []).append(one)
    for node in parts.values():
        is_text = any(one.value == STRING for one in node.get(DATA_TYPE, ()))
        if not is_text and any(_takes_names(one) for one in node.get(LEFT, ())):
            for one in _right_operands(parts, node):
                text = one.value
                if isinstance(text, Literal) and text.type in TEXT_TYPES and is_compact(text.text):
                    yield one, text.text.partition(":")[0]


def _takes_names(left: Statement) -> bool:
    return isinstance(left.value, str) and terms.takes_names(terms.canonical(left.value))


def _right_operands(parts: _Parts, node: dict[str, list[Statement]]) -> Iterator[Statement]:
    """Yield the right operands of a constraint, those in lists too."""
    queue, visited = [*node.get(RIGHT, ())], set[str]()
    for one in queue:
        yield one
        if isinstance(one.value, str) and one.value not in visited:
            visited.add(one.value)
            inner = parts.get(one.value, {})
            queue += [*inner.get(FIRST, ()), *inner.get(REST, ())]
