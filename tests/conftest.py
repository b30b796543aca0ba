import atexit
import gc
import os
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp

import pytest
from building import DATASET, PEOPLE, people_policy
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from spark_files import is_on_its_own, is_on_spark, scope
from typer import testing
from whole_files import GivenOut, are_given_out

from policy_engine import apply_policy
from policy_engine.errors import EngineError

# What a test has attacked is not an attempt of whoever runs the tests, nor of another run of them.
os.environ["XDG_STATE_HOME"] = mkdtemp(prefix="policy-engine-tests-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# As the command line does: looking for garbage among what stays took an eighth of the time.
gc.set_threshold(100_000, 20, 20)

# All commands are made of their functions once, as in each process of the command line, not anew
# for each call of a test: that takes longer than most calls.
testing._get_command = cache(testing._get_command)

# A busy machine is not a fault: no example has a deadline.
settings.register_profile("everyday", max_examples=5, deadline=None)
settings.load_profile("everyday")
settings.register_profile("nightly", max_examples=2_000, deadline=None)


def pytest_configure(config):
    """Read files of tests only where they are run."""
    if are_given_out(config):
        config.pluginmanager.register(GivenOut())
    if not _is_by_night(config):
        # The few examples of a day hardly ever have a number or text that stands in our own code;
        # to look for those takes as long as hundreds of tests.
        providers._get_local_constants = lambda: providers._local_constants


def pytest_report_header(config):
    if not _is_by_night(config):
        return "tests that take long: --hypothesis-profile=nightly"
    return None


def pytest_collection_modifyitems(config, items):
    """Leave what takes long to the nightly profile, and begin with what waits long for Spark."""
    items.sort(key=lambda item: (not is_on_spark(item.nodeid), not is_on_its_own(item.nodeid)))
    if _is_by_night(config):
        return
    cases, by_day, by_night = Counter(), [], []
    for item in items:
        (by_night if _is_left_to_the_night(item, cases) else by_day).append(item)
    items[:] = by_day
    config.hook.pytest_deselected(items=by_night)


def _is_by_night(config):
    return config.getoption("--hypothesis-profile") == "nightly"


def _is_left_to_the_night(item, cases):
    """Return whether a test is not run by day; `cases` counts those of each function so far."""
    if item.get_closest_marker("nightly") or _is_nightly_on_spark(item):
        return True
    is_one_of = item.get_closest_marker("one_in")
    if is_one_of is None:
        return False
    function = item.nodeid.partition("[")[0]
    cases[function] += 1
    return (cases[function] - 1) % is_one_of.args[0] > 0


def pytest_collection_finish():
    """Leave tests and libraries, which stay to the end, out of garbage collection."""
    gc.collect()
    gc.freeze()


def _is_nightly_on_spark(item):
    if not item.get_closest_marker("nightly_on_spark"):
        return False
    return any(isinstance(one, str) and one == "spark" for one in item.callspec.params.values())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each process whole files in their order, and one of them all that shares a session of
    Spark: to start another takes as long as many of those tests. So it is with TensorFlow."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return scope(nodeid)

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture(autouse=True)
def attempts(monkeypatch):
    """Where a test keeps its attempts at models, which begin with the first."""
    folder = Path(os.environ["XDG_STATE_HOME"]) / token_hex(8)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder / "policy-engine" / "attempts"


@pytest.fixture(scope="session")
def java():
    """Skip the test where this machine cannot start Spark, and say why."""
    from policy_engine.engines.spark.session import check_java, check_pyspark

    try:
        check_pyspark()
        check_java()
    except EngineError as error:
        pytest.skip(f"THE SPARK ENGINE IS NOT TESTED: {error}")


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
