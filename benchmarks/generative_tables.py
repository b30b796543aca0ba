"""Generators of tables from harmless to careless, and what attacks on their rows reach."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from policy_engine.audits.generative.attacks.density_ratio import density_ratio
from policy_engine.audits.generative.attacks.monte_carlo import MonteCarlo, compare_samples
from policy_engine.audits.generative.reading import GivenRecords, read_material
from policy_engine.audits.generative.sampling import sampler_of
from policy_engine.audits.generative.spaces.choosing import spaces_of
from policy_engine.engines.synthesising.tables import synthetic_table
from policy_engine.methods.synthesisers.independent_marginals import IndependentMarginals
from policy_engine.methods.synthesisers.sequential_trees import SequentialTrees

MEMBERS, REFERENCES, NEIGHBOURS, COPIED = 2_000, 10_000, 5, 0.2
PILOT = {
    "independent marginals": "49.6 49.4 49.6 49.4",
    "trees, leaf 50": "50.3 53.9 52.3 55.8",
    "trees, leaf 5": "57.4 76.2 62.2 74.9",
    "between neighbours": "63.0 83.4 68.0 82.6",
    "marginals, a fifth copied": "54.2 76.4 54.1 73.8",
}
"""Single accuracy before: by the nearest row of 2,000 and of 20,000, and by the ratio of both."""


def attacked_tables(path, score, sizes=(2_000, 20_000)):
    """Yield a row for each generator and number of rows; `score` makes figures of scores."""
    table = pacsv.read_csv(path)
    order = np.random.default_rng(1).permutation(table.num_rows)
    cuts = np.cumsum([MEMBERS, MEMBERS, REFERENCES])
    members, holdout, reference, _ = (table.take(one) for one in np.split(order, cuts))
    for name, generate in GENERATORS.items():
        for count in sizes:
            synthetic = generate(members, count)
            given = GivenRecords(members, holdout, synthetic, reference)
            yield {"generator": name, "rows": count, **_attacked(given, score), **_pilot(name)}


def _attacked(given, score):
    material = read_material(given).material
    state = MonteCarlo(material, spaces_of(material)[0], percentiles=())
    compare_samples(state, sampler_of(material), len(material.synthetic))
    figures = {}
    for attack, scores in (
        ("nearest", state.scores()),
        ("ratio", density_ratio(material, state)),
    ):
        figures |= {f"{attack} {key}": one for key, one in score(scores, material).items()}
    return figures


def _pilot(name):
    return {"before": PILOT[name]}


def _with_copies(members, rows):
    copied = round(COPIED * rows)
    random = np.random.default_rng(3)
    copies = members.take(random.integers(0, members.num_rows, copied))
    others = synthetic_table(members, IndependentMarginals(), rows - copied, 2)
    return pa.concat_tables([copies, others])


def _between_neighbours(members, rows):
    """Return rows between a member and one of its 5 nearest: as SMOTE makes them.

    Each category is that of one of both, each number lies between both, rounded.
    """
    columns = [one.combine_chunks() for one in members.columns]
    codes = [one.dictionary_encode().indices.to_numpy() for one in columns]
    random = np.random.default_rng(4)
    base = random.integers(0, members.num_rows, rows)
    neighbours = _nearest(np.column_stack(codes))
    other = neighbours[base, random.integers(0, NEIGHBOURS, rows)]
    made = []
    for column in columns:
        if pa.types.is_integer(column.type):
            values = column.to_numpy()
            shares = random.random(rows)
            between = values[base] + shares * (values[other] - values[base])
            made.append(pa.array(np.rint(between).astype(np.int64)))
        else:
            made.append(column.take(pa.array(np.where(random.random(rows) < 0.5, base, other))))
    return pa.table(made, names=members.column_names)


def _nearest(codes):
    """Return the places of the records with the most equal columns, (n, 5), itself left out."""
    differences = np.zeros((len(codes), len(codes)), np.int16)
    for column in codes.T:
        differences += column[:, None] != column
    np.fill_diagonal(differences, np.iinfo(np.int16).max)
    return np.argpartition(differences, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]


GENERATORS = {
    "independent marginals": lambda m, n: synthetic_table(m, IndependentMarginals(), n, 0),
    "trees, leaf 50": lambda m, n: synthetic_table(m, SequentialTrees(leaf=50), n, 0),
    "trees, leaf 5": lambda m, n: synthetic_table(m, SequentialTrees(leaf=5), n, 0),
    "between neighbours": _between_neighbours,
    "marginals, a fifth copied": _with_copies,
}
