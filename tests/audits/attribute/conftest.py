"""Forests of few trees and networks of few steps: what they learn here is plain."""

import pytest

from policy_engine.audits.attribute import learning


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr(learning, "_TREES", 15)
    monkeypatch.setattr(learning, "_TRIAL_TREES", 15)
    monkeypatch.setattr(learning, "_STEPS", 5_000)
