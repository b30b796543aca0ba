"""What the console's pages are built from: exact versions, from no host by name."""

import json
import re

import pytest
from places import ROOT

CONSOLE = ROOT / "console"
LOCK = json.loads((CONSOLE / "package-lock.json").read_text("utf-8"))
PERMISSIVE = {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}


@pytest.mark.parametrize("kind", ["dependencies", "devDependencies"])
def test_every_package_is_asked_for_in_one_version(kind):
    asked = json.loads((CONSOLE / "package.json").read_text("utf-8"))[kind]
    assert asked
    assert [
        name for name, version in asked.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)
    ] == []


def test_the_lock_file_names_no_host_to_fetch_from():
    packages = LOCK["packages"].values()
    assert [one["resolved"] for one in packages if "resolved" in one] == []


def test_every_package_that_is_locked_is_known_by_a_digest():
    locked = {path: one for path, one in LOCK["packages"].items() if path}
    assert len(locked) > 20
    assert [path for path, one in locked.items() if "integrity" not in one] == []


def test_what_pages_contain_is_under_permissive_licences():
    shipped = {path: one for path, one in LOCK["packages"].items() if path and not one.get("dev")}
    assert "node_modules/react" in shipped
    licences = {path: one["license"] for path, one in shipped.items()}
    assert {path: one for path, one in licences.items() if one not in PERMISSIVE} == {}
