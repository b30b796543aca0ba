"""The example of the README is what its policy makes of the data that it is made of."""

import re

import pytest
from consoles import blocks, run
from places import ROOT

README = (ROOT / "README.md").read_text("utf-8")
BEFORE, AFTER = re.findall(r"^\| `(.*?)` \| `(.*?)` \|$", README, re.MULTILINE)[0]


@pytest.mark.nightly
def test_the_row_of_the_readme_becomes_what_it_says(tmp_path):
    [policy] = [one for one in blocks(README) if one.language == "yaml"]
    (tmp_path / "purchases.yaml").write_text(policy.text, "utf-8")
    run("policy-engine sample customer --rows 20000 --seed 1 --output customers.csv", tmp_path)
    made = run("policy-engine apply purchases.yaml --data customers.csv --output release", tmp_path)
    assert made.status == 0, made.output
    before = (tmp_path / "customers.csv").read_text("utf-8").splitlines()
    pattern = re.escape(BEFORE).replace("…", ".*")
    assert [line for line in before if re.fullmatch(pattern, line)]
    assert AFTER in (tmp_path / "release" / "purchases.csv").read_text("utf-8").splitlines()


def test_the_readme_is_one_page():
    assert len(README.split()) < 700
