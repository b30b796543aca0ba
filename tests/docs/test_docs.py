"""The worked examples of the documentation, run as they are printed."""

import doctest
import re

import pytest
from places import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples_of(page):
    """Return the `>>>` examples of a page as one test, its lines numbered as in the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * text.count("\n")
    for block in _BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        if block[1].startswith(">>> "):
            found = block[1].splitlines()
            lines[first : first + len(found)] = found
    parser = doctest.DocTestParser()
    return parser.get_doctest("\n".join(lines), {}, page.name, str(page), 0)


def pages_with_examples():
    return [page for page in PAGES if examples_of(page).examples]


def test_the_pages_on_models_and_generalisation_have_examples():
    assert {"privacy-models.md", "generalization.md"} <= {p.name for p in pages_with_examples()}


@pytest.mark.parametrize("page", pages_with_examples(), ids=lambda page: page.stem)
def test_examples_of_a_page_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policies").symlink_to(ROOT / "policies")
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    runner.run(examples_of(page), out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_files_that_a_page_names_are_there(page):
    named = set(re.findall(r"`([a-z_/]+\.(?:py|jsonld|ttl))`", (ROOT / page).read_text("utf-8")))
    folders = [one for one in ROOT.iterdir() if one.is_dir() and not one.name.startswith(".")]
    there = [str(one) for folder in folders for one in folder.rglob("*.*")]
    made_up = {"policy_engine/methods/privacy_models/x_anonymity.py"}
    made_up |= {"tests/methods/privacy_models/test_x_anonymity.py"}
    made_up |= {
        "policy_engine/methods/maskings/x_coding.py",
        "policy_engine/methods/synthesisers/x_model.py",
        "policy_engine/engines/synthesising/x_model.py",
        "tests/methods/maskings/test_x_coding.py",
    }
    assert len(named) > 5
    assert [one for one in named - made_up if not any(f"/{one}" in path for path in there)] == []


def test_the_architecture_names_every_file_of_the_verbs():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    files = {path.name for path in (ROOT / "policy_engine" / "api").glob("[!_]*.py")}
    assert {name for name in files if f"`{name}`" not in page} == set()
