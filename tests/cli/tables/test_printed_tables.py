import pytest
from rich.markup import escape

from policy_engine.cli.tables.tables import console, new_table, print_fitting


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


def test_styles_and_lines_are_printed_as_before(capsys):
    console().print("[bold]one[/]\ntwo")
    assert capsys.readouterr().out == "one\ntwo\n"
