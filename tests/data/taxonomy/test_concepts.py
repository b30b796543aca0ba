import pytest
from reading import outline

from policy_engine.data.taxonomy import problems
from policy_engine.data.taxonomy.concepts import SKOS, Concepts
from policy_engine.data.taxonomy.problems import Problems
from policy_engine.errors import DataError

EX = "http://example.com/"


def concepts(*edges, names=()):
    found = Concepts(Problems("x"))
    for narrow, edge, wide in edges:
        found.relate(EX + narrow, edge, EX + wide)
    for iri, kind, text, language in names:
        found.name(EX + iri, kind, text, language)
    return found


def found(scheme):
    with pytest.raises(DataError) as error:
        scheme.tree()
    return [problem.code for problem in error.value.problems]


def test_broader_and_narrower_say_the_same():
    expected = ("Europe", "Italy", "Greece")
    broader = concepts(("Italy", "broader", "Europe"), ("Greece", "broader", "Europe"))
    narrower = concepts(("Europe", "narrower", "Italy"), ("Europe", "narrower", "Greece"))
    both = concepts(("Italy", "broader", "Europe"), ("Europe", "narrower", "Italy"))
    assert outline(broader.tree()) == outline(narrower.tree()) == expected
    assert outline(both.tree()) == ("Europe", "Italy")


def test_several_top_concepts_are_joined():
    scheme = concepts(("Italy", "broader", "Europe"), ("Laos", "broader", "Asia"))
    assert outline(scheme.tree()) == ("*", ("Europe", "Italy"), ("Asia", "Laos"))


@pytest.mark.parametrize(
    ("names", "label"),
    [
        ([], "it"),
        ([("prefLabel", "Italien", "de"), ("prefLabel", "Italia", "es")], "Italien"),
        ([("prefLabel", "Italien", "de"), ("prefLabel", "Italy", "EN")], "Italy"),
        ([("prefLabel", "Italy", "en"), ("prefLabel", "Italia", "")], "Italia"),
        ([("prefLabel", "Italy", ""), ("notation", "IT", "")], "IT"),
        ([("notation", "IT", ""), ("notation", "IT", "")], "IT"),
    ],
)
def test_the_value_is_notation_or_label_or_local_name(names, label):
    assert outline(
        concepts(("it", "broader", "eu"), names=[("it", *name) for name in names]).tree()
    ) == ("eu", label)


@pytest.mark.parametrize(
    ("iri", "label"),
    [("http://e.com/a#b", "b"), ("http://e.com/a/", "a"), ("urn:x:y", "y"), ("plain", "plain")],
)
def test_local_names(iri, label):
    scheme = Concepts(Problems("x"))
    scheme.classify(iri, f"{SKOS}Concept")
    assert outline(scheme.tree()) == label


def test_a_concept_without_any_name_is_refused():
    scheme = Concepts(Problems("x"))
    scheme.relate("_:b0", "broader", EX + "a")
    assert found(scheme) == ["T009"]


def test_what_groups_concepts_is_none():
    scheme = concepts(("it", "broader", "eu"), names=[("all", "prefLabel", "All", "en")])
    scheme.classify(EX + "all", f"{SKOS}ConceptScheme")
    assert outline(scheme.tree()) == ("eu", "it")


def test_every_problem_is_found_at_once():
    scheme = concepts(
        ("a", "broader", "b"),
        ("a", "broader", "c"),
        ("d", "broader", "e"),
        ("e", "broader", "d"),
        ("f", "broader", "f"),
        names=[
            ("g", "notation", "1", ""),
            ("g", "notation", "2", ""),
            ("h", "notation", "1", ""),
            ("i", "prefLabel", "", "en"),
        ],
    )
    assert found(scheme) == ["T001", "T005", "T007", "T008", "T008", "T006"]


def test_a_circle_is_shown_in_short():
    scheme = concepts(*((str(n), "broader", str((n + 1) % 7)) for n in range(7)))
    with pytest.raises(DataError, match=r"itself: 'http://example.com/0', .*/4', \.\.\."):
        scheme.tree()


def test_a_way_into_a_circle_is_no_circle_of_its_own():
    assert found(concepts(("a", "broader", "b"), ("b", "broader", "b"))) == ["T008"]


def test_nothing_is_no_tree():
    assert found(Concepts(Problems("x"))) == ["T002"]


def test_depth_and_number_are_limited(monkeypatch):
    chain = [(str(n), "broader", str(n + 1)) for n in range(problems.MAX_DEPTH + 1)]
    assert concepts(*chain[1:]).tree().height[0] == problems.MAX_DEPTH
    assert found(concepts(*chain)) == ["T003"]
    monkeypatch.setattr(problems, "MAX_NODES", 5)
    with pytest.raises(DataError, match="T003"):
        concepts(*chain)


def test_a_misspelt_property_of_skos_is_refused():
    scheme = concepts(("a", "broader", "b"))
    scheme.check_term(f"{SKOS}altLabel")
    scheme.check_term("http://purl.org/dc/terms/title")
    scheme.check_term(f"{SKOS}broadr")
    assert found(scheme) == ["P005"]
