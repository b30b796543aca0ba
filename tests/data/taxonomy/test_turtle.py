import pytest
from reading import codes_of, outline, problems_of

from policy_engine.data.taxonomy import read_taxonomy

PREFIXES = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://example.com/> .
"""


def read(text):
    return outline(read_taxonomy((PREFIXES + text).encode(), "x.ttl"))


def found(text):
    return codes_of(PREFIXES + text, "x.ttl")


def test_concepts_stand_in_the_order_of_the_text():
    text = """
    ex:scheme a skos:ConceptScheme ; skos:prefLabel "All" .
    ex:z skos:narrower ex:m, ex:b ; skos:prefLabel "Z"@en .
    ex:y skos:notation "Y" ; skos:altLabel "U" . ex:a skos:broader ex:y ; skos:prefLabel "A" .
    ex:c skos:broader <http://example.com/y> .
    """
    assert read(text) == ("*", ("Z", "m", "b"), ("Y", "A", "c"))


def test_blank_nodes_need_names():
    assert read('[] skos:broader ex:a ; skos:prefLabel "B" .') == ("a", "B")
    assert found("[] skos:broader ex:a .") == ["T009"]


def test_relative_names_do_not_depend_on_where_the_file_lies():
    assert read("<b> skos:broader <#a> .") == ("a", "b")


def test_every_problem_is_found_at_once():
    text = """
    ex:a skos:broader "b" . ex:a skos:prefLabel ex:b . ex:a skos:broadr ex:b .
    ex:a skos:broader ex:b, ex:c . ex:b skos:broader ex:b .
    """
    assert found(text) == ["T001", "T001", "P005", "T007", "T008"]


@pytest.mark.parametrize("text", ["ex:a ex:b", "unknown:a a ex:b .", "<a> <b> 'x", "\x00", "@"])
def test_what_is_no_turtle_is_refused(text):
    assert found(text) == ["T001"]


def test_the_line_of_bad_syntax_is_named():
    [problem] = problems_of(PREFIXES + "ex:a a ex:b .\nother:a a ex:b .\n", "x.ttl")
    assert (problem.place.line, problem.place.column) == (5, 1)
    expected = "No '@prefix other:' precedes this name: 'other:a'."
    assert problem.message == f"The text is not Turtle: {expected}"


def test_deep_nesting_is_no_recursion_error():
    assert found("ex:a ex:b " + "[ ex:c " * 3_000) == ["T003"]


def test_numbers_are_texts_as_they_are_written():
    assert read("ex:a skos:notation 007 . ex:b skos:broader ex:a ; skos:notation 1.50 .") == (
        "007",
        "1.50",
    )
