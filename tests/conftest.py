import pytest
from building import DATASET, PEOPLE, people_policy
from hypothesis import settings

from policy_engine import apply_policy

ON_SPARK = ("tests/engines/spark/", "tests/engines/test_both_engines.py")

settings.register_profile("nightly", max_examples=2_000, deadline=None)


def pytest_collection_modifyitems(config, items):
    """Leave what takes long to the nightly profile."""
    if config.getoption("--hypothesis-profile") == "nightly":
        return
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.skip("a nightly test: --hypothesis-profile=nightly"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each process whole files, and all that start Spark to one of them.

    They are half of all and share a session, which two processes would both have to start.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return "spark" if file.startswith(ON_SPARK) else file

    return ByFile(config, log)


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
