"""Which answers rows give to the atoms of conditions, and which none or few of them give."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from policy_engine.decision.query.checking.alike_rows import NUMBER
from policy_engine.decision.query.checking.condition_leaves import Atom
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.owned_rows import OWNER
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = "rows alike"
_NUMBERS, _UNITS = NUMBER, OWNER

OwnedTable = Callable[[], "tuple[int, pa.Table]"]
"""Returns how many units are enough, and the rows with the unit of each."""


def absent_answers(atoms: Sequence[Atom], table: "pa.Table") -> dict[str, tuple[bool, ...]]:
    """Return the answers that no row gives to atoms; it is no secret that values are there."""
    tested = [one for one in atoms if not one.is_presence]
    return {
        name: tuple(answer for answer, number in numbers.items() if not number)
        for name, numbers in _numbers(tested, table).items()
    }


def common_answers(
    atoms: Sequence[Atom], table: "pa.Table", least: int, owned: OwnedTable | None = None
) -> dict[str, bool]:
    """Return the more common answer to atoms to which fewer than the `least` rows give the other:
    those few may have it by a secret. Where it is known whose rows are, it is fewer units than
    are enough."""
    few = {
        name: numbers
        for name, numbers in _numbers(atoms, table).items()
        if min(numbers.values()) < least
    }
    if few and owned is not None:
        least, rows = owned()
        units = _numbers([one for one in atoms if one.name in few], rows, _UNITS)
        few = {name: few[name] for name, counts in units.items() if min(counts.values()) < least}
    return {name: numbers[True] > numbers[False] for name, numbers in few.items()}


def _numbers(
    atoms: Sequence[Atom], table: "pa.Table", counted: str = _NUMBERS
) -> dict[str, dict[bool, int]]:
    """Return how many rows, or units, say yes, and how many no, to atoms by their names."""
    texts = {}
    for atom in atoms:
        value = exp.cast(exp.Try(this=atom.expression.copy()), "BOOLEAN")
        entries = [
            exp.alias_(_number_where(value, answer, counted), str(answer))
            for answer in (True, False)
        ]
        select = exp.select(*entries).from_(exp.table_(_ROWS, quoted=True))
        texts[atom.name] = to_sql(select, "duckdb")
    results = run_checked(texts, {_ROWS: table}) if texts else {}
    return {
        name: {answer: one[str(answer)][0].as_py() or 0 for answer in (True, False)}
        for name, one in results.items()
    }


def _number_where(value: exp.Expr, answer: bool, counted: str) -> exp.Expr:
    is_answer = exp.EQ(this=value.copy(), expression=exp.Boolean(this=answer))
    sized = exp.case().when(is_answer, exp.column(counted, quoted=True))
    if counted == _UNITS:
        return exp.Count(this=exp.Distinct(expressions=[sized]))
    return exp.cast(exp.Sum(this=sized), "BIGINT")
