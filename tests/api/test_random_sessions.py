"""Random sessions against an intruder of its own code, who learns no withheld count.

The intruder knows all figures that are shown, how many rows there are, and that counts are whole
numbers and not negative: integer programmes find the least and the largest that a withheld count
may be. Another one is told by every mean and every deviation how many rows it is of, as a total or
an error beside it tells.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from policy_engine import output_session

PROFILES = ["sacro", "dwb-2015", "fsrdc", "bundesbank"]
PRIMARY, FEW = {"K002", "K003"}, {"K002"}
COUNTED = [["mean", "count"]]
TELLING = [["mean"], ["sum", "mean"], ["std", "sem"], ["var"], ["quantile"], ["sum"]]
SIZES = [0, 1, 3, 6, 9, 12, 15, 20, 40, 100]
SHARES = [0.08, 0.06, 0.07, 0.07, 0.07, 0.15, 0.15, 0.15, 0.1, 0.1]


class Figure(NamedTuple):
    """A count: the combinations of keys that it is of, its value, why it is withheld, and whether
    it is a figure of the output, or follows from one."""

    is_in: np.ndarray
    value: int
    reasons: set[str]
    is_shown: bool


def drawn(random):
    """Return how many persons each combination of two or three keys has."""
    sizes = random.integers(2, 5, size=random.integers(2, 4))
    combinations = itertools.product(*map(range, sizes))
    return {one: int(random.choice(SIZES, p=SHARES)) for one in combinations}


def people(counts):
    keys = ["a", "b", "c"][: len(next(iter(counts)))]
    rows = [one for one, count in counts.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=keys).astype(str)
    return frame.assign(person=range(len(frame)), x=100.0 + np.arange(len(frame)) % 89)


def asked(session, frame, random, aggregates):
    """Ask for a random table, of all persons or of those with one value of a key; return the name
    of the output, and the value by its key. One in three is of some of the aggregates."""
    keys = [str(key) for key in random.permutation([key for key in frame if key in "abc"])]
    chosen, rows = {}, frame
    if random.random() < 0.3 and len(keys) > 2:
        key = keys.pop()
        chosen = {key: str(random.choice(frame[key].unique()))}
        rows = frame[frame[key] == chosen[key]]
    form = random.integers(3)
    if form == 0:
        output = session.crosstab(keys[0], keys[1:], margins=bool(random.random() < 0.5), data=rows)
    else:
        groups = session.groupby(keys[: random.integers(1, len(keys) + 1)], data=rows)
        chosen_ones = aggregates[random.integers(len(aggregates)) if len(aggregates) > 1 else 0]
        output = groups.size() if form == 1 else groups["x"].agg(chosen_ones)
    return output.name, chosen


def figures(prepared, chosen, counts, *, infers):
    """Yield the counts of an output, as its evidence has them, or those of its figures, too."""
    table, released = prepared.made.table, prepared.verdict.released
    withheld = {(one.row, one.measure): {*one.reasons} for one in prepared.verdict.cells()}
    for row, (number, measure) in itertools.product(
        range(len(table.codes)), enumerate(table.measures)
    ):
        is_count = measure.name.startswith(("size", "count"))
        if measure.name.startswith("sum") or not (is_count or infers):
            continue
        wanted = {**chosen, **table.key_values(row)}
        is_in = np.array([
            all(str(one["abc".index(key)]) == value for key, value in wanted.items())
            for one in counts
        ])  # fmt: skip
        value = int(np.array([*counts.values()])[is_in].sum())
        assert not is_count or table.values[row, number] == value  # noqa: PD011 (no frame)
        reasons = withheld.get((row, measure.name), set())
        is_told = released[row, number] and (is_count or value > 1)
        if is_told or not released[row, number]:
            yield Figure(is_in, value, set() if is_told else reasons, is_count)


def known(shown, target):
    """Return the least and the largest that a target may be."""
    sums = np.array([one.is_in for one in shown], float)
    values = np.array([one.value for one in shown], float)
    ends = []
    for sign in (1, -1):
        solution = milp(
            sign * target.is_in.astype(float),
            constraints=LinearConstraint(sums, values, values),
            integrality=np.ones(len(target.is_in)),
            bounds=Bounds(0, np.inf),
        )
        ends.append(sign * solution.fun if solution.status == 0 else sign * -np.inf)
    return ends


def told(tmp_path, seed, aggregates, *, infers=False):
    """Return the withheld counts of a random session that an intruder knows up to one."""
    random = np.random.default_rng(seed)
    counts, profile = drawn(random), str(random.choice(PROFILES))
    frame = people(counts)
    session = output_session(None, tmp_path / "out", data=frame, profile=profile, unit="person")
    everybody = Figure(np.ones(len(counts), bool), len(frame), set(), is_shown=False)
    shown, withheld = [everybody], []
    for _ in range(random.integers(1, 5)):
        name, chosen = asked(session, frame, random, aggregates)
        for one in figures(session._outputs[name], chosen, counts, infers=infers):
            former = [o for o in shown if o.is_shown and (one.is_in == o.is_in).all()]
            if not one.reasons:
                shown.append(one)
            # A figure that was shown under another description is not secret.
            elif one.reasons & (FEW if infers else PRIMARY) and not former:
                withheld.append(one)
    session._close()
    secrets = [one for one in withheld if one.value or profile == "sacro"]
    ends = [(one, *known(shown, one)) for one in secrets]
    return [(one.value, low, high) for one, low, high in ends if high - low < (1 + (one.value > 0))]


TOLD = [16, 164, 200, 298, 380, 442, 502, 545, 578, 609, 651, 788, 816]
"""Seeds of which counts were told before the tables of a session were compared by their keys."""


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", [*TOLD, *range(10)])
def test_no_withheld_count_of_a_session_follows_from_what_is_shown(tmp_path, seed):
    assert told(tmp_path, seed, COUNTED) == []


INFERRED = [24, 60, 67, 106, 156, 172, 226, 284, 301, 321]
"""Seeds of which counts were told by means and deviations before these were protected as counts."""


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", INFERRED)
def test_no_withheld_count_follows_from_who_means_and_deviations_are_of(tmp_path, seed):
    assert told(tmp_path, seed, TELLING, infers=True) == []
