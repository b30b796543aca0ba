from pathlib import Path

import pytest
from building import DATASET, PEOPLE, people_policy
from hypothesis import settings

from policy_engine import apply_policy

settings.register_profile("nightly", max_examples=2_000, deadline=None)


_ENGINES = Path(__file__).parent / "engines"


def pytest_collection_modifyitems(items):
    """Have the tests of engines run in one process: they share a session of Spark."""
    for item in items:
        if item.path.is_relative_to(_ENGINES):
            item.add_marker(pytest.mark.xdist_group("engines"))


@pytest.fixture
def people(tmp_path):
    """A folder with `people.csv` and `policy.jsonld`; the current directory of nobody."""
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "policy.jsonld").write_text(people_policy())
    return tmp_path


@pytest.fixture
def released(people):
    """The same folder, with the policy applied into `release/`."""
    data = {DATASET: people / "people.csv"}
    apply_policy(people / "policy.jsonld", data, people / "release")
    return people
