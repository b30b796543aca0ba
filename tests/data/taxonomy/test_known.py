import pytest

from policy_engine.data.taxonomy import read_taxonomy
from policy_engine.data.taxonomy.known import known_taxonomy


def rows(values, name="place"):
    taxonomy = known_taxonomy(values, name)
    return None if taxonomy is None else taxonomy.text.splitlines()


def test_states_are_grouped_by_division_and_region():
    assert rows(["AL", "NY", "CA"]) == [
        "AL;East South Central;South;*",
        "CA;Pacific;West;*",
        "NY;Middle Atlantic;Northeast;*",
    ]


@pytest.mark.parametrize(
    "values",
    [
        ["DE", "FR", "IT", "JP"],
        ["DEU", "FRA", "ITA", "JPN"],
        ["Germany", "France", "Italy", "Japan"],
    ],
)
def test_countries_are_known_by_codes_and_names(values):
    german, french, italian, japanese = values
    assert sorted(rows(values)) == sorted(
        [
            f"{german};Western Europe;Europe;*",
            f"{french};Western Europe;Europe;*",
            f"{italian};Southern Europe;Europe;*",
            f"{japanese};Eastern Asia;Asia;*",
        ]
    )


def test_what_is_not_known_is_a_group_of_its_own():
    listed = rows(["United-States", "Mexico", "Cuba", "Iran", "?"])
    assert listed[0] == "?;(other);(other);*"
    assert "United-States;Northern America;Americas;*" in listed


def test_codes_of_diseases_are_grouped_where_the_name_says_so():
    listed = rows(["250.83", "8", "V57", "E909"], "diag_1")
    assert listed == [
        "250.83;250;Endocrine, nutritional, metabolic and immunity;*",
        "8;008;Infectious and parasitic diseases;*",
        "E909;E909;External causes;*",
        "V57;V57;Supplementary factors;*",
    ]
    assert rows(["E11.9", "I10", "J45"], "icd")[0].endswith(
        "Endocrine, nutritional and metabolic;*"
    )
    assert rows(["250", "8", "401"], "amount") is None


@pytest.mark.parametrize("values", [["a", "b", "c"], [], ["DE", "FR"], ["DE", "x", "y", "z"]])
def test_other_values_have_no_taxonomy(values):
    assert rows(values) is None


def test_text_is_read_as_a_taxonomy():
    text = known_taxonomy(["Germany", "Côte d'Ivoire", "South Korea"], "country").text
    tree = read_taxonomy(text.encode(), "countries.csv")
    assert {"Germany", "Côte d'Ivoire", "South Korea", "Europe", "Africa"} <= set(tree.labels)
