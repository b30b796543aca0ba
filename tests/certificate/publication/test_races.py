"""Real processes that make releases in one folder at once."""

import json
import subprocess
import sys

import pytest
from building import DATASET
from places import TESTS

from policy_engine.certificate.beside import load_certificate

RACING = TESTS / "racing.py"
BOTH = ["a.csv", "certificate.jsonld"]


def raced(released, trials, runs, how):
    asked = [sys.executable, RACING, released / "release", released / "out", trials, runs, how]
    done = subprocess.run([*map(str, asked)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_races(released, trials, runs):
    for codes, text, names in raced(released, trials, runs, "told"):
        assert sorted(codes) == [0, *[1] * (runs - 1)]
        assert codes[text] == 0
        assert names == BOTH
    for codes, text, names in raced(released, trials, runs, "overwrite"):
        assert set(codes) <= {0, 1}
        assert codes[text] == 0
        assert names == BOTH
    for codes, _, names in raced(released, trials // 3, runs, "wait"):
        assert codes == [0] * runs
        assert names == BOTH


@pytest.mark.nightly
def test_of_processes_that_race_one_is_published_and_the_others_are_told(released):
    check_races(released, trials=3, runs=4)


@pytest.mark.nightly
def test_of_many_processes_that_race_one_is_published(released):
    check_races(released, trials=300, runs=8)


@pytest.mark.nightly
@pytest.mark.parametrize("trial", range(20))
def test_of_two_commands_with_two_policies_one_is_published(people, trial):  # noqa: ARG001
    other = (people / "policy.jsonld").read_text().replace("http://x.org/policy", "http://x.org/q")
    (people / "other.jsonld").write_text(other)
    asked = [
        *(sys.executable, "-m", "policy_engine", "apply", "--output", people / "out"),
        *("--data", f"{DATASET}={people / 'people.csv'}"),
    ]
    runs = [
        subprocess.Popen([*map(str, asked), str(people / name)], stderr=subprocess.PIPE, text=True)
        for name in ("policy.jsonld", "other.jsonld")
    ]
    told = {run.args[-1]: (run.communicate()[1], run.returncode) for run in runs}
    [(winner, _)] = [(name, one) for name, one in told.items() if one[1] == 0]
    [(message, code)] = [one for name, one in told.items() if name != winner]
    assert code == 2
    assert message.startswith("O001")
    uid = "http://x.org/q" if winner.endswith("other.jsonld") else "http://x.org/policy"
    assert load_certificate(people / "out").plan.policy == uid
