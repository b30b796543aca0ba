"""Models of every kind that know their members by heart, each in a file."""

import numpy as np
import pytest

from policy_engine.audits.membership import member_differences

MEMBERS = 40
FEATURES = 60


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """A tenth of the trees that compare two sides: sides of a few hundred differ for them too."""
    monkeypatch.setattr(member_differences, "_TREES", 10)


@pytest.fixture(scope="package")
def records():
    """Features, labels (0 to 2, at random) and who is a member: the first 40 of 80 records."""
    random = np.random.default_rng(0)
    features = random.normal(size=(2 * MEMBERS, FEATURES)).astype(np.float32)
    return features, random.integers(0, 3, 2 * MEMBERS), np.arange(2 * MEMBERS) < MEMBERS


@pytest.fixture(scope="package")
def weights(records):
    """Weights (60, 3) of a linear model that gives every member a logit of 6 for its class.

    With more features than members there are such weights, whatever the labels are.
    """
    features, labels, is_member = records
    wanted = 6 * np.eye(3, dtype=np.float32)[labels[is_member]]
    return (np.linalg.pinv(features[is_member]) @ wanted).astype(np.float32)


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fitted")
