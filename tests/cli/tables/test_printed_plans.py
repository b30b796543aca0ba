"""What a plan says of accuracy-guided classes."""

import pytest
from building import DATASET, OUTPUT, anonymize, column, permission, policy
from rich.console import Console

from policy_engine.cli.tables.plans import plan_table
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy

GUIDED = {
    "method": "k-anonymity",
    "k": 2,
    "algorithm": "accuracy-guided",
    "quasi": ["age", "city"],
    "label": f"{DATASET}/disease",
}


def rows(**parameters):
    """Return the rows of a plan by their headings."""
    action = anonymize(**{**GUIDED, **parameters})
    table = plan_table(make_plan(read_policy(policy([permission(action=action, output=OUTPUT)]))))
    console = Console(width=300)
    with console.capture() as capture:
        console.print(table)
    cells = [line.split("│")[1:4] for line in capture.get().splitlines() if line[:1] == "│"]
    return {what.strip() or step.strip(): how.strip() for step, what, how in cells}


def test_a_plan_says_for_which_models_classes_are_and_how_they_are_cut():
    told = rows()
    assert told["k-anonymity: k at least 2"] == "accuracy-guided (for disease, median-mode), local"
    assert told["for models of"] == "disease, which is released as it is"
    assert told["cut by"] == (
        "what is predicted for rows that the model has not seen, by boosted trees, trained on the "
        "same rows"
    )
    assert told["released as"] == "the median or the mode of each column in the class"
    assert told["or as they are"].startswith("if rows that agree in all quasi-identifiers keep")
    assert (told["generalise"], told["keep"]) == ("age, city", "disease")


@pytest.mark.parametrize(
    ("parts", "heading", "text"),
    [
        (
            {"guide": "GaussianNB", "guideLabels": "hard"},
            "cut by",
            (
                "the class that is predicted for rows that the model has learnt from, by "
                "GaussianNB, trained on the same rows"
            ),
        ),
        (
            {"guide": f"{DATASET}/phone"},
            "cut by",
            "phone, predictions that are read and not learnt here",
        ),
        (
            {"representative": "nearest"},
            "released as",
            "the row of the class nearest to its median, of those with its most frequent label",
        ),
        (
            {"representative": "cell"},
            "released as",
            "a cell of each column that covers the class",
        ),
    ],
)
def test_a_plan_says_what_else_guides_and_stands_for_a_class(parts, heading, text):
    assert rows(**parts)[heading] == text


def test_a_column_that_becomes_something_else_says_so():
    told = rows(quasi=["age", column("city", generalization="mode")])
    assert told["generalise"] == "age, city (mode)"
    told = rows(representative="cell", quasi=["age", column("city", generalization="prefix")])
    assert told["generalise"] == "age, city (prefix)"
