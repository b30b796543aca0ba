import pytest
from places import ROOT

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


def test_codes_of_occupations_are_grouped_by_their_digits():
    it = "Information and communications technology professionals"
    assert rows(["2512", "0110", "911", "9999", "2513"], "isco08") == [
        "0110;011;Commissioned officers;Armed forces;*",
        f"2512;251;{it};Professionals;*",
        f"2513;251;{it};Professionals;*",
        "911;911;Cleaners and helpers;Elementary occupations;*",
        "9999;(other);(other);(other);*",
    ]
    assert rows(["2512", "2513", "2514"], "amount") is None
    assert rows(["2012", "2013", "2014"], "job_year") is None
    assert rows(["2012", "2013", "2014"], "number diagnoses") is None


def test_codes_of_industries_are_grouped_by_division_and_section():
    assert rows(["62.01", "C10.1", "4711", "84"], "nace") == [
        "4711;47;Wholesale and retail trade, repair of vehicles;*",
        "62.01;62;Information and communication;*",
        "84;84;Public administration and defence;*",
        "C10.1;10;Manufacturing;*",
    ]


@pytest.mark.parametrize("code", ["04", "34.1", "A62", "00", "6", "62.0.1", "X62"])
def test_what_is_no_division_of_nace_is_not_known(code):
    assert f"{code};(other);(other);*" in rows([code, "01", "02", "03", "85"], "industry")


def test_the_divisions_of_nace_are_88():
    listed = rows([f"{n:02}" for n in range(100)], "nace")
    assert sum("(other)" not in row for row in listed) == 88


def test_isco_has_43_sub_major_groups_in_10_major_ones():
    lines = (ROOT / "vocab" / "taxonomies" / "isco-08.csv").read_text("utf-8").splitlines()[1:]
    codes = [line[:2] for line in lines]
    assert len({*codes}) == len(codes) == 43
    listed = rows([f"{code}1" for code in codes], "isco")
    assert len({row.split(";")[2] for row in listed}) == 43
    assert len({row.split(";")[3] for row in listed}) == 10
