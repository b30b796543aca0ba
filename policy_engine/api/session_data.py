"""The rows that the outputs of a session are made of."""

from pathlib import Path

from policy_engine.api.chosen_checks import ChosenCheck
from policy_engine.audits.outputs.microdata import Microdata, with_floats
from policy_engine.engines.tables import infer_types, read_table


def load_microdata(chosen: ChosenCheck) -> Microdata | None:
    """Return the rows that outputs are made of, None where there are none. Raises DataError."""
    data = chosen.data
    if data is None:
        return None
    is_file = isinstance(data, str | Path)
    frame = with_floats(infer_types(read_table(Path(data)))) if is_file else data
    return Microdata.of(frame, chosen.unit)
