"""Conditions over rows, as expressions of the parts that each read one column alone.

Rows with the same parts are alike to a condition, whatever their values: so a condition is
evaluated on few combinations of parts, and each with the parts of other rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

LEAF, ATOM = "l", "o"
"""How the columns begin that have the value of a leaf, and what an atom is assumed to be."""


@dataclass(frozen=True)
class Atom:
    """A part of a condition that AND, OR and NOT join, over the values of leaves.

    `columns` are those that it reads. It `is_presence` where it is whether a column has a value,
    `is_key` where it is that a column is some value, as that of a key.
    """

    name: str
    expression: exp.Expr
    columns: frozenset[str]
    is_presence: bool
    is_key: bool = False


@dataclass(frozen=True)
class LeafExpression:
    """An expression over the columns of leaves, such as "l0", and the columns of rows it reads.

    Each of its atoms may be assumed to hold, or not, by the column of its name, such as "o0".
    """

    expression: exp.Expr
    columns: frozenset[str]
    leaves: tuple[str, ...]
    atoms: tuple[Atom, ...] = ()


@dataclass
class ConditionLeaves:
    """The leaves of some expressions, each once, by their text."""

    numbers: dict[str, int] = field(default_factory=dict)
    nodes: list[exp.Expr] = field(default_factory=list)
    atom_count: int = 0

    def condition(self, node: exp.Expr) -> LeafExpression:
        """Return a condition over leaves, with its atoms."""
        atoms: list[Atom] = []
        expression = self._condition(node, atoms)
        names = dict.fromkeys(n for one in atoms for n in _names(one.expression))
        return LeafExpression(expression, columns_of(node), tuple(names), tuple(atoms))

    def value(self, node: exp.Expr) -> LeafExpression:
        """Return any expression over leaves."""
        expression = self._cut(node)
        names = tuple(dict.fromkeys(_names(expression)))
        return LeafExpression(expression, columns_of(node), names)

    def by_name(self) -> Mapping[str, exp.Expr]:
        """Return the leaves by the names of their columns."""
        return {f"{LEAF}{number}": node for number, node in enumerate(self.nodes)}

    def _condition(self, node: exp.Expr, atoms: list[Atom]) -> exp.Expr:
        node, columns = node.unnest(), columns_of(node)
        if not columns:
            return exp.paren(node.copy())
        if len(columns) > 1 and isinstance(node, exp.And | exp.Or):
            parts = [self._condition(one, atoms) for one in (node.left, node.right)]
            return exp.paren(type(node)(this=parts[0], expression=parts[1]))
        if len(columns) > 1 and isinstance(node, exp.Not):
            return exp.paren(exp.Not(this=self._condition(node.this, atoms)))
        name = f"{ATOM}{self.atom_count}"
        self.atom_count += 1
        expression = self._cut(node)
        is_key = isinstance(node, exp.NullSafeEQ) and isinstance(node.left, exp.Column)
        atoms.append(Atom(name, expression, columns, is_presence(node), is_key))
        return exp.func("COALESCE", exp.column(name, quoted=True), expression.copy())

    def _cut(self, node: exp.Expr, parent: exp.Expr | None = None) -> exp.Expr:
        """Return an expression in which each largest part that reads one column is a leaf."""
        columns = columns_of(node)
        is_branch = isinstance(node, exp.If) and isinstance(parent, exp.Case)
        if not columns:
            return node.copy()
        if len(columns) == 1 and isinstance(node, exp.Condition) and not is_branch:
            return exp.column(self._leaf(node), quoted=True)
        copied = node.copy()
        for child, own in zip(
            list(copied.iter_expressions()), node.iter_expressions(), strict=True
        ):
            child.replace(self._cut(own, node))
        return copied

    def _leaf(self, node: exp.Expr) -> str:
        node = node.unnest()
        number = self.numbers.setdefault(node.sql("duckdb"), len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node.copy())
        return f"{LEAF}{number}"


def columns_of(node: exp.Expr) -> frozenset[str]:
    """Return the columns that an expression reads, as they are written in SQL."""
    return frozenset(one.sql("duckdb") for one in node.find_all(exp.Column))


def is_presence(node: exp.Expr) -> bool:
    """Return whether a condition is that a column has a value, or has none."""
    node = node.unnest()
    test = node.this.unnest() if isinstance(node, exp.Not) else node
    is_missing = isinstance(test, exp.Is) and isinstance(test.expression, exp.Null)
    return is_missing and isinstance(test.this.unnest(), exp.Column)


def _names(node: exp.Expr) -> Iterator[str]:
    return (one.name for one in node.find_all(exp.Column))
