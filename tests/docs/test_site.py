"""The site: every page is in its navigation, and what a page needs beside docs/ comes with it."""

import os
import re
import subprocess

import pytest
import site_hooks
import yaml
from places import ROOT

import policy_engine

BUILDER = ROOT / ".venv-docs" / "bin" / "mkdocs"


class _Loader(yaml.SafeLoader):
    """Reads a configuration that names functions of Python."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/name:", lambda _, name, __: name)
SITE = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), _Loader)


def pages(part):
    """Return the pages of a part of the navigation, with those of its parts."""
    if isinstance(part, str):
        return [part]
    parts = part.values() if isinstance(part, dict) else part
    return [page for one in parts for page in pages(one)]


def test_every_page_is_in_the_navigation_once():
    written = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    outside = [page for page in site_hooks.PAGES.values() if page != "index.md"]
    assert sorted(pages(SITE["nav"])) == sorted(written + outside)


def test_the_navigation_has_a_part_for_each_kind_of_reader():
    parts = [name for part in SITE["nav"] for name in part]
    assert parts == ["Home", "Tutorials", "Guides", "Reference", "Explanation"]


def test_every_public_name_is_on_the_page_of_python_once():
    page = (ROOT / "docs" / "python-api.md").read_text("utf-8")
    named = re.findall(r"^::: policy_engine\.(\w+)$", page, re.MULTILINE)
    assert sorted(named) == sorted(policy_engine.__all__)


def test_nothing_of_the_site_comes_from_another_host():
    assert SITE["theme"]["font"] is False
    assert not [key for key in SITE if key.startswith("extra_")]


def test_links_out_of_the_documentation_lead_to_what_the_site_has():
    class Page:
        class file:  # noqa: N801
            src_uri = "tutorials/one.md"

    text = "[a](../../README.md#b) [c](../../policies/adult.jsonld) [d](../audits.md) [e](f.md)"
    led = site_hooks.on_page_markdown(text, page=Page)
    assert led == (
        "[a](../index.md) [c](../source/policies/adult.jsonld.txt) [d](../audits.md) [e](f.md)"
    )


def test_a_block_of_code_is_named_by_its_file_and_by_nothing_else_that_tests_read():
    class Page:
        class file:  # noqa: N801
            src_uri = "one.md"

    text = "```jsonld file=a.jsonld error=P001\n{}\n```\n  ```console illustration\n  ```"
    shown = '```json title="a.jsonld"\n{}\n```\n  ```console\n  ```'
    assert site_hooks.on_page_markdown(text, page=Page) == shown


def test_a_page_beside_the_documentation_links_from_where_it_is_on_the_site():
    assert site_hooks.inside("[a](docs/b.md#c) [d](#e) [f](https://g) [h](LICENSE)") == (
        "[a](b.md#c) [d](#e) [f](https://g) [h](../LICENSE)"
    )


@pytest.mark.skipif(not BUILDER.exists(), reason="scripts/docs has not installed what builds it.")
@pytest.mark.nightly
def test_the_site_is_built_without_a_warning(tmp_path):
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": "docs/generate"}
    done = subprocess.run(
        [BUILDER, "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    assert "policy_engine.apply_policy" in (tmp_path / "python-api.html").read_text("utf-8")
