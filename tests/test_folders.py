"""Tests lie where what they test lies: in the folder of the same path."""

from collections import Counter
from pathlib import Path

import policy_engine

PACKAGE = Path(policy_engine.__file__).parent
TESTS = Path(__file__).parent
OF_NO_ONE_FOLDER = {
    "console": "of the pages in the browser",
    "docs": "of the documentation",
    "end_to_end": "from a policy to decisions about its release",
    "plans": "expected plans of policies that are shipped",
    "scripts": "of the scripts of a clone",
    "policies": "policies that have to be read, or refused with a message",
}


def folders(root, pattern):
    """Return the paths of folders that have a file by a pattern, from a root and without it."""
    return {path.parent.relative_to(root).as_posix() for path in root.rglob(pattern)} - {"."}


def test_every_folder_of_the_package_has_a_folder_of_tests():
    assert folders(PACKAGE, "*.py") - folders(TESTS, "test_*.py") == set()


def test_every_folder_of_tests_is_that_of_a_folder_of_the_package():
    mirrors = {one for one in folders(TESTS, "*.py") if one.split("/")[0] not in OF_NO_ONE_FOLDER}
    assert mirrors - folders(PACKAGE, "*.py") == set()


def test_no_two_files_of_tests_have_one_name():
    """They are imported by their names alone."""
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []
