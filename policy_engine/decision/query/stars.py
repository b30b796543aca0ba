"""Stars in select lists, expanded into columns."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from policy_engine.decision.query.grammar import not_allowed_error
from policy_engine.decision.query.names import (
    Scope,
    TableSource,
    ambiguous_column_error,
    unknown_column_error,
)
from policy_engine.errors import QueryError


class Star:
    """A star in a select list, for all tables of a scope or, without a scope, for one table."""

    def __init__(self, node: exp.Star, sources: Sequence[TableSource], scope: Scope | None) -> None:
        self.sources, self.scope = sources, scope
        left_out = node.args.get("except_") or ()
        if any(isinstance(one, exp.Column) and one.table for one in left_out):
            raise not_allowed_error("EXCLUDE takes column names without a table name.")
        self.left_out = {one.name.lower() for one in left_out}
        self.anew = {one.alias.lower(): one for one in node.args.get("replace") or ()}
        column_names = {name.lower() for source in sources for name in source.columns}
        for name in (*self.left_out, *self.anew):
            if name not in column_names:
                raise unknown_column_error(name, sources)

    def entries(self) -> list[exp.Expr]:
        """Return an entry of the select list for each column."""
        entries = [entry for source in self.sources for entry in self._columns_of(source)]
        if not entries:
            message = "There is no column for * here." if self.sources else "* needs a FROM clause."
            raise QueryError.of("Q004", message)
        return entries

    def _columns_of(self, source: TableSource) -> Iterator[exp.Expr]:
        for name in source.columns:
            if not name or len(source.matches(name)) > 1:
                problem = f"several columns {name!r}" if name else "a column without a name"
                message = f"* stands for all columns of {source.name!r}, which has {problem}."
                raise QueryError.of("Q004", message, "Give each a name of its own with AS.")
            if name.lower() in self.left_out or self._is_again(name, source):
                continue
            if name.lower() in self.anew:
                yield self.anew[name.lower()].copy()
            else:
                yield exp.column(name, table=self._table(name, source), quoted=True)

    def _is_again(self, name: str, source: TableSource) -> bool:
        """Return whether a join merged the column with that of an earlier table."""
        return self.scope is not None and self.scope.same(name, source)[0] is not source

    def _table(self, name: str, source: TableSource) -> str | None:
        """Return the table name to write before a column: none if a join merged the column."""
        if self.scope is None or len(self.scope.same(name, source)) == 1:
            return source.name
        holders = self.scope.holders(name)
        if not self.scope.one_meaning(name, holders):
            raise ambiguous_column_error(name, holders)
        return None
