"""The outstanding duties of parties, as a table on a terminal."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from rich.markup import escape
from rich.table import Table

from policy_engine import terms
from policy_engine.cli.tables.tables import new_table
from policy_engine.decision.duties import Due, Settlement

_ORDER: tuple[Settlement, ...] = ("violated", "outstanding", "fulfilled")


def dues_table(dues: Sequence[Due]) -> Table:
    """Return what is violated, then what is outstanding, the soonest first, then what was done."""
    times = Counter(one.state for one in dues)
    title = ", ".join(f"{times[state]} {state}" for state in _ORDER)
    table = new_table(title, "state", "party", "action", "due by", "duty", "rule")
    for one in sorted(dues, key=_urgency):
        actions = " and ".join(map(terms.compact, one.actions))
        of = f" of {', '.join(map(terms.compact, one.targets))}" if one.targets else ""
        row = (_state(one), one.by, actions + of, _day(one.until), one.duty, one.rule)
        table.add_row(*map(escape, row))
    return table


def _urgency(one: Due) -> tuple[int, str]:
    return _ORDER.index(one.state), one.until.isoformat() if one.until else "~"


def _state(one: Due) -> str:
    late = ", late" if one.is_late and one.done else ""
    return f"{one.state}{late}{f' {_day(one.done)}' if one.done else ''}"


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M %Z}" if moment else "-"
