"""An intruder of its own code learns nothing by random totals, means and spreads of sessions.

Some seeds are of two sessions that share a ledger.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from intruders import Figure, determined, nearly_known

from policy_engine import output_session
from policy_engine.errors import PolicyEngineError

PROFILES = ["sacro", "bundesbank", "fsrdc"]
STATISTICS = ["sum", "mean", "std", "var", "sem", "skew"]
COLUMNS = ("pay", "gain")
GROUPINGS = (["region"], ["sector"], ["region", "sector"])


def employees(draws):
    """Return some persons: few of them have a gain, large or like those of others."""
    size = int(draws.integers(40, 120))
    few = draws.permutation(size)[: draws.integers(9, 32)]
    gain = np.zeros(size, int)
    gain[few] = draws.integers(50, draws.choice([150, 100_000]), len(few))
    amounts = [
        draws.integers(50, 150, size),
        np.exp(draws.normal(7, 1, size)).astype(int) + 1,
        draws.integers(0, 100_000, size),
    ]
    return pd.DataFrame({
        "person": range(size),
        "region": draws.choice(["a", "b"], size),
        "sector": draws.choice(["x", "y", "z"], size),
        "age": draws.integers(20, 80, size),
        "pay": amounts[draws.integers(3)],
        "gain": gain,
    })  # fmt: skip


def chosen(frame, draws):
    """Return all rows, those of a region, those below an age, or all but a few."""
    fewer = draws.choice(len(frame), draws.integers(1, 5), replace=False)
    ways = [
        frame,
        frame,
        frame[frame.region == "a"],
        frame[frame.age < draws.integers(25, 75)],
        frame.drop(index=fewer),
    ]
    return ways[draws.integers(len(ways))]


def ask_at_random(session, frame, draws):
    """Ask for some tables; return the rows that each is about, by its name."""
    about = {}
    for _ in range(draws.integers(2, 6)):
        rows, keys = chosen(frame, draws), GROUPINGS[draws.integers(len(GROUPINGS))]
        names = draws.choice(STATISTICS, draws.integers(1, 4), replace=False)
        groups = session.groupby(keys, data=rows)[str(draws.choice(COLUMNS))]
        try:
            about[groups.agg([*map(str, names)]).name] = rows
        except PolicyEngineError:
            continue
    session.finalise()
    return about


def figures_of(prepared, rows, frame):
    """Yield the figures of a table that are shown."""
    made, released = prepared.made, prepared.verdict.released
    for row, (place, one) in product(range(len(released)), enumerate(made.aggregates)):
        if released[row, place]:
            wanted = made.table.key_values(row)
            is_in = np.isin(frame.index, rows.index)
            for name, value in wanted.items():
                is_in &= (frame[name] == value).to_numpy()
            assert is_in.any()
            yield Figure(one.function, is_in, (one.column,))


def told(folder, seed):
    """Return what follows from all that is shown, and how many figures these are."""
    draws = np.random.default_rng(seed)
    frame, figures = employees(draws), []
    shared = {"ledger": folder / "ledger"} if draws.random() < 0.4 else {}
    profile = str(draws.choice(PROFILES))
    for part in range(1 + len(shared)):
        session = output_session(
            None, folder / f"out{part}", data=frame, profile=profile, unit="person", **shared
        )
        about = ask_at_random(session, frame, draws)
        for name, rows in about.items():
            figures += figures_of(session._outputs[name], rows, frame)
    data = {name: frame[name].tolist() for name in COLUMNS}
    exact = [(name, found) for name in COLUMNS if (found := determined(figures, data, (name,)))]
    near = [(name, found) for name in COLUMNS if (found := nearly_known(figures, data, name, 0.1))]
    return exact + near, len(figures)


@pytest.mark.one_in(30)
@pytest.mark.parametrize("seed", range(60))
def test_nobodys_value_follows_from_statistics_of_sessions(tmp_path, seed):
    found, shown = told(tmp_path, seed)
    assert found == []
    assert shown or seed
