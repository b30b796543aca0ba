"""Every policy in `tests/policies/bad` fails with exactly the text that stands beside it."""

import re
from collections import Counter
from functools import cache

import pytest
from places import TESTS

from policy_engine.cli.hints import format_error
from policy_engine.errors import CODES, PolicyEngineError
from policy_engine.plan.products import check_plannable
from policy_engine.policy import read_policies

BAD = TESTS / "policies" / "bad"
POLICIES = sorted(path for path in BAD.iterdir() if path.suffix != ".expected")


def read_and_check(text):
    for policy in read_policies(text):
        check_plannable(policy)


@cache
def failure(text):
    """Return why a policy cannot be read or planned; nothing where it can."""
    try:
        read_and_check(text)
    except PolicyEngineError as error:
        return error
    return None


def problems(text):
    return failure(text).problems if failure(text) else ()


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_bad_policy_fails_as_expected(path):
    told = f"{format_error(failure(path.read_bytes()))}\n"
    assert told == path.with_suffix(".expected").read_text("utf-8")


def test_bad_policy_problems_are_told_once_in_the_order_of_the_text():
    found = {path.stem: problems(path.read_bytes()) for path in POLICIES}
    assert [name for name, told in found.items() if set(Counter(told).values()) != {1}] == []
    places = {
        name: [(problem.place.line, problem.place.column) for problem in told]
        for name, told in found.items()
    }
    assert [name for name, at in places.items() if at != sorted(at)] == []


def mended(text, fix):
    """Return a text in which a fix has been made."""
    lines = text.splitlines(keepends=True)
    start, end = (
        sum(map(len, lines[: place.line - 1])) + place.column - 1 for place in (fix.start, fix.end)
    )
    return text[:start] + fix.text + text[end:]


def test_fixes_mend_their_problems_and_make_no_others():
    useless = []
    for path in POLICIES:
        text, before = path.read_text("utf-8"), problems(path.read_bytes())
        for problem in before:
            if problem.fix:
                after = problems(mended(text, problem.fix))
                if problem in after or len(after) >= len(before):
                    useless.append((path.stem, problem))
    assert useless == []


def test_problem_of_reading_has_a_fix_where_one_name_is_near():
    found = [(path.stem, one) for path in POLICIES for one in problems(path.read_bytes())]
    of_reading = [(name, problem) for name, problem in found if problem.code[0] in "LP"]
    one_name = re.compile(r"Did you mean '[^']*'\?")
    assert of_reading
    assert [
        (name, problem)
        for name, problem in of_reading
        if (problem.fix is not None) is not bool(one_name.fullmatch(problem.hint))
    ] == []


def test_bad_policy_errors_name_a_known_code_and_a_place_in_the_text():
    wrong = []
    for path in POLICIES:
        lines = path.read_text("utf-8").splitlines()
        for problem in path.with_suffix(".expected").read_text("utf-8").splitlines():
            line, column, rest = problem.split(":", 2)
            is_in_text = 1 <= int(line) <= len(lines)
            is_in_line = is_in_text and 1 <= int(column) <= len(lines[int(line) - 1]) + 1
            if not is_in_line or rest.split()[0] not in CODES:
                wrong.append((path.stem, problem))
    assert wrong == []


def test_each_expected_text_has_its_policy_and_each_policy_its_text():
    expected = sorted(path.stem for path in BAD.glob("*.expected"))
    assert expected == [path.stem for path in POLICIES]
    assert len(expected) > 100


def test_bad_policies_cover_every_code_of_reading_and_planning():
    texts = [path.read_text("utf-8") for path in BAD.glob("*.expected")]
    found = {line.split()[1] for text in texts for line in text.splitlines()}
    stages = {code for code in CODES if code[0] in "JLPM"}
    # Too large and not UTF-8: see test_text.py; what an engine does not have: see test_plan.py;
    # what is wrong with a vocabulary: see test_vocabulary_reader.py, with a registry: see
    # test_collecting.py, among several owners: see tests/policy/owners and test_joint_owners.py,
    # about releases of releases: see test_chains.py.
    assert found >= stages - {
        "J003",
        "J004",
        "M009",
        "M014",
        "M015",
        "M017",
        "P018",
        "P019",
        "P020",
        "P021",
        "P024",
        "P025",
    }


def test_fixes_are_of_several_kinds():
    found = [one for path in POLICIES for one in problems(path.read_bytes())]
    codes = {one.code for one in found if one.fix}
    assert codes >= {"L002", "L006", "L007", "P005", "P007", "P009"}
