"""What tests come to is the same whether files are given out or all of them are read first."""

import os
import subprocess
import sys

import pytest
from places import ROOT

FILES = {
    "conftest.py": """
import pytest
from whole_files import GivenOut, are_given_out

def pytest_configure(config):
    if are_given_out(config):
        config.pluginmanager.register(GivenOut())

def pytest_collection_modifyitems(config, items):
    left = [one for one in items if one.name == "test_left"]
    items[:] = [one for one in items if one not in left]
    config.hook.pytest_deselected(items=left)

@pytest.fixture(scope="session")
def shared():
    yield 1
    print("closed once")
""",
    "test_first.py": """
import warnings
import pytest

@pytest.mark.parametrize("number", range(3))
def test_passes(number, shared): ...

def test_fails(): assert [1, 2] == [1, 3]

def test_skips(): pytest.skip("no reason")

def test_left(): assert False

@pytest.mark.filterwarnings("error")
def test_warns(): warnings.warn("odd")

@pytest.fixture
def broken(): raise ValueError

def test_is_not_set_up(broken): ...

@pytest.fixture
def unclosed():
    yield
    raise ValueError

def test_is_not_closed(unclosed): ...
""",
    "test_second.py": "def test_passes(shared): ...\n",
    "test_skipped.py": "import pytest\n\npytest.importorskip('no_such_module')\n",
    "test_unreadable.py": "import no_such_module\n",
    "empty/test_before.py": "def test_passes(shared): ...\n",
    "empty/test_without_any.py": "def test_left(): ...\n",
    "folder/test_alone.py": "def test_passes(shared): ...\n",
}
CAME_TO = "2 failed, 7 passed, 2 skipped, 3 errors"


@pytest.fixture
def run(tmp_path):
    """Run the tests of files by arguments; return how they ended, and what they printed."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}

    def run(*arguments):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:schemathesis", *arguments]
        options = {"cwd": tmp_path, "env": {**kept, "PYTHONPATH": str(ROOT / "tests")}}
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        return done.returncode, done.stdout

    return run


def last_line(printed):
    return printed.splitlines()[-1].partition(" in ")[0].strip("= ")


def test_files_that_are_given_out_come_to_what_all_tests_do(run):
    status, printed = run("-n", "1")
    assert (status, last_line(printed)) == (1, CAME_TO)
    assert "assert [1, 2] == [1, 3]" in printed
    assert "ERROR test_unreadable.py" in printed


@pytest.mark.nightly
def test_tests_that_are_chosen_by_name_are_found(run):
    assert last_line(run("-n", "1", "-k", "test_fails", "test_first.py")[1]) == "1 failed"
    assert last_line(run("-n", "1", "test_first.py::test_skips")[1]) == "1 skipped"


@pytest.mark.nightly
def test_the_same_tests_in_one_process_come_to_it(run):
    status, printed = run("--continue-on-collection-errors")
    assert (status, last_line(printed).replace(", 2 deselected", "")) == (1, CAME_TO)


def test_a_process_that_ends_fails_the_run_and_names_the_file(run, tmp_path):
    (tmp_path / "test_ending.py").write_text("import os\n\ndef test_ends(): os._exit(0)\n")
    status, printed = run("-n", "1", "--max-worker-restart=0", "test_second.py", "test_ending.py")
    assert status == 1
    assert "crashed while running 'test_ending.py::all'" in printed
