"""The tutorial on disclosure risk, followed command by command as it is printed."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from everyday import everyday
from hypothesis import settings
from places import ROOT, SHARED_DATA

PAGE = (ROOT / "docs" / "tutorial-disclosure-risk.md").read_text(encoding="utf-8")
COMMAND = f'policy-engine() {{ "{sys.executable}" -m policy_engine "$@"; }}\n'
AUDIT = "policy-engine audit "
FOUND = re.compile(r"finds ([\d.]+% of the persons \([\d.]+% to [\d.]+%\))")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def commands():
    """Return the commands, each with what stands below it."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, said = part.partition("\n")
            yield command, said


AUDITS = [(command, said) for command, said in commands() if command.startswith(AUDIT)]
# Of the first release, the page shows audits alone; those that are compared are made alike.
BY_NIGHT = ("policy-engine validate ", "policy-engine apply swapped.jsonld ")


def run(command, folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120"}
    done = subprocess.run(
        ["bash", "-c", COMMAND + command], cwd=folder, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the data and the policy of the page."""
    source = SHARED_DATA / "census_casc.csv"
    if not source.exists():
        pytest.skip("The Census reference file does not lie beside the project.")
    folder = tmp_path_factory.mktemp("tutorial")
    shutil.copy(source, folder)
    [policy] = blocks("json")
    (folder / "swapped.jsonld").write_text(policy, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def followed(folder):
    """Return what stands below each command and what it said, but of audits, which take long."""
    is_nightly = settings.get_current_profile_name() == "nightly"
    others = (AUDIT,) if is_nightly else (AUDIT, *BY_NIGHT)
    asked = [(command, said) for command, said in commands() if not command.startswith(others)]
    return [(said, run(command, folder)) for command, said in asked]


RELEASES = ("swapped", "wide", "means")


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize("release", everyday(RELEASES))
def test_an_audit_finds_as_many_persons_as_the_tutorial_says(folder, release):
    audits = {command.split()[4]: (command, said) for command, said in AUDITS}
    assert tuple(audits) == RELEASES
    command, said = audits[release]
    [figures] = FOUND.findall(" ".join(said.split()))
    printed = " ".join(run(command, folder).split())
    assert FOUND.findall(printed)[0] == figures
    order = re.findall(r"`(columns known: [^`]+)`", PAGE) if release == RELEASES[0] else []
    assert all(one in printed for one in order)


@pytest.mark.nightly
@pytest.mark.usefixtures("followed")
def test_the_attack_that_finds_most_finds_as_many_persons_as_the_tutorial_says(folder):
    command, said = AUDITS[0]
    printed = run(f"{command.strip()} --attack likelihood-linkage", folder)
    assert " ".join(printed.split()).startswith(" ".join(said.split()))


@pytest.mark.nightly
def test_the_table_has_the_rows_that_the_tutorial_shows(followed):
    shown = [(said, printed) for said, printed in followed if said.startswith("id,")]
    assert shown
    assert all(said == printed for said, printed in shown)


@pytest.mark.nightly
def test_the_correlation_falls_where_values_move_far_and_not_where_they_are_grouped(followed):
    told = [printed for said, printed in followed if "Correlations most changed" in printed]
    after = [float(re.search(r"AGI, FEDTAX .*\.945 *│ *([\d.]+)", one)[1]) for one in told]
    assert after == [0.793, 0.961]
