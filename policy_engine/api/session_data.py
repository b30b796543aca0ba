"""The rows that the outputs of a session are made of."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.api.chosen_checks import ChosenCheck
from policy_engine.audits.outputs.microdata import (
    Microdata,
    is_numeric,
    numbers_of,
    with_floats,
)
from policy_engine.engines.tables import infer_types, read_table
from policy_engine.release.related_columns import ColumnHistory, NumberColumns

if TYPE_CHECKING:
    from policy_engine.audits.outputs.model import Figures


def load_microdata(chosen: ChosenCheck) -> Microdata | None:
    """Return the rows that outputs are made of, None where there are none. Raises DataError."""
    data = chosen.data
    if data is None:
        return None
    is_file = isinstance(data, str | Path)
    frame = with_floats(infer_types(read_table(Path(data)))) if is_file else data
    return Microdata.of(frame, chosen.unit)


def column_history(rows: Microdata) -> ColumnHistory:
    """Return a history of no outputs about data, each of whose columns is read once."""
    table = rows.table
    names = tuple(one for one in table.column_names if is_numeric(table[one].type))

    @cache
    def values(name: str) -> "Figures | None":
        return numbers_of(name, table[name]) if name in names else None

    return ColumnHistory(NumberColumns(names, values))
