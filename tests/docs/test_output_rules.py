"""The page of the fourteen rules is the one that the table gives."""

import output_rules
from places import ROOT

from policy_engine.methods.output_checks.fourteen_rules import ATTRIBUTES, FOURTEEN_RULES


def test_the_page_of_rules_is_the_one_that_the_table_gives():
    text = (ROOT / "docs" / "output-rules.md").read_text(encoding="utf-8")
    hint = "run: python docs/generate/output_rules.py > docs/output-rules.md"
    assert text == output_rules.page(), hint


def test_every_rule_and_every_attribute_has_a_row():
    lines = output_rules.page().splitlines()
    assert sum(line.startswith("| 1") or line[:3].strip("| ").isdigit() for line in lines) >= 14
    for rule in FOURTEEN_RULES:
        assert any(line.startswith(f"| {rule.number} | {rule.paper_number} |") for line in lines)
    for one in ATTRIBUTES:
        assert any(line.startswith(f"| `{one.name}` |") for line in lines)
