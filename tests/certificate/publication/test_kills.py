"""Publications killed at every step: whoever comes next leaves a whole release, old or new."""

import json
import subprocess
import sys

import pytest
from building import DATASET, PEOPLE, people_policy
from everyday import everyday
from places import TESTS

from policy_engine import apply_policy

KILLED = TESTS / "killed.py"
EARLIER = ("old", "none")
EACH = [(kind, earlier) for kind in ("here", "store") for earlier in EARLIER]


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certified")
    (folder / "people.csv").write_text(PEOPLE)
    apply_policy(people_policy(), {DATASET: folder / "people.csv"}, folder / "release")
    return folder / "release"


def check(certified, folder, kind, earlier, again=0):
    """Kill at every step; return the states that were left, each of them before's or after's."""
    (folder / "release").symlink_to(certified)
    asked = [sys.executable, KILLED, folder, kind, earlier, again]
    done = subprocess.run([*map(str, asked)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    readable = {
        "C002",
        "V010",
        *(tuple(whole[1]) for whole in (seen["before"], seen["after"]) if whole[1]),
    }
    for whole in (seen["before"], seen["after"]):
        assert whole[1] == whole[2]
    for step, read, left in seen["found"]:
        assert left in (seen["before"], seen["after"]), step
        assert (read if isinstance(read, str) else tuple(read)) in readable, step
    return seen


@pytest.mark.one_in(4)
@pytest.mark.parametrize("output", everyday(EACH, ("here", "old"), ("store", "none")), ids="-".join)
def test_a_kill_at_any_step_leaves_a_whole_release(certified, tmp_path, output):
    seen = check(certified, tmp_path, *output)
    lasts = [left for _, _, left in seen["found"]]
    assert lasts[0] == seen["before"]
    assert lasts[-1] == seen["after"]
    assert "V010" in [read for _, read, _ in seen["found"]]


SHARED = [(kind, earlier) for kind in ("both", "second", "store-both") for earlier in EARLIER]


@pytest.mark.nightly
@pytest.mark.parametrize("outputs", everyday(SHARED, ("both", "none")), ids="-".join)
def test_a_kill_at_any_step_leaves_all_outputs_of_a_folder_whole(certified, tmp_path, outputs):
    seen = check(certified, tmp_path, *outputs)
    assert len(seen["after"][1]) == 2
    lasts = [left for _, _, left in seen["found"]]
    assert (lasts[0], lasts[-1]) == (seen["before"], seen["after"])


@pytest.mark.nightly
def test_a_kill_of_the_run_that_recovers_leaves_a_whole_release(certified, tmp_path):
    check(certified, tmp_path, "here", "none", again=11)


@pytest.mark.nightly
@pytest.mark.parametrize("earlier", everyday(EARLIER, "none"))
def test_a_kill_while_a_publication_is_undone_leaves_a_whole_release(certified, tmp_path, earlier):
    seen = check(certified, tmp_path, "failing", earlier)
    assert seen["found"][-1][2] == seen["before"]
    assert seen["after"] in [left for _, _, left in seen["found"]]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "earlier"), [*EACH, ("failing", "old"), ("both", "old"), ("second", "none")]
)
def test_a_kill_of_any_step_that_recovers(certified, tmp_path, kind, earlier):
    for again in range(1, 59):
        folder = tmp_path / str(again)
        folder.mkdir()
        check(certified, folder, kind, earlier, again)
