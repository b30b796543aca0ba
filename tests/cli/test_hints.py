import ast
import re

import pytest
from places import ROOT

from policy_engine.cli.hints import OPTIONS, format_error, with_options
from policy_engine.errors import OutputError, Problem

PACKAGE = ROOT / "policy_engine"
# A script of its own has options of its own.
SCRIPT = PACKAGE / "trust" / "verify_certificate.py"
LIBRARY = [one for one in PACKAGE.rglob("*.py") if "cli" not in one.parts and one != SCRIPT]
OPTION = re.compile(r"(?:^|[ (\"'])--[a-z]{2,}")
ARGUMENT = re.compile(
    r"(?<![<\w-])[a-z_]+=(?:\{[A-Z]+: [A-Z]+\}|\[[A-Z]+\]|[A-Z]{3,}\b|True|False)"
    r"|engine=\"\w+\""
)


def texts(path):
    """Yield the texts of a module that are no docstrings and no styles, and name options."""
    text = path.read_text("utf-8")
    if not OPTION.search(text) and not re.search(rf"[\"'].*?(?:{ARGUMENT.pattern})", text):
        return  # parsing takes long
    waiting = [(ast.parse(text), False)]
    while waiting:
        node, is_argument = waiting.pop()
        if is_argument and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        is_argument = is_argument or isinstance(node, ast.Call)
        waiting += [(child, is_argument) for child in ast.iter_child_nodes(node)]


def test_a_hint_names_options_on_the_command_line_and_arguments_in_python():
    error = OutputError.of("O001", "It exists.", "Give another path, or overwrite=True.")
    assert str(error) == "O001 It exists. Give another path, or overwrite=True."
    assert format_error(error) == "O001 It exists. Give another path, or --overwrite."


@pytest.mark.parametrize("argument", OPTIONS)
def test_every_argument_has_its_option(argument):
    assert (
        with_options(Problem("X001", "m", f"Give {argument}.")).hint == f"Give {OPTIONS[argument]}."
    )


@pytest.fixture(scope="module")
def said():
    return {text for path in LIBRARY for text in texts(path)}


def test_the_library_never_speaks_of_options_of_the_command_line(said):
    assert not [text for text in said if OPTION.search(text)]


def test_every_argument_in_a_hint_is_known_to_the_command_line(said):
    found = {hit for text in said for hit in ARGUMENT.findall(text)}
    assert found <= set(OPTIONS)
    assert len(found) > 3
