"""Every policy in `policies/bad` fails with exactly the text that stands beside it."""

from pathlib import Path

import pytest

from policy_engine.errors import CODES, PolicyEngineError
from policy_engine.policy import read_policy
from policy_engine.transformation import check_transformation

BAD = Path(__file__).parents[1] / "policies" / "bad"
POLICIES = sorted(path for path in BAD.iterdir() if path.suffix != ".expected")


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_bad_policy_fails_as_expected(path):
    with pytest.raises(PolicyEngineError) as error:
        check_transformation(read_policy(path.read_bytes()))
    assert f"{error.value}\n" == path.with_suffix(".expected").read_text("utf-8")


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_bad_policy_errors_name_a_known_code_and_a_place_in_the_text(path):
    lines = path.read_text("utf-8").splitlines()
    for problem in path.with_suffix(".expected").read_text("utf-8").splitlines():
        line, column, rest = problem.split(":", 2)
        assert rest.split()[0] in CODES
        assert 1 <= int(line) <= len(lines)
        assert 1 <= int(column) <= len(lines[int(line) - 1]) + 1


def test_each_expected_text_has_its_policy_and_each_policy_its_text():
    expected = sorted(path.stem for path in BAD.glob("*.expected"))
    assert expected == [path.stem for path in POLICIES]
    assert len(expected) > 30


def test_bad_policies_cover_every_code_of_reading_and_planning():
    texts = [path.read_text("utf-8") for path in BAD.glob("*.expected")]
    found = {line.split()[1] for text in texts for line in text.splitlines()}
    stages = {code for code in CODES if code[0] in "JLPM"}
    # Too large and not UTF-8: see test_text.py; what an engine does not have: see test_plan.py.
    assert found >= stages - {"J003", "J004", "M009"}
