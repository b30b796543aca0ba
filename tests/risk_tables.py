"""Small tables of members, others and synthetic rows."""

import numpy as np

from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet


def records(name, rows, labels=None):
    """Return records with values, and with labels if there are some."""
    labels = None if labels is None else np.array(labels)
    return RecordSet(name, np.array(rows, dtype=np.float64), labels)


def material(members, holdout, synthetic, numbers="", **more):
    """Return a table whose columns are named by letters; those among the `numbers` have numbers."""
    width = np.array(members).shape[1]
    columns = tuple(AuditedColumn(name, name in numbers) for name in "abcdefghi"[:width])
    files = zip(("members", "holdout", "synthetic"), (members, holdout, synthetic), strict=True)
    return Material(**{name: records(name, rows) for name, rows in files}, columns=columns, **more)


def persons(count, seed, columns=4):
    """Return rows of independent numbers, no two of which are alike."""
    return np.random.default_rng(seed).normal(size=(count, columns))


MEMBERS, HOLDOUT, OTHERS = (persons(300, seed) for seed in (1, 2, 3))
"""Of one population, and each unlike any other."""
