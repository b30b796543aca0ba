"""The page of the fourteen rules: `python docs/generate/output_rules.py > docs/output-rules.md`."""

import sys

from policy_engine.methods.output_checks.fourteen_rules import (
    ATTRIBUTES,
    FOURTEEN_RULES,
    OutputRule,
    condition_words,
)

_KINDS = {"value": "a number", "count": "a whole number", "share": "0 to 1", "answer": "yes or no"}
_INTRODUCTION = """\
# The fourteen rules of output checking

J. Domingo-Ferrer and A. Blanco-Justicia ("Using machine learning to assist output checking", 2021)
rewrote the guidelines for output checking of Data without Boundaries (deliverable D11.8, 2015) as
rules about records: each record is one output, and a table one for each cell. An output may be
released **if nothing that it is made of is confidential, or the condition of its rule holds**. A
table is released if every cell is. An attribute that is missing satisfies no condition, and what is
of no known type is not released.

The slides of the paper print the first rule and the attributes of a few; the status says how much
of a rule is theirs: *verbatim*, *partly*, or *reconstructed* from what is known of the guidelines.
The table is `policy_engine/methods/output_checks/fourteen_rules.py`, which is also what is run, and
this page is generated from it (`python docs/generate/output_rules.py > docs/output-rules.md`).
"""


def page() -> str:
    """Return the page on the rules and on the attributes that they are about."""
    return f"{_INTRODUCTION}\n{_rules()}\n{_attributes()}"


def _rules() -> str:
    head = ("rule", "paper's number", "type of analysis", "output", "context", "condition")
    rows = [(*head, "status", "remark"), ("---",) * 8, *map(_row, FOURTEEN_RULES)]
    return "## The rules\n\n" + "\n".join(map(_line, rows)) + "\n"


def _row(rule: OutputRule) -> tuple[str, ...]:
    types = ", ".join(f"`{one}`" for one in rule.analysis_types)
    context = ", ".join(rule.context) or "none"
    what = (str(rule.number), rule.paper_number, types, rule.domain, context)
    return (*what, condition_words(rule.condition), rule.status.value, rule.remark)


def _attributes() -> str:
    rows = [("attribute", "is", "tells"), ("---",) * 3]
    rows += [(f"`{one.name}`", _KINDS[one.kind], one.meaning) for one in ATTRIBUTES]
    kinds = [("`AnalysisType`", "a type of the table above", "what kind of analysis it is of")]
    secret = [("`Confidential`", "yes or no", "whether any column behind it is confidential")]
    table = "\n".join(map(_line, [*rows[:2], *kinds, *secret, *rows[2:]]))
    return f"## The attributes\n\n{table}\n"


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |" if cells[0] != "---" else f"|{'|'.join(cells)}|"


if __name__ == "__main__":
    sys.stdout.write(page())
