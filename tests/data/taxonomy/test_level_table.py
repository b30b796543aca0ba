import pytest
from reading import codes_of, outline, problems_of

from policy_engine.data.taxonomy import problems, read_taxonomy


def read(text):
    return read_taxonomy(text.encode(), "x.csv")


def places(text):
    return [(problem.code, problem.place.line) for problem in problems_of(text, "x.csv")]


# Zip codes as in Prasser and Kohlmayer (2015), figure 2.
ZIPS = "81667;8166*;816**;*\n81675;8167*;816**;*\n81925;8192*;819**;*\n"


def test_a_table_gives_its_columns_as_levels():
    tree = read(ZIPS)
    assert tree.levels() == (
        ("81667", "81675", "81925"),
        ("8166*", "8167*", "8192*"),
        ("816**", "816**", "819**"),
        ("*", "*", "*"),
    )


def test_siblings_stand_together_in_the_order_of_the_file():
    tree = read("Cuba;America;*\nLaos;Asia;*\nPeru;America;*\n")
    assert outline(tree) == ("*", ("America", "Cuba", "Peru"), ("Asia", "Laos"))


@pytest.mark.parametrize("separator", [";", ",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends_are_detected(separator, end):
    text = end.join(separator.join(row) for row in (["a", "x", "*"], ["b", "y", "*"]))
    assert outline(read(text)) == ("*", ("x", "a"), ("y", "b"))


def test_a_separator_inside_labels_is_none():
    tree = read("1;[1, 2];*\n2;[1, 2];*\n3;[3, 4];*\n")
    assert outline(tree) == ("*", ("[1, 2]", "1", "2"), ("[3, 4]", "3"))


def test_quoted_cells_hold_anything():
    tree = read('"a;""b""";"x\ny";*\nc;"x\ny";*\n')
    assert outline(tree) == ("*", ("x\ny", 'a;"b"', "c"))


def test_a_byte_order_mark_and_blank_lines_are_left_out():
    assert outline(read_taxonomy(b"\xef\xbb\xbfa;*\n\n\nb;*\n\n", "X.CSV")) == ("*", "a", "b")


def test_a_root_is_put_on_top_where_the_last_column_is_none():
    assert outline(read("a;x\nb;y\n")) == ("*", ("x", "a"), ("y", "b"))
    assert outline(read("a;x\nb;x\n")) == ("x", "a", "b")


@pytest.mark.parametrize("text", ["a", "a\nb\n"])
def test_a_lone_column_holds_values_below_a_root(text):
    assert outline(read(text)) == ("*", *text.split())


def test_a_label_may_come_again_at_another_level():
    tree = read("Other;Other;*\nSales;Other;*\nCraft;Technical;*\n")
    assert outline(tree) == ("*", ("Other", "Other", "Sales"), ("Technical", "Craft"))
    assert tree.find("Other") == 1


def test_ragged_rows_are_each_named():
    text = "a;x;*\nb;*\nc;x;*\nd;x;*;*\n"
    assert places(text) == [("T004", 2), ("T004", 4)]
    assert str(problems_of(text, "x.csv")[0]) == (
        "T004 The row has 2 levels. Most rows have 3. Every row has a cell for every level."
    )


def test_every_problem_is_found_at_once():
    text = 'a;x;p;*\nb;x;q;*\nc;;q;*\nd;q;*\na;x;p;*\n";\n";y;p;*\ne;y;q;*\n'
    assert places(text) == [
        ("T007", 2),
        ("T005", 3),
        ("T004", 4),
        ("T006", 5),
        ("T007", 8),
    ]


def test_a_label_with_two_parents_is_named_with_both():
    [problem] = problems_of("a;x;p;*\nb;x;q;*\n", "x.csv")
    assert problem.message == ("'x' at level 1 becomes 'q' at level 2, but 'p' in line 1.")


@pytest.mark.parametrize("text", ['a;*\nb;"*\nc;*\n', 'a;*\n"b"c;*\n'])
def test_bad_quotes_are_placed(text):
    assert places(text) == [("T001", 2)]


def test_too_many_levels_are_refused():
    assert codes_of("a" + ";x" * problems.MAX_DEPTH, "x.csv") == ["T003"]
    assert read("a" + ";x" * (problems.MAX_DEPTH - 1)).height[0] == problems.MAX_DEPTH - 1


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(problems, "MAX_NODES", 5)
    assert codes_of("".join(f"{value};*\n" for value in range(5)), "x.csv") == ["T003"]
    assert len(read("".join(f"{value};*\n" for value in range(4))).leaves) == 4
