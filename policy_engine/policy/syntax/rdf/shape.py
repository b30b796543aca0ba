"""How statements hang together: what each node says, which nodes are lists, what comes first."""

from collections import Counter
from collections.abc import Iterator

from policy_engine import terms
from policy_engine.data.rdf.statements import (
    FIRST,
    NIL,
    REST,
    TYPE,
    Statement,
    Statements,
    is_blank,
)

_ODRL = terms.ODRL
_KINDS = ("Policy", "Set", "Offer", "Agreement", "Assertion", "Privacy", "Request", "Ticket")
_POLICIES = {f"{_ODRL}{name}" for name in _KINDS}
_POLICY_PROPERTIES = {f"{_ODRL}{name}" for name in ("permission", "prohibition", "obligation")}

MANY = 16
"""Of how many policies what they lead to is searched: each may lead to all the text."""


class Shape:
    """The statements of a text by subject and predicate.

    `statements_by_subject` has them in the order of the text, `references` how often a node is
    an object, `lists` the statements of the items of a list by its first cell, `cells` all blank
    nodes that such lists consist of, and `policies` the subjects that are policies.
    """

    def __init__(self, statements: Statements) -> None:
        self.statements = statements
        self.statements_by_subject: dict[str, dict[str, list[Statement]]] = {}
        self.references: Counter[str] = Counter()
        for one in statements.items:
            self.statements_by_subject.setdefault(one.subject, {}).setdefault(
                one.predicate, []
            ).append(one)
            if isinstance(one.value, str):
                self.references[one.value] += 1
        self.lists: dict[str, list[Statement]] = {}
        self.cells: set[str] = set()
        self._find_lists()
        self.policies = dict.fromkeys(
            node
            for node, statements_by_predicate in self.statements_by_subject.items()
            if _is_policy(statements_by_predicate)
        )

    def tops(self) -> Iterator[str]:
        """Yield the subjects in the order in which to write them: policies first, then what
        nothing refers to, then all others; who writes leaves out what was written inside."""
        yield from self.policies
        yield from (node for node in self.statements_by_subject if not self.references[node])
        yield from (node for node in self.statements_by_subject if node not in self.cells)
        yield from self.statements_by_subject

    def uses(self, node: str, namespace: str) -> bool:
        """Tell whether a node, or one that it leads to, uses a name of a namespace."""
        visited, queue = {node}, [node]
        for subject in queue:
            if terms.canonical(subject).startswith(namespace):
                return True
            for predicate, values in self.statements_by_subject.get(subject, {}).items():
                if terms.canonical(predicate).startswith(namespace):
                    return True
                objects = {one.value for one in values if isinstance(one.value, str)} - visited
                visited |= objects
                queue += objects
        return False

    def is_inner(self, node: str) -> bool:
        """Tell whether a node has no name and is spoken of once, so that it needs no label."""
        return is_blank(node) and self.references[node] == 1

    def chain(self, head: str) -> Iterator[str]:
        """Yield the cells of a list."""
        cell = head
        while cell != NIL:
            yield cell
            cell = str(self.statements_by_subject[cell][REST][0].value)

    def _find_lists(self) -> None:
        """Find the lists from their ends: from their heads, a broken one costs its square."""
        predecessors = {
            one.value: one.subject
            for one in self.statements.items
            if one.predicate == REST and self._is_cell(one.subject)
        }
        ends = [
            one.subject
            for one in self.statements.items
            if one.predicate == REST and one.value == NIL and self._is_cell(one.subject)
        ]
        for end in ends:
            if self.references[end] != 1:
                continue
            chain = [end]
            while chain[-1] in predecessors and self.references[predecessors[chain[-1]]] == 1:
                chain.append(predecessors[chain[-1]])
            self.cells.update(chain)
            items = [self.statements_by_subject[cell][FIRST][0] for cell in reversed(chain)]
            self.lists[chain[-1]] = items

    def _is_cell(self, node: str) -> bool:
        statements = self.statements_by_subject[node]
        return (
            is_blank(node)
            and statements.keys() == {FIRST, REST}
            and len(statements[FIRST]) == len(statements[REST]) == 1
        )


def _is_policy(statements: dict[str, list[Statement]]) -> bool:
    kinds = {one.value for one in statements.get(TYPE, ())}
    return bool(kinds & _POLICIES or statements.keys() & _POLICY_PROPERTIES)
