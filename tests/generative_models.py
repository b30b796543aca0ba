"""Small models, and records for them, that tests of the audit of generators share."""

from dataclasses import dataclass

import numpy as np

from policy_engine.audits.generative.material import Material, RecordSet


@dataclass(frozen=True)
class Memory:
    """A model that returns what it has seen, and of all else the mean of that.

    With passes it adds noise of a standard deviation of 1.
    """

    values: np.ndarray

    def sample(self, n, *, seed, **_):
        return self.values[np.random.default_rng(seed).integers(0, len(self.values), n)]

    def reconstruct(self, x, *, passes, seed, **_):
        is_seen = (x[:, None] == self.values[None]).all(axis=2).any(axis=1)
        answers = np.where(is_seen[:, None], x, self.values.mean(axis=0))
        noise = np.random.default_rng(seed).standard_normal(x.shape) if passes else 0
        return answers + noise


def material(members, holdout, **settings):
    """Return the material of an audit of flat features, without labels."""
    members, holdout = (np.asarray(one, float) for one in (members, holdout))
    return Material(
        RecordSet("members", members),
        RecordSet("holdout", holdout),
        shape=members.shape[1:],
        **settings,
    )
