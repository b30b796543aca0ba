import pytest
from rich.markup import escape

from policy_engine.cli.tables.tables import (
    console,
    new_table,
    print_fitting,
    rows_table,
    table_without_dashes,
)


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\rb", "\x9b31m", "\x07", "\u202edet"])
def test_a_text_of_the_data_gives_the_terminal_no_commands(text, capsys):
    table = new_table(text, "category", text)
    table.add_row(escape(text), "1")
    out = console()
    out.print(table)
    print_fitting(out, table)
    out.print(text, markup=False)
    printed = capsys.readouterr().out
    assert not {*printed} & {"\x1b", "\r", "\x9b", "\x07", "\u202e"}
    assert printed.count(f"\\u{ord(next(c for c in text if not c.isalnum())):04x}") >= 6


def test_words_between_colons_are_printed_as_they_are(capsys):
    table = new_table("did:key:z6Mk", "category:key:")
    table.add_row("did:key:z6Mk")
    out = console()
    out.print(table)
    out.print("did:key:z6Mk", markup=False)
    out.print("[bold]did:key:z6Mk[/]")
    printed = capsys.readouterr().out
    assert printed.count("did:key:z6Mk") == 4
    assert "category:key:" in printed


def test_styles_and_lines_are_printed_as_before(capsys):
    console().print("[bold]one[/]\ntwo")
    assert capsys.readouterr().out == "one\ntwo\n"


@pytest.mark.parametrize(("width", "is_drawn"), [(60, True), (40, False)])
def test_no_word_is_broken_where_a_table_is_narrow(width, is_drawn, capsys, monkeypatch):
    monkeypatch.setattr("policy_engine.cli.tables.tables.PIPED", width)
    table = new_table("Columns", "column", "certainty penalty", "total variation")
    table.add_row("marital-status", "0.1234", "a sentence of several words")
    print_fitting(console(), table)
    printed = capsys.readouterr().out
    assert ("\N{BOX DRAWINGS LIGHT HORIZONTAL}" in printed) == is_drawn
    assert max(map(len, printed.splitlines())) <= width
    words = {*printed.replace("\N{NO-BREAK SPACE}", " ").split()}
    assert {"certainty", "variation", "marital-status", "sentence", "several"} <= words


def test_the_first_column_of_a_wide_table_has_its_name(capsys, monkeypatch):
    monkeypatch.setattr("policy_engine.cli.tables.tables.PIPED", 30)
    names = ("CustomerID", "FirstName", "LastName")
    print_fitting(console(), rows_table("customers.csv", names, [("C0000001", "Giulia", "Conti")]))
    assert capsys.readouterr().out.splitlines()[:2] == ["customers.csv", "CustomerID\xa0C0000001"]


def test_a_column_that_is_a_dash_in_every_row_is_left_out():
    rows = [("a", "-", "-"), ("b", "-", "x")]
    table = table_without_dashes("Columns", ("column", "loss", "role"), rows)
    assert [one.header for one in table.columns] == ["column", "role"]
