import ast
import re

import error_reference
import pytest
from error_causes import CAUSES
from error_examples import MESSAGES
from error_remedies import REMEDIES
from places import ROOT

from policy_engine import errors
from policy_engine.errors import AREAS, CODES, DataError

SOURCES = sorted(path for path in (ROOT / "policy_engine").rglob("*.py") if path.stem != "errors")


def codes_in(path):
    """Return the codes that a module's code names, not those that its docstrings speak of."""
    text = path.read_text(encoding="utf-8")
    if not re.search(r"""["'][A-Z][0-9]{3}["']""", text):
        return set()
    nodes = ast.walk(ast.parse(text))
    return {node.value for node in nodes if isinstance(node, ast.Constant)} & set(CODES)


def test_the_page_is_the_one_that_the_table_gives():
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    hint = "run: python docs/generate/error_reference.py > docs/errors.md"
    assert text == error_reference.page(), hint


def test_every_code_is_raised_somewhere():
    raised = set().union(*map(codes_in, SOURCES))
    assert [code for code in CODES if code not in raised] == []


def test_every_code_is_of_a_stage_and_has_its_heading():
    assert {code[0] for code in CODES} <= set(AREAS)
    headings = re.findall("^### (.*)$", error_reference.page(), re.MULTILINE)
    assert sorted(headings) == sorted(CODES)


def test_every_section_is_of_a_code():
    assert set(errors.SECTIONS) <= set(CODES)


def test_causes_are_of_codes_and_are_told_with_their_remedies():
    assert set(CAUSES) <= set(CODES)
    page = error_reference.page()
    assert all(
        f"| {cause} | {remedy} |" in page for rows in CAUSES.values() for cause, remedy in rows
    )


@pytest.mark.parametrize("code", [code for code in CODES if code[0] == "W" and code > "W004"])
def test_a_warning_about_what_is_not_protected_says_what_to_do(code):
    assert code in CAUSES


def test_an_example_has_few_other_mistakes(tmp_path):
    (tmp_path / "a.expected").write_text("1:1: P002 One.\n2:1: P003 Two.\n", "utf-8")
    (tmp_path / "b.expected").write_text("3:7: P002 It: 'x'. Mend it.\n", "utf-8")
    (tmp_path / "a.json").touch()
    (tmp_path / "b.jsonld").touch()
    found = error_reference.examples(tmp_path)
    assert found["P002"] == error_reference.Example("b.jsonld", "3:7: P002 It: 'x'. Mend it.")
    assert found["P003"].policy == "a.json"


def test_a_missing_folder_of_examples_is_told(tmp_path):
    with pytest.raises(DataError, match="C002 There is no folder"):
        error_reference.page(tmp_path / "none")


def sections():
    """Return what the page has on each code."""
    parts = re.split("^### ", error_reference.page(), flags=re.MULTILINE)[1:]
    return {part[:4]: part for part in parts}


def test_every_code_has_an_example_and_says_what_to_do():
    found = sections()
    for code in CODES:
        assert re.search(rf"^```text\n(?:\d+:\d+: )?{code} ", found[code], re.MULTILINE), code
        assert ("**What to do:** " in found[code]) != ("| what to do |" in found[code]), code


def test_nothing_is_said_of_what_is_no_code_or_said_twice():
    assert set(MESSAGES) | set(REMEDIES) <= set(CODES)
    assert not set(MESSAGES) & set(error_reference.examples(error_reference.BAD))
    assert not set(REMEDIES) & set(CAUSES)


@pytest.mark.nightly
def test_an_example_is_in_the_words_of_the_sources():
    nodes = [node for path in SOURCES for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    known = "\n".join({one for one in texts if isinstance(one, str)})
    for code, message in MESSAGES.items():
        parts = [message[place : place + 8] for place in range(0, len(message) - 7, 4)]
        assert sum(part in known for part in parts) >= 0.3 * len(parts), (code, message)
