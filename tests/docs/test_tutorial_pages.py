"""Tutorials and pages that start from an installed package, followed command by command."""

import doctest

import pytest
from consoles import blocks, commands, run
from places import ROOT

PAGES = [*sorted((ROOT / "docs" / "tutorials").glob("*.md")), ROOT / "docs" / "data.md"]
# One trains models, the tests of `data` are by day, and the others go the way of those left.
BY_NIGHT = ("what-does-my-model-leak", "data", "check-in-a-pipeline", "from-arx-and-sdcmicro")
ENOUGH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def is_as_said(said, output):
    """Return whether an output is what a page says: `...` stands for anything, also for lines."""
    return doctest.OutputChecker().check_output(said, output, ENOUGH)


def cases():
    found = []
    for page in PAGES:
        marks = [pytest.mark.nightly] if page.stem in BY_NIGHT else []
        found.append(pytest.param(page, id=page.stem, marks=marks))
    return found


@pytest.mark.parametrize("page", cases())
def test_a_tutorial_does_what_it_says(page, tmp_path):
    for block in blocks(page.read_text("utf-8")):
        if block.file:
            (tmp_path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.file).write_text(block.text, "utf-8")
        is_run = block.language == "console" and "illustration" not in block.told
        for command in commands(block) if is_run else ():
            done = run(command.line, tmp_path)
            assert done.status == command.status, (command.line, done.output)
            assert not command.said or is_as_said(command.said, done.output), done.output


def test_what_is_left_out_may_be_anything_and_nothing_else():
    assert is_as_said("a\n...\nd\n", "a\nb\nc\nd\n")
    assert not is_as_said("a\n...\nd\n", "a\nb\nc\n")


def test_blocks_of_a_page_are_told_apart():
    page = "```yaml file=a.yaml\nb\n```\nc\n```console status=1\n$ d\ne\n$ f \\\n    g\nh\n```\n"
    first, second = blocks(page)
    assert (first.file, first.text) == ("a.yaml", "b\n")
    said = [(one.line, one.said, one.status) for one in commands(second)]
    assert said == [("d", "e\n", 0), ("f g", "h\n", 1)]
