"""The page of the gallery is made of the gallery, and its commands are those of `example`."""

import gallery_page
import pytest
from consoles import blocks, commands, run
from places import ROOT

from policy_engine.cli.gallery_examples import GALLERY

PAGE = ROOT / "docs" / "gallery.md"
LINES = [command.line for block in blocks(PAGE.read_text("utf-8")) for command in commands(block)]


def test_the_page_is_the_one_that_the_gallery_gives():
    hint = "run: python docs/generate/gallery_page.py > docs/gallery.md"
    assert PAGE.read_text(encoding="utf-8") == gallery_page.page(), hint


@pytest.mark.one_in(5)
@pytest.mark.parametrize("example", GALLERY, ids=lambda one: one.name)
def test_what_example_prints_to_do_next_is_on_the_page(example, tmp_path):
    line = f"policy-engine example {example.name} --output {example.name}"
    assert line in LINES
    printed = run(f"{line} --rows 100", tmp_path).output
    for following in (example.fetch, *example.commands):
        assert following in printed
        assert not following or following in LINES
