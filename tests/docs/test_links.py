"""Links of the documentation lead to files and headings that there are."""

import re

import pytest
from places import ROOT
from site_hooks import anchor

OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = sorted([*(ROOT / name for name in OUTSIDE), *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(rf"{_BLOCK.pattern}|`[^`\n]+`", _BLOCK.flags)
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)]+))?\)")


def prose(page):
    """Return the text of a page without code, in which brackets are no links and `#` no heading."""
    return _CODE.sub("", page.read_text(encoding="utf-8"))


def links(page):
    """Return the file and the heading of each link within the checkout."""
    return [(page.parent / file if file else page, to) for file, to in _LINK.findall(prose(page))]


def anchors(page):
    text = re.sub(
        r"^( *)```.*?^\1```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


@pytest.mark.one_in(14)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_a_page_lead_to_files_and_headings_that_are_there(page):
    for target, heading in links(page):
        assert target.exists(), target
        assert not heading or heading in anchors(target), (target.name, heading)


def test_links_are_found_but_in_code(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A, b\n[c](d.md#e) `[f](g)` [h](#a-b)\n```py\n# i\n[j](k)\n```\n[l](https://m)\n"
    )
    assert links(page) == [(tmp_path / "d.md", "e"), (page, "a-b")]
    assert anchors(page) == {"a-b"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pictures_of_a_page_say_what_they_show(page):
    assert "![](" not in prose(page)
